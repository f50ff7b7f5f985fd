"""Sentences of the verdict about costs: what a run without a race measured, and who stands how far above the floor."""

from collections import Counter
from collections.abc import Sequence

from reports.costs import Memory, Parts
from reports.formats import fixed, listed, with_interval, workload
from reports.summary import Summary, far_from_usual

MB = 2**20


def cost_lead(summary: Summary) -> str:
    """What the run says of source and output lengths, or of memory; '' where it measured neither."""
    costs = summary.costs
    told = [p for p in costs.parts if p.place.source_length and p.place.length and "prefill" in p.shares]
    if told:
        return f"{prompt_sentence(summary, told)}."
    return _memory_sentence(summary, costs.memories) if costs.memories else ""


def prompt_sentence(summary: Summary, told: Sequence[Parts]) -> str:
    """Whose time prefill takes over half of, and at how many of the pairs of lengths; without its full stop."""
    ruled = Counter(p.place.label for p in told if p.shares["prefill"] > 0.5)
    if not ruled:
        return "Writing takes more than half of the time at every source and output length measured"
    tried = Counter(p.place.label for p in told)
    parts = [f"{n} of {tried[label]} for {summary.name(label)}" for label, n in ruled.most_common()]
    return f"Prefill takes over half of the time at some pairs of source and output length: {listed(parts)}"


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


def floor_sentences(summary: Summary, task: str) -> list[str]:
    """How far above one scoring pass each contestant stands, at the length nearest to the usual one."""
    found = [over for over in summary.costs.over_floor if over.place.task == task and over.place.length]
    if not found:
        return []
    place = min((over.place for over in found), key=lambda p: (p.batch_size, far_from_usual(p.length or 0)))
    there = [o for o in found if (o.place.length, o.place.batch_size) == (place.length, place.batch_size)]
    each = [f"{summary.name(o.place.label)} {with_interval(o.ratio, decimals=2, unit='×')}" for o in there]
    under = [summary.name(o.place.label) for o in there if o.ratio.high is not None and o.ratio.high < 1]
    judged = f"; {listed(under)} made a smaller pass" if under else "; no interval lies wholly below 1"
    return [
        f"On {task} at {workload(place.length, place.batch_size)}, of the time of one parallel scoring pass "
        f"({summary.name(there[0].floor)}): {listed(each)} (n = {there[0].ratio.n:,}){judged}."
    ]
