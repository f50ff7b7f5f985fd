"""Several tests at once, and ratios of times, against values worked out elsewhere."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics.significance import change_of_ratio, gap_closed, holm, paired_ratio, unpaired_ratio

P_VALUES = st.lists(st.floats(0, 1), max_size=12)


def test_holm_multiplies_the_smallest_by_how_many_there_are():
    # by hand: 4 · .005, 3 · .01, then 2 · .03 and 1 · .04 raised to it
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.6, 0.9]) == [1.0, 1.0]
    assert holm([]) == []


@given(P_VALUES)
def test_holm_keeps_the_order_and_never_makes_a_p_value_smaller(p_values):
    adjusted = holm(p_values)
    assert all(p <= q <= 1 for p, q in zip(p_values, adjusted, strict=True))
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    assert [adjusted[i] for i in order] == sorted(adjusted)


def test_what_slows_both_in_one_repeat_cancels():
    drift = np.random.default_rng(0).lognormal(sigma=1.0, size=40)
    found = paired_ratio(3.0 * drift, drift, seed=1)
    assert found == pytest.approx((3.0, 3.0, 3.0, 1 / 1001))
    apart = unpaired_ratio(3.0 * drift, drift, seed=1)
    assert apart.low < 2.0 and apart.high > 4.0  # nothing cancels between two runs


def test_a_ratio_of_alike_samples_is_not_significant_and_turns_round():
    rng = np.random.default_rng(3)
    a, b = rng.lognormal(sigma=0.1, size=(2, 60))
    there, back = paired_ratio(a, b, seed=5), paired_ratio(b, a, seed=5)
    assert there.p_value > 0.05 and there.low < 1 < there.high
    assert (there.value, there.p_value) == pytest.approx((1 / back.value, back.p_value))


def test_the_interval_of_an_unpaired_ratio_covers_the_truth_about_as_often_as_it_says():
    rng = np.random.default_rng(11)
    hits = 0
    for seed in range(200):
        a, b = 2.0 * rng.lognormal(sigma=0.2, size=25), rng.lognormal(sigma=0.2, size=25)
        found = unpaired_ratio(a, b, seed, n_resamples=200)
        hits += found.low <= 2.0 <= found.high
    assert 180 <= hits <= 199  # 95 % of 200 is 190, give or take two and a bit standard errors


def test_few_samples_have_no_ratio_and_impossible_ones_are_refused():
    assert paired_ratio([1.0] * 5, [1.0] * 5, seed=0) is unpaired_ratio([1.0] * 5, [1.0] * 9, seed=0) is None
    with pytest.raises(ValueError, match="got 2 and 1"):
        paired_ratio([1.0, 2.0], [1.0], seed=0)
    with pytest.raises(ValueError, match="above 0"):
        paired_ratio([1.0] * 6, [0.0] * 6, seed=0)


def test_a_change_of_speedup_is_the_later_over_the_earlier():
    rng = np.random.default_rng(2)
    drift, other = rng.lognormal(sigma=0.5, size=(2, 30))
    found = change_of_ratio((8 * drift, drift), (2 * other, other), seed=0)
    assert found[:3] == pytest.approx((0.25, 0.25, 0.25)) and found.p_value < 0.01
    assert change_of_ratio((8 * drift, drift), ([1.0] * 5, [1.0] * 5), seed=0) is None


def test_the_part_of_a_gap_that_is_closed():
    drift = np.random.default_rng(4).lognormal(sigma=0.5, size=30)
    assert gap_closed(10 * drift, 2 * drift, 4 * drift, seed=0)[:3] == pytest.approx((0.75, 0.75, 0.75))
    assert gap_closed(10 * drift, 2 * drift, 1 * drift, seed=0).value == pytest.approx(9 / 8)


def test_where_nobody_is_faster_there_is_no_gap():
    drift = np.random.default_rng(4).lognormal(sigma=0.5, size=30)
    assert gap_closed(drift, 2 * drift, drift, seed=0) is None
    noise = np.random.default_rng(5).lognormal(sigma=0.5, size=30)
    assert gap_closed(drift, noise, drift, seed=0) is None
