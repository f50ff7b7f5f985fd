"""The sentence each figure supports, computed from what the figure shows."""

from collections.abc import Sequence

from reports.choices import leader, representatives
from reports.curves import KNOBS, Curve, phrase
from reports.formats import fixed, number
from reports.names import visible
from reports.summary import Cell, Contestant, Quality, Summary, far_from_usual


def latency_title(summary: Summary, cells: Sequence[Cell]) -> str:
    """How far apart the fastest and the slowest contestant are at the length nearest to the usual one."""
    length = min((cell.length or 0 for cell in cells), key=far_from_usual)
    there = sorted((c for c in cells if c.length == length), key=lambda cell: cell.latency_s.value)
    decoding = [cell for cell in there if summary.contestant(cell.label).kind not in ("floor", "copy")] or there
    fast, slow = decoding[0], decoding[-1]
    if fast is slow:
        return f"{summary.name(fast.label)} takes {number(1000 * fast.latency_s.value)} ms at {length} tokens"
    times = number(slow.latency_s.value / fast.latency_s.value, 2)
    return (
        f"At {length} tokens the slowest contestant, {summary.name(slow.label)}, takes {times} times as long as the "
        f"fastest, {summary.name(fast.label)}"
    )


def speedup_title(summary: Summary, cells: Sequence[Cell]) -> str:
    """The speedup of the leader by both denominators, nearest to the usual length."""
    task = cells[0].task
    racing = [cell for cell in cells if cell.like_for_like and cell.each_at_best]
    chosen = [c for c in representatives(summary, task) if any(cell.label == c.label for cell in racing)]
    if not chosen:
        return "How fast the AR engines are against each other"
    first = leader(summary, task, chosen).label
    top = min((cell for cell in racing if cell.label == first), key=lambda cell: far_from_usual(cell.length or 0))
    like, best = (number(s.ratio.value, 2) for s in (top.like_for_like, top.each_at_best) if s)
    name = summary.name(top.label)
    if like == best:
        return f"{name} at {top.length} tokens is {like} times as fast as AR, by the one denominator this run has"
    return f"{name} at {top.length} tokens is {like} times as fast as AR, or {best} times: it depends on the AR engine"


def trade_title(best: tuple[Contestant, Cell, Quality], fastest: tuple[Contestant, Cell, Quality]) -> str:
    """How much BLEU lies between the fastest contestant and the best one."""
    if best[0] == fastest[0]:
        return f"{best[0].name} is both the fastest contestant and the one with the highest BLEU"
    gap = fixed(best[2].scores["bleu"].value - fastest[2].scores["bleu"].value)
    return f"The fastest contestant, {fastest[0].name}, stands {gap} BLEU below the best, {best[0].name}"


def curve_title(curve: Curve, points: Sequence[tuple[int, Quality | None]]) -> str:
    """What BLEU does between the ends of a curve; where it is best between them, that."""
    values = [(x, q.scores["bleu"].value) for x, q in points if q and "bleu" in q.scores]
    strategy = visible(curve.strategy)
    if len(values) < 2:
        return f"{strategy}: quality against {KNOBS[curve.knob]}"
    (x0, y0), (x1, y1) = values[0], values[-1]
    x, y = max(values, key=lambda point: point[1])
    if y > max(y0, y1):
        ends = [f"{fixed(y - end)} above {phrase(curve.knob, at)}" for at, end in (values[0], values[-1])]
        return f"{strategy} is best with {phrase(curve.knob, x)}, {fixed(y)} BLEU: {ends[0]} and {ends[1]}"
    ends = [phrase(curve.knob, x) for x in (x0, x1)]
    return f"{strategy} {'gains' if y1 >= y0 else 'loses'} {fixed(abs(y1 - y0))} BLEU from {ends[0]} to {ends[1]}"
