"""What each model is trained to do, worked out again by hand."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from generators.models.heads import CmlmMarian, SemiMarian
from generators.training.data import Example, collate
from generators.training.glancing import ctc_glancing_loss, nat_loss
from generators.training.losses import (
    LABEL_SMOOTHING,
    ar_loss,
    block_loss,
    choose_masks,
    cmlm_loss,
    ctc_loss,
    length_loss,
    semi_loss,
)
from tests.generators.tiny import VOCAB_SIZE, tiny_model

PAD = VOCAB_SIZE - 1
EXAMPLES = [Example((5, 9, 0), (7, 8, 9)), Example((6, 0), (4,))]
BATCH = collate(EXAMPLES, PAD, 0, "cpu")


def smoothed(log_probs: torch.Tensor, wanted: int, smoothing: float = LABEL_SMOOTHING) -> float:
    share = smoothing / VOCAB_SIZE
    return float(-(1 - smoothing) * log_probs[wanted] - share * log_probs.sum())


@pytest.mark.parametrize("smoothing", [LABEL_SMOOTHING, 0.0])
def test_the_ar_loss_is_of_each_token_given_those_before_it_and_of_the_end(smoothing: float) -> None:
    model = tiny_model()
    losses = []
    with torch.no_grad():
        for example in EXAMPLES:
            wanted = (*example.target_ids, 0)
            for place, token_id in enumerate(wanted):
                before = torch.tensor([[PAD, *wanted[:place]]])
                logits = model(torch.tensor([example.source_ids]), before)[0, -1]
                losses.append(smoothed(logits.log_softmax(-1), token_id, smoothing))
        found = ar_loss(model, BATCH, torch.Generator(), smoothing).item()
    assert found == pytest.approx(sum(losses) / 6)  # 3 + 1 tokens and two ends; no padding


@pytest.mark.parametrize("smoothing", [LABEL_SMOOTHING, 0.0])
def test_the_masked_loss_sees_what_is_not_masked_and_counts_what_is(smoothing: float) -> None:
    model = tiny_model("cmlm")
    assert isinstance(model, CmlmMarian)
    real = torch.tensor([[True, True, True], [True, False, False]])
    masked = choose_masks(real, BATCH.target_lengths, torch.Generator().manual_seed(5))
    losses = []
    with torch.no_grad():
        for row, example in enumerate(EXAMPLES):
            memory = model.encode(torch.tensor([example.source_ids]))
            hidden = masked[row, : len(example.target_ids)]
            shown = torch.tensor([example.target_ids]).masked_fill(hidden, model.mask_token_id)
            log_probs = model.fill(shown, memory, None)[0].log_softmax(-1)
            places = hidden.nonzero().flatten().tolist()
            losses += [smoothed(log_probs[i], example.target_ids[i], smoothing) for i in places]
        lengths = length_loss(model, model.encode(BATCH.source_ids), BATCH.target_lengths).item()
        found = cmlm_loss(model, BATCH, torch.Generator().manual_seed(5), smoothing).item()
    assert found == pytest.approx(sum(losses) / len(losses) + 0.1 * lengths)


def test_the_length_loss_is_laplace() -> None:
    model = tiny_model("cmlm")
    assert isinstance(model, CmlmMarian)
    with torch.no_grad():
        memory = model.encode(BATCH.source_ids)
        location, scale = model.length(memory)
        found = length_loss(model, memory, BATCH.target_lengths).item()
    densities = [
        -math.log(math.exp(-abs(n - m) / b) / (2 * b))
        for n, m, b in zip([3, 1], location.tolist(), scale.tolist(), strict=True)
    ]
    assert found + math.log(2) == pytest.approx(sum(densities) / 2)


@given(st.lists(st.integers(1, 12), min_size=1, max_size=6), st.integers(0, 20))
def test_one_to_all_tokens_are_masked_and_never_padding(lengths: list[int], seed: int) -> None:
    real = torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]
    masked = choose_masks(real, torch.tensor(lengths), torch.Generator().manual_seed(seed))
    assert not (masked & ~real).any()
    assert all(1 <= n <= length for n, length in zip(masked.sum(1).tolist(), lengths, strict=True))


def test_every_number_of_masks_is_equally_likely() -> None:
    n = 4000
    masked = choose_masks(torch.ones(n, 4, dtype=torch.bool), torch.full((n,), 4), torch.Generator().manual_seed(0))
    counts = torch.bincount(masked.sum(1), minlength=5).tolist()
    assert counts[0] == 0
    chi_square = sum((count - n / 4) ** 2 / (n / 4) for count in counts[1:])
    assert chi_square < 16.3  # the 99.9 % point of chi-square with 3 degrees of freedom; the seed is fixed


@pytest.mark.parametrize(
    ("loss", "wanted"),
    [(ctc_loss, "CtcMarian"), (ctc_glancing_loss, "CtcMarian"), (cmlm_loss, "CmlmMarian"), (nat_loss, "NatMarian"),
     (semi_loss, "SemiMarian")],
)  # fmt: skip
def test_a_loss_refuses_a_model_without_its_head(loss: object, wanted: str) -> None:
    with pytest.raises(TypeError, match=f"wants a {wanted}, got a Marian"):
        loss(tiny_model(), BATCH, torch.Generator())  # type: ignore[operator]


@pytest.mark.parametrize("size", [1, 2, 4, 8])
def test_the_block_loss_is_of_each_token_given_the_blocks_before_its_own(size: int) -> None:
    model = tiny_model("semi_ar")
    assert isinstance(model, SemiMarian)
    losses = []
    with torch.no_grad():
        for example in EXAMPLES:
            wanted = (*example.target_ids, 0)
            whole = -(-len(wanted) // size) * size
            read = torch.tensor([[*[PAD] * size, *wanted]])[:, :whole]
            log_probs = model.teach(model.encode(torch.tensor([example.source_ids])), read, size)[0].log_softmax(-1)
            losses += [smoothed(log_probs[place], token_id) for place, token_id in enumerate(wanted)]
        found = block_loss(model, BATCH, size).item()
        if size == 1:
            assert found == pytest.approx(ar_loss(model, BATCH, torch.Generator()).item())
    assert found == pytest.approx(sum(losses) / 6)


def test_every_block_length_is_learnt_as_often() -> None:
    model = tiny_model("semi_ar")
    assert isinstance(model, SemiMarian)
    with torch.no_grad():
        by_size = {block_loss(model, BATCH, size).item(): size for size in (1, 2, 4, 8)}
        random = torch.Generator().manual_seed(0)
        drawn = [by_size[semi_loss(model, BATCH, random).item()] for _ in range(80)]
    assert min(drawn.count(size) for size in (1, 2, 4, 8)) >= 12
