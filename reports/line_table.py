"""The table of fitted lines: intercept, slope, the slope over the baseline's, and where each contestant is ahead."""

from reports import entries
from reports.caveats import THREADS, TIMING, joined
from reports.entries import Entry
from reports.formats import NONE, fixed, interval, number
from reports.line_words import answer, bounds
from reports.summary import Crossing, Estimate, Line, Summary
from reports.tables import Table

FORMULA = (
    "t(L) = a + bL: milliseconds of one request of L tokens a row. b is the median of the slopes between all pairs of "
    "median latencies (Theil–Sen), a pair weighing as much as its lengths are apart; a is the median of what is left. "
    "Where a strategy's length emerges, L is the median of the tokens it kept."
)
INTERVALS = (
    "In brackets: 95 % intervals by bootstrap over whole repeats (n), drawn alike for all. Ahead: from which "
    "L on a request takes less time, its interval open at the ends of the lengths measured. A machine slow for longer "
    "than a repeat moves all a and b by one factor, outside their intervals; it leaves ratios and crossings alone."
)
BENT = "Misses: how far the line lies, on average, from a length it was not fitted to; bent: a quadratic does better."


def line_table(summary: Summary, task: str) -> Table | None:
    """One row a contestant and batch size; None where no contestant has enough lengths."""
    found = [line for line in summary.lines if line.task == task]
    if not found:
        return None
    baseline = summary.name(summary.baseline) if summary.baseline else "ar"
    heads = (
        "contestant",
        "batch",
        "a, ms",
        "b, ms/token",
        f"b, × {baseline}'s",
        f"ahead of {baseline}, tokens",
        "ahead of best AR, tokens",
        "misses, %",
    )
    strongest = f"Best AR: the strongest engine {THREADS}, as for the speedups." if summary.cells else ""
    note = joined(FORMULA, INTERVALS, strongest, BENT, TIMING)
    return Table(f"Lines on {task}", note, heads, tuple(_row(summary, line) for line in found))


def _row(summary: Summary, line: Line) -> tuple[Entry, ...]:
    return (
        entries.who(summary.contestant(line.label)),
        Entry(str(line.batch_size)),
        *((Entry("no line"),) * 3 if line.bends else (_number(x) for x in (line.a_ms, line.b_ms, line.relative_b))),
        _ahead(summary, line.with_baseline, named=False),
        _ahead(summary, line.with_strongest, named=True),
        _misses(line),
    )


def _number(value: Estimate | None) -> Entry:
    return Entry(NONE) if value is None else Entry(number(value.value), entries.small(interval(value), value.n))


def _ahead(summary: Summary, crossing: Crossing | None, named: bool) -> Entry:
    if crossing is None:
        return Entry(NONE)
    over = f"of {summary.name(crossing.against)}" if named else ""
    how = "" if crossing.of_lines else "medians joined"
    return Entry(answer(crossing), tuple(filter(None, (bounds(crossing), f"n = {crossing.n:,} {over}".strip(), how))))


def _misses(line: Line) -> Entry:
    """How far line and quadratic miss a held-out length, and whether that makes the latencies no line."""
    if line.curvature is None:
        return Entry(NONE, ("too few lengths",))
    shown = f"quadratic {fixed(100 * line.curvature.quadratic_error)}"
    return Entry(fixed(100 * line.curvature.line_error), (shown, *(["bent"] if line.bends else [])))
