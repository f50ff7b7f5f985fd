"""The exact line on real strategies with tiny weights: what they compute, and that no cheat passes it."""

from pathlib import Path

import pytest
import torch

from generators.base import Exact, Natural, Prompt, Request
from generators.models.files import load_model
from generators.models.heads import CtcMarian
from generators.models.marian import Marian
from generators.models.text import load_codec
from generators.registry import Loaded
from generators.strategies.ar import Autoregressive
from generators.strategies.ctc import Ctc
from reports.gate_exact import Counted, against_file
from suites.gate_burden import carrying
from suites.gate_counts import counted
from tests.contract.test_contract_mutants import ExtraPass, HonestRecomputer, Recomputer
from tests.generators.tiny import write_model, write_vocabulary

N = 6


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("weights")
    vocabulary = write_vocabulary(home / "vocabulary")
    for name in ("ar_student", "ctc"):
        write_model(home / name, vocabulary, name)
    return home


@pytest.fixture
def model(weights: Path) -> Marian:
    return load_model(weights / "ar_student", Marian, dtype="float64")


def ask(kind: type[Autoregressive], model: Marian, weights: Path, n: int = N) -> dict[str, int | str]:
    codec = load_codec(weights / "ar_student")
    request = Request(prompts=(Prompt(prefix_ids=codec.encode("And God said")),), length=Exact(n))
    loaded = Loaded(generator=kind(model, codec), codec=codec, config={}, weights_sha256="", cache="exact")
    return counted(loaded, request)["fixed"]


def test_a_cached_loop_computes_each_position_once_and_reads_the_others(model: Marian, weights: Path) -> None:
    found = ask(Autoregressive, model, weights)
    assert (found["seen_decoder_calls"], found["seen_decoder_positions"]) == (N, N)
    assert found["cached_positions"] == N * (N - 1) // 2
    assert (found["seen_encoder_calls"], found["kept_tokens"]) == (1, N)
    assert found["parameters"] == sum(p.numel() for p in model.parameters())
    assert (found["charged_decode_calls"], found["charged_decode_positions"]) == (N, N)


@pytest.mark.parametrize("kind", [ExtraPass, Recomputer, HonestRecomputer])
def test_an_extra_pass_and_a_dropped_cache_change_a_counter_whatever_is_charged(
    kind: type[Autoregressive], model: Marian, weights: Path
) -> None:
    honest, cheat = ask(Autoregressive, model, weights), ask(kind, model, weights)
    head = Counted(fixed={"ar@6": cheat}, kernel={}, failed={}, absent={}, strategies=("ar",))
    found = against_file(head, {"ar@6": honest})
    assert found
    assert all(line.startswith("ar@6: ") and " committed, " in line for line in found)
    if kind is not ExtraPass:
        assert f"ar@6: cached_positions {N * (N - 1) // 2} committed, 0 here" in found


def test_what_may_vary_with_kernels_is_kept_apart(weights: Path) -> None:
    model, codec = load_model(weights / "ctc", CtcMarian, dtype="float64"), load_codec(weights / "ctc")
    request = Request(prompts=(Prompt(prefix_ids=codec.encode("And God said")),), length=Natural(30))
    found = counted(
        Loaded(generator=Ctc(model, codec), codec=codec, config={}, weights_sha256="", cache="none"), request
    )
    assert "kept_tokens" not in found["fixed"]
    assert set(found["kernel"]) == {"kept_tokens"}
    assert found["fixed"]["seen_decoder_calls"] == 1


def test_a_burden_is_real_work_and_changes_no_output(
    model: Marian, weights: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    products: list[tuple[int, ...]] = []
    plain = torch.Tensor.__matmul__
    monkeypatch.setattr(torch.Tensor, "__matmul__", lambda a, b: products.append(tuple(a.shape)) or plain(a, b))
    codec = load_codec(weights / "ar_student")
    strategy = Autoregressive(model, codec)
    request = Request(prompts=(Prompt(prefix_ids=codec.encode("And God said")),), length=Exact(N))
    from generators.base import Stopwatch

    free = strategy.generate(request, Stopwatch()).token_ids
    before = len(products)
    with carrying(strategy, {"per_step": 2.5, "per_call": 3}):
        assert strategy.generate(request, Stopwatch()).token_ids == free
    mine = [shape for shape in products[before:] if shape == (1, model.config.d_model)]
    assert len(mine) == 3 + int(2.5 * N)
    after = len(products)
    with carrying(strategy, {"per_step": 0.0}):  # the hooks alone
        strategy.generate(request, Stopwatch())
    strategy.generate(request, Stopwatch())
    assert [shape for shape in products[after:] if shape == (1, model.config.d_model)] == []
