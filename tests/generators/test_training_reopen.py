"""Going on from exported weights: what was accounted for stays so, and what does not fit is refused."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch

from generators.models.files import file_hash, read_weights
from generators.models.heads import CtcMarian
from generators.registry import SHIPPED
from generators.training.__main__ import main
from generators.training.data import Example
from generators.training.export import account, note_start
from generators.training.loop import initialise, learning_rate, resume, train
from generators.training.losses import ctc_loss
from generators.training.pipeline import home_of
from generators.training.recipes import RECIPES, VOCAB_SIZE, Schedule, model_values
from generators.training.reopen import reopen
from generators.training.teacher import teacher_state, teacher_update

CORPUS = Path(__file__).parents[2] / "generators" / "training" / "corpora" / "bible-kjv-web"
ACCOUNTS: dict[str, Any] = json.loads((SHIPPED / "MANIFEST.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The checkpoints after `ctc` was reopened from the shipped models."""
    folder = home_of(CORPUS, tmp_path_factory.mktemp("reopened"))
    reopen("ctc", SHIPPED, CORPUS, folder)
    return folder


def test_a_reopened_training_stands_where_its_account_says(home: Path) -> None:
    model, optimizer = fresh_ctc()
    progress = resume(home / "ctc", model, optimizer, torch.Generator())
    told = ACCOUNTS["ctc"]
    assert (progress.update, progress.tokens) == (told["updates"], told["target_tokens"])
    assert (progress.best_update, progress.best_bleu) == (told["best_update"], told["best_valid_bleu"])
    assert [list(point) for point in progress.curve] == told["valid_bleu_curve"]
    for name, value in read_weights(SHIPPED / "ctc").items():
        assert torch.equal(model.state_dict()[name], value.float()), name


def fresh_ctc() -> tuple[CtcMarian, torch.optim.Optimizer]:
    from generators.models.files import build_model
    from generators.training.loop import adam

    model = build_model(model_values(RECIPES["ctc"], VOCAB_SIZE), dropout=0.1)
    assert isinstance(model, CtcMarian)
    initialise(model, 1, None)
    return model, adam(model)


def test_the_shipped_teacher_is_frozen_for_a_reopened_student(home: Path) -> None:
    assert teacher_update(home) == ACCOUNTS["ar"]["best_update"]
    shipped = read_weights(SHIPPED / "ar")
    assert all(torch.equal(value, shipped[name].float()) for name, value in teacher_state(home).items())


def test_a_teacher_that_is_frozen_already_stays(tmp_path: Path) -> None:
    folder = home_of(CORPUS, tmp_path)
    torch.save({"update": 7, "state": {"mark": torch.ones(1)}}, folder / "teacher.pt")
    reopen("ctc", SHIPPED, CORPUS, folder)
    assert teacher_update(folder) == 7


def test_the_account_of_a_reopened_training_keeps_all_starts_and_tells_of_it(home: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(home, tmp_path / "home")
    note_start("ctc", copy / "ctc", 1, "cpu", 17)
    found = account("ctc", CORPUS, copy / "ctc", SHIPPED / "ctc", 0)
    *before, last = found["starts"]
    assert before == ACCOUNTS["ctc"]["starts"]
    assert last["teacher_update"] == ACCOUNTS["ar"]["best_update"]
    assert last["reopened"] == {
        "update": ACCOUNTS["ctc"]["updates"],
        "weights_of_update": ACCOUNTS["ctc"]["best_update"],
        "weights_sha256": file_hash(SHIPPED / "ctc" / "model.safetensors"),
    }
    for same in ("updates", "target_tokens", "minutes", "best_update", "best_valid_bleu", "valid_bleu_curve"):
        assert found[same] == ACCOUNTS["ctc"][same], same


def test_training_goes_on_from_there(home: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(home / "ctc", tmp_path / "ctc")
    first = ACCOUNTS["ctc"]["updates"] + 1
    schedule = Schedule(max_updates=first, evaluate_every=first)
    examples = [Example((5, 6, 0), (7, 8))]
    model, _ = fresh_ctc()
    progress = train(model, examples, ctc_loss, lambda _: 99.0, schedule, copy, lambda _: None)
    assert (progress.update, progress.best_update, progress.tokens) == (
        first, first, ACCOUNTS["ctc"]["target_tokens"] + 3
    )  # fmt: skip
    before = read_weights(SHIPPED / "ctc")["model.shared.weight"].float()
    moved = (model.model.shared.weight.detach() - before).abs().max().item()
    assert 0 < moved <= 1.1 * learning_rate(first, schedule, first - 1)  # Adam's first step is the rate, either way


def test_the_rate_of_a_reopened_training_rises_again_and_joins_the_schedule() -> None:
    schedule = Schedule()
    plain = [learning_rate(update, schedule) for update in (5001, 5100, 5200, 6000)]
    reopened = [learning_rate(update, schedule, 5000) for update in (5001, 5100, 5200, 6000)]
    assert reopened == pytest.approx([plain[0] / 200, plain[1] / 2, plain[2], plain[3]])


def copied(folder: Path) -> Path:
    """The shipped `ctc` and its account, to be spoilt."""
    shutil.copytree(SHIPPED / "ctc", folder / "ctc")
    (folder / "MANIFEST.json").write_text(json.dumps({"ctc": ACCOUNTS["ctc"]}))
    return folder


def spoil(case: str, weights: Path, home: Path) -> None:
    if case == "checkpoint":
        (home / "ctc").mkdir()
        (home / "ctc" / "state.pt").write_bytes(b"")
    elif case == "vocabulary":
        (home / "vocabulary").mkdir()
        (home / "vocabulary" / "vocab.json").write_text("{}")
    elif case == "corpus":
        changed = {"ctc": ACCOUNTS["ctc"] | {"data_sha256": {"train": "0", "valid": "0"}}}
        (weights / "MANIFEST.json").write_text(json.dumps(changed))
    elif case == "weights":
        changed = {"ctc": ACCOUNTS["ctc"] | {"files_sha256": {"model.safetensors": "0"}}}
        (weights / "MANIFEST.json").write_text(json.dumps(changed))
    elif case == "manifest":
        (weights / "MANIFEST.json").unlink()
    elif case == "unknown":
        (weights / "MANIFEST.json").write_text("{}")


@pytest.mark.parametrize(
    ("case", "message"),
    [
        ("checkpoint", "has a checkpoint already: leave out --reopen"),
        ("vocabulary", "has another vocabulary than"),
        ("corpus", "was trained on another text than"),
        ("weights", "is not the model that MANIFEST.json describes"),
        ("manifest", "MANIFEST.json cannot be read"),
        ("unknown", "has no 'ctc' to reopen"),
        ("teacher", "has no 'ar' to reopen; it has: ctc"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_line_and_leaves_no_checkpoint(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], case: str, message: str
) -> None:
    weights, folder = copied(tmp_path / "weights"), home_of(CORPUS, tmp_path / "checkpoints")
    spoil(case, weights, folder)
    before = sorted(folder.rglob("*"))
    command = ["ctc", f"--reopen={weights}", f"--checkpoints={tmp_path / 'checkpoints'}", "--threads=1"]
    assert main(command) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert message in line
    assert sorted(folder.rglob("*")) == before
