"""Claims about contestants in processes of their own: the same counts, and no death but its own."""

import json
import multiprocessing
import os
from pathlib import Path
from typing import Any

import pytest

from suites import isolation
from suites.__main__ import main
from suites.crew import FreshCrew
from suites.plan import Cell
from suites.records import Record, Run, read_run
from tests.suites.apart import MB, contestants
from tests.suites.conftest import RunIt


@pytest.fixture(autouse=True)
def nobody_is_left() -> Any:
    yield
    assert multiprocessing.active_children() == []


def counts(record: Record) -> tuple[Any, ...]:
    """All of a record that no clock decides."""
    steps = [(step.phase, step.calls, step.positions) for step in record.steps]
    return (
        *(record.key, record.order, record.status, record.reason, record.mode, record.prompt_rows),
        *(steps, record.tokens_kept, record.tokens_raw, record.finish_reasons, record.cache, record.config),
    )


@pytest.mark.parametrize("suite", ["smoke", "prompt"])
def test_a_process_each_tells_the_same_story_as_one_process(run_it: RunIt, suite: str) -> None:
    given = (suite, "--lengths", "4,6", "--repeats", "2")
    together = run_it(contestants(), *given, strategies="light,late,absent")
    apart = run_it(contestants(), *given, "--isolate", "--force", strategies="light,late,absent")
    assert [counts(record) for record in apart.records] == [counts(record) for record in together.records]
    assert [(s.label, s.row, s.text) for s in apart.samples] == [(s.label, s.row, s.text) for s in together.samples]
    assert apart.scores == together.scores
    assert {r.status for r in apart.records if r.label != "absent"} == {"ok"}
    warmed = [(r.key, len(r.warmup_s) >= 3) for r in apart.records if r.warmup_s]
    assert warmed == [(r.key, True) for r in together.records if r.warmup_s]


def test_each_contestant_has_one_process_and_it_is_not_ours(run_it: RunIt) -> None:
    given = ("latency", "--lengths", "4,6", "--repeats", "2", "--isolate")
    run = run_it(contestants(), *given, strategies="light,tells,tells:twin=1")
    told = {r.label: {x.reason for x in run.records if x.label == r.label} for r in run.records if r.label != "light"}
    assert len(told["tells"]) == len(told["tells:twin=1"]) == 1
    assert told["tells"] != told["tells:twin=1"]
    assert f"RuntimeError: process {os.getpid()}" not in told["tells"] | told["tells:twin=1"]


@pytest.mark.parametrize(
    ("label", "status", "reason"),
    [
        ("killed", "oom", "its process was killed (SIGKILL), as the kernel does when memory runs out"),
        ("crashed", "error", "its process died (SIGSEGV)"),
    ],
)
def test_a_death_is_a_record_and_the_others_go_on(run_it: RunIt, label: str, status: str, reason: str) -> None:
    given = ("batch", "--batch-sizes", "1,2,4", "--lengths", "4", "--repeats", "2", "--isolate")
    run = run_it(contestants(), *given, strategies=f"light,{label}")
    assert {r.status for r in run.records if r.label == "light"} == {"ok"}
    died = {r.batch_size: (r.status, r.reason) for r in run.records if r.label == label}
    assert died[1] == ("ok", None)
    assert died[2] == (status, reason)
    assert died[4][0] == status
    assert len(run.records) == run.info.expected == 2 * 3 * 2


