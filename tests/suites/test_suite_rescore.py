"""Claims about scoring a run's saved outputs again."""

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from metrics.registry import METRICS
from metrics.total_correlation import NATS
from suites import store, strict_json
from suites.__main__ import main
from suites.records import SCORES_FILE, read_run
from tests.suites.conftest import RunIt
from tests.suites.fakes import Fakes


@pytest.fixture
def scored(run_it: RunIt, fakes: Fakes, tmp_path: Path) -> Path:
    run_it(fakes, "quality", "--repeats", "2")
    return tmp_path / "run"


def test_rescoring_gives_the_scores_that_the_run_had(scored: Path) -> None:
    before = (scored / SCORES_FILE).read_bytes()
    (scored / SCORES_FILE).unlink()
    assert main(["rescore", str(scored)]) == 0
    assert (scored / SCORES_FILE).read_bytes() == before


def test_a_changed_metric_scores_the_old_outputs(scored: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    signature = "bleu|of:tomorrow"
    monkeypatch.setitem(METRICS, "bleu", replace(METRICS["bleu"], signature=signature))
    records = (scored / "records.jsonl").read_bytes()
    assert main(["rescore", str(scored)]) == 0
    run = read_run(scored)
    assert {signature in score.statistics for score in run.scores} == {True}
    assert len(run.scores) == len(run.samples) > 0
    assert (scored / "records.jsonl").read_bytes() == records


def test_scores_that_cannot_be_read_are_made_anew(scored: Path) -> None:
    before = (scored / SCORES_FILE).read_bytes()
    (scored / SCORES_FILE).write_text("no json\n")
    assert main(["rescore", str(scored)]) == 0
    assert (scored / SCORES_FILE).read_bytes() == before


def test_likelihoods_are_carried_over(scored: Path) -> None:
    first, *others = read_run(scored).scores
    told = replace(first, statistics={NATS: (3.5, 2.0)})
    store.write_scores(scored, [told, *others])
    assert main(["rescore", str(scored)]) == 0
    assert read_run(scored).scores[0].statistics == {**first.statistics, NATS: (3.5, 2.0)}


def test_a_failure_in_the_middle_leaves_the_old_scores(scored: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before, real, written = (scored / SCORES_FILE).read_bytes(), strict_json.dumps, []

    def full_disk(value: object) -> str:
        written.append(value)
        if len(written) > 3:
            raise OSError(28, "No space left on device")
        return real(value)

    monkeypatch.setattr(strict_json, "dumps", full_disk)
    assert main(["rescore", str(scored)]) == 2
    assert len(written) == 4
    assert (scored / SCORES_FILE).read_bytes() == before


def test_what_cannot_be_rescored_is_refused_in_one_line(
    run_it: RunIt, fakes: Fakes, scored: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert main(["rescore", str(tmp_path / "nowhere")]) == 2
    empty = tmp_path / "empty"
    empty.mkdir()
    assert main(["rescore", str(empty)]) == 4
    lock = store.lock_folder(scored)
    assert main(["rescore", str(scored)]) == 2
    (scored / "samples.jsonl").write_text("")
    os.close(lock)
    assert main(["rescore", str(scored)]) == 2
    lines = capsys.readouterr().err.splitlines()
    words = ("cannot open", "no run in", "another process is writing", "holds no outputs to score")
    assert [word in line for word, line in zip(words, lines, strict=True)] == [True] * 4


def test_rescoring_tells_programs_what_it_did(scored: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert main(["rescore", str(scored), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["outputs"] == len(read_run(scored).samples)
    assert set(told["metrics"]) == {metric.signature for metric in METRICS.values()}
