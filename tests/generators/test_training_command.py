"""`python -m generators.training`: bad input ends in one line and exit code 2."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from generators.training.__main__ import main
from generators.training.vocabulary import train_vocabulary
from tests.generators.tiny import LINES, VOCAB_SIZE

ROOT = Path(__file__).parents[2]


def corpus(folder: Path, text: str) -> Path:
    folder.mkdir()
    for split in ("train", "valid"):
        (folder / f"{split}.tsv").write_text(text)
    return folder


def test_an_unknown_model_is_answered_with_those_there_are() -> None:
    command = [sys.executable, "-m", "generators.training", "nosuch"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert "unknown model 'nosuch'; choose from: ar, ar_student, ar_shallow, ctc, cmlm" in line


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("no tab here\n", "train.tsv:1: want source<TAB>target"),
        ("too\tlittle\n", "no vocabulary of 4000 ids can be made of this text"),
    ],
)
def test_a_corpus_that_cannot_be_used_is_answered_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, message: str
) -> None:
    folder = corpus(tmp_path / "corpus", text)
    assert main(["ar", "--corpus", str(folder), "--checkpoints", str(tmp_path / "ckpt"), "--threads", "1"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert message in line


def test_a_missing_corpus_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ar", "--corpus", str(tmp_path / "none"), "--checkpoints", str(tmp_path), "--threads", "1"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "none has no train.tsv or train.tsv.gz" in line


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("--threads=0", "threads must be 1 or more, got 0"),
        ("--device=toaster", "device 'toaster' cannot be used here"),
        ("--checkpoints={file}", "file"),
    ],
)
def test_a_machine_or_folder_that_cannot_be_used_is_answered_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], option: str, message: str
) -> None:
    (tmp_path / "file").write_text("")
    lines = "".join(f"{a} {b}\t{b} {a}\n" for a in LINES for b in LINES)
    folder = corpus(tmp_path / "corpus", lines)
    assert main(["ar", "--corpus", str(folder), "--threads=1", option.format(file=tmp_path / "file")]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert message in line


def test_a_vocabulary_has_marian_files_with_the_special_ids_in_place(tmp_path: Path) -> None:
    train_vocabulary(LINES, VOCAB_SIZE, tmp_path)
    ids = json.loads((tmp_path / "vocab.json").read_text())
    assert sorted(ids.values()) == list(range(VOCAB_SIZE))
    assert (ids["</s>"], ids["<unk>"], ids["<mask>"], ids["<pad>"]) == (0, 1, VOCAB_SIZE - 2, VOCAB_SIZE - 1)
    assert (tmp_path / "source.spm").read_bytes() == (tmp_path / "target.spm").read_bytes()


def test_a_vocabulary_is_a_function_of_its_text(tmp_path: Path) -> None:
    for name in ("one", "two"):
        train_vocabulary(LINES, VOCAB_SIZE, tmp_path / name)
    assert (tmp_path / "one" / "vocab.json").read_bytes() == (tmp_path / "two" / "vocab.json").read_bytes()