def test_a_call_that_hears_no_alarm_is_killed_at_its_timeout(run_it: RunIt, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(isolation, "GRACE_S", 0.5)
    monkeypatch.setattr(isolation, "MAX_WARMUPS", 1)
    given = ("latency", "--lengths", "4", "--repeats", "2", "--isolate", "--timeout", "1s")
    run = run_it(contestants(), *given, strategies="light,stuck")
    assert {r.status for r in run.records if r.label == "light"} == {"ok"}
    assert {(r.status, r.reason) for r in run.records if r.label == "stuck"} == {
        ("timeout", "took longer than 1 s; its process had to be killed")
    }


def test_a_memory_limit_holds_in_every_process(run_it: RunIt) -> None:
    given = ("batch", "--batch-sizes", "1,4", "--lengths", "4", "--repeats", "1", "--isolate", "--memory-limit", "300m")
    run = run_it(contestants(), *given, strategies="light,hog")
    assert {(r.label, r.batch_size): r.status for r in run.records} == {
        ("light", 1): "ok", ("light", 4): "ok", ("hog", 1): "ok", ("hog", 4): "oom",
    }  # fmt: skip


def test_corrupt_weights_are_refused_before_anything_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = ["run", "smoke", "--isolate", "--strategies", "light,corrupt", "--out", str(tmp_path / "run")]
    assert main(given, registry=contestants()) == 2
    assert capsys.readouterr().err == "suites: corrupt: corrupt weights\n"
    assert not (tmp_path / "run").exists()


def test_a_run_is_not_gone_on_with_in_the_other_manner(run_it: RunIt, capsys: pytest.CaptureFixture[str]) -> None:
    given = ("latency", "--lengths", "4", "--repeats", "1")
    run_it(contestants(), *given, strategies="light")
    run_it(contestants(), *given, "--isolate", "--resume", strategies="light", code=4)
    assert "isolate False then, True now" in capsys.readouterr().err


def memory_run(run_it: RunIt, *more: str, strategies: str = "light,holder") -> Run:
    given = ("memory", "--lengths", "4", "--batch-sizes", "1,4", "--repeats", "2", *more)
    return run_it(contestants(), *given, strategies=strategies)


def test_memory_is_of_a_process_of_its_own_and_never_timed(run_it: RunIt) -> None:
    ours = bytearray(os.urandom(400 * MB // 100) * 100)  # resident here, and in no child
    run = memory_run(run_it)
    assert len(run.records) == 2 * 2 * 2
    for record in run.records:
        assert (record.status, record.latency_s, record.cpu_s, record.steps) == ("ok", None, None, ())
        assert record.warmup_s == ()
        assert record.memory is not None
        assert 0 < record.memory["loaded_bytes"] <= record.memory["peak_bytes"] < len(ours)
    peaks = {(r.label, r.batch_size, r.repeat): (r.memory or {})["peak_bytes"] for r in run.records}
    for repeat in (0, 1):  # `holder` takes 60 MB a row; a mark that never fell would show four rows' in one
        assert peaks["holder", 4, repeat] - peaks["holder", 1, repeat] == pytest.approx(180 * MB, abs=30 * MB)
        assert peaks["holder", 1, repeat] - peaks["light", 1, repeat] == pytest.approx(60 * MB, abs=30 * MB)
        assert peaks["light", 4, repeat] == pytest.approx(peaks["light", 1, repeat], abs=30 * MB)


def test_a_process_that_dies_while_its_memory_is_measured_is_a_record(run_it: RunIt) -> None:
    run = memory_run(run_it, strategies="light,killed,absent")
    statuses = {(r.label, r.batch_size): r.status for r in run.records}
    assert statuses["killed", 1] == statuses["light", 4] == "ok"
    assert statuses["killed", 4] == "oom"
    assert statuses["absent", 1] == statuses["absent", 4] == "unsupported"


def test_a_finished_memory_run_is_read_back_whole(run_it: RunIt, tmp_path: Path) -> None:
    run = memory_run(run_it)
    assert main(["validate", str(tmp_path / "run"), "--strict"]) == 0
    assert read_run(tmp_path / "run").records == run.records


@pytest.mark.parametrize("suite", ["memory", "latency"])
def test_a_dry_run_tries_each_shape_where_the_race_will_run_it(
    suite: str, task: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ["run", suite, "--task", str(task), "--lengths", "4", "--batch-sizes", "1,2", "--repeats", "2"]
    strategies = "light,late,absent,killed,tells"
    assert main([*given, "--strategies", strategies, "--isolate", "--dry-run", "--json"], registry=contestants()) == 0
    cells = {(c["label"], c["batch_size"]): c for c in json.loads(capsys.readouterr().out)["cells"]}
    went = {place: cell["failure"]["status"] if cell["failure"] else "ok" for place, cell in cells.items()}
    assert went == {
        **{("light", size): "ok" for size in (1, 2)},
        **{("late", size): "ok" for size in (1, 2)},
        **{("absent", size): "unsupported" for size in (1, 2)},
        **{("tells", size): "error" for size in (1, 2)},
        ("killed", 1): "ok",
        ("killed", 2): "oom",
    }
    assert f"process {os.getpid()}" not in cells["tells", 1]["failure"]["reason"]
    assert all(cell["seconds_each"] > 0 for place, cell in cells.items() if went[place] == "ok")


def test_a_fresh_process_of_a_larger_batch_is_not_foreseen_to_cost_its_rows_and_is_not_warmed_up() -> None:
    crew = FreshCrew(jobs={}, contestants={}, sink=lambda record, samples: None)
    small, large, other = (
        Cell("task", label, "exact", 4, size) for label, size in (("one", 1), ("one", 16), ("two", 1))
    )
    crew.costs[small] = 3.0
    assert crew.foreseen_s({small: 2, large: 2, other: 2}) == 3.0 * 4
    assert crew.warmups_each == 0
