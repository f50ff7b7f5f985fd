"""Sentences of the verdict that rest on tests: the front, the claims of the literature, why one-shot must lose."""

from itertools import groupby

from reports.evidence import Correlation
from reports.evidence_tables import percent
from reports.formats import fixed, listed, with_interval
from reports.summary import Summary


def front_sentences(summary: Summary, task: str) -> list[str]:
    """Who stands on the task's front, and for whom the others left it."""
    front = next((front for front in summary.evidence.fronts if front.task == task), None)
    if front is None:
        return []
    standing = listed([summary.name(label) for label in front.standing])
    left = [(p.beaten_by.label, p.label) for p in front.points if p.beaten_by]
    parts = [
        f"{listed([summary.name(label) for _, label in group])} by {summary.name(by)}"
        for by, group in groupby(sorted(left), key=lambda pair: pair[0])
    ]
    beaten = f" Beaten beyond doubt: {'; '.join(parts)}." if parts else " Nobody is beaten beyond doubt."
    return [f"On {task}, nothing beats {standing} in BLEU and time together.{beaten}"]


def literature_sentences(summary: Summary, task: str) -> list[str]:
    """One sentence a claim, under the run's first task."""
    if task != summary.tasks[0]:
        return []
    return [
        f"{claim.judgement.capitalize()}: {claim.claim}"
        + (f" ({claim.what}: {with_interval(claim.value, decimals=2)}, n = {claim.value.n:,})" if claim.value else "")
        + f"; {claim.because}."
        for claim in summary.evidence.claims
    ]


def damage_sentence(summary: Summary) -> str:
    """What a wrong token about halfway does at most and at least, without its full stop; '' where none was put."""
    damages = summary.evidence.damages
    if not damages:
        return ""
    at = min((d.at for d in damages), key=lambda place: abs(place - 0.5))
    there = [d for d in damages if (d.at, d.task) == (at, next(d.task for d in damages if d.at == at))]
    most = max(there, key=lambda d: d.edits.value)
    start = (
        f"One wrong token {100 * at:.0f} % into the text changes {fixed(most.edits.value)} % of what "
        f"{summary.name(most.label)} writes behind it"
    )
    healer = max((d for d in there if d.healed), key=lambda d: d.healed.value if d.healed else 0.0, default=None)
    if healer is None or healer is most or healer.healed is None or not healer.healed.value:
        return start
    return (
        f"{start}, and {fixed(healer.edits.value)} % with {summary.name(healer.label)}, which takes it back in "
        f"{fixed(healer.healed.value, 0)} % of its outputs"
    )


def _bias(c: Correlation) -> str:
    """What is known of the estimate's error."""
    if c.known is not None:
        return f"; the truth is {fixed(c.known, 3)}"
    return "; too much by what the one-shot model lost in training, too little by what the autoregressive one lost"


def one_shot_sentences(summary: Summary, task: str) -> list[str]:
    """What the task's tokens know of each other, and what came of mixing them or of one wrong token."""
    found = [
        f"On {c.task}, the references cost {summary.name(c.one_shot)} in one pass "
        f"{with_interval(c.estimate, decimals=3)} nats a token more than {summary.name(c.ar)}, both told their length "
        f"(n = {c.estimate.n:,}): so much their tokens seem to tell of each other once the source is known, which no "
        f"one-shot model sees{_bias(c)}."
        for c in summary.evidence.correlations
        if c.task == task
    ]
    mixed = [
        f"{summary.name(m.label)} {percent(m.share)}{'' if m.expected is None else f' (by theory {fixed(m.expected)})'}"
        for m in summary.evidence.mixtures
        if m.task == task
    ]
    found += [f"Invalid mixtures of coupled pairs: {listed(mixed)}."] if mixed else []
    hurt = [f"{summary.name(d.label)} {percent(d.edits)}" for d in summary.evidence.damages if d.task == task]
    at = next((d.at for d in summary.evidence.damages if d.task == task), 0.0)
    found += [f"A wrong token {100 * at:.0f} % into the text changes of what follows: {listed(hurt)}."] if hurt else []
    return found
