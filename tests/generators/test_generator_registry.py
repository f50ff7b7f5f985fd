"""How a person names a contestant, and that every way to misname one is answered in one line."""

import json
import shutil
import sys
from pathlib import Path

import huggingface_hub
import pytest
from huggingface_hub.errors import LocalEntryNotFoundError

from generators import registry
from generators.base import Exact, Placement
from generators.models.files import WEIGHTS, file_hash
from generators.registry import STRATEGIES, build, find_weights, parse
from tests.generators.asking import ask
from tests.generators.tiny import write_model


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, vocabulary: Path) -> Path:
    home = tmp_path_factory.mktemp("models")
    for recipe in ("ar", "ctc", "cmlm"):
        write_model(home / recipe, vocabulary, recipe)
    return home


def test_a_label_is_a_strategy_and_its_knobs() -> None:
    spec = parse("mask_predict:n_iterations=10:weights=some/folder=odd")
    assert (spec.label, spec.strategy) == ("mask_predict:n_iterations=10:weights=some/folder=odd", "mask_predict")
    assert spec.knobs == {"n_iterations": "10", "weights": "some/folder=odd"}
    assert parse("ar").knobs == {}


def test_an_unknown_strategy_is_answered_with_those_there_are() -> None:
    with pytest.raises(
        ValueError, match=r"^unknown strategy 'cmlm'; choose from: ar, ar_uncached, ctc, .*ctranslate2$"
    ):
        parse("cmlm")


@pytest.mark.parametrize(
    "text", ["ar:", "ar:beam_size", "ar:beam_size=", "ar:=4", "ar:beam_size=2:beam_size=3", "ar::"]
)
def test_a_setting_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a new knob=value"):
        parse(text)


@pytest.mark.parametrize(
    ("label", "message"),
    [
        ("ar:colour=3", "unknown knob 'colour' of ar; choose from: weights, dtype, threads, beam_size, length_penalty"),
        ("ctc:colour=3", "unknown knob 'colour' of ctc; choose from: weights, dtype, threads, beam_size, engine$"),
        ("ar:beam_size=two", "knob beam_size of ar wants int, got 'two'"),
        ("ar:beam_size=1.5", "knob beam_size of ar wants int, got '1.5'"),
        ("ar:length_penalty=x", "knob length_penalty of ar wants float"),
        ("ar:beam_size=0", "beam_size must be 1 or more"),
        ("mask_predict:n_iterations=0", "n_iterations and length_beam must be 1 or more"),
    ],
)
def test_a_bad_knob_is_refused(label: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        build(parse(label))


def test_what_is_loaded_knows_its_settings_and_its_weights(folder: Path) -> None:
    loaded = build(parse(f"ar:weights={folder / 'ar'}:beam_size=2"))
    assert loaded.config == {"beam_size": 2, "length_penalty": 1.0, "weights": str(folder / "ar")}
    assert loaded.weights_sha256 == file_hash(folder / "ar" / WEIGHTS)
    assert loaded.cache == "exact"


def test_the_placement_is_where_the_model_lies(folder: Path) -> None:
    loaded = build(parse(f"ar:weights={folder / 'ar'}"), Placement(dtype="bfloat16"))
    assert {str(p.dtype) for p in loaded.generator.model.parameters()} == {"torch.bfloat16"}  # type: ignore[attr-defined]
    (row,) = ask(loaded.generator, [(5, 9, 0)], Exact(4)).token_ids
    assert len(row) == 4


def test_a_device_that_is_not_here_is_refused_in_one_line(folder: Path) -> None:
    for device in ("cuda:99", "toaster"):
        with pytest.raises(ValueError, match=f"device '{device}' cannot be used here") as caught:
            build(parse(f"ar:weights={folder / 'ar'}"), Placement(device=device))
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("strategy", "weights"),
    [("ctc", "ar"), ("mask_predict", "ar"), ("mask_predict", "ctc"), ("ar", "ctc"), ("ar_uncached", "cmlm"),
     ("hf_generate", "ctc"), ("hf_generate", "cmlm")],
)  # fmt: skip
def test_weights_of_another_kind_are_refused(folder: Path, strategy: str, weights: str) -> None:
    with pytest.raises(ValueError, match="this strategy needs a"):
        build(parse(f"{strategy}:weights={folder / weights}"))


