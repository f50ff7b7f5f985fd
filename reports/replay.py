"""How each strategy wrote the same sentence, on one clock: traces, and the steps of the trials timed without them.

A trace has no times of its own. Its frames stand where the same request, timed and not traced, had done the same steps;
where there is no such trial its pace is not measured, and said so.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby

from reports.formats import number
from reports.names import clipped, visible
from reports.strips import Strip, strip
from reports.summary import Contestant, Summary
from suites.records import Change, Record, Sample, Trace, TracedSlot

MAX_CHANGES = 8_000  # of slots, on the whole page: some 600 kB
MAX_PIECE, MAX_SOURCE = 24, 400  # characters
SHADES = 5
LETTERS = {"masked": "m", "tentative": "t", "final": "f", "gone": "g"}


@dataclass(frozen=True, slots=True)
class Written:
    """A slot of a lane: what stands in it in the end, and all that stood there."""

    text: str
    turn: int  # 1 for the tokens that came to stay first; 0 for a slot that is gone in the end
    shade: int  # the turn in 1 … SHADES
    changes: str  # a line a change: the frame's index, a letter for the state, the text


@dataclass(frozen=True, slots=True)
class Lane:
    contestant: Contestant
    slots: tuple[Written, ...]
    times: tuple[float, ...]  # of each frame, in the replay's unit; empty where its pace is not measured
    said: str
    strip: Strip


@dataclass(frozen=True, slots=True)
class Replay:
    anchor: str
    task: str
    row: int
    source: str
    span: float  # of the clock
    unit: str  # "ms", or "steps" where no pace is measured
    lanes: tuple[Lane, ...]

    @property
    def half(self) -> str:
        return number(self.span / 2)

    @property
    def whole(self) -> str:
        return number(self.span)


@dataclass(frozen=True, slots=True)
class Replays:
    shown: tuple[Replay, ...]
    notes: tuple[str, ...]  # who is not shown, and why


def replays(summary: Summary) -> Replays:
    """A replay a traced sentence, in the order they were timed, as far as the page has room for them."""
    by_row: dict[tuple[str, int], list[tuple[Sample, Record]]] = {}
    for sample, record in sorted(summary.traced, key=lambda pair: (pair[0].task, pair[1].repeat)):
        by_row.setdefault((sample.task, sample.row), []).append((sample, record))
    room, shown, left_out = MAX_CHANGES, [], 0
    rank = {contestant.label: place for place, contestant in enumerate(summary.contestants)}
    for pairs in by_row.values():
        fitting = []
        for pair in sorted(pairs, key=lambda pair: rank[pair[0].label]):
            room -= _cost(pair[0])
            fitting += [pair] if room >= 0 else []
        left_out += len(pairs) - len(fitting)
        shown += [_replay(summary, fitting)] if fitting else []
    return Replays(tuple(shown), tuple(_notes(summary, left_out)))


def _notes(summary: Summary, left_out: int) -> list[str]:
    reasons = {label: why for start in summary.info.starts for label, why in start.untraced.items()}
    named = [c for c in summary.contestants if c.label in reasons]
    alike = groupby(sorted(named, key=lambda c: reasons[c.label]), key=lambda c: reasons[c.label])
    found = [f"Not traced: {', '.join(c.name for c in of_reason)} ({why})." for why, of_reason in alike]
    return [*found, f"Left out, since this page would grow heavy: {left_out} traces."] if left_out else found


def _cost(sample: Sample) -> int:
    slots = sample.trace.slots if sample.trace else ()
    return sum(1 + len(slot.changes) for slot in slots)


def _replay(summary: Summary, pairs: Sequence[tuple[Sample, Record]]) -> Replay:
    first = pairs[0][0]
    paces = [_pace(summary, sample, record) for sample, record in pairs]
    done = [
        record.latency_s * 1000 for (_, record), pace in zip(pairs, paces, strict=True) if pace and record.latency_s
    ]
    unit, span = ("ms", max(done)) if done else ("steps", float(max(len(_trace(s).frames) for s, _ in pairs)))
    task = summary.tasks.index(first.task) + 1 if first.task in summary.tasks else 0
    lanes = tuple(_lane(summary, *pair, pace, span, unit) for pair, pace in zip(pairs, paces, strict=True))
    source = clipped(visible(first.source), MAX_SOURCE)
    return Replay(f"replay-{task}-{first.row}", first.task, first.row, source, span, unit, lanes)


def _pace(summary: Summary, sample: Sample, record: Record) -> tuple[float, ...]:
    """The ms at which each frame was reached in `record`; () where that trial says nothing of this trace.

    Steps on an accelerator are not synchronised, so their seconds are those of asking for the work, not of doing it.
    """
    trace = _trace(sample)
    done = [(step.phase, step.calls, step.positions) for step in record.steps]
    alike = done == [(step.phase, step.calls, step.positions) for step in trace.steps]
    alike = alike and record.status == "ok" and record.tokens_kept == (len(sample.token_ids),)
    starts = summary.info.starts
    device = starts[record.start].settings.get("device", "cpu") if record.start < len(starts) else None
    if not alike or device != "cpu":
        return ()
    clock = list(accumulate(step.seconds * 1000 for step in record.steps))
    return tuple(clock[step] for step in trace.frames)


def _lane(summary: Summary, sample: Sample, record: Record, pace: tuple[float, ...], span: float, unit: str) -> Lane:
    trace = _trace(sample)
    steps = tuple(float(place + 1) for place in range(len(trace.frames)))
    times = pace if unit == "ms" else steps
    evenly = [step * span / (len(steps) + 1) for step in steps]  # a picture of its own, beside the clock
    turns = _turns(trace.slots)
    shades = [_shade(turn, max(turns, default=0)) for turn in turns]
    return Lane(
        contestant=summary.contestant(sample.label),
        slots=tuple(_written(trace, slot, *at) for slot, *at in zip(trace.slots, turns, shades, strict=True)),
        times=times,
        said=_said(trace, pace, record),
        strip=strip(trace.slots, shades, [time / span for time in (times or evenly)]),
    )


def _turns(slots: Sequence[TracedSlot]) -> list[int]:
    """For each slot, the place of its last writing among all that lasted, from 1; 0 where it is gone in the end."""
    last = [None if slot.changes[-1].state == "gone" else _last_written(slot) for slot in slots]
    order = {frame: turn for turn, frame in enumerate(sorted({f for f in last if f is not None}), start=1)}
    return [0 if frame is None else order[frame] for frame in last]


def _last_written(slot: TracedSlot) -> int:
    """The frame from which the slot's last token stands, tentative or final."""
    changes = slot.changes
    token_id = changes[-1].token_id
    first = len(changes) - 1
    while first and changes[first - 1].token_id == token_id:
        first -= 1
    return changes[first].frame


