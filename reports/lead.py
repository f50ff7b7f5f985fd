"""The verdict's first sentence, and the words in which every sentence says where and how many times faster."""

from reports.caveats import THREADS, exact_lengths
from reports.choices import bleu, lead_cell
from reports.cost_words import cost_lead
from reports.evidence_words import damage_sentence
from reports.formats import interval, number, signed, workload
from reports.summary import Cell, Speedup, Summary, workload_of


def lead(summary: Summary) -> str:
    """How fast the leader is by both denominators, and what its speed costs; see `choices.leader`."""
    cell = lead_cell(summary)
    if cell is None:
        return _without_race(summary)
    start = f"{where(cell)}, {summary.name(cell.label)}{_why(summary, cell)} is {both(summary, cell, False)}"
    return f"{start}{_price(summary, cell)}."


def where(cell: Cell) -> str:
    """`On verse at 128 tokens, batch 1`."""
    return f"On {cell.task} at {workload(*workload_of(cell))}"


def both(summary: Summary, cell: Cell, with_bounds: bool = True) -> str:
    """The two speedups with their denominators in words; the second is left out where both are the same."""
    like, best = cell.like_for_like, cell.each_at_best
    parts = []
    if like:
        parts.append(f"{_times(like, with_bounds)} as fast as {summary.name(like.against)} in the same runtime")
    if best and (like is None or best.against != like.against):
        strongest = f"{summary.name(best.against)}, the strongest AR engine here {THREADS}"
        parts.append(f"{_times(best, with_bounds)} as fast as {strongest}")
    return " and ".join(parts)


def _times(speedup: Speedup, with_bounds: bool) -> str:
    bounds = interval(speedup.ratio)
    return (
        f"{number(speedup.ratio.value)}× {bounds}" if with_bounds and bounds else f"{number(speedup.ratio.value, 2)}×"
    )


def _why(summary: Summary, cell: Cell) -> str:
    """Why this contestant and no other, where there was a choice."""
    kind = summary.contestant(cell.label).kind
    scored = [c for c in summary.contestants if c.kind == kind and bleu(summary, cell.task, c) > float("-inf")]
    return f", the {kind} contestant with the best BLEU," if len(scored) > 1 else ""


def _price(summary: Summary, cell: Cell) -> str:
    """What the lead's contestant costs in BLEU, in its own task or else the run's scored one."""
    task = summary.scored_task(cell.task)
    quality = summary.quality(task, cell.label) if task else None
    if quality is None or quality.bleu_difference is None:
        return "; this run does not say at what cost in quality"
    difference, place = quality.bleu_difference, "" if task == cell.task else f" on {task}"
    price = f", at {signed(difference.value)} BLEU{place} relative to {summary.name(difference.against)}"
    return price + _of_other_outputs(summary, cell)


def _of_other_outputs(summary: Summary, cell: Cell) -> str:
    """That BLEU was not measured on the outputs that were timed; '' where it was on outputs made the same way."""
    if cell.mode != "exact":
        return ""
    beam = summary.contestant(cell.label).length_beam if exact_lengths(summary, [cell]) else None
    narrowed = f" with {beam} length candidates, where a given length leaves one to time" if beam else ""
    return f" (BLEU at natural lengths{narrowed})"


def _without_race(summary: Summary) -> str:
    ok = sum(coverage.ok for coverage in summary.coverage)
    if not ok:
        return summary.missing[0] if summary.missing else "Nothing was measured."
    if told := cost_lead(summary):
        return told
    if hurt := damage_sentence(summary):
        return f"{hurt}."
    challenged = any(contestant.challenges for contestant in summary.contestants)
    what = "nothing was timed beside an AR engine to race it" if challenged else "no parallel strategy took part"
    return f"No race to decide: {what}. {ok:,} of {summary.info.expected:,} planned trials succeeded."