def test_a_missing_engine_is_an_import_error(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ctranslate2", None)
    with pytest.raises(ImportError, match="ctranslate2"):
        build(parse(f"ctranslate2:weights={folder / 'ar'}"))


@pytest.mark.parametrize("name", ["ar_studnt", "/no/such/folder", "a/b/c", "../up", "two words", "owner/"])
def test_what_is_no_hub_name_is_not_looked_for_there(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(huggingface_hub, "snapshot_download", None)  # to call it would be a TypeError
    with pytest.raises(ValueError, match="not shipped .*, no model folder, no hub name") as caught:
        find_weights(name)
    assert "\n" not in str(caught.value)


def test_without_a_hub_a_hub_name_is_answered_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    tries: list[str] = []

    def nobody_there(name: str, **_: object) -> str:
        tries.append(name)
        raise LocalEntryNotFoundError("no connection\nand a long explanation")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", nobody_there)
    with pytest.raises(
        ValueError, match=r"no weights 'nobody/nothing': .*not on the hub \(.*no connection\)$"
    ) as caught:
        find_weights("nobody/nothing")
    assert "\n" not in str(caught.value)
    assert tries == ["nobody/nothing"]  # once


def test_a_session_that_is_offline_stays_offline() -> None:
    # tests/conftest.py sets HF_HUB_OFFLINE=1
    with pytest.raises(ValueError, match="not on the hub") as caught:
        find_weights("nobody/nothing")
    assert "\n" not in str(caught.value)


def test_a_hub_model_is_the_folder_that_was_fetched(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(huggingface_hub, "snapshot_download", lambda name, **_: str(folder / "ar"))
    assert build(parse("ar:weights=Helsinki-NLP/opus-mt-xx-yy")).config["weights"] == "Helsinki-NLP/opus-mt-xx-yy"


def test_a_shipped_name_comes_before_a_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "SHIPPED", folder)
    assert find_weights("ctc") == folder / "ctc"
    with pytest.raises(ValueError, match=r"not shipped \(ar, cmlm, ctc\)"):
        find_weights("dtc")


def test_a_file_that_the_manifest_knows_otherwise_is_refused(tmp_path: Path, vocabulary: Path) -> None:
    folder = write_model(tmp_path / "one", vocabulary, "ar")
    names = sorted(path.name for path in folder.iterdir())
    account = {"files_sha256": {name: file_hash(folder / name) for name in names}}
    (tmp_path / "MANIFEST.json").write_text(json.dumps({"one": account}))
    build(parse(f"ar:weights={folder}"))
    for name in (WEIGHTS, "config.json", "target.spm"):
        whole = (folder / name).read_bytes()
        (folder / name).write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
        with pytest.raises(ValueError, match=f"{name} is not the file that .*MANIFEST.json was written for"):
            build(parse(f"ar:weights={folder}"))
        (folder / name).write_bytes(whole)
    (folder / "source.spm").unlink()
    with pytest.raises(ValueError, match="source.spm is not the file"):
        build(parse(f"ar:weights={folder}"))


def test_weights_that_are_missing_are_named_for_every_strategy(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_bytes((folder / "ar" / "config.json").read_bytes())
    for strategy in STRATEGIES:
        with pytest.raises((ValueError, ImportError), match="has no model.safetensors|ctranslate2"):
            build(parse(f"{strategy}:weights={tmp_path}"))


def test_a_model_that_is_not_shipped_yet_is_answered_with_how_to_train_it() -> None:
    for name in registry.UNSHIPPED:
        with pytest.raises(ValueError, match=f"weights '{name}' are not shipped yet; train them .*training {name}"):
            find_weights(name)


def test_a_drafters_and_a_scorers_weights_are_told_too(
    folder: Path, tmp_path: Path, vocabulary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry, "SHIPPED", folder)
    own, draft = (file_hash(folder / name / WEIGHTS) for name in ("ar", "ctc"))
    loaded = build(parse("speculative:weights=ar:drafter=ctc"))
    assert loaded.weights_sha256 == f"{own}+{draft}"
    assert loaded.config == {"drafter": "ctc", "draft_length": 4, "weights": "ar"}
    assert build(parse("speculative:weights=ar")).weights_sha256 == own
    scored = build(parse("mask_predict:weights=cmlm:scorer=ar"))
    assert scored.weights_sha256 == f"{file_hash(folder / 'cmlm' / WEIGHTS)}+{own}"


def test_a_helper_of_another_vocabulary_or_kind_is_refused(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = shutil.copytree(folder / "ar", tmp_path / "other")
    ids = json.loads((other / "vocab.json").read_text())
    (other / "vocab.json").write_text(json.dumps(ids | {"extra": 60}))
    for label in (f"speculative:drafter={other}", f"mask_predict:scorer={other}"):
        kind = "ar" if label.startswith("speculative") else "cmlm"
        with pytest.raises(ValueError, match="has another vocabulary than"):
            build(parse(f"{label}:weights={folder / kind}"))
    with pytest.raises(ValueError, match="this strategy needs a Marian"):
        build(parse(f"speculative:weights={folder / 'ar'}:drafter={folder / 'cmlm'}"))
    with pytest.raises(ValueError, match="no weights 'nobody'"):
        build(parse(f"speculative:weights={folder / 'ar'}:drafter=nobody"))
