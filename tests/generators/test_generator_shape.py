"""Claims about what a pass is said to cost, against the models themselves and torch's own count of operations."""

from pathlib import Path

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from generators.models.marian import Cache, Marian
from generators.registry import SHIPPED
from generators.shape import shape_of
from metrics.roofline import Shape, decoder_pass, encoder_pass
from tests.generators.tiny import tiny_model, write_model, write_vocabulary


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("shape")
    return write_model(home / "ar", write_vocabulary(home / "vocabulary"), "ar")


@pytest.fixture(scope="module")
def model() -> Marian:
    return tiny_model()


@pytest.fixture(scope="module")
def shape(folder: Path) -> Shape:
    return Shape(**shape_of(str(folder), "float64"))


def test_the_shape_is_that_of_the_files(folder: Path) -> None:
    assert shape_of(str(folder), "float32") == {
        "d_model": 16, "encoder_layers": 2, "decoder_layers": 2, "encoder_ffn_dim": 24, "decoder_ffn_dim": 24,
        "vocab_size": 60, "weight_bytes": 4, "value_bytes": 4,
    }  # fmt: skip
    assert shape_of("ar_shallow", "int8")["weight_bytes"] == 1
    assert shape_of("ar_shallow", "int8")["value_bytes"] == 4
    assert (SHIPPED / "ar_shallow").is_dir()


def test_a_pass_over_nothing_moves_the_weights_that_the_model_has(model: Marian, shape: Shape) -> None:
    """Every matrix of the encoder, and of the decoder with its output, is read once."""
    matrices = {name: p.numel() for name, p in model.named_parameters() if p.ndim == 2}
    crossed = sum(n for name, n in matrices.items() if "encoder_attn.k_proj" in name or "encoder_attn.v_proj" in name)
    encoder = sum(n for name, n in matrices.items() if ".encoder." in name) + crossed
    decoder = sum(n for name, n in matrices.items() if ".encoder." not in name) - crossed
    assert encoder_pass(shape, 0, 0).bytes == 8 * encoder
    assert decoder_pass(shape, 0, 0, 0, 0).bytes == 8 * decoder


def flop(work: object) -> int:
    counter = FlopCounterMode(display=False)
    with counter, torch.inference_mode(), torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
        work()  # type: ignore[operator]
    return counter.get_total_flops()


def test_reading_costs_what_torch_counts(model: Marian, shape: Shape) -> None:
    sources = torch.tensor([[5, 6, 7, 8, 0], [9, 8, 7, 6, 0]])
    assert flop(lambda: model.encode(sources)) == encoder_pass(shape, rows=2, source=5).flop


def test_a_parallel_pass_costs_what_torch_counts(model: Marian, shape: Shape) -> None:
    sources, targets = torch.tensor([[5, 6, 7, 8, 0]] * 3), torch.tensor([[9, 8, 7, 6]] * 3)
    with torch.inference_mode():
        memory = model.encode(sources)
    counted = flop(lambda: model.logits(model.model.decoder(model.embed(targets), memory)))
    assert counted == decoder_pass(shape, rows=3, positions=4, context=4, source=5).flop


def test_a_cached_step_costs_what_torch_counts(model: Marian, shape: Shape) -> None:
    sources, token = torch.tensor([[5, 6, 7, 8, 0]] * 3), torch.tensor([[9]] * 3)
    with torch.inference_mode():
        memory = model.encode(sources)
        cache = Cache(model.config, 3, 9, memory.states)
        for step in range(4):
            x = model.embed(token, step)
            counted = flop(lambda x=x: model.logits(model.model.decoder(x, memory, cache=cache)))
            assert counted == decoder_pass(shape, rows=3, positions=1, context=step + 1, source=5).flop
