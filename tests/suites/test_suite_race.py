"""Claims about a whole run: nothing is lost, nothing is done twice, failures stay visible, n shrinks and says so."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from generators.base import Request, Unsupported
from metrics.base import corpus_score
from metrics.registry import METRICS
from suites.__main__ import main
from suites.records import Run, read_run
from tests.suites.conftest import RunIt
from tests.suites.fakes import NATURAL_ONLY, Echo, Fakes, VirtualClock, write_task

LATENCY = ("latency", "--lengths", "4,6", "--repeats", "3")


BROKE = RuntimeError("engine broke")


def failing_at(*nths: int, exception: BaseException = BROKE) -> Any:
    def before(nth: int, request: Request) -> None:
        if nth in nths:
            raise exception

    return before


def test_every_planned_key_ends_as_one_record(fakes: Fakes, run_it: RunIt) -> None:
    run = run_it(fakes, *LATENCY)
    keys = [r.key for r in run.records]
    assert len(keys) == len(set(keys)) == 2 * 2 * 3 == run.info.expected
    assert set(keys) == run.expected_keys


def test_three_items_of_which_one_failed_are_two_of_three(
    clock: VirtualClock, run_it: RunIt, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # calls: 3 warm-ups, then an untimed and a timed one a repeat; the timed one of repeat 1 fails
    fakes = Fakes({"one": Echo(clock.sleep, before=failing_at(3 + 3))})
    run = run_it(fakes, "latency", "--lengths", "4", "--repeats", "3", strategies="one")
    assert [(r.status, r.latency_s is None) for r in run.records] == [("ok", False), ("error", True), ("ok", False)]
    assert run.records[1].reason == "RuntimeError: engine broke"
    assert "failed: one: 1 error: RuntimeError: engine broke" in capsys.readouterr().err
    assert main(["validate", str(tmp_path / "run"), "--json"]) == 0
    (cell,) = json.loads(capsys.readouterr().out)["cells"]
    assert (cell["planned"], cell["recorded"], cell["ok"]) == (3, 3, 2)


@pytest.mark.parametrize(
    ("exception", "status"),
    [
        (MemoryError(), "oom"),
        (Unsupported("no"), "unsupported"),
        (ValueError("bad"), "error"),
        (KeyError(3), "error"),
    ],
)
def test_a_cell_whose_warm_up_fails_is_recorded_and_not_tried_again(
    clock: VirtualClock, run_it: RunIt, exception: BaseException, status: str
) -> None:
    broken = Echo(clock.sleep, before=failing_at(*range(100), exception=exception))
    run = run_it(Fakes({"one": Echo(clock.sleep), "two": broken}), *LATENCY)
    assert Counter((r.label, r.status) for r in run.records) == {("one", "ok"): 6, ("two", status): 6}
    assert len(broken.requests) == 2  # one a cell


def test_a_contestant_beyond_its_capabilities_is_unsupported(clock: VirtualClock, run_it: RunIt) -> None:
    alone = Echo(clock.sleep, capabilities=NATURAL_ONLY - {"batch"})
    run = run_it(Fakes({"one": Echo(clock.sleep), "two": alone}), *LATENCY, "--batch-sizes", "2")
    assert {(r.label, r.mode, r.status) for r in run.records} == {
        ("one", "exact", "ok"),
        ("two", "natural", "unsupported"),
    }
    assert {r.reason for r in run.records if r.label == "two"} == {"this strategy cannot do: batch"}


def test_an_engine_that_is_not_installed_does_not_stop_the_race(
    clock: VirtualClock, run_it: RunIt, capsys: pytest.CaptureFixture[str]
) -> None:
    absent = ModuleNotFoundError("No module named 'engine'")
    run = run_it(Fakes({"one": Echo(clock.sleep), "two": absent}), *LATENCY)
    assert Counter((r.label, r.status) for r in run.records) == {("one", "ok"): 6, ("two", "unsupported"): 6}
    assert "two takes no part: not installed: No module named 'engine'" in capsys.readouterr().err


@pytest.mark.parametrize("named", [("--strategies", "copy,ctc"), ()], ids=["named", "by default"])
@pytest.mark.parametrize(
    "wrong",
    [
        ValueError("no weights 'ctc': not shipped"),
        ValueError("ctc/model.safetensors is not the file that MANIFEST.json was written for; restore it"),
        FileNotFoundError("no tokenizer"),
        RuntimeError("unreadable"),
    ],
)
def test_missing_or_corrupt_weights_stop_a_race_before_it_begins(
    clock: VirtualClock,
    tmp_path: Path,
    task: Path,
    named: tuple[str, ...],
    wrong: Exception,
    capsys: pytest.CaptureFixture[str],
) -> None:
    fakes = Fakes({name: Echo(clock.sleep) for name in ("copy", "ar", "mask_predict")} | {"ctc": wrong})
    given = ["run", "smoke", *named, "--task", str(task), "--out", str(tmp_path / "run")]
    assert main(given, registry=fakes) == 2
    assert capsys.readouterr().err == f"suites: ctc: {wrong}\n"
    assert not (tmp_path / "run").exists()


def test_an_engine_whose_library_is_broken_does_not_stop_a_default_race(
    clock: VirtualClock, tmp_path: Path, task: Path
) -> None:
    fakes = Fakes({name: Echo(clock.sleep) for name in ("copy", "ar", "mask_predict")})
    fakes.generators["ctc"] = ImportError("libengine.so: cannot open shared object file")
    assert main(["run", "smoke", "--task", str(task), "--out", str(tmp_path / "run")], registry=fakes) == 0
    records = read_run(tmp_path / "run").records
    assert {(r.status, r.reason) for r in records if r.label == "ctc"} == {
        ("unsupported", "installed, but broken: libengine.so: cannot open shared object file")
    }


def test_quality_keeps_every_output_and_its_score(fakes: Fakes, run_it: RunIt) -> None:
    run = run_it(fakes, "quality", "--repeats", "3")
    assert {(s.label, s.row) for s in run.samples} == {(label, row) for label in ("one", "two") for row in range(6)}
    assert {(s.label, s.row) for s in run.scores} == {(s.label, s.row) for s in run.samples}
    for sample in run.samples:
        assert sample.text == sample.source  # the fake is an echo
        assert len(sample.reference_ids) == len(sample.reference.split())
        assert sample.finish_reason == "eos"
    batched = [r for r in run.records if r.mode == "batched"]
    assert {row for r in batched for row in r.prompt_rows} == set(range(6))
    assert all(sum(r.tokens_raw) == sum(r.tokens_kept) + len(r.prompt_rows) for r in batched)  # EOS is not kept


def test_counts_of_a_row_do_not_depend_on_its_batch(fakes: Fakes, run_it: RunIt) -> None:
    run = run_it(fakes, "quality", "--repeats", "6", strategies="one")
    alone = {r.prompt_rows[0]: r.tokens_kept[0] for r in run.records if r.mode == "natural"}
    (batch,) = (r for r in run.records if r.mode == "batched")
    assert dict(zip(batch.prompt_rows, batch.tokens_kept, strict=True)) == alone
    assert alone == {
        row: 6 + row for row in range(6)
    }  # write_task: source i has 6 + i words; EOS and padding never count


def test_scores_are_those_of_the_metrics(fakes: Fakes, run_it: RunIt) -> None:
    run = run_it(fakes, "quality", "--repeats", "1")
    metric = METRICS["length_ratio"]
    rows = [score.statistics[metric.signature] for score in run.scores if score.label == "one"]
    assert corpus_score(metric, rows) == pytest.approx(
        51 / 45
    )  # write_task: 6 to 11 words in the sources, 5 to 10 in the references


def test_a_text_that_cannot_be_decoded_is_an_error_of_its_trial(clock: VirtualClock, run_it: RunIt) -> None:
    fakes = Fakes({"one": Echo(clock.sleep)})
    fakes.codec.decode = lambda ids: [][0]  # type: ignore[method-assign]
    run = run_it(fakes, "quality", "--repeats", "1", strategies="one")
    assert {r.mode: r.status for r in run.records} == {"batched": "error", "natural": "ok"}
    assert run.samples == ()


def interrupted_at(clock: VirtualClock, nth: int) -> Fakes:
    return Fakes(
        {"one": Echo(clock.sleep), "two": Echo(clock.sleep, before=failing_at(nth, exception=KeyboardInterrupt()))}
    )


def test_an_interrupt_keeps_everything_and_resuming_completes_it(clock: VirtualClock, run_it: RunIt) -> None:
    broken = run_it(interrupted_at(clock, 6 + 3 + 1), *LATENCY, code=130)
    assert 0 < len(broken.records) < 12
    assert broken.info.starts[0].ended_at is not None
    again = Fakes({"one": Echo(clock.sleep), "two": Echo(clock.sleep)})
    run = run_it(again, *LATENCY, "--resume")
    assert Counter(r.key for r in run.records) == dict.fromkeys(run.expected_keys, 1)
    assert len(run.info.starts) == 2


def test_resuming_does_incomplete_repeats_whole_and_keeps_the_others(clock: VirtualClock, run_it: RunIt) -> None:
    broken = run_it(interrupted_at(clock, 6 + 3 + 1), *LATENCY, code=130)
    per_repeat = Counter(r.repeat for r in broken.records)
    assert per_repeat[0] == 4
    assert 0 < per_repeat[1] < 4
    run = run_it(Fakes({"one": Echo(clock.sleep), "two": Echo(clock.sleep)}), *LATENCY, "--resume")
    assert {r.repeat: r.start for r in run.records} == {0: 0, 1: 1, 2: 1}
    assert [r.order for r in run.records] == [0, 1, 2, 3] * 3


def test_a_resumed_start_warms_up_again(clock: VirtualClock, run_it: RunIt) -> None:
    run_it(interrupted_at(clock, 6 + 3 + 1), *LATENCY, code=130)
    run = run_it(Fakes({"one": Echo(clock.sleep), "two": Echo(clock.sleep)}), *LATENCY, "--resume")
    warmed = Counter((r.start, r.label, r.length) for r in run.records if r.warmup_s)
    assert warmed == dict.fromkeys([(s, label, n) for s in (0, 1) for label in ("one", "two") for n in (4, 6)], 1)


def test_a_finished_run_resumes_to_nothing(fakes: Fakes, run_it: RunIt) -> None:
    first = run_it(fakes, *LATENCY)
    calls = len(fakes.generators["one"].requests)
    again = run_it(fakes, *LATENCY, "--resume")
    assert again.records == first.records
    assert len(fakes.generators["one"].requests) == calls


def test_resuming_what_is_not_there_begins_it(fakes: Fakes, run_it: RunIt, capsys: pytest.CaptureFixture[str]) -> None:
    assert len(run_it(fakes, *LATENCY, "--resume").records) == 12
    assert "a new one begins" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        (("--seed", "1"), "seed 0 then, 1 now"),
        (("--repeats", "4"), "repeats 3 then, 4 now"),
        (("--lengths", "4"), "lengths [4, 6] then, [4] now"),
        (("--threads", "2"), "threads 1 then, 2 now"),
        (("--dtype", "float64"), "dtype float32 then, float64 now"),
    ],
)
def test_another_plan_or_machine_does_not_resume(
    fakes: Fakes, run_it: RunIt, changed: tuple[str, ...], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    first = run_it(fakes, *LATENCY)
    capsys.readouterr()
    again = run_it(fakes, *LATENCY, "--resume", *changed, code=4)
    lines = capsys.readouterr().err.splitlines()
    assert words in lines[-1]
    assert again == first


def test_other_weights_corpora_or_code_do_not_resume(
    fakes: Fakes, run_it: RunIt, task: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run_it(fakes, *LATENCY)
    fakes.weights_sha256 = "11" * 32
    run_it(fakes, *LATENCY, "--resume", code=4)
    assert "weights one: 0000" in capsys.readouterr().err
    fakes.weights_sha256 = "00" * 32
    task.write_text(task.read_text().replace("a ", "c "))
    run_it(fakes, *LATENCY, "--resume", code=4)
    assert "corpora tiny:" in capsys.readouterr().err
    task.write_text(task.read_text().replace("c ", "a "))
    monkeypatch.setattr("suites.environment.code_sha256", lambda: "22" * 32)
    run_it(fakes, *LATENCY, "--resume", code=4)
    assert "code " in capsys.readouterr().err


def test_a_refused_resume_lets_go_of_the_folder(fakes: Fakes, run_it: RunIt) -> None:
    run_it(fakes, *LATENCY)
    run_it(fakes, *LATENCY, "--resume", "--seed", "1", code=4)
    run_it(fakes, *LATENCY, "--resume")


def virtual_time(monkeypatch: pytest.MonkeyPatch, clock: VirtualClock) -> None:
    monkeypatch.setattr("time.monotonic", lambda: clock.now_ns * 1e-9)


def test_a_budget_lowers_n_for_all_alike_and_says_so(
    clock: VirtualClock, run_it: RunIt, monkeypatch: pytest.MonkeyPatch
) -> None:
    virtual_time(monkeypatch, clock)
    fakes = Fakes({"one": Echo(clock.sleep, 0.1), "two": Echo(clock.sleep, 0.1)})
    # warm-up 2 × 3 × 1 s; a repeat: 2 × (untimed + timed) 4 tokens of 0.1 s = 1.6 s, of which 0.8 s is foreseen
    run = run_it(fakes, "latency", "--lengths", "4", "--repeats", "30", "--budget", "12s")
    counts = Counter(r.label for r in run.records)
    assert counts["one"] == counts["two"] < 30
    assert clock.now_ns * 1e-9 <= 12 + 0.8
    assert clock.now_ns * 1e-9 >= 12 - 2 * 1.6
    assert run.info.reduced == f"budget 12s: {counts['one']} of 30 rounds"
    assert run.info.expected == len(run.records)


def test_a_run_cut_by_its_budget_is_whole_and_can_be_gone_on_with(
    clock: VirtualClock, run_it: RunIt, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    virtual_time(monkeypatch, clock)
    fakes = Fakes({"one": Echo(clock.sleep, 0.1), "two": Echo(clock.sleep, 0.1)})
    shape = ("latency", "--lengths", "4", "--repeats", "30")
    cut = run_it(fakes, *shape, "--budget", "12s")
    assert main(["validate", str(tmp_path / "run")]) == 0
    run = run_it(fakes, *shape, "--resume")
    assert (len(run.records), run.info.reduced, run.info.expected) == (60, None, 60)
    assert run.records[: len(cut.records)] == cut.records


def test_no_budget_is_too_small_for_the_first_round_of_each_part(
    clock: VirtualClock, run_it: RunIt, monkeypatch: pytest.MonkeyPatch
) -> None:
    virtual_time(monkeypatch, clock)
    run = run_it(Fakes({"one": Echo(clock.sleep, 9.0)}), "quick", "--lengths", "4", "--budget", "1s", strategies="one")
    assert {r.mode for r in run.records} == {"exact", "natural", "batched"}
    assert len([r for r in run.records if r.mode == "exact"]) == 1


def test_quick_has_a_budget_of_its_own(clock: VirtualClock, run_it: RunIt, monkeypatch: pytest.MonkeyPatch) -> None:
    virtual_time(monkeypatch, clock)
    run = run_it(Fakes({"one": Echo(clock.sleep, 0.5)}), "quick", "--lengths", "64", strategies="one")
    assert run.info.reduced is not None
    assert run.info.reduced.startswith("budget 200s: ")
    assert run.info.starts[0].settings["budget"] == "200s"


def test_fewer_repeats_than_the_default_are_a_reduced_run(fakes: Fakes, run_it: RunIt) -> None:
    assert run_it(fakes, *LATENCY).info.reduced == "--repeats 3"
    assert run_it(fakes, "latency", "--lengths", "4", "--repeats", "31", "--force").info.reduced is None


def test_a_start_tells_all_that_could_explain_a_difference(fakes: Fakes, run_it: RunIt) -> None:
    start = run_it(fakes, *LATENCY).info.starts[0]
    assert start.command.startswith("python -m suites run latency --task ")
    assert start.settings["lengths"] == [4, 6]
    assert start.settings["device"] == "cpu"
    assert set(start.machine) >= {"cpu", "cores", "memory_bytes", "platform"}
    assert set(start.versions) >= {"python", "torch", "transformers", "ctranslate2"}
    assert start.weights == {"one": "00" * 32, "two": "00" * 32}
    assert set(start.corpora) == {"tiny"}
    assert set(start.load_s) == {"one", "two"}
    assert start.ended_at is not None
    assert start.ended_at >= start.started_at


def test_a_run_without_git_says_it_knows_no_commit(
    fakes: Fakes, run_it: RunIt, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    start = run_it(fakes, *LATENCY).info.starts[0]
    assert (start.commit, start.dirty) == (None, None)


def test_a_run_in_which_nothing_worked_is_no_success(clock: VirtualClock, run_it: RunIt) -> None:
    fakes = Fakes({"one": Echo(clock.sleep, before=failing_at(*range(50)))})
    run: Run = run_it(fakes, *LATENCY, strategies="one", code=2)
    assert {r.status for r in run.records} == {"error"}


def test_a_task_of_ones_own_may_be_a_folder(clock: VirtualClock, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    write_task(tmp_path / "mine" / "test.tsv")
    out = str(tmp_path / "run")
    given = ["run", "smoke", "--task", str(tmp_path / "mine"), "--strategies", "one", "--out", out]
    assert main(given, registry=Fakes({"one": Echo(clock.sleep)})) == 0
    assert {r.task for r in read_run(tmp_path / "run").records} == {"mine"}
