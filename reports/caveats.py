"""Sentences that must stand beside a number wherever it stands: what else it depends on."""

from collections.abc import Iterable

from reports.formats import listed
from reports.names import clipped, visible
from reports.summary import Cell, Contestant, Summary

THREADS = "at the run's threads"
SPEEDUP = (
    "Speedup: the denominator's median time per kept token over the contestant's, in the repeats both ran; the table "
    "has their number n."
)
TIMING = (
    "Timing leaves out loading, tokenising, detokenising, scoring and warm-up; see How it was measured, at the end."
)


def strongest(summary: Summary, task: str, cells: Iterable[Cell]) -> str:
    """Which AR engine is the strongest one; '' where no cell was divided by it."""
    if not any(cell.each_at_best for cell in cells):
        return ""
    if (scored := summary.scored_task(task)) is None:
        return f"The strongest AR engine, {THREADS}: quality not measured here: simply the fastest."
    where = "" if scored == task else f" on {scored}"
    timed = {cell.label for cell in summary.cells if cell.task == task}
    unscored = [
        c.name for c in summary.contestants if c.kind == "ar" and c.label in timed and not _bleu(summary, scored, c)
    ]
    taken = f" (by speed alone, since it was not scored: {listed(unscored)})" if unscored else ""
    return (
        f"The strongest AR engine, {THREADS}: the fastest one whose BLEU{where} is not significantly below the "
        f"contestant's{taken}."
    )


def exact_lengths(summary: Summary, cells: Iterable[Cell]) -> str:
    """That a given length leaves one length candidate to try; '' where no cell is of a strategy that tries several."""
    beams = {c.strategy: clipped(c.length_beam or "", 8) for cell in cells if (c := _narrowed(summary, cell))}
    return " ".join(
        f"At an exact length {visible(strategy)} tries one length candidate, since the length is given; at natural "
        f"lengths, where BLEU is measured, it tries {visible(beam)} (length_beam)."
        for strategy, beam in sorted(beams.items())
    )


def exact_beside_bleu(summary: Summary, cells: Iterable[Cell]) -> str:
    """The same, behind a warning where BLEU stands beside a cell of an exact length: it is of other outputs."""
    cells = list(cells)
    exact = any(cell.mode == "exact" and summary.quality(cell.task, cell.label) for cell in cells)
    apart = "Timed at an exact length, while BLEU is of outputs at natural lengths." if exact else ""
    return joined(apart, exact_lengths(summary, cells))


def joined(*sentences: str) -> str:
    """The sentences that are not empty, one after another."""
    return " ".join(sentence for sentence in sentences if sentence)


def _narrowed(summary: Summary, cell: Cell) -> Contestant | None:
    contestant = summary.contestant(cell.label)
    several = cell.mode == "exact" and contestant.length_beam not in (None, "1")
    return contestant if several else None


def _bleu(summary: Summary, task: str, contestant: Contestant) -> bool:
    quality = summary.quality(task, contestant.label)
    return quality is not None and "bleu" in quality.scores
