"""The tiny models of a toy language: what is written, and that they learn without bending probabilities."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from generators.models.files import load_model
from generators.models.heads import CmlmMarian
from generators.models.marian import Marian
from generators.models.text import load_codec
from generators.training import small
from generators.training.data import Example, collate
from generators.training.losses import ar_loss, cmlm_loss
from metrics.coupled import sentences
from tests.generators.tiny import VOCAB_SIZE, tiny_model

Plain = Callable[..., torch.Tensor]
LINES = tuple(f"{source}\t{target}" for source, target in sentences(6000, seed=0))


def corpus(folder: Path, lines: tuple[str, ...] = LINES) -> Path:
    folder.joinpath("train.tsv").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return folder


@pytest.fixture
def few_updates(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(small, "MODELS", {name: (loss, 2) for name, (loss, _) in small.MODELS.items()})


@pytest.mark.usefixtures("few_updates")
def test_both_models_are_whole_and_read_a_word_as_a_token(tmp_path: Path) -> None:
    assert small.main([str(corpus(tmp_path)), str(tmp_path / "out")]) == 0
    for name, kind in (("ar", Marian), ("cmlm", CmlmMarian)):
        assert isinstance(load_model(tmp_path / "out" / name, kind), kind)
        codec = load_codec(tmp_path / "out" / name)
        assert len(codec.encode_target("a b c d e f g h i j")) == 10


@pytest.mark.usefixtures("few_updates")
def test_targets_whose_words_are_no_tokens_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert small.main([str(corpus(tmp_path, ("A\taz by", *LINES))), str(tmp_path / "out")]) == 2
    assert "a word of its targets is more than one token" in capsys.readouterr().err


@pytest.mark.parametrize(("name", "plain"), [("ar", ar_loss), ("cmlm", cmlm_loss)])
def test_no_label_is_smoothed_for_that_would_bend_the_probabilities(name: str, plain: Plain) -> None:
    model, batch = tiny_model(name), collate([Example((5, 9, 0), (7, 8, 9))], VOCAB_SIZE - 1, 0, "cpu")
    loss, _ = small.MODELS[name]
    found = loss(model, batch, torch.Generator().manual_seed(5)).item()
    assert found == plain(model, batch, torch.Generator().manual_seed(5), 0.0).item()
    assert found != plain(model, batch, torch.Generator().manual_seed(5)).item()
