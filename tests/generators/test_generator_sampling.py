"""Logits to token ids: the sets that top-k and top-p keep, and what a draw may depend on."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from generators.base import Sampling
from generators.sampling import Sampler, probabilities

LOGITS = torch.tensor([[0.5, 0.3, 0.2]]).log()


def kept(sampling: Sampling, logits: torch.Tensor = LOGITS) -> set[int]:
    return set(probabilities(logits, sampling)[0].nonzero().flatten().tolist())


@pytest.mark.parametrize(
    ("top_p", "wanted"), [(0.5, {0}), (0.8, {0, 1}), (0.81, {0, 1, 2}), (1.0, {0, 1, 2}), (1e-9, {0}), (0.0, {0})]
)
def test_top_p_keeps_the_smallest_set_that_reaches_it(top_p: float, wanted: set[int]) -> None:
    assert kept(Sampling(temperature=1.0, top_p=top_p)) == wanted


@pytest.mark.parametrize(("top_k", "wanted"), [(0, {0, 1, 2}), (1, {0}), (2, {0, 1}), (3, {0, 1, 2}), (99, {0, 1, 2})])
def test_top_k_keeps_the_k_most_likely_and_zero_is_off(top_k: int, wanted: set[int]) -> None:
    assert kept(Sampling(temperature=1.0, top_k=top_k)) == wanted


def test_top_p_counts_what_top_k_left() -> None:
    # Of .5 and .3 alone, .5 is 62.5 %: enough for p = .6, though it is not of the whole.
    assert kept(Sampling(temperature=1.0, top_k=2, top_p=0.6)) == {0}
    assert kept(Sampling(temperature=1.0, top_p=0.6)) == {0, 1}


def test_ties_go_to_the_lower_id() -> None:
    logits = torch.tensor([[1.0, 2.0, 2.0, 2.0]])
    assert kept(Sampling(temperature=1.0, top_k=2), logits) == {1, 2}
    assert kept(Sampling(temperature=1.0, top_p=0.0), logits) == {1}


def test_temperature_sharpens_as_a_power() -> None:
    found = probabilities(LOGITS, Sampling(temperature=0.5))[0].tolist()
    squares = [0.25, 0.09, 0.04]
    assert found == pytest.approx([value / sum(squares) for value in squares])


@pytest.mark.parametrize("temperature", [1e-300, 5e-324, 1.0, 1e300])
def test_no_logit_and_no_temperature_overflows(temperature: float) -> None:
    found = probabilities(torch.tensor([[800.0, 799.0, -800.0, -math.inf]]), Sampling(temperature=temperature))
    assert torch.isfinite(found).all()
    assert found.sum().item() == pytest.approx(1.0)
    assert found[0, 3] == 0


def test_a_tail_of_one_in_ten_million_keeps_its_weight() -> None:
    logits = torch.tensor([[0.0, math.log(1e-7)]], dtype=torch.float64)
    found = probabilities(logits, Sampling(temperature=1.0))
    assert found[0, 1].item() == pytest.approx(1e-7 / (1 + 1e-7), rel=1e-12)


def test_draws_have_the_distribution_they_are_drawn_from() -> None:
    n = 4000
    draw = Sampler(Sampling(temperature=1.0, seeds=tuple(range(n))))
    counts = torch.bincount(draw(LOGITS.expand(n, 3)), minlength=3).tolist()
    expected = [0.5 * n, 0.3 * n, 0.2 * n]
    chi_square = sum((count - want) ** 2 / want for count, want in zip(counts, expected, strict=True))
    assert chi_square < 13.8  # the 99.9 % point of chi-square with 2 degrees of freedom; the seeds are fixed


def test_greedy_draws_nothing_and_takes_the_first_of_equals() -> None:
    torch.manual_seed(0)
    before = torch.get_rng_state()
    assert Sampler(Sampling())(torch.tensor([[1.0, 3.0, 3.0]])).tolist() == [1]
    assert torch.equal(torch.get_rng_state(), before)


def test_a_row_knows_only_its_own_seed() -> None:
    logits = torch.randn(3, 50, generator=torch.Generator().manual_seed(0))
    together = Sampler(Sampling(temperature=2.0, seeds=(7, 8, 9)))
    alone = Sampler(Sampling(temperature=2.0, seeds=(8,)))
    for _ in range(20):
        assert together(logits)[1] == alone(logits[1:2])[0]


@given(
    logits=st.lists(st.floats(-50, 50), min_size=1, max_size=12),
    top_k=st.integers(0, 14),
    top_p=st.floats(0, 1),
    temperature=st.floats(0.01, 100),
)
def test_what_is_kept_is_a_distribution_over_the_most_likely(
    logits: list[float], top_k: int, top_p: float, temperature: float
) -> None:
    row = torch.tensor([logits], dtype=torch.float64)
    found = probabilities(row, Sampling(temperature=temperature, top_k=top_k, top_p=top_p))[0]
    assert found.sum().item() == pytest.approx(1.0)
    assert found[row[0].argmax()] > 0
    assert 1 <= int((found > 0).sum()) <= (top_k or len(logits))
    least_kept = min(value for value, share in zip(logits, found.tolist(), strict=True) if share > 0)
    dropped = [value for value, share in zip(logits, found.tolist(), strict=True) if share == 0]
    # what weighs nothing beside the first underflows to zero and is no choice
    assert all(value <= least_kept for value in dropped)
