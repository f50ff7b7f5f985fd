"""Figures of costs: where a request's time goes, the surface of source by output length, the roofline."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeVar

from reports import caveats, plots
from reports.batch_figure import Drawing, batch_drawing, series
from reports.cost_tables import parts_table, roofline_table
from reports.cost_words import prompt_sentence
from reports.costs import Parts, Roofline
from reports.drawing import GRID, INK, MUTED, PAPER, TEXT, Canvas, Draw
from reports.formats import fixed, listed, number
from reports.labels import Box
from reports.names import squeezed
from reports.summary import Summary, far_from_usual

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Row = TypeVar("Row", Parts, Roofline)
SHADES = {"prefill": 0.95, "steps": 0.55, "engine": 0.3, "overhead": 0.12}  # of the contestant's colour
ROOM = 34.0  # for one bar, in CSS pixels


def cost_drawings(summary: Summary) -> list[Drawing]:
    """Every figure of costs that the run has data for, in reading order."""
    drawings = (batch_drawing, prompt_drawing, parts_drawing, roofline_drawing)
    found = [drawing(summary, task) for drawing in drawings for task in summary.tasks]
    return [drawing for drawing in found if drawing]


def parts_drawing(summary: Summary, task: str) -> Drawing | None:
    """A bar a contestant at the workload nearest to the usual length; None where no step was timed."""
    found = [p for p in summary.costs.parts if p.place.task == task and p.place.source_length is None]
    shown = _usual(found)
    if len(shown) < 2 or not any("prefill" in p.shares for p in shown):
        return None
    place = shown[0].place
    length = "natural lengths" if place.length is None else f"{place.length} tokens"
    caption = (
        f"Share of a request's time, %, by part, summed over n trials (a ratio of totals), task {task}, {length}, "
        f"batch {place.batch_size}; dark to light: prefill (the encoder), steps (decoder passes and choosing), engine "
        "(one we cannot look into), overhead (in the latency and in no step); behind the name the median ms. n and "
        "intervals in the table."
    )
    height = 90 + ROOM * len(shown)
    canvases = (Canvas(800, height, 20, 1), Canvas(360, height, 10, 1))
    name = f"parts-{summary.tasks.index(task) + 1}"
    table = parts_table(summary, task, by_source=False)
    return Drawing(
        name, _parts_title(summary, shown), caveats.joined(caption, caveats.TIMING), table, 1, _bars(summary, shown),
        canvases,
    )  # fmt: skip


def prompt_drawing(summary: Summary, task: str) -> Drawing | None:
    """A panel a contestant whose steps are known: the share of prefill over source and output length."""
    found = [
        p
        for p in summary.costs.parts
        if p.place.task == task and p.place.source_length is not None and p.place.length is not None
    ]
    told = [p for p in found if "prefill" in p.shares]
    labels = list(dict.fromkeys(p.place.label for p in told))
    if len({p.place.source_length for p in told}) < 2:
        return None
    caption = (
        "Median ms of a request, and the share of its time that prefill (reading the source) takes, a ratio of totals "
        f"over n trials; stronger colour: more prefill. Task {task}, batch {told[0].place.batch_size}; across: tokens "
        "written, up: source tokens. n and intervals in the table, with the contestants whose steps are not known."
    )
    panels = [(label, [p for p in told if p.place.label == label]) for label in labels]
    return Drawing(
        f"prompt-{summary.tasks.index(task) + 1}",
        prompt_sentence(summary, told),
        caveats.joined(caption, caveats.TIMING),
        parts_table(summary, task, by_source=True),
        len(panels),
        _surfaces(summary, panels),
        (Canvas(800, 280, 20, 2), Canvas(360, 280, 10, 1)),
    )


def roofline_drawing(summary: Summary, task: str) -> Drawing | None:
    """FLOP/s over FLOP/byte, a point a contestant at the length nearest to the usual one, under the machine's roofs."""
    found = [r for r in summary.costs.rooflines if r.place.task == task and r.place.source_length is None]
    shown = _usual(found)
    if len(shown) < 2:
        return None
    length = "natural lengths" if shown[0].place.length is None else f"{shown[0].place.length} tokens"
    caption = (
        f"Achieved GFLOP/s of a mean decoder pass against its arithmetic intensity, FLOP/byte, both logarithmic, task "
        f"{task}, {length}, batch {shown[0].place.batch_size}; bars: 95 % interval of the median time a pass, n in the "
        "table. Lines: the bandwidths that the machine had at the smallest and the largest working set shown, and its "
        "FLOP/s, all measured at the start of this run with the run's threads. A point on a slanted line is "
        "memory-bound, on the level one compute-bound, under half of both dispatch-bound. Operations and bytes are the "
        "least the model's shape allows."
    )
    drawn = [series(summary, summary.contestant(r.place.label), [_roof_point(r)]) for r in shown]
    canvases = (Canvas(800, 420, 70, 2), Canvas(360, 380, 30, 1))
    return Drawing(
        f"roofline-{summary.tasks.index(task) + 1}",
        _roof_title(summary, shown),
        caveats.joined(caption, caveats.TIMING),
        roofline_table(summary, task),
        1,
        _roofs(drawn, shown),
        canvases,
    )


def _usual(found: Sequence[Row]) -> list[Row]:
    """Those of one workload: the length nearest to the usual one, at the smallest batch; natural lengths last."""
    workloads = {(row.place.length, row.place.batch_size) for row in found}
    if not workloads:
        return []
    length, size = min(workloads, key=lambda w: (w[1], w[0] is None, *far_from_usual(w[0] or 0)))
    return [row for row in found if (row.place.length, row.place.batch_size) == (length, size)]


