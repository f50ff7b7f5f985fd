"""The CTranslate2 engine: the same words from the same weights, converted once."""

import shutil
from pathlib import Path

import pytest

from generators.base import Exact, FinishReason, Natural, Placement, Unsupported
from generators.models.files import read_ar_config
from generators.registry import build, parse
from tests.generators.asking import ask, random_sources
from tests.generators.tiny import rewrite_config, write_model, write_opus_model

pytest.importorskip("ctranslate2", reason="the engine is not installed")
from ctranslate2.converters import TransformersConverter  # noqa: E402

from generators.strategies import ctranslate2 as engine  # noqa: E402


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "arnar" / "ctranslate2"


@pytest.fixture
def folder(tmp_path: Path, vocabulary: Path) -> Path:
    return write_model(tmp_path / "model", vocabulary, "ar", eos_bias=5.0)


@pytest.mark.parametrize("activation", ["relu", "swish"])
def test_its_words_are_those_of_our_loop(tmp_path: Path, vocabulary: Path, activation: str) -> None:
    write_opus_model(tmp_path / "opus", vocabulary, activation_function=activation)
    theirs, ours = (build(parse(f"{name}:weights={tmp_path / 'opus'}")) for name in ("ctranslate2", "ar"))
    sources = [source for source in random_sources(40, seed=1) if len(source) > 1]
    for length in (Natural(14), Exact(9)):
        found, wanted = (ask(loaded.generator, sources, length) for loaded in (theirs, ours))
        same = [a == b for a, b in zip(found.token_ids, wanted.token_ids, strict=True)]
        assert sum(same) >= len(same) - 1  # float32: one near tie may break the other way
        assert {len(row) for row in found.token_ids} != {14}


def test_the_conversion_is_made_once(folder: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = build(parse(f"ctranslate2:weights={folder}"))
    monkeypatch.setattr(engine, "convert", None)  # to call it again would be a TypeError
    for label in ("ctranslate2", "ctranslate2:compute_type=int8", "ctranslate2:beam_size=2"):
        loaded = build(parse(f"{label}:weights={folder}"), Placement(threads=1))
        assert len(ask(loaded.generator, [(5, 9, 0)], Exact(4)).token_ids[0]) == 4
    assert len(list(cache.iterdir())) == 1
    assert first.cache == "exact"


def test_other_weights_are_converted_anew(folder: Path, cache: Path, tmp_path: Path, vocabulary: Path) -> None:
    build(parse(f"ctranslate2:weights={folder}"))
    build(parse(f"ctranslate2:weights={write_model(tmp_path / 'other', vocabulary, 'ar', seed=1)}"))
    rewrite_config(folder, scale_embedding=False)
    build(parse(f"ctranslate2:weights={folder}"))
    assert len(list(cache.iterdir())) == 3


def test_the_second_of_two_that_convert_at_once_takes_what_is_there(
    folder: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shape, whole = read_ar_config(folder), TransformersConverter.convert
    other_process = engine.converted(folder, shape)
    shutil.move(other_process, cache.parent / "ready")

    def slow(self: TransformersConverter, output_dir: str, **options: object) -> str:
        shutil.move(cache.parent / "ready", other_process)  # the other process ends while this one converts
        return str(whole(self, output_dir, **options))

    monkeypatch.setattr(TransformersConverter, "convert", slow)
    assert engine.converted(folder, shape) == other_process
    assert list(cache.iterdir()) == [other_process]  # nothing half made is left
    assert (other_process / "model.bin").is_file()


def test_an_interrupted_conversion_leaves_nothing(folder: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(TransformersConverter, "convert", interrupted)
        build(parse(f"ctranslate2:weights={folder}"))
    assert list(cache.iterdir()) == []
    build(parse(f"ctranslate2:weights={folder}"))


def test_a_cache_that_cannot_be_written_is_named(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(ValueError, match="cannot keep converted weights in .*; set XDG_CACHE_HOME") as caught:
        build(parse(f"ctranslate2:weights={folder}"))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("recipe", ["ctc", "cmlm"])
def test_parallel_models_are_refused_and_not_decoded_as_if_causal(
    tmp_path: Path, vocabulary: Path, recipe: str
) -> None:
    write_model(tmp_path / recipe, vocabulary, recipe)
    with pytest.raises(ValueError, match="this strategy needs a Marian"):
        build(parse(f"ctranslate2:weights={tmp_path / recipe}"))


def test_a_padding_id_it_would_misread_is_refused(folder: Path) -> None:
    rewrite_config(folder, pad_token_id=0, decoder_start_token_id=0)
    with pytest.raises(ValueError, match="takes the last id for padding"):
        build(parse(f"ctranslate2:weights={folder}"))


def test_an_empty_source_ends_at_once_and_cannot_be_made_longer(folder: Path) -> None:
    generator = build(parse(f"ctranslate2:weights={folder}")).generator
    got = ask(generator, [(0,)], Natural(5))
    assert (got.token_ids, got.finish_reasons) == (((),), (FinishReason.EOS,))
    with pytest.raises(Unsupported, match="never decodes an empty source"):
        ask(generator, [(0,), (5, 0)], Exact(5))


@pytest.mark.parametrize("knob", ["compute_type=float8", "beam_size=0"])
def test_a_bad_knob_is_refused_before_anything_is_converted(folder: Path, cache: Path, knob: str) -> None:
    with pytest.raises(ValueError, match="compute_type 'float8'; choose from: float32, int8|beam_size must be 1"):
        build(parse(f"ctranslate2:{knob}:weights={folder}"))
    assert not cache.exists()


def test_a_build_without_cuda_is_unsupported_there_so_that_a_race_goes_on(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ctranslate2.get_cuda_device_count", lambda: 0)
    with pytest.raises(Unsupported, match="no CUDA"):
        engine.CTranslate2.load(folder, engine.CTranslate2Config(), Placement(device="cuda"))
