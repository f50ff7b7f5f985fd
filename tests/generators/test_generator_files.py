"""What lies in a model folder is read whole or refused in one line."""

import json
import shutil
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from generators.models.files import WEIGHTS, load_model, read_config, read_weights
from generators.models.heads import CmlmMarian, CtcMarian
from generators.models.marian import Marian
from generators.models.text import load_codec
from tests.generators.tiny import tiny_model, tiny_values, write_model


@pytest.fixture
def folder(tmp_path: Path, vocabulary: Path) -> Path:
    return write_model(tmp_path / "model", vocabulary, "ar")


def change(folder: Path, **changes: object) -> None:
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


@pytest.mark.parametrize(("recipe", "kind"), [("ar", Marian), ("ctc", CtcMarian), ("cmlm", CmlmMarian)])
def test_what_was_saved_is_what_is_loaded(tmp_path: Path, vocabulary: Path, recipe: str, kind: type[Marian]) -> None:
    write_model(tmp_path, vocabulary, recipe)
    found, own = load_model(tmp_path, kind).state_dict(), tiny_model(recipe).state_dict()
    assert found.keys() == own.keys()
    for name, value in own.items():
        assert torch.equal(found[name], value.half().float())  # kept in half precision


@pytest.mark.parametrize("kind", [CtcMarian, CmlmMarian])
def test_another_kind_of_model_is_refused(folder: Path, kind: type[Marian]) -> None:
    with pytest.raises(ValueError, match=f"holds a Marian; this strategy needs a {kind.__name__}"):
        load_model(folder, kind)


def test_a_folder_without_config_or_weights_is_named(folder: Path) -> None:
    (folder / WEIGHTS).unlink()
    with pytest.raises(ValueError, match="has no model.safetensors; weights are loaded from safetensors only"):
        load_model(folder, Marian)
    (folder / "config.json").unlink()
    with pytest.raises(ValueError, match="is no model folder: it has no config.json"):
        load_model(folder, Marian)


@pytest.mark.parametrize("text", ["", "{", "[1]", "null", '{"model_type": "bert"}', "\x00\xff"])
def test_a_broken_config_is_refused_in_one_line(folder: Path, text: str) -> None:
    (folder / "config.json").write_bytes(text.encode("latin-1"))
    with pytest.raises(ValueError, match="config.json") as caught:
        load_model(folder, Marian)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "changes",
    [
        {"d_model": "many"},
        {"d_model": -8},
        {"encoder_layers": None},
        {"activation_function": "sine"},
        {"arnar": {"head": "levenshtein"}},
        {"arnar": {"head": "ctc"}},
        {"arnar": {"head": "ctc", "upsampling": 2, "blank_token_id": 1, "colour": 3}},
        {"pad_token_id": 99},
    ],
    ids=str,
)
def test_a_config_that_makes_no_model_is_refused_in_one_line(folder: Path, changes: dict[str, object]) -> None:
    change(folder, **changes)
    with pytest.raises(ValueError, match=r"config\.json: no model can be made of it") as caught:
        load_model(folder, Marian)
    assert "\n" not in str(caught.value)


def test_a_missing_key_is_named(folder: Path) -> None:
    values = json.loads((folder / "config.json").read_text())
    del values["decoder_start_token_id"]
    (folder / "config.json").write_text(json.dumps(values))
    with pytest.raises(ValueError, match="decoder_start_token_id"):
        load_model(folder, Marian)


@pytest.mark.parametrize("key", ["share_encoder_decoder_embeddings", "tie_word_embeddings"])
def test_separate_embeddings_are_refused_and_not_confused(folder: Path, key: str) -> None:
    change(folder, **{key: False})
    with pytest.raises(ValueError, match="one embedding for source, target and output"):
        read_config(folder)


def test_weights_cut_short_are_refused(folder: Path) -> None:
    whole = (folder / WEIGHTS).read_bytes()
    for length in (0, 7, 100, len(whole) - 1):
        (folder / WEIGHTS).write_bytes(whole[:length])
        with pytest.raises(ValueError, match="model.safetensors cannot be read"):
            load_model(folder, Marian)


def test_weights_of_another_shape_are_refused(folder: Path) -> None:
    change(folder, d_model=32)
    with pytest.raises(ValueError, match="does not fit its config.json") as caught:
        load_model(folder, Marian)
    assert "\n" not in str(caught.value)


def test_a_missing_or_foreign_tensor_is_refused(folder: Path) -> None:
    state = load_file(folder / WEIGHTS)
    bias = state.pop("final_logits_bias")
    save_file(state, folder / WEIGHTS)
    with pytest.raises(ValueError, match="final_logits_bias"):
        load_model(folder, Marian)
    save_file({**state, "final_logits_bias": bias, "model.extra": bias.clone()}, folder / WEIGHTS)
    with pytest.raises(ValueError, match="model.extra"):
        load_model(folder, Marian)


def test_copies_of_the_embedding_and_position_tables_are_no_weights(folder: Path) -> None:
    state = load_file(folder / WEIGHTS)
    copies = {
        "lm_head.weight": state["model.shared.weight"].clone(),
        "model.encoder.embed_positions.weight": torch.ones(2),
    }
    save_file(state | copies, folder / WEIGHTS)
    assert read_weights(folder).keys() == state.keys()
    load_model(folder, Marian)


def test_a_tokenizer_that_is_not_there_or_broken_is_refused(folder: Path) -> None:
    (folder / "source.spm").write_bytes(b"nothing")
    with pytest.raises(ValueError, match="its tokenizer cannot be read") as caught:
        load_codec(folder)
    assert "\n" not in str(caught.value)
    (folder / "source.spm").unlink()
    with pytest.raises(ValueError, match="has no tokenizer: source.spm missing"):
        load_codec(folder)


def test_a_broken_vocabulary_is_refused(folder: Path) -> None:
    for text in ("{", "{}", "[]"):
        (folder / "vocab.json").write_text(text)
        with pytest.raises(ValueError, match="its tokenizer cannot be read"):
            load_codec(folder)


def test_a_source_may_be_as_long_as_model_and_tokenizer_allow(folder: Path, vocabulary: Path) -> None:
    assert load_codec(vocabulary).max_source_tokens == 512
    assert load_codec(folder).max_source_tokens == tiny_values("ar")["max_position_embeddings"] == 40
    shutil.copyfile(folder / "config.json", folder / "config.kept")
    change(folder, max_position_embeddings=4000)
    assert load_codec(folder).max_source_tokens == 512