def _bars(summary: Summary, shown: Sequence[Parts]) -> Draw:
    def draw(axes: list["Axes"], canvas: Canvas) -> None:
        ax = axes[0]
        for place, parts in enumerate(reversed(shown)):
            left, colour = 0.0, series(summary, summary.contestant(parts.place.label), []).colour
            for part, share in parts.shares.items():
                ax.barh(place, 100 * share, 0.5, left, color=colour, alpha=SHADES[part], edgecolor=PAPER, linewidth=0.8)
                left += 100 * share
            name = squeezed(summary.name(parts.place.label), 30)
            text = f"{name}, {number(1000 * parts.latency_s.value)} ms"
            ax.text(0, place + 0.3, text, color=colour, va="bottom", ha="left", fontsize=TEXT - 1)
        ax.set_xlim(0, 100)
        ax.set_ylim(-0.6, len(shown) - 0.1)
        ax.set_yticks([])
        plots.heads(ax, "prefill, steps, engine, overhead: dark to light", "share of the time, %")

    return draw


def _surfaces(summary: Summary, panels: Sequence[tuple[str, Sequence[Parts]]]) -> Draw:
    def draw(axes: list["Axes"], canvas: Canvas) -> None:
        for ax, (label, found) in zip(axes, panels, strict=True):
            look = series(summary, summary.contestant(label), [])
            sources = sorted({p.place.source_length or 0 for p in found})
            lengths = sorted({p.place.length or 0 for p in found})
            for p in found:
                x, y = lengths.index(p.place.length or 0), sources.index(p.place.source_length or 0)
                _tile(ax, x, y, p, look.colour)
            ax.set_xlim(-0.5, len(lengths) - 0.5)
            ax.set_ylim(-0.5, len(sources) - 0.5)
            ax.grid(False)
            ax.set_xticks(range(len(lengths)), [str(n) for n in lengths])
            ax.set_yticks(range(len(sources)), [str(n) for n in sources])
            plots.heads(ax, f"{squeezed(summary.name(label), 22)}: source tokens", "tokens written")

    return draw


def _tile(ax: "Axes", x: int, y: int, parts: Parts, colour: str) -> None:
    share = parts.shares.get("prefill", 0.0)
    ax.bar(x, 0.96, 0.96, y - 0.48, color=colour, alpha=0.08 + 0.5 * share, edgecolor=GRID, linewidth=0.8)
    text = f"{number(1000 * parts.latency_s.value, 2)} ms\n{fixed(100 * share, 0)} %"
    ax.text(x, y, text, color=INK, va="center", ha="center", fontsize=TEXT - 2)


def _roofs(drawn: Sequence[plots.Series], shown: Sequence[Roofline]) -> Draw:
    peak = shown[0].flop_per_s / 1e9
    bandwidths = sorted({r.bytes_per_s / 1e9 for r in shown})
    xs, ys = [r.flop_per_byte for r in shown], [p.y for one in drawn for p in one.points]
    left, right = min(xs) / 2, max(*xs, peak / bandwidths[0]) * 2

    def draw(axes: list["Axes"], canvas: Canvas) -> None:
        ax = axes[0]
        plots.log_axis(ax, "x", (left, right))
        plots.log_axis(ax, "y", plots.spread([*ys, peak], 2))
        ax.axhline(peak, color=MUTED, linewidth=1.2)
        lines = [[(left, peak), (right, peak)]]
        for bandwidth in dict.fromkeys((bandwidths[0], bandwidths[-1])):
            ends = [left, peak / bandwidth]
            ax.plot(ends, [bandwidth * x for x in ends], color=MUTED, linewidth=1.2, linestyle=(0, (4, 3)))
            lines.append([(x, bandwidth * x) for x in ends])
        plots.heads(ax, "achieved, GFLOP/s", "FLOP/byte")
        plots.marks(ax, drawn)
        plots.point_labels(ax, drawn, [box for line in lines for box in _along(ax, line)])

    return draw


def _along(ax: "Axes", line: Sequence[tuple[float, float]]) -> list[Box]:
    """Small boxes over a line's pixels, for labels to keep clear of."""
    (x0, y0), (x1, y1) = ax.transData.transform(line)
    n = 1 + int(max(abs(x1 - x0), abs(y1 - y0)) / 4)
    middles = [(x0 + (x1 - x0) * i / n, y0 + (y1 - y0) * i / n) for i in range(n + 1)]
    return [Box(x - 3, y - 3, x + 3, y + 3) for x, y in middles]


def _roof_point(r: Roofline) -> plots.Point:
    low, high = (None if bound is None else r.flop / bound / 1e9 for bound in (r.pass_s.high, r.pass_s.low))
    return plots.Point(r.flop_per_byte, r.flop / r.pass_s.value / 1e9, low, high)


def _parts_title(summary: Summary, shown: Sequence[Parts]) -> str:
    told = [p for p in shown if "prefill" in p.shares]
    most = max(told, key=lambda p: p.shares["prefill"])
    least = min(told, key=lambda p: p.shares["prefill"])
    ends = [f"{fixed(100 * p.shares['prefill'], 0)} % of {summary.name(p.place.label)}'s time" for p in (least, most)]
    return f"Reading the source takes {ends[0]}" + (f" and {ends[1]}" if most is not least else "")


def _roof_title(summary: Summary, shown: Sequence[Roofline]) -> str:
    by_bound: dict[str, list[str]] = {}
    for r in shown:
        by_bound.setdefault(r.roof.bound, []).append(summary.name(r.place.label))
    return f"A decoder pass is {', '.join(f'{bound} for {listed(found)}' for bound, found in by_bound.items())}"
