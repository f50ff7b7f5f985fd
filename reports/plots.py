"""The marks of a figure: series with intervals, axes that say their unit, labels that stand at what they name."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from reports.drawing import INK, MUTED, PAPER, TEXT, Canvas, Draw
from reports.labels import Box, scattered, stacked
from reports.names import LINE_STYLES, Look, squeezed
from reports.summary import Estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LETTER = 0.6 * TEXT  # a generous guess at the width of a letter: the reader's font is unknown


@dataclass(frozen=True, slots=True)
class Point:
    x: float
    y: float
    low: float | None
    high: float | None
    across: tuple[float, float] | None = None  # interval of x


@dataclass(frozen=True, slots=True)
class Series:
    name: str
    variant: int  # among the series of its strategy: 0 is drawn solid and filled
    look: Look
    points: tuple[Point, ...]  # by rising x
    fit: tuple[Point, ...] = ()  # the fitted line through them and its band, drawn instead of joining them
    crossings: tuple[Point, ...] = ()  # where that line crosses another, with the interval across

    @property
    def colour(self) -> str:
        """The strategy's colour on the light page, which stands for its CSS variable."""
        return self.look.light


def point(x: float, y: Estimate, scale: float = 1.0) -> Point:
    """An estimate at `x`, its value and interval scaled."""
    low, high = (None if bound is None else bound * scale for bound in (y.low, y.high))
    return Point(x, y.value * scale, low, high)


def against_length(series: Sequence[Series], lengths: Sequence[int]) -> Draw:
    """Latency in ms over tokens, both logarithmic, with ticks at the planned `lengths`."""

    def draw(axes: list["Axes"], canvas: Canvas) -> None:
        _log_lengths(axes[0], series, lengths)
        _log_values(axes[0], series)
        heads(axes[0], "median latency, ms", "tokens")
        marks(axes[0], series)
        _end_labels(axes[0], series, canvas)

    return draw


def speedups(panels: Sequence[tuple[str, Sequence[Series]]], lengths: Sequence[int]) -> Draw:
    """Speedups over tokens, a panel a denominator, on the same logarithmic axes."""
    every = [one for _, series in panels for one in series]

    def draw(axes: list["Axes"], canvas: Canvas) -> None:
        for ax, (heading, series) in zip(axes, panels, strict=True):
            _log_lengths(ax, every, lengths)
            _log_values(ax, every, include=(1.0,))
            ax.axhline(1, color=MUTED, linewidth=1.2)
            heads(ax, f"speedup, × {heading}", "tokens")
            marks(ax, series)
            _end_labels(ax, series, canvas)

    return draw


def scatter(series: Sequence[Series], copy_bleu: float | None) -> Draw:
    """BLEU over latency in ms, one point a contestant."""

    def draw(axes: list["Axes"], canvas: Canvas) -> None:
        ax = axes[0]
        log_axis(ax, "x", spread([p.x for one in series for p in one.points], 1.6))
        _linear_values(ax, series, [] if copy_bleu is None else [copy_bleu])
        heads(ax, "BLEU, points", "median latency, ms")
        notes = [] if copy_bleu is None else _reference_line(ax, copy_bleu, "copying the source")
        marks(ax, series)
        point_labels(ax, series, notes)

    return draw


def knob(panels: Sequence[tuple[str, Sequence[Series]]], lines: Sequence[tuple[str, float | None]], what: str) -> Draw:
    """One panel a metric over a knob's whole numbers, each with its reference line."""

    def draw(axes: list["Axes"], canvas: Canvas) -> None:
        for ax, (heading, series), (name, level) in zip(axes, panels, lines, strict=True):
            _whole_numbers(ax, series)
            _linear_values(ax, series, [] if level is None else [level])
            heads(ax, heading, what)
            if level is not None:
                _reference_line(ax, level, name)
            marks(ax, series)
            _end_labels(ax, series, canvas)

    return draw


