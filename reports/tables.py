"""The tables of a report: numbers as text with their n and interval, the best of a column marked."""

from collections.abc import Iterable
from dataclasses import dataclass

from reports import caveats, entries
from reports.curves import Curve, phrase
from reports.entries import Entry
from reports.formats import fixed, number
from reports.names import clipped
from reports.summary import Cell, Summary


@dataclass(frozen=True, slots=True)
class Table:
    title: str
    note: str
    heads: tuple[str, ...]  # the first column names the row; units stand in the heads
    rows: tuple[tuple[Entry, ...], ...]
    of_text: bool = False  # set as text, not as figures to compare
    anchor: str = ""  # the id under which the page links to it
    facets: tuple[tuple[str, str], ...] = ()  # what holds for every row, such as ("task", "verse")

    def facets_of(self, row: tuple[Entry, ...]) -> dict[str, str]:
        """By what a reader can filter the row: its strategy, its task and its batch, as far as the table knows them."""
        columns = {head: entry.text for head, entry in zip(self.heads, row, strict=True) if head in ("task", "batch")}
        own = {"strategy": row[0].strategy} if row[0].strategy else {}
        return dict(self.facets) | columns | own


def latency_table(summary: Summary, task: str) -> Table:
    """One row a cell: workload, median, p90, rates, calls and positions."""
    cells = [cell for cell in summary.cells if cell.task == task]
    heads = (
        "contestant",
        "length",
        "batch",
        "latency, ms",
        "p90, ms",
        "tokens/s",
        "ms/token",
        "kept",
        "calls",
        "positions",
        "wasted",
    )
    note = (
        "Latency: median with its 95 % interval and n; p90 only from 29 samples. Tokens/s and ms/token: totals over "
        "totals. Kept: mean tokens a row. Calls and positions: model calls and token positions a request. Wasted: mean "
        "positions of a strategy's canvas, an output, that became no kept token; – without a canvas."
    )
    note = caveats.joined(note, caveats.exact_lengths(summary, cells))
    return Table(f"Latency on {task}", note, heads, tuple(_latency_row(summary, cell) for cell in cells))


def speedup_table(summary: Summary, task: str) -> Table:
    """One row a cell with a speedup, each with its denominator's name."""
    cells = [cell for cell in summary.cells if cell.task == task and (cell.like_for_like or cell.each_at_best)]
    rows = [
        (
            entries.who(summary.contestant(cell.label)),
            Entry(_length(cell.length)),
            Entry(str(cell.batch_size)),
            entries.speedup(summary, cell.like_for_like, cell.label),
            entries.speedup(summary, cell.each_at_best, cell.label),
        )
        for cell in cells
    ]
    note = (
        "The denominator's median time per kept token over the contestant's, in the repeats both ran; intervals by "
        "bootstrap over whole repeats, n counts them."
    )
    note = caveats.joined(note, caveats.strongest(summary, task, cells), caveats.exact_lengths(summary, cells))
    heads = ("contestant", "length", "batch", "like for like, ×", "each at its best, ×")
    return Table(f"Speedups on {task}", note, heads, tuple(rows))


def curve_table(summary: Summary, task: str, found: Iterable[Curve]) -> Table:
    """One row a point of the curves."""
    rows = []
    for curve in found:
        for x, contestant in curve.points:
            quality = summary.quality(task, contestant.label)
            scores = quality.scores if quality else {}
            cells = [entries.estimate(scores.get("bleu"), 1), entries.estimate(scores.get("repeated_token_rate"), 2)]
            rows.append((entries.who(contestant), Entry(phrase(curve.knob, x)), *cells))
    heads = ("contestant", "knob", "BLEU, points", "repeated tokens, %")
    return Table("The numbers behind the figure", "", heads, tuple(rows))


def quality_latency_table(summary: Summary, task: str) -> Table:
    """One row a contestant: median latency and BLEU."""
    rows = []
    for c in summary.contestants:
        cell, quality = summary.headline(task, c.label), summary.quality(task, c.label)
        if cell and quality:
            rows.append((entries.who(c), entries.latency(cell), entries.estimate(quality.scores.get("bleu"), 1)))
    heads = ("contestant", "median latency, ms", "BLEU, points")
    return Table("The numbers behind the figure", "", heads, tuple(rows))


def coverage_table(summary: Summary) -> Table:
    """One row a contestant and task: trials that succeeded of those planned, and why the others did not."""
    rows = []
    for coverage in summary.coverage:
        reasons = [clipped(f"{count} × {status}: {reason}", 400) for status, reason, count in coverage.failures]
        absent = coverage.planned - coverage.ok - sum(count for _, _, count in coverage.failures)
        reasons += [f"{absent} × never ran"] if absent > 0 else []
        done = Entry(f"{coverage.ok:,} / {coverage.planned:,}")
        rows.append(
            (
                entries.who(summary.contestant(coverage.label)),
                Entry(coverage.task),
                done,
                Entry("; ".join(reasons) or "none"),
            )
        )
    heads = ("contestant", "task", "succeeded / planned", "failures")
    return Table(
        "Coverage and failures",
        "Planned trials, the batched quality passes among them.",
        heads,
        tuple(rows),
        of_text=True,
    )


def _latency_row(summary: Summary, cell: Cell) -> tuple[Entry, ...]:
    return (
        entries.who(summary.contestant(cell.label)),
        Entry(_length(cell.length), ("by reference",) if cell.mode == "natural" and cell.length else ()),
        Entry(str(cell.batch_size)),
        entries.latency(cell),
        Entry(number(None if cell.p90_s is None else 1000 * cell.p90_s)),
        Entry(number(cell.tokens_per_s)),
        Entry(number(cell.ms_per_token)),
        Entry(fixed(cell.kept_mean)),
        Entry(fixed(cell.calls)),
        Entry(fixed(cell.positions)),
        Entry(fixed(cell.wasted)),
    )


def _length(length: int | None) -> str:
    return "natural" if length is None else str(length)
