"""The verdict's first sentence of a run without a race: what it measured instead."""

from collections.abc import Sequence

from reports.costs import Memory, Parts
from reports.formats import fixed, listed, workload
from reports.summary import Summary

MB = 2**20


def cost_lead(summary: Summary) -> str:
    """What the run says of source and output lengths, or of memory; '' where it measured neither."""
    costs = summary.costs
    told = [p for p in costs.parts if p.place.source_length and p.place.length and "prefill" in p.shares]
    if told:
        return f"{prompt_sentence(summary, told)}."
    return _memory_sentence(summary, costs.memories) if costs.memories else ""


def prompt_sentence(summary: Summary, told: Sequence[Parts]) -> str:
    """At how many pairs of lengths prefill takes over half of the time, and whose; without its full stop."""
    ruled = [p for p in told if p.shares["prefill"] > 0.5]
    if not ruled:
        return "Writing takes more than half of the time at every source and output length measured"
    names = listed(list(dict.fromkeys(summary.name(p.place.label) for p in ruled)))
    return f"Prefill takes over half of the time at {len(ruled)} of {len(told)} pairs of lengths, for {names}"


def _memory_sentence(summary: Summary, memories: Sequence[Memory]) -> str:
    """The least and the most at the first workload, which all contestants share."""
    first = memories[0].place
    same = [m for m in memories if (m.place.task, m.place.batch_size) == (first.task, first.batch_size)]
    least, most = (pick(same, key=lambda m: m.peak_bytes) for pick in (min, max))
    low, high = (f"{fixed(m.peak_bytes / MB, 0)} MB with {summary.name(m.place.label)}" for m in (least, most))
    if least is most:
        return f"Peak memory is {low}, the only contestant measured."
    where = f"On {first.task} at {workload(first.length, first.batch_size)}"
    return f"{where}, peak memory runs from {low} to {high}."
