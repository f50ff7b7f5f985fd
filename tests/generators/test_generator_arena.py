"""Weights laid side by side: nothing but their place changes, whatever the system grants."""

import mmap

import pytest
import torch

from generators.models.arena import ALIGNMENT, HUGE_PAGE, block, side_by_side
from generators.models.cache import Cache
from generators.models.marian import Marian
from tests.generators.tiny import VOCAB_SIZE, tiny_model

SYSTEMS = ("huge pages", "refused", "unknown")


@pytest.fixture(params=SYSTEMS)
def system(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """What the operating system says to a wish for huge pages."""

    class Refusing(mmap.mmap):
        def madvise(self, *_: int) -> None:
            raise OSError("no huge pages here")

    if request.param == "refused":
        monkeypatch.setattr(mmap, "mmap", Refusing)
    if request.param == "unknown":
        monkeypatch.delattr(mmap, "MADV_HUGEPAGE", raising=False)
    return str(request.param)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16])
def test_what_is_laid_side_by_side_is_what_was_given(system: str, dtype: torch.dtype) -> None:
    given = [torch.randn(3, 5).to(dtype), torch.randn(7, 2).to(dtype).t(), torch.randn(1).to(dtype)]
    laid = side_by_side(given)
    for old, new in zip(given, laid, strict=True):
        assert new.dtype == dtype
        assert torch.equal(new, old)
        assert new.is_contiguous()
    gaps = [after.data_ptr() - before.data_ptr() for before, after in zip(laid, laid[1:], strict=False)]
    assert gaps == [ALIGNMENT * -(-tensor.nbytes // ALIGNMENT) for tensor in given[:-1]]
    laid[0].zero_()
    assert given[0].any()  # the owner's weights are copied, not moved


def test_a_block_is_aligned_and_outlives_its_mapping(system: str) -> None:
    part = block(10_000)[4096:8192]
    part.fill_(7)
    assert part.sum().item() == 7 * 4096
    assert block(10_000).data_ptr() % (ALIGNMENT if system == "unknown" else HUGE_PAGE) == 0


def test_tensors_elsewhere_stay_where_they_are_and_become_contiguous() -> None:
    given = [torch.empty(2, 3, device="meta"), torch.empty(3, 4, device="meta").t()]
    laid = side_by_side(given)
    assert laid[0] is given[0]
    assert (laid[1].shape, laid[1].is_contiguous(), laid[1].device.type) == ((4, 3), True, "meta")


def test_a_packed_step_is_the_same_on_any_system(system: str) -> None:
    found = cached_logits(tiny_model())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("generators.models.step.side_by_side", lambda tensors: [x.contiguous() for x in tensors])
        wanted = cached_logits(tiny_model())
    assert torch.equal(found, wanted)


@torch.inference_mode()
def cached_logits(model: Marian) -> torch.Tensor:
    model.pack()
    memory = model.encode(torch.tensor([[5, 9, 0]]))
    cache = Cache(model.config, 1, 4, memory.states)
    decoder_ids = torch.tensor([[VOCAB_SIZE - 1, 4, 8, 15]])
    steps = [model.embed(decoder_ids[:, i : i + 1], i) for i in range(4)]
    return torch.cat([model.logits(model.model.decoder(x, memory, cache=cache)) for x in steps], 1)
