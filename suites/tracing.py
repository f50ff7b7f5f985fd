"""Traces: a few outputs generated once more, untimed, after the last timed trial, with every step looked at.

They are made of requests that were timed alone, one sentence at its natural length, so that the timed trial's steps say
when each frame was reached. Nothing of this takes part in a latency or a score.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from generators.base import Frame, Generation, Slot, SlotState, Step, Stopwatch, Unsupported
from suites.contestants import Contestant
from suites.exchange import request_for, samples_of
from suites.isolation import Elsewhere
from suites.plan import TRACED, Trial
from suites.records import Run, RunInfo, Sample
from suites.store import RunFolder
from suites.tasks import Task
from suites.trace import Change, State, Trace, TracedSlot, TracedStep
from suites.trial import Failure, attempt

if TYPE_CHECKING:
    from generators.models.text import Codec
    from suites.prepare import Prepared

STATES: dict[SlotState, State] = {
    SlotState.MASKED: "masked",
    SlotState.TENTATIVE: "tentative",
    SlotState.FINAL: "final",
}


def add_traces(ready: "Prepared", run: Run, folder: RunFolder, info: RunInfo, say: Callable[[str], None]) -> RunInfo:
    """Trace what is due and not there yet; the info says why a contestant has no trace."""
    ok = {record.key for record in run.records if record.status == "ok"}
    there = {sample.key for sample in run.traced}
    among = [trial for trial in ready.plan.trials if trial.cell.of_sentences and trial.repeat < TRACED]
    due = [trial for trial in among if trial.key in ok and trial.key not in there]
    if not due:
        return info
    say(f"tracing {len(due)} outputs")
    tasks, untraced = {task.name: task for task in ready.tasks}, dict[str, str]()
    for contestant in ready.contestants:
        trials = [trial for trial in due if trial.cell.label == contestant.label]
        for made in traced_samples(contestant, trials, tasks, ready.settings.timeout_s):
            if isinstance(made, Failure):
                untraced[contestant.label] = made.reason
            else:
                folder.add_traced(made)
    last = replace(info.starts[-1], untraced=untraced)
    return replace(info, starts=(*info.starts[:-1], last))


def traced_samples(
    contestant: Contestant, trials: Sequence[Trial], tasks: Mapping[str, Task], timeout_s: float
) -> Iterator[Sample | Failure]:
    """The sample of each trial with its trace, or the first failure, after which nothing is tried."""
    for trial in trials:
        made = attempt(partial(traced_sample, contestant, trial, tasks[trial.cell.task]), timeout_s)
        yield made
        if isinstance(made, Failure):
            return


def traced_sample(contestant: Contestant, trial: Trial, task: Task) -> Sample:
    """What `trial` gives once more, with its trace. Raises `Unsupported` where the strategy shows none."""
    if contestant.loaded is None:
        raise RuntimeError("not loaded")
    if isinstance(contestant.loaded.generator, Elsewhere):
        raise Unsupported("it ran in a process of its own, where nobody looked")
    codec = contestant.loaded.codec
    request = replace(request_for(trial, task, codec), trace=True)
    generation = contestant.loaded.generator.generate(request, Stopwatch())
    (sample,) = samples_of(trial, task, codec, generation)
    return replace(sample, trace=trace_of(generation, codec))


def trace_of(generation: Generation, codec: "Codec") -> Trace:
    """The trace of the one row of `generation`. Raises ValueError for a strategy that declared one and gave none."""
    if generation.trace is None:
        raise ValueError("asked for a trace, got none")
    (frames,) = generation.trace
    slots = histories(frames)
    ids = sorted({one.token_id for slot in slots for one in slot.changes if one.token_id is not None})
    return Trace(
        steps=tuple(map(_step, generation.steps)),
        frames=tuple(frame.step for frame in frames),
        slots=slots,
        pieces={str(token_id): codec.piece(token_id) for token_id in ids},
    )


def histories(frames: Sequence[Frame]) -> tuple[TracedSlot, ...]:
    """What each slot held from which frame on, from left to right, slots that are gone in the end among them."""
    order: list[int] = []  # uids; frames never change the order of slots, so one order serves all
    changes: dict[int, list[Change]] = {}
    for place, frame in enumerate(frames):
        held = {slot.uid: slot for slot in frame.slots}
        here = 0
        for uid in held:
            if uid in changes:
                here = order.index(uid) + 1
            else:
                order.insert(here, uid)
                changes[uid] = []
                here += 1
        for uid, so_far in changes.items():
            now = _change(place, held.get(uid))
            if not so_far or replace(now, frame=so_far[-1].frame) != so_far[-1]:
                so_far.append(now)
    return tuple(TracedSlot(changes=tuple(changes[uid])) for uid in order)


def _change(place: int, slot: Slot | None) -> Change:
    if slot is None:
        return Change(frame=place, state="gone")
    token_id = None if slot.state is SlotState.MASKED else slot.token_id
    return Change(frame=place, token_id=token_id, state=STATES[slot.state])


def _step(step: Step) -> TracedStep:
    return TracedStep(phase=str(step.phase), calls=step.calls, positions=step.positions)
