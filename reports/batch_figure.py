"""Throughput and speedup against batch size: S1 at the smallest batch, Smax at the largest that both sides ran."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reports import caveats, entries, names, plots
from reports.drawing import Canvas, Draw
from reports.entries import Entry
from reports.formats import NONE, interval, number
from reports.summary import Cell, Contestant, Estimate, Summary, far_from_usual
from reports.tables import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, slots=True)
class Drawing:
    """A figure before it is drawn: see `figures.Figure`."""

    name: str
    title: str
    caption: str
    table: Table
    panels: int
    draw: Draw
    canvases: tuple[Canvas, Canvas] = (Canvas(800, 380, 150, 2), Canvas(360, 330, 146, 1))


def batch_drawing(summary: Summary, task: str) -> Drawing | None:
    """Two panels over the batch size at the length nearest to the usual one; None where only one size was timed."""
    cells = _cells(summary, task)
    sizes = sorted({cell.batch_size for cell in cells})
    if len(sizes) < 2:
        return None
    grouped = _grouped(summary, cells)
    rates = [series(summary, c, [_rate_point(cell) for cell in own]) for c, own in grouped]
    ahead = [
        series(summary, c, points)
        for c, own in grouped
        if (points := [_speedup_point(cell) for cell in own if cell.like_for_like])
    ]
    length = "natural lengths" if cells[0].length is None else f"{cells[0].length} tokens a row"
    caption = (
        f"Left: kept tokens of a request over its median time, tokens/s; right: speedup (times less time a kept token) "
        f"over {summary.name(summary.baseline) if summary.baseline else 'nothing'}, same runtime, at the same batch; "
        f"both against rows a batch, logarithmic, task {task}, {length}; bars: 95 % interval, n in the table. A line "
        "that ends early ended for want of memory, time or budget: the coverage table says which."
    )
    panels = 2 if ahead else 1
    return Drawing(
        f"batch-{summary.tasks.index(task) + 1}",
        _title(summary, grouped),
        caveats.joined(caption, caveats.SPEEDUP, caveats.exact_lengths(summary, cells), caveats.TIMING),
        batch_table(summary, task),
        panels,
        _draw(rates, ahead, sizes),
    )


def batch_table(summary: Summary, task: str) -> Table:
    """One row a contestant and length: S1 and Smax by both denominators, and the throughput there."""
    timed = [cell for cell in summary.cells if cell.task == task]
    rows = []
    for length in sorted({cell.length for cell in timed}, key=lambda n: (n is None, n or 0)):
        for contestant, own in _grouped(summary, [cell for cell in timed if cell.length == length]):
            if len(own) > 1:
                rows.append(_row(summary, contestant, own))
    note = (
        "S1: speedup at the smallest batch; Smax: at the largest that the contestant and its denominator ran, which "
        f"the small print names. {caveats.SPEEDUP} Tokens/s: kept tokens of a request over its median time, with its "
        "95 % interval and n. Above 1 the contestant is faster than its denominator."
    )
    heads = (
        *("contestant", "length", "S1, × like for like", "Smax, × like for like"),
        *(
            "S1, × each at its best",
            "Smax, × each at its best",
            "tokens/s, smallest",
            "tokens/s, largest",
            "largest batch",
        ),
    )
    return Table(f"Batch sizes on {task}: S1 to Smax", note, heads, tuple(rows))


def series(summary: Summary, contestant: Contestant, points: Iterable[plots.Point]) -> plots.Series:
    """A contestant's points in its look."""
    look = names.looks(c.strategy for c in summary.contestants)[contestant.strategy]
    return plots.Series(contestant.name, contestant.variant, look, tuple(points))


def rate(cell: Cell) -> Estimate:
    """Kept tokens of a request over its median time."""
    kept, latency = cell.kept_mean * cell.batch_size, cell.latency_s
    low, high = (kept / bound if bound else None for bound in (latency.high, latency.low))
    return Estimate(kept / latency.value, low, high, latency.n)


