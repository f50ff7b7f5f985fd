"""What latency samples support: order statistics by the binomial, robust lines, crossovers and paired speedups."""

from math import comb

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from metrics.latency import (
    crossover,
    fit_line,
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


def test_line_by_hand():
    # slopes 1, 4.5 and 8, median 4.5; what is left of the latencies: -3.5, -7, -3.5
    assert fit_line([1, 2, 3], [1.0, 2.0, 10.0]) == (-3.5, 4.5)


def test_one_wild_median_does_not_bend_the_line():
    lengths = [8, 16, 32, 64, 128, 192]
    medians = [0.01 + 0.002 * length for length in lengths]
    medians[2] = 5.0
    assert fit_line(lengths, medians) == pytest.approx((0.01, 0.002))


@pytest.mark.parametrize("lengths", [[], [8], [8, 8, 8]])
def test_one_length_makes_no_line(lengths):
    assert fit_line(lengths, [0.1 * (i + 1) for i in range(len(lengths))]) is None


@given(
    a=st.floats(-1, 1), b=st.floats(-1, 1), lengths=st.lists(st.integers(1, 200), min_size=2, max_size=8, unique=True)
)
def test_points_on_a_line_give_that_line(a, b, lengths):
    assert fit_line(lengths, [a + b * n for n in lengths]) == pytest.approx((a, b), abs=1e-9)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ((0.01, 0.004), (0.09, 0.0), ("beyond", 20.0)),
        ((0.0, 0.25), (0.0, 0.125), ("always", None)),
        ((0.5, 0.125), (0.25, 0.125), ("always", None)),
        ((0.25, 0.125), (0.5, 0.125), ("never", None)),
        ((0.25, 0.125), (0.25, 0.25), ("never", None)),
        ((0.25, 0.125), (0.25, 0.125), ("never", None)),  # the same line
        ((0.0, 0.5), (0.25, 0.25), ("beyond", 1.0)),  # level at one token
        ((1.0, 0.0), (0.0, 0.125), ("below", 8.0)),
    ],
)
def test_crossover_by_hand(first, second, expected):
    answer, length = crossover(*first, *second)
    assert (answer, length) == (expected[0], pytest.approx(expected[1]) if expected[1] else None)


@given(*[st.integers(-50, 50)] * 4, st.integers(1, 200))
def test_crossover_agrees_with_the_two_lines_at_every_length(a1, b1, a2, b2, length):
    answer, at = crossover(a1, b1, a2, b2)
    assume(at is None or abs(length - at) > 1e-6)
    says_faster = {"always": True, "never": False, "beyond": at is not None and length > at}.get(
        answer, at is not None and length < at
    )
    assert says_faster == (a2 + b2 * length < a1 + b1 * length)


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
