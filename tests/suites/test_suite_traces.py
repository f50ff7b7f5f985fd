"""Claims about traces: a few, untimed, after everything that is timed, of requests that were timed without one."""

import json
import re
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from generators.base import Capability, Frame, Generation, Request, Slot, SlotState, Stopwatch
from generators.registry import Loaded
from suites import strict_json
from suites.__main__ import main
from suites.contestants import Contestant
from suites.isolation import Elsewhere
from suites.plan import TRACED, Cell, Trial
from suites.records import Run, Sample, read_run
from suites.tasks import load_task
from suites.trace import Change, Trace, TracedSlot, TracedStep
from suites.tracing import histories, traced_samples
from suites.trial import Failure
from suites.validate import problems
from tests.suites.conftest import RunIt
from tests.suites.fakes import FULL, Echo, Fakes, VirtualClock, Words

QUALITY = ("quality", "--repeats", "5")
TRACING = FULL | {Capability.TRACE, Capability.COMMIT_ORDER}
MASKED, TENTATIVE, FINAL = SlotState.MASKED, SlotState.TENTATIVE, SlotState.FINAL


@dataclass
class Scribe(Echo):
    """An echo that shows each token as it comes."""

    capabilities: frozenset[Capability] = TRACING
    spoilt: bool = False  # its traced output is another one

    def generate(self, request: Request, stopwatch: Stopwatch) -> Generation:
        got = super().generate(request, stopwatch)
        if not request.trace:
            return got
        rows = tuple(tuple(Frame(i, line(row[: i + 1])) for i in range(len(row))) for row in got.token_ids)
        ids = tuple((*row[:-1], 0) for row in got.token_ids) if self.spoilt else got.token_ids
        return replace(got, trace=rows, committed_at=tuple(tuple(range(len(r))) for r in rows), token_ids=ids)


def line(token_ids: tuple[int, ...]) -> tuple[Slot, ...]:
    return tuple(Slot(place, token_id, FINAL) for place, token_id in enumerate(token_ids))


@pytest.fixture
def scribes(clock: VirtualClock) -> Fakes:
    return Fakes({"one": Scribe(clock.sleep), "two": Scribe(clock.sleep, 0.002)})


def test_a_stated_few_outputs_of_each_contestant_are_traced(scribes: Fakes, run_it: RunIt) -> None:
    run = run_it(scribes, *QUALITY)
    assert run.info.plan["settings"]["traces"] == TRACED == 3
    assert Counter(sample.label for sample in run.traced) == {"one": TRACED, "two": TRACED}
    assert {s.row for s in run.traced if s.label == "one"} == {s.row for s in run.traced if s.label == "two"}
    assert problems(run) == []


def test_a_traced_output_is_that_of_a_trial_timed_alone(scribes: Fakes, run_it: RunIt) -> None:
    run = run_it(scribes, *QUALITY)
    records = {record.key: record for record in run.records}
    for sample in run.traced:
        record = records[sample.key]
        assert (record.mode, record.batch_size, record.prompt_rows) == ("natural", 1, (sample.row,))
        assert record.label == sample.label and record.repeat < TRACED
        assert sample.trace is not None
        assert [(s.phase, s.calls, s.positions) for s in sample.trace.steps] == [
            (s.phase, s.calls, s.positions) for s in record.steps
        ]
        assert sample.trace.token_ids == sample.token_ids


def test_no_timed_request_is_traced_and_none_comes_after_a_trace(scribes: Fakes, run_it: RunIt) -> None:
    run_it(scribes, *QUALITY)
    for scribe in scribes.generators.values():
        asked = [request.trace for request in scribe.requests]
        assert asked == sorted(asked) and sum(asked) == TRACED


def test_a_traced_request_is_the_timed_one_but_for_its_trace(scribes: Fakes, run_it: RunIt) -> None:
    run_it(scribes, *QUALITY)
    requests = scribes.generators["one"].requests
    timed = [request for request in requests if not request.trace]
    assert all(replace(request, trace=False) in timed for request in requests if request.trace)