def _cells(summary: Summary, task: str) -> list[Cell]:
    """The cells of one length at several batch sizes; copying is left out."""
    cells = [c for c in summary.cells if c.task == task and summary.contestant(c.label).kind != "copy"]
    several = [n for n in {c.length for c in cells} if len({c.batch_size for c in cells if c.length == n}) > 1]
    if not several:
        return []
    length = min(several, key=lambda n: (n is None, *far_from_usual(n or 0)))
    return [cell for cell in cells if cell.length == length]


def _grouped(summary: Summary, cells: Sequence[Cell]) -> list[tuple[Contestant, list[Cell]]]:
    found = [(c, [cell for cell in cells if cell.label == c.label]) for c in summary.contestants]
    return [(c, sorted(own, key=lambda cell: cell.batch_size)) for c, own in found if own and c.kind != "copy"]


def _rate_point(cell: Cell) -> plots.Point:
    return plots.point(cell.batch_size, rate(cell))


def _speedup_point(cell: Cell) -> plots.Point:
    speedup = cell.like_for_like
    return plots.point(cell.batch_size, speedup.ratio if speedup else Estimate(1.0, None, None, 0))


def _draw(rates: Sequence[plots.Series], ahead: Sequence[plots.Series], sizes: Sequence[int]) -> Draw:
    def draw(axes: list["Axes"], canvas: Canvas) -> None:
        plots.against_length(rates, sizes)(axes[:1], canvas)
        if ahead:
            plots.speedups([("", ahead)], sizes)(axes[1:], canvas)
        heads = ("throughput, kept tokens/s", "speedup over plain AR at the same batch, ×")
        for ax, head in zip(axes, heads, strict=False):
            plots.heads(ax, head, "rows a batch")

    return draw


def _row(summary: Summary, contestant: Contestant, own: Sequence[Cell]) -> tuple[Entry, ...]:
    like = [cell for cell in own if cell.like_for_like]
    best = [cell for cell in own if cell.each_at_best]
    speedups = [_at(summary, cells, end, like_for_like=cells is like) for cells in (like, best) for end in (0, -1)]
    rates = [_rate_entry(own[end]) for end in (0, -1)]
    length = "natural" if own[0].length is None else str(own[0].length)
    return (entries.who(contestant), Entry(length), *speedups, *rates, Entry(str(own[-1].batch_size)))


def _at(summary: Summary, cells: Sequence[Cell], end: int, *, like_for_like: bool) -> Entry:
    if not cells:
        return Entry(NONE)
    cell = cells[end]
    entry = entries.speedup(summary, cell.like_for_like if like_for_like else cell.each_at_best, cell.label)
    return Entry(entry.text, (*entry.detail, f"batch {cell.batch_size}"))


def _rate_entry(cell: Cell) -> Entry:
    found = rate(cell)
    return Entry(number(found.value), entries.small(interval(found), found.n, f"at batch {cell.batch_size}"))


def _title(summary: Summary, grouped: Sequence[tuple[Contestant, list[Cell]]]) -> str:
    """What happens to the challengers' speedup between the ends."""
    racing = [(c, [x for x in own if x.like_for_like]) for c, own in grouped if c.challenges]
    ends = [(c, own[0], own[-1]) for c, own in racing if len(own) > 1]
    if not ends or summary.baseline is None:
        return "How throughput grows with the batch"
    c, first, last = max(ends, key=lambda end: end[1].like_for_like.ratio.value if end[1].like_for_like else 0.0)
    s1, smax = (number(cell.like_for_like.ratio.value, 2) for cell in (first, last) if cell.like_for_like)
    return (
        f"{c.name} is {s1} times as fast as {summary.name(summary.baseline)} at batch {first.batch_size} (S1) and "
        f"{smax} times at batch {last.batch_size} (Smax)"
    )
