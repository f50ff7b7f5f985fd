"""What latency samples support: order statistics by the binomial and paired speedups."""

from math import comb

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from metrics.latency import (
    median_interval,
    percentile,
    percentile_supported,
    ratio_of_totals,
    speedup_interval,
)

SECONDS = st.floats(1e-3, 10)


@pytest.mark.parametrize(
    ("n", "expected"),
    [
        (1, (1.0, None, None)),
        (5, (3.0, None, None)),  # between the extremes: 1 - 2 / 2^5 = 93.75 %
        (6, (3.5, 1.0, 6.0)),  # 1 - 2 / 2^6 = 96.9 %
        (9, (5.0, 2.0, 8.0)),  # 1 - 2 (1 + 9) / 2^9 = 96.1 %
        (30, (15.5, 10.0, 21.0)),  # the ranks of textbook tables of the sign test's interval
    ],
)
def test_median_interval_by_hand(n, expected):
    assert median_interval([float(i) for i in range(n, 0, -1)]) == expected


@given(n=st.integers(6, 400), confidence=st.sampled_from([0.9, 0.95, 0.99]))
def test_median_interval_is_the_narrowest_that_the_binomial_allows(n, confidence):
    def coverage(k):
        return 1 - 2 * sum(comb(n, i) for i in range(k)) / 2**n

    assume(coverage(1) >= confidence)
    _, low, high = median_interval(range(1, n + 1), confidence)
    assert high == n + 1 - low
    assert coverage(int(low)) >= confidence > coverage(int(low) + 1)


def test_median_interval_holds_as_often_as_it_says_on_skewed_samples():
    samples = np.random.default_rng(0).exponential(size=(4000, 20))
    bounds = np.array([median_interval(row)[1:] for row in samples])
    held = ((bounds[:, 0] <= np.log(2)) & (np.log(2) <= bounds[:, 1])).mean()
    assert held == pytest.approx(0.9586, abs=0.012)  # n = 20 takes ranks 6 and 15: 1 - 2 * 21700 / 2^20


def test_median_interval_of_very_many_samples():
    assert median_interval([0.0] * 5000) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize("samples", [[], [1.0, float("nan")], [float("inf")], [[1.0], [2.0]]])
def test_samples_that_are_none_or_not_finite_are_refused(samples):
    with pytest.raises(ValueError, match="one or more finite numbers"):
        median_interval(samples)


@pytest.mark.parametrize(("p", "enough"), [(90, 29), (99, 299), (50, 5), (10, 29), (95, 59)])
def test_percentile_is_supported_from_the_sample_size_on_that_the_binomial_gives(p, enough):
    # 0.9^28 = 5.2 %, 0.9^29 = 4.7 %; 0.99^298 = 5.003 %, 0.99^299 = 4.95 %; 0.5^4 = 6 %, 0.5^5 = 3 %; 0.95^59 = 4.8 %
    assert not percentile_supported(p, enough - 1)
    assert percentile_supported(p, enough)
    assert percentile_supported(p, 100_000)
    assert not percentile_supported(p, 0)


@pytest.mark.parametrize("p", [0.9, 0, 100, -5, float("nan")])
def test_percentiles_outside_1_to_100_are_refused(p):
    with pytest.raises(ValueError, match="percentile must lie in"):
        percentile_supported(p, 1000)


def test_percentile_is_given_only_where_supported():
    assert percentile([float(i) for i in range(28)], 90) is None
    assert percentile([float(i) for i in range(31)], 90) == 27.0


def test_a_rate_is_a_ratio_of_totals():
    assert ratio_of_totals([10, 10], [1.0, 4.0]) == 4.0  # the mean of 10 and 2.5 would be 6.25


def test_a_rate_over_nothing_is_undefined():
    assert ratio_of_totals([10], [0.0]) is None
    assert ratio_of_totals([], []) is None
    assert ratio_of_totals([0], [2.0]) == 0.0
    with pytest.raises(ValueError, match="got 1 and 2 entries"):
        ratio_of_totals([1], [1.0, 2.0])


def test_speedup_is_the_ratio_of_medians_and_drift_that_hits_both_cancels():
    drift = [1.0, 1.5, 0.75, 2.0, 1.25, 0.5, 3.0]
    assert speedup_interval([2 * d for d in drift], drift, seed=0) == (2.0, 2.0, 2.0)


def test_speedup_interval_spans_what_varies_between_repeats():
    rng = np.random.default_rng(5)
    slow, fast = rng.normal(3.0, 0.3, 1000), rng.normal(1.0, 0.1, 1000)
    value, low, high = speedup_interval(slow, fast, seed=0)
    # relative error of a median of 1000: 1.253 * 10 % / sqrt(1000) = 0.4 %, of the ratio 0.56 %: about 3 +- 0.033
    assert 2.95 < low < value < high < 3.05
    assert 0.05 < high - low < 0.085


def test_speedup_has_no_interval_under_six_repeats():
    assert speedup_interval([2.0] * 5, [1.0] * 5, seed=0) == (2.0, None, None)
    assert speedup_interval([2.0] * 6, [1.0] * 6, seed=0) == (2.0, 2.0, 2.0)


@pytest.mark.parametrize(("slow", "fast"), [([1.0], [1.0, 2.0]), ([1.0], [0.0]), ([-1.0], [1.0])])
def test_speedups_of_unpaired_or_impossible_latencies_are_refused(slow, fast):
    with pytest.raises(ValueError, match="paired speedup needs the same repeats"):
        speedup_interval(slow, fast, seed=0)


@given(samples=st.lists(SECONDS, min_size=6, max_size=30), seed=st.integers(0, 2**32))
def test_a_contestant_against_itself_is_exactly_as_fast(samples, seed):
    assert speedup_interval(samples, samples, seed, n_resamples=20) == (1.0, 1.0, 1.0)