def marks(ax: "Axes", series: Sequence[Series]) -> None:
    for one in series:
        style = LINE_STYLES[one.variant % len(LINE_STYLES)]
        face = one.colour if one.variant == 0 else PAPER  # variants of a strategy are hollow
        xs, ys = [p.x for p in one.points], [p.y for p in one.points]
        _intervals(ax, one)
        _fit(ax, one, style)
        marks = ax.plot(xs, ys, linestyle="none" if one.fit else style, marker=one.look.marker, color=one.colour)
        marks[0].set(markerfacecolor=face, markeredgewidth=1.3)


def _fit(ax: "Axes", one: Series, style: Any) -> None:
    """The fitted line, the band of its intervals, and a ring at each crossing, whose interval is a thick bar."""
    ax.plot([p.x for p in one.fit], [p.y for p in one.fit], linestyle=style, color=one.colour)
    band = [(p.x, p.low, p.high) for p in one.fit if p.low is not None and p.high is not None]
    if band:
        xs, lows, highs = zip(*band, strict=True)
        ax.fill_between(xs, lows, highs, color=one.colour, alpha=0.18, linewidth=0)
    for p in one.crossings:
        ax.plot(list(p.across or (p.x, p.x)), [p.y, p.y], color=one.colour, linewidth=5, alpha=0.45)
        ax.plot([p.x], [p.y], marker="o", markersize=11, markerfacecolor="none", color=INK)


def _intervals(ax: "Axes", one: Series) -> None:
    for p in one.points:
        if p.low is not None and p.high is not None:
            ax.plot([p.x, p.x], [p.low, p.high], color=one.colour, linewidth=1, solid_capstyle="butt")
        if p.across:
            ax.plot(list(p.across), [p.y, p.y], color=one.colour, linewidth=1, solid_capstyle="butt")


def heads(ax: "Axes", y: str, x: str) -> None:
    """Both units above and below the panel, set horizontally where they are read without turning the head."""
    ax.set_title(y, loc="left", pad=14, color=MUTED)
    ax.set_xlabel(x, loc="right", labelpad=6)


def _end_labels(ax: "Axes", series: Sequence[Series], canvas: Canvas) -> None:
    """Each name at the right end of its line; names pushed apart are tied to their line by a hair."""
    if not series:
        return
    box = ax.get_window_extent()
    ends = [ax.transData.transform((one.points[-1].x, one.points[-1].y)) for one in series]
    heights = stacked([float(y) for _, y in ends], TEXT * 1.25, box.y0 + 2, box.y1 + 8)
    room = int((canvas.names - 20) / LETTER)
    for one, (x, y), height in zip(series, ends, heights, strict=True):
        text_x = box.x1 + 16
        ax.plot(
            [x + 5, text_x - 3], [y, height], color=one.colour, linewidth=0.7, transform=None, clip_on=False, alpha=0.6
        )
        name = squeezed(one.name, room)
        ax.text(text_x, height, name, color=one.colour, transform=None, va="center", ha="left")


def point_labels(ax: "Axes", series: Sequence[Series], notes: Sequence[Box]) -> None:
    """Each name beside its point, clear of points, bars and the boxes of `notes`, or tied to it by a hair."""
    box = ax.get_window_extent()
    frame = Box(box.x0 + 2, box.y0 + 2, ax.figure.bbox.width, box.y1 + 12)
    points = [tuple(map(float, ax.transData.transform((one.points[0].x, one.points[0].y)))) for one in series]
    shown = [squeezed(one.name, 24) for one in series]
    widths = [len(name) * LETTER for name in shown]
    places = scattered([(x, y) for x, y in points], widths, TEXT * 1.15, frame, [*_bars(ax, series), *notes])
    for one, name, (x, y), place in zip(series, shown, points, places, strict=True):
        middle = (place.bottom + place.top) / 2
        near = min(max(x, place.left), place.right)
        if abs(near - x) + abs(middle - y) > 2 * TEXT:
            ax.plot([x, near], [y, middle], color=one.colour, linewidth=0.7, transform=None, clip_on=False, alpha=0.6)
        ax.text(place.left, middle, name, color=one.colour, transform=None, va="center", ha="left")


