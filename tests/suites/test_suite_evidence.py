"""Claims about the suites that gather evidence: wrong tokens, coupled choices, the shapes of the literature."""

import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from metrics import coupled
from metrics.damage import wrong_place
from metrics.total_correlation import NATS
from suites import error_accumulation, likelihoods, literature, multimodality
from suites.__main__ import main
from suites.line_up import LineUp
from suites.records import read_run
from suites.refusal import Refusal
from suites.registry import SUITES
from suites.slips import wrong_token
from suites.tasks import Row, Task, load_task
from tests.suites.conftest import RunIt
from tests.suites.fakes import Fakes, Words

TASK = Task("verse", tuple(Row(f"s{i}", f"a b c d e{i} f g h", str(i)) for i in range(6)), "00")


def asked(labels: tuple[str, ...] = (), tasks: tuple[Task, ...] = (), **more: Any) -> LineUp:
    return LineUp(labels=labels, tasks=tasks, **{"chosen": False, "seed": 0, "say": lambda text: None, **more})


def test_wrong_tokens_are_put_at_four_places_beside_the_task_as_it_is() -> None:
    tasks = error_accumulation.line_up(asked(tasks=(TASK,))).tasks
    assert [task.name for task in tasks] == ["verse", *(f"verse wrong at {n}%" for n in (0, 25, 50, 75))]
    assert [task.wrong_at for task in tasks] == [None, *(("verse", share) for share in (0.0, 0.25, 0.5, 0.75))]
    assert {task.rows for task in tasks} == {TASK.rows}


def test_a_wrong_token_is_another_one_of_the_task_and_the_same_for_everyone() -> None:
    codec = Words()
    for row, share in ((0, 0.0), (3, 0.5), (5, 0.75)):
        place, token_id = wrong_token(TASK, row, share, codec)
        right = codec.encode_target(TASK.rows[row].reference)
        assert place == wrong_place(8, share)
        assert token_id != right[place]
        assert token_id in {i for one in TASK.rows for i in codec.encode_target(one.reference)}
        assert wrong_token(TASK, row, share, codec) == (place, token_id)


def test_a_task_of_one_token_has_no_wrong_one() -> None:
    with pytest.raises(ValueError, match="no second token"):
        wrong_token(Task("one", (Row("a", "b", "1"),), ""), 0, 0.0, Words())


def test_who_cannot_slip_is_recorded_as_unsupported_and_the_clean_task_is_scored(fakes: Fakes, run_it: RunIt) -> None:
    run = run_it(fakes, "error_accumulation", "--repeats", "4")
    statuses = {(r.task, r.status) for r in run.records}
    assert statuses == {("tiny", "ok"), *((f"tiny wrong at {n}%", "unsupported") for n in (0, 25, 50, 75))}
    assert {r.reason for r in run.records if r.status != "ok"} == {
        "this strategy cannot do: a wrong token at a given place"
    }
    assert {s.task for s in run.scores} == {"tiny"}
    assert run.info.plan["settings"]["wrong_at"]["tiny wrong at 25%"] == ["tiny", 0.25]


def test_other_suites_promise_no_wrong_token(fakes: Fakes, run_it: RunIt) -> None:
    assert run_it(fakes, "smoke").info.plan["settings"]["wrong_at"] == {}


def test_raw_models_take_part_where_they_are_shipped_and_are_left_out_with_a_word_where_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("generators.registry.SHIPPED", tmp_path)
    said: list[str] = []
    labels = literature.line_up(asked(literature.CONTESTANTS, say=said.append)).labels
    assert set(literature.CONTESTANTS) - set(labels) == set(literature.RAW)
    assert said == ["not shipped, so left out: ctc_raw, cmlm_raw"]
    for name in ("ctc_raw", "cmlm_raw"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "config.json").touch()
    assert literature.line_up(asked(literature.CONTESTANTS)).labels == literature.CONTESTANTS


def test_raw_models_that_the_user_named_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("generators.registry.SHIPPED", tmp_path)
    assert literature.line_up(asked(literature.RAW, chosen=True)).labels == literature.RAW


def test_the_literatures_contestants_are_all_that_its_claims_need() -> None:
    assert set(literature.TIMED) <= set(literature.CONTESTANTS)
    assert len(set(literature.CONTESTANTS)) == len(literature.CONTESTANTS)
    assert SUITES["literature"].batch_sizes[0] == 1 < SUITES["literature"].batch_sizes[-1]


@pytest.fixture
def trainer(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[list[str]]:
    """Stands in for the training: writes what it must, and keeps the commands it was given."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    commands: list[list[str]] = []

    def train(command: list[str], **_: Any) -> subprocess.CompletedProcess[str]:
        commands.append(command)
        lines = (Path(command[-2]) / "train.tsv").read_text().splitlines()
        assert len(lines) == multimodality.TRAINING_SENTENCES
        (Path(command[-1]) / "vocabulary").mkdir(parents=True)
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(subprocess, "run", train)
    return commands


def test_the_coupled_models_are_trained_once_and_named_by_their_folder(trainer: list[list[str]]) -> None:
    said: list[str] = []
    first = multimodality.line_up(asked(multimodality.CONTESTANTS, say=said.append))
    again = multimodality.line_up(asked(multimodality.CONTESTANTS, say=said.append))
    assert first == replace(again, say=first.say)
    assert (len(trainer), len(said)) == (1, 1)
    assert not any(multimodality.TRAINED in label for label in first.labels)
    other = multimodality.line_up(asked(multimodality.CONTESTANTS, seed=1))
    assert other.labels != first.labels and len(trainer) == 2


def test_the_task_of_coupled_pairs_is_in_its_language_and_models_of_the_users_own_are_not_trained(
    trainer: list[list[str]],
) -> None:
    task = load_task("coupled")
    assert {row.source for row in task.rows} <= set(coupled.LANGUAGE)
    own = asked(("ar:weights=mine",), (task,), chosen=True)
    assert multimodality.line_up(own) == own
    assert trainer == []


def test_a_failed_training_leaves_nothing_behind(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    failed = subprocess.CompletedProcess([], 2, "", "train: no\nspace")
    monkeypatch.setattr(subprocess, "run", lambda command, **_: failed)
    assert main(["run", "multimodality", "--out", str(tmp_path / "run")], registry=Fakes({})) == 2
    assert "training the tiny models failed: train: no space" in capsys.readouterr().err
    assert list((tmp_path / "cache" / "arnar" / "coupled").iterdir()) == []
    assert not (tmp_path / "run").exists()


def test_a_cache_that_cannot_be_written_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(Refusal, match="set XDG_CACHE_HOME"):
        multimodality.line_up(asked(multimodality.CONTESTANTS))


def test_likelihoods_stand_at_the_first_contestant_of_a_model(
    fakes: Fakes, run_it: RunIt, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(likelihoods, "STRATEGIES", ("one",))
    monkeypatch.setattr("generators.likelihood.nats", lambda generator, prompts, targets: [1.5] * len(targets))
    run_it(fakes, "quality", "--repeats", "2", strategies="one,one:again=1,two")
    run = read_run(tmp_path / "run")
    told = {score.label for score in run.scores if NATS in score.statistics}
    assert told == {"one"}
    sample = run.samples[0]
    score = next(s for s in run.scores if (s.label, s.row) == ("one", sample.row))
    assert score.statistics[NATS] == (1.5, float(len(sample.reference_ids)))
