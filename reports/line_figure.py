"""What fitted lines add to the figure of latency against length: the lines, their bands, and where they cross."""

from dataclasses import replace
from math import isfinite

from reports import plots
from reports.formats import listed
from reports.summary import Cell, Contestant, Line, Summary


def with_line(summary: Summary, contestant: Contestant, cell: Cell, series: plots.Series) -> plots.Series:
    """The medians with the contestant's line through them, and a ring where it crosses the baseline's.

    Unchanged, so that its medians are joined, where the contestant has no line at the cell's task and batch size.
    """
    line = summary.line(cell.task, contestant.label, cell.batch_size)
    if line is None or line.bends:
        return series
    ring = _ring(line) if contestant.challenges else None
    fit = tuple(plots.point(tokens, height) for tokens, height in line.drawn)
    return replace(series, fit=fit, crossings=(ring,) if ring else ())


def how_drawn(summary: Summary, task: str, batch_size: int) -> str:
    """What lines, bands and rings mean, and which contestants have no line; '' where none has one."""
    found = [line for line in summary.lines if (line.task, line.batch_size) == (task, batch_size)]
    if all(line.bends for line in found):
        return ""
    baseline = f"; ring: where a strategy overtakes {summary.name(summary.baseline)}" if summary.baseline else ""
    bent = listed([summary.name(line.label) for line in found if line.bends])
    joined = f" No line fits {bent}: medians are joined." if bent else ""
    return (
        "Lines: t(L) = a + bL by Theil–Sen through the medians; band: 95 % interval by bootstrap over whole repeats"
        f"{baseline}, the thick bar its interval.{joined}"
    )


def _ring(line: Line) -> plots.Point | None:
    """Where it crosses the baseline's line; None where it does not. An open bar ends with the lengths measured."""
    crossing, a, b = line.with_baseline, line.a_ms, line.b_ms
    if crossing is None or not crossing.of_lines or not isfinite(tokens := crossing.found.crossing) or not (a and b):
        return None
    low, high = crossing.found.low, crossing.found.high
    across = None if low is None or high is None else (max(low, crossing.grid[0]), min(high, crossing.grid[1]))
    return plots.Point(tokens, a.value + b.value * tokens, None, None, across)