def test_traced_outputs_are_neither_samples_nor_scored(scribes: Fakes, run_it: RunIt) -> None:
    run = run_it(scribes, *QUALITY)
    assert Counter(sample.label for sample in run.samples) == {"one": 6, "two": 6}
    assert len(run.scores) == 12
    assert all(sample.trace is None for sample in run.samples)


def test_a_contestant_that_shows_no_steps_is_named_with_the_reason(clock: VirtualClock, run_it: RunIt) -> None:
    run = run_it(Fakes({"one": Scribe(clock.sleep), "two": Echo(clock.sleep)}), *QUALITY)
    assert {sample.label for sample in run.traced} == {"one"}
    assert run.info.starts[-1].untraced == {"two": "this strategy cannot do: commit_order, trace"}
    assert problems(run) == []


def test_a_strategy_that_declares_traces_and_gives_none_is_named(clock: VirtualClock, run_it: RunIt) -> None:
    run = run_it(Fakes({"one": Scribe(clock.sleep), "two": Echo(clock.sleep, capabilities=TRACING)}), *QUALITY)
    assert run.info.starts[-1].untraced == {"two": "ValueError: asked for a trace, got none"}


def test_a_contestant_in_a_process_of_its_own_is_not_traced_and_it_is_said(clock: VirtualClock, task: Path) -> None:
    apart = Elsewhere(TRACING)
    loaded = Loaded(generator=apart, codec=Words(), config={}, weights_sha256="", cache="none")
    contestant = Contestant(label="one", strategy="one", config={}, loaded=loaded, failure=None, load_s=0.0)
    trial = Trial("quality", Cell("tiny", "one", "natural", None, 1), 0, (0,))
    found = list(traced_samples(contestant, [trial, trial], {"tiny": load_task(str(task))}, 9.0))
    assert found == [Failure("unsupported", "it ran in a process of its own, where nobody looked")]


def test_a_suite_that_times_no_sentence_alone_traces_nothing(scribes: Fakes, run_it: RunIt) -> None:
    run = run_it(scribes, "latency", "--lengths", "4", "--repeats", "3")
    assert run.traced == () and problems(run) == []


@pytest.mark.parametrize("suite", ["quick", "smoke", "quality", "iterations"])
def test_suites_that_time_sentences_alone_trace_some(scribes: Fakes, run_it: RunIt, suite: str) -> None:
    run = run_it(scribes, suite, "--repeats", "3")
    assert Counter(sample.label for sample in run.traced) == {"one": TRACED, "two": TRACED}


def lose_a_trace(folder: Path, keep: int) -> None:
    """As a process leaves it that dies inside its traces: `keep` whole ones and half a line."""
    path = folder / "samples.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    plain = [one for one in lines if '"trace":null' in one]
    traced = [one for one in lines if '"trace":null' not in one]
    path.write_text("".join([*plain, *traced[:keep], traced[keep][:50]]))


