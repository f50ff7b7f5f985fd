"""The two passes that a race is made of, on random weights of the shipped shape: d = 256, 3 + 3 layers, 4,000 ids.

One row, one thread, float32. What they take is shown, never asserted.
"""

import pytest
import torch
from pytest_benchmark.fixture import BenchmarkFixture
from torch import Tensor

from generators.models.cache import Cache
from generators.models.files import build_model
from generators.models.heads import CmlmMarian
from generators.models.marian import Marian
from generators.training.loop import initialise
from generators.training.recipes import RECIPES, VOCAB_SIZE, model_values

N_SOURCE = 32
N_POSITIONS = 128


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


def shipped_shape(recipe: str) -> Marian:
    model = build_model(model_values(RECIPES[recipe], VOCAB_SIZE))
    initialise(model, 1, None)
    model.eval().requires_grad_(False).pack()
    return model


def sources() -> Tensor:
    return torch.randint(2, VOCAB_SIZE - 2, (1, N_SOURCE), generator=torch.Generator().manual_seed(1))


def test_one_cached_decode_step(benchmark: BenchmarkFixture) -> None:
    """The step in the middle of an answer of 128 tokens: 64 positions cached, one computed, its best token chosen."""
    model, token_ids = shipped_shape("ar_student"), torch.tensor([[7]])

    @torch.inference_mode()
    def step() -> int:
        cache.length = N_POSITIONS // 2
        hidden = model.model.decoder(model.embed(token_ids, cache.length), memory, cache=cache)
        return int(model.logits(hidden)[:, -1].argmax())

    with torch.inference_mode():
        memory = model.encode(sources())
        cache = Cache(model.config, 1, N_POSITIONS, memory.states)
        cache.buffer.normal_(generator=torch.Generator().manual_seed(2))
    assert 0 <= benchmark(step) < VOCAB_SIZE
    assert cache.length == N_POSITIONS // 2 + 1


def test_one_parallel_pass(benchmark: BenchmarkFixture) -> None:
    """All 128 positions of an answer at once, and the best token of each."""
    model = shipped_shape("cmlm")
    assert isinstance(model, CmlmMarian)
    masks = torch.full((1, N_POSITIONS), model.mask_token_id)

    @torch.inference_mode()
    def fill() -> Tensor:
        return model.fill(masks, memory, None).argmax(-1)

    with torch.inference_mode():
        memory = model.encode(sources())
    assert benchmark(fill).shape == (1, N_POSITIONS)
