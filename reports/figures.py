"""The figures of a report: what each shows, the sentence it supports, and the numbers behind it."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from reports import caveats, front_figure, line_figure, names, plots, titles
from reports.cost_figures import cost_drawings
from reports.curves import KNOBS, Curve, curves
from reports.damage_figure import damage_drawing
from reports.drawing import Canvas, Draw, svg
from reports.formats import listed
from reports.names import visible
from reports.summary import Cell, Contestant, Quality, Speedup, Summary
from reports.tables import Table, curve_table, latency_table, quality_latency_table, speedup_table

Scored = Sequence[tuple[int, Quality | None]]  # knob, quality
WIDE, NARROW = Canvas(800, 380, 150, 2), Canvas(360, 330, 146, 1)  # for lines, named at their right
WIDE_POINTS, NARROW_POINTS = Canvas(800, 420, 70, 2), Canvas(360, 360, 30, 1)  # for points, named beside them


@dataclass(frozen=True, slots=True)
class Figure:
    name: str
    title: str  # the sentence the figure supports
    caption: str  # how to read it
    wide: str  # <svg>
    narrow: str
    table: Table  # the numbers behind it


def figures(summary: Summary) -> tuple[Figure, ...]:
    """Every figure the run has data for, in reading order."""
    found = [_latency(summary, task) for task in summary.tasks]
    found += [_speedup(summary, task) for task in summary.tasks]
    found += [_quality_latency(summary, task) for task in summary.tasks]
    found += [_curves(summary, task, knob) for task in summary.tasks for knob in KNOBS]
    found += [
        _figure(summary, d.name, d.title, d.caption, d.table, d.panels, d.draw, d.canvases)
        for d in (*cost_drawings(summary), damage_drawing(summary))
        if d
    ]
    return tuple(figure for figure in found if figure)


def _figure(
    summary: Summary,
    name: str,
    title: str,
    caption: str,
    table: Table,
    panels: int,
    draw: Draw,
    canvases: tuple[Canvas, Canvas] = (WIDE, NARROW),
) -> Figure:
    looks = names.looks(contestant.strategy for contestant in summary.contestants)
    wide, narrow = (
        svg(f"{name}-{size}", title, caption, panels, canvas, looks, draw)
        for size, canvas in zip(("wide", "narrow"), canvases, strict=True)
    )
    return Figure(name, title, caption, wide, narrow, table)


def _latency(summary: Summary, task: str) -> Figure | None:
    cells = [cell for cell in _grid(summary, task) if summary.contestant(cell.label).kind != "copy"]
    if len({cell.length for cell in cells}) < 2:
        return None
    series = [_fitted(summary, c, own) for c, own in _by_contestant(summary, cells)]
    title = titles.latency_title(summary, cells)
    caption = (
        f"Median time of one request in ms against the tokens it wrote, task {task}, batch {cells[0].batch_size}, both "
        "axes logarithmic, bars: 95 % interval, n in the table. Where a strategy's length cannot be set, it wrote "
        "what it would on sources with a reference of that length, and stands at the tokens it kept. Copying is not "
        "drawn."
    )
    lines = line_figure.how_drawn(summary, task, cells[0].batch_size)
    caption = caveats.joined(caption, lines, caveats.exact_lengths(summary, cells), caveats.TIMING)
    table = latency_table(summary, task)
    return _figure(
        summary,
        _name("latency", summary, task),
        title,
        caption,
        table,
        1,
        plots.against_length(series, _lengths(cells)),
    )


def _speedup(summary: Summary, task: str) -> Figure | None:
    cells = _grid(summary, task)
    if len({cell.length for cell in cells if cell.like_for_like or cell.each_at_best}) < 2:
        return None
    groups = _by_contestant(summary, cells)
    like = _speedup_series(summary, groups, lambda cell: cell.like_for_like)
    best = _speedup_series(summary, groups, lambda cell: cell.each_at_best)
    strongest = sorted({s.against for c in cells if (s := c.each_at_best)})
    baseline = summary.name(summary.baseline) if summary.baseline else "none"
    panels = [(f"over {baseline}, our own loop", like), ("over the strongest AR engine", best)]
    shown = [(heading, series) for heading, series in panels if series]
    if not shown:
        return None
    caption = (
        f"Speedup (times less time a kept token) against length in tokens, task {task}, bars: 95 % interval; above the "
        "line at 1 a strategy is faster than the denominator. Strongest AR engines here: "
        f"{listed([summary.name(label) for label in strongest]) or 'none'}."
    )
    rule, narrowed = caveats.strongest(summary, task, cells), caveats.exact_lengths(summary, cells)
    caption = caveats.joined(caption, caveats.SPEEDUP, rule, narrowed, caveats.TIMING)
    title = titles.speedup_title(summary, cells)
    table = speedup_table(summary, task)
    name = _name("speedup", summary, task)
    return _figure(summary, name, title, caption, table, len(shown), plots.speedups(shown, _lengths(cells)))


def _quality_latency(summary: Summary, task: str) -> Figure | None:
    found = [(c, summary.headline(task, c.label), summary.quality(task, c.label)) for c in summary.contestants]
    both = [(c, cell, q) for c, cell, q in found if cell and q and "bleu" in q.scores]
    racing = [entry for entry in both if entry[0].kind != "copy"]
    if len(racing) < 2:
        return None
    copy = next((q.scores["bleu"].value for c, _, q in found if c.kind == "copy" and q and "bleu" in q.scores), None)
    crowds = _crowds([c for c, _, _ in racing])
    series = [
        replace(_series(summary, c, [_quality_point(cell, q)]), name=_point_name(c, crowds)) for c, cell, q in racing
    ]
    best = max(racing, key=lambda entry: entry[2].scores["bleu"].value)
    fastest = min(racing, key=lambda entry: entry[1].latency_s.value)
    title = titles.trade_title(best, fastest)
    caption = (
        f"BLEU (points) against median time of a request (ms, logarithmic), task {task}; bars: 95 % intervals; up and "
        "to the left is better." + (" The dashed line is copying the source." if copy is not None else "")
    )
    caption = caveats.joined(caption, caveats.exact_beside_bleu(summary, [cell for _, cell, _ in racing]))
    caption += "".join(f" Of {visible(strategy)}, the labels give the knobs alone." for strategy in crowds)
    front = front_figure.standing(summary, task)
    caption = caveats.joined(caption, front_figure.how_ringed(front))
    draw = front_figure.ringed(
        plots.scatter(series, copy), [_quality_point(cell, q) for c, cell, q in racing if c.label in front]
    )
    table, name = quality_latency_table(summary, task), _name("quality", summary, task)
    return _figure(summary, name, title, caption, table, 1, draw, (WIDE_POINTS, NARROW_POINTS))


def _crowds(contestants: Sequence[Contestant]) -> list[str]:
    """Strategies with so many points that their full names would cover the figure."""
    counts = Counter(contestant.strategy for contestant in contestants)
    return sorted(strategy for strategy, count in counts.items() if count > 4)


def _point_name(contestant: Contestant, crowds: Sequence[str]) -> str:
    knobs = contestant.name.partition(" ")[2]
    return knobs if knobs and contestant.strategy in crowds else contestant.name


def _curves(summary: Summary, task: str, knob: str) -> Figure | None:
    found = curves(summary, task, knob)
    if not found:
        return None
    scored = [(curve, [(x, summary.quality(task, c.label)) for x, c in curve.points]) for curve in found]
    panels = [
        ("BLEU, points", _knob_series(summary, scored, "bleu")),
        ("repeated tokens, %", _knob_series(summary, scored, "repeated_token_rate")),
    ]
    baseline = summary.quality(task, summary.baseline) if summary.baseline else None
    lines = [
        ("AR", baseline.scores["bleu"].value if baseline and "bleu" in baseline.scores else None),
        ("references", summary.reference_scores.get(task, {}).get("repeated_token_rate")),
    ]
    caption = (
        f"BLEU (points) and repeated tokens (%) against {KNOBS[knob]}, task {task}; {_held(found)}. Bars: 95 % "
        "intervals; dashed: AR's BLEU and the references' own rate."
    )
    title = titles.curve_title(found[0], scored[0][1])
    table = curve_table(summary, task, found)
    draw = plots.knob(panels, lines, KNOBS[knob])
    return _figure(summary, _name(knob.replace("_", "-"), summary, task), title, caption, table, 2, draw)


def _held(found: Sequence[Curve]) -> str:
    return "; ".join(f"{visible(curve.strategy)} with {curve.held or 'its other knobs as they are'}" for curve in found)


def _knob_series(summary: Summary, scored: Sequence[tuple[Curve, Scored]], metric: str) -> list[plots.Series]:
    """A line a curve, named by its strategy, or by what was held where one strategy has several."""
    looks = names.looks(c.strategy for c in summary.contestants)
    found = []
    for i, (curve, points) in enumerate(scored):
        values = [plots.point(x, q.scores[metric]) for x, q in points if q and metric in q.scores]
        alone = [other.strategy for other, _ in scored].count(curve.strategy) == 1
        name = curve.strategy if alone else curve.held or curve.strategy
        found += [plots.Series(visible(name), i, looks[curve.strategy], tuple(values))] if values else []
    return found


def _grid(summary: Summary, task: str) -> list[Cell]:
    """The cells of a length, at the smallest batch."""
    cells = [cell for cell in summary.cells if cell.task == task and cell.length is not None]
    return [cell for cell in cells if cell.batch_size == min(c.batch_size for c in cells)]


def _by_contestant(summary: Summary, cells: Sequence[Cell]) -> list[tuple[Contestant, list[Cell]]]:
    found = [(c, [cell for cell in cells if cell.label == c.label]) for c in summary.contestants]
    return [(contestant, sorted(own, key=_tokens)) for contestant, own in found if own]


def _tokens(cell: Cell) -> float:
    """Where a cell stands on the axis of lengths: at the tokens that were really kept."""
    return cell.kept_mean if cell.mode == "natural" or cell.length is None else cell.length


def _latency_point(cell: Cell) -> plots.Point:
    return plots.point(_tokens(cell), cell.latency_s, 1000)


def _fitted(summary: Summary, contestant: Contestant, cells: Sequence[Cell]) -> plots.Series:
    series = _series(summary, contestant, map(_latency_point, cells))
    return line_figure.with_line(summary, contestant, cells[0], series)


def _speedup_series(
    summary: Summary, groups: Sequence[tuple[Contestant, list[Cell]]], speedup: Callable[[Cell], Speedup | None]
) -> list[plots.Series]:
    """Every contestant but the denominator itself, which would draw the line at 1."""
    found = []
    for contestant, cells in groups:
        pairs = [(cell, s) for cell in cells if (s := speedup(cell)) and s.against != contestant.label]
        if pairs:
            found.append(_series(summary, contestant, [plots.point(_tokens(c), s.ratio) for c, s in pairs]))
    return found


def _quality_point(cell: Cell, quality: Quality) -> plots.Point:
    latency, bleu = cell.latency_s, quality.scores["bleu"]
    across = None if latency.low is None or latency.high is None else (1000 * latency.low, 1000 * latency.high)
    return plots.Point(1000 * latency.value, bleu.value, bleu.low, bleu.high, across)


def _name(what: str, summary: Summary, task: str) -> str:
    """An id that is safe in a page whatever a task is called."""
    return f"{what}-{summary.tasks.index(task) + 1}"


def _series(summary: Summary, contestant: Contestant, points: Iterable[plots.Point]) -> plots.Series:
    look = names.looks(c.strategy for c in summary.contestants)[contestant.strategy]
    return plots.Series(contestant.name, contestant.variant, look, tuple(points))


def _lengths(cells: Sequence[Cell]) -> list[int]:
    return sorted({cell.length for cell in cells if cell.length is not None})