def _bars(ax: "Axes", series: Sequence[Series]) -> list[Box]:
    """The room that intervals take, across and up."""
    found = []
    for p in (p for one in series for p in one.points):
        left, right = p.across or (p.x, p.x)
        low, high = (p.y, p.y) if p.low is None or p.high is None else (p.low, p.high)
        corners = [(left, p.y), (right, p.y), (p.x, low), (p.x, high)]
        (x0, y), (x1, _), (x, y0), (_, y1) = ax.transData.transform(corners)
        found += [Box(x0, y - 1, x1, y + 1), Box(x - 1, y0, x + 1, y1)]
    return found


def _reference_line(ax: "Axes", level: float, name: str) -> list[Box]:
    """A dashed line across the panel with its name at the left; returns the room that both take."""
    ax.axhline(level, color=MUTED, linewidth=1.2, linestyle=(0, (4, 3)))
    panel = ax.get_window_extent()
    x, y = panel.x0 + 4, float(ax.transData.transform((ax.get_xlim()[0], level))[1])
    ax.text(x, y + 4, name, color=MUTED, transform=None, va="bottom", ha="left")
    return [Box(panel.x0, y - 1, panel.x1, y + 1), Box(x, y, x + len(name) * LETTER, y + 4 + TEXT)]


def _log_lengths(ax: "Axes", series: Sequence[Series], lengths: Sequence[int]) -> None:
    """A logarithmic axis of tokens, with a tick wherever its number does not run into the last one."""
    ax.set_xscale("log")
    ax.set_xlim(*spread([p.x for one in series for p in one.points] + list(lengths), 1.12))
    ticks: dict[float, float] = {}  # tick: its place in pixels
    for length in sorted(lengths):
        place = float(ax.transData.transform((length, 1))[0])
        if place - max(ticks.values(), default=-TEXT * 9) >= TEXT * 2.5:
            ticks[length] = place
    set_ticks(ax, "x", list(ticks))


def _log_values(ax: "Axes", series: Sequence[Series], include: tuple[float, ...] = ()) -> None:
    values = [v for one in series for p in one.points for v in (p.low, p.y, p.high) if v] + list(include)
    log_axis(ax, "y", spread(values, 1.25))


def log_axis(ax: "Axes", which: str, limits: tuple[float, float]) -> None:
    """A logarithmic axis with ticks at 1, 2 and 5 of every decade, or at 1 alone over many decades."""
    low, high = limits
    (ax.set_xscale if which == "x" else ax.set_yscale)("log")
    (ax.set_xlim if which == "x" else ax.set_ylim)(low, high)
    digits = (1, 2, 5) if high / low < 500 else (1,)
    ticks = [d * 10.0**k for k in range(-9, 10) for d in digits]
    set_ticks(ax, which, [tick for tick in ticks if low <= tick <= high])


def set_ticks(ax: "Axes", which: str, ticks: list[float]) -> None:
    axis = ax.xaxis if which == "x" else ax.yaxis
    axis.set_ticks(ticks, [f"{tick:,.10g}" for tick in ticks])
    axis.set_ticks([], minor=True)


def _linear_values(ax: "Axes", series: Sequence[Series], include: Sequence[float]) -> None:
    values = [v for one in series for p in one.points for v in (p.low, p.y, p.high) if v is not None] + list(include)
    low, high = min(values), max(values)
    margin = 0.1 * (high - low) or 1.0
    floor = -0.03 * high if low >= 0 else low - margin  # a rate has no room below 0, but a line at 0 must be seen
    ax.set_ylim(max(floor, low - margin), high + margin)


def _whole_numbers(ax: "Axes", series: Sequence[Series]) -> None:
    xs = sorted({p.x for one in series for p in one.points})
    ax.set_xlim(xs[0] - 0.4, xs[-1] + 0.4)
    set_ticks(ax, "x", xs)


def spread(values: Sequence[float], factor: float) -> tuple[float, float]:
    """Limits a factor beyond the values on a logarithmic axis."""
    return min(values) / factor, max(values) * factor