def test_a_missing_trace_is_found_and_made_by_resuming(
    scribes: Fakes, run_it: RunIt, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = run_it(scribes, *QUALITY)
    lose_a_trace(tmp_path / "run", keep=2)
    assert main(["validate", "--strict", str(tmp_path / "run")]) == 4
    assert "4 of 6 outputs have no trace" in capsys.readouterr().err
    again = run_it(scribes, *QUALITY, "--resume")
    assert sorted(again.traced, key=lambda s: s.key) == sorted(whole.traced, key=lambda s: s.key)
    assert again.records == whole.records and again.samples == whole.samples
    assert main(["validate", "--strict", str(tmp_path / "run")]) == 0


def test_resuming_a_whole_run_traces_nothing_again(scribes: Fakes, run_it: RunIt) -> None:
    first = run_it(scribes, *QUALITY)
    again = run_it(scribes, *QUALITY, "--resume")
    assert again.traced == first.traced
    assert sum(request.trace for request in scribes.generators["one"].requests) == TRACED


def test_a_trace_of_another_output_is_found(
    clock: VirtualClock, run_it: RunIt, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run_it(Fakes({"one": Scribe(clock.sleep, spoilt=True)}), *QUALITY, strategies="one")
    assert main(["validate", str(tmp_path / "run")]) == 4
    assert "3 of 3 traces do not end in the tokens of their output" in capsys.readouterr().err


def test_a_run_from_before_there_were_traces_is_whole(scribes: Fakes, run_it: RunIt, tmp_path: Path) -> None:
    run_it(scribes, *QUALITY)
    folder = tmp_path / "run"
    lines = (folder / "samples.jsonl").read_text().splitlines()
    old = [json.loads(one) for one in lines if '"trace":null' in one]
    for one in old:
        del one["trace"]
    (folder / "samples.jsonl").write_text("".join(json.dumps(one) + "\n" for one in old))
    info = json.loads((folder / "run.json").read_text())
    del info["plan"]["settings"]["traces"], info["starts"][0]["untraced"]
    (folder / "run.json").write_text(json.dumps(info))
    run: Run = read_run(folder)
    assert run.traced == () and len(run.samples) == 12 and problems(run) == []


def slot(uid: int, token_id: int, state: SlotState = FINAL) -> Slot:
    return Slot(uid, token_id, state)


def test_a_trace_keeps_a_line_a_slot_with_its_changes_alone() -> None:
    frames = [
        Frame(1, (slot(0, 9, MASKED), slot(1, 9, MASKED))),
        Frame(2, (slot(0, 4, TENTATIVE), slot(1, 5))),
        Frame(3, (slot(0, 9, MASKED), slot(1, 5))),
        Frame(4, (slot(0, 6), slot(1, 5))),
    ]
    first, second = histories(frames)
    assert first.changes == (
        Change(frame=0, state="masked"),
        Change(frame=1, token_id=4, state="tentative"),
        Change(frame=2, state="masked"),
        Change(frame=3, token_id=6),
    )
    assert second.changes == (Change(frame=0, state="masked"), Change(frame=1, token_id=5))


def test_slots_put_in_between_keep_the_reading_order_and_those_taken_out_stay_known() -> None:
    frames = [
        Frame(0, (slot(0, 1), slot(1, 2, TENTATIVE))),
        Frame(1, (slot(0, 1),)),
        Frame(2, (slot(2, 9, MASKED), slot(0, 1), slot(3, 9, MASKED))),
        Frame(3, (slot(2, 3), slot(0, 1), slot(3, 4))),
    ]
    found = histories(frames)
    assert [[one.token_id for one in line.changes] for line in found] == [[None, 3], [1], [None, 4], [2, None]]
    assert found[3].changes[-1] == Change(frame=1, state="gone")
    steps = (TracedStep(phase="decode"),) * 4
    trace = Trace(steps=steps, frames=(0, 1, 2, 3), slots=found, pieces=dict.fromkeys("1234", "x"))
    assert trace.token_ids == (3, 1, 4)


@pytest.mark.parametrize(
    ("broken", "words"),
    [
        ({"frames": (0, 1)}, "frames must point at the 1 steps"),
        ({"frames": (-1,)}, "frames must point at the 1 steps"),
        ({"slots": (TracedSlot(changes=()),)}, "a slot's changes must be of rising frames below 1"),
        ({"slots": (TracedSlot(changes=(Change(frame=1, token_id=4),)),)}, "rising frames below 1, got [1]"),
        ({"slots": (TracedSlot(changes=(Change(frame=0), Change(frame=0))),)}, "rising frames below 1, got [0, 0]"),
        ({"pieces": {}}, "no piece for the token id 4"),
    ],
)
def test_a_trace_that_does_not_hold_together_is_refused(broken: dict[str, Any], words: str) -> None:
    whole: dict[str, Any] = {
        "steps": (TracedStep(phase="decode"),),
        "frames": (0,),
        "slots": (TracedSlot(changes=(Change(frame=0, token_id=4),)),),
        "pieces": {"4": " a"},
    }
    assert Trace(**whole).token_ids == (4,)
    with pytest.raises(ValueError, match=re.escape(words)):
        Trace(**{**whole, **broken})


def test_a_trace_is_read_back_as_it_was_written(scribes: Fakes, run_it: RunIt) -> None:
    for sample in run_it(scribes, *QUALITY).traced:
        assert strict_json.loads(Sample, strict_json.dumps(sample)) == sample
        assert sample.trace is not None
        assert " ".join(piece.strip() for piece in sample.trace.pieces.values()) != ""