def _shade(turn: int, last: int) -> int:
    return 1 + round((SHADES - 1) * (turn - 1) / (last - 1)) if turn and last > 1 else (SHADES + 1) // 2


def _written(trace: Trace, slot: TracedSlot, turn: int, shade: int) -> Written:
    lines = [f"{change.frame}{LETTERS[change.state]}{_text(trace, change)}" for change in slot.changes]
    return Written(_text(trace, slot.changes[-1]) if turn else "", turn, shade, "\n".join(lines))


def _text(trace: Trace, change: Change) -> str:
    """What the slot shows, on one line and without characters that act."""
    if change.token_id is None:
        return "▢" if change.state == "masked" else ""
    piece = trace.pieces[str(change.token_id)]
    return clipped(visible("".join(" " if char.isspace() else char for char in piece)), MAX_PIECE)


def _said(trace: Trace, pace: tuple[float, ...], record: Record) -> str:
    """When the lane's tokens were committed, and how often one was written over, in words."""
    standing = [slot for slot in trace.slots if slot.changes[-1].state == "final"]
    if not standing:
        return "no tokens"
    committed = sorted({slot.changes[-1].frame for slot in standing})
    said = f"{len(standing)} token{'s' if len(standing) > 1 else ''}"
    if len(committed) == 1:
        said += ", all at once" + (f" at {_ms(pace[committed[0]])} ms" if pace else "")
    else:
        ends = f", {_ms(pace[committed[0]])} to {_ms(pace[committed[-1]])} ms" if pace else ""
        said += f" in {len(committed)} steps{ends}"
    over, out = _undone(trace.slots)
    said += f"; {over} written over" if over else ""
    said += f"; {out} taken out" if out else ""
    return said + (f"; done at {_ms((record.latency_s or 0) * 1000)} ms" if pace else "; pace not measured")


def _ms(value: float) -> str:
    return number(value) if value >= 0.01 else "< 0.01"


def _undone(slots: Sequence[TracedSlot]) -> tuple[int, int]:
    """How often a token gave way to another or to a mask, and how often it was taken out."""
    over = out = 0
    for slot in slots:
        for before, after in zip(slot.changes, slot.changes[1:], strict=False):
            if before.token_id not in (None, after.token_id):
                out += after.state == "gone"
                over += after.state != "gone"
    return over, out


def _trace(sample: Sample) -> Trace:
    if sample.trace is None:
        raise ValueError(f"{sample.key}: no trace")
    return sample.trace
