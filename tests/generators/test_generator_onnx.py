"""ONNX Runtime in the place of a parallel model's passes: the same logits, the same tokens, converted once."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import Tensor

from generators.base import Natural, Placement, Unsupported
from generators.models.files import load_model
from generators.models.heads import CmlmMarian, CtcMarian
from generators.models.inputs import padded
from generators.models.marian import Marian
from generators.registry import SHIPPED, build, parse
from tests.generators.asking import ask, random_sources
from tests.generators.tiny import write_model

pytest.importorskip("onnxruntime", reason="the engine is not installed")
from generators.models import onnx_engine  # noqa: E402
from generators.models.onnx_engine import load_on  # noqa: E402

TOLERANCE = 1e-4
SOURCES = ([7, 9, 11, 13, 0], [5, 0], [8, 21, 0])


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "arnar"


def read(model: CtcMarian, sources: list[list[int]]) -> Tensor:
    return model.read(model.encode(*padded(sources, model.config.pad_token_id, torch.device("cpu"))))


def fill(model: CmlmMarian, sources: list[list[int]]) -> Tensor:
    memory = model.encode(*padded(sources, model.config.pad_token_id, torch.device("cpu")))
    sizes = torch.tensor([3 + row for row in range(len(sources))])
    real = torch.arange(int(sizes.max())) < sizes[:, None]
    token_ids = torch.where(real, model.mask_token_id, model.config.pad_token_id)
    return model.fill(token_ids, memory, None if bool(real.all()) else real[:, None, None, :])


KINDS: dict[str, tuple[type[Marian], Callable[..., Tensor]]] = {"ctc": (CtcMarian, read), "cmlm": (CmlmMarian, fill)}


@pytest.mark.parametrize("recipe", KINDS)
@pytest.mark.parametrize("n_rows", [1, 3])
@torch.inference_mode()
def test_its_logits_are_those_of_torch(recipe: str, n_rows: int) -> None:
    kind, logits = KINDS[recipe]
    for sources in (SOURCES[:n_rows], [[*range(4, 90), 0]] * n_rows):
        theirs, ours = (
            logits(model, list(sources))
            for model in (load_on("onnx", SHIPPED / recipe, kind, Placement()), load_model(SHIPPED / recipe, kind))
        )
        assert theirs.shape == ours.shape and theirs.dtype == torch.float32
        for row, source in enumerate(sources):
            n = 2 * len(source) if recipe == "ctc" else 3 + row  # what stands in padding is nobody's
            assert float((theirs[row, :n] - ours[row, :n]).abs().max()) < TOLERANCE


@pytest.mark.parametrize("strategy", ["ctc", "mask_predict"])
def test_its_tokens_are_those_of_torch(tmp_path: Path, vocabulary: Path, strategy: str) -> None:
    folder = write_model(tmp_path / "model", vocabulary, {"ctc": "ctc", "mask_predict": "cmlm"}[strategy], eos_bias=3.0)
    theirs, ours = (build(parse(f"{strategy}:weights={folder}{engine}")).generator for engine in (":engine=onnx", ""))
    found, wanted = (ask(one, random_sources(40, seed=2), Natural(20)) for one in (theirs, ours))
    assert found.token_ids == wanted.token_ids
    assert len(set(found.token_ids)) > 20
    assert [(s.phase, s.calls, s.positions) for s in found.steps] == [
        (s.phase, s.calls, s.positions) for s in wanted.steps
    ]


@torch.inference_mode()
def test_int8_is_near_and_does_not_know_its_neighbours() -> None:
    model = load_on("onnx_int8", SHIPPED / "cmlm", CmlmMarian, Placement())
    wanted = fill(load_model(SHIPPED / "cmlm", CmlmMarian), list(SOURCES))
    together, alone = fill(model, list(SOURCES)), fill(model, [SOURCES[0]])
    assert torch.equal(together[0, :3], alone[0])  # its canvas is three slots, the others' are longer
    assert 1e-3 < float((alone[0] - wanted[0, :3]).abs().max()) < 0.1 * float(wanted.abs().max())


def test_a_conversion_is_made_once(
    tmp_path: Path, vocabulary: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_model(tmp_path / "model", vocabulary, "ctc")
    for engine in ("onnx", "onnx_int8"):
        build(parse(f"ctc:weights={folder}:engine={engine}"))
    monkeypatch.setattr(onnx_engine, "export", None)  # to call it again would be a TypeError
    for engine in ("onnx", "onnx_int8"):
        build(parse(f"ctc:weights={folder}:engine={engine}:beam_size=2"))
    assert sorted(path.parent.name for path in cache.glob("*/*")) == ["onnx", "onnx_int8"]


def test_a_missing_package_is_told_as_such(tmp_path: Path, vocabulary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write_model(tmp_path / "model", vocabulary, "ctc")
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(ImportError, match="onnxruntime"):
        build(parse(f"ctc:weights={folder}:engine=onnx"))


def test_it_is_refused_off_the_cpu_and_an_unknown_engine_by_name() -> None:
    with pytest.raises(Unsupported, match="engine=onnx runs on a CPU alone"):
        load_on("onnx", SHIPPED / "ctc", CtcMarian, Placement(device="cuda"))
    with pytest.raises(ValueError, match="unknown engine 'tvm'; choose from: torch, onnx, onnx_int8"):
        build(parse("ctc:engine=tvm"))
