"""What tokens know of each other, exactly on toys and as an estimate from losses."""

import math

import numpy as np
import pytest

from metrics.total_correlation import estimated, total_correlation


def test_two_coupled_choices_have_ln_2():
    assert total_correlation({("a", "b"): 0.5, ("c", "d"): 0.5}) == pytest.approx(math.log(2))


def test_independent_choices_have_none():
    four = {(x, y): 0.25 for x in "ac" for y in "bd"}
    assert total_correlation(four) == pytest.approx(0.0, abs=1e-12)
    assert total_correlation({("a", "b"): 1.0}) == 0.0


def test_three_tokens_that_follow_from_one_have_twice_its_entropy():
    assert total_correlation({("a", "b", "c"): 0.5, ("d", "e", "f"): 0.5}) == pytest.approx(2 * math.log(2))


@pytest.mark.parametrize("joint", [{("a",): 0.5, ("b", "c"): 0.5}, {("a", "b"): 0.9}])
def test_what_is_no_distribution_over_outputs_of_one_length_is_refused(joint):
    with pytest.raises(ValueError, match="one length whose probabilities sum to 1"):
        total_correlation(joint)


def test_the_estimate_is_the_difference_of_two_losses_a_token():
    rng = np.random.default_rng(0)
    coupled = rng.integers(0, 2, size=4000)
    # one sentence: a coupled pair costs one-shot 2 ln 2 and AR ln 2; a settled one costs nobody anything
    one_shot, ar = ([(c * k * math.log(2), 2) for c in coupled] for k in (2, 1))
    found = estimated(one_shot, ar, seed=1)
    assert found.value == pytest.approx(coupled.mean() * math.log(2) / 2)
    # a share of 4000 coin tosses: standard error 0.5 / sqrt(4000), times ln 2 / 2
    assert found.high - found.low == pytest.approx(2 * 1.96 * 0.5 / math.sqrt(4000) * math.log(2) / 2, rel=0.15)
    assert estimated(one_shot[:1], ar[:1], seed=1).low is None


def test_losses_of_other_references_are_refused():
    with pytest.raises(ValueError, match="same references"):
        estimated([(1.0, 2)], [(1.0, 3)], seed=0)
    with pytest.raises(ValueError, match="at least one token"):
        estimated([(0.0, 0)], [(0.0, 0)], seed=0)
