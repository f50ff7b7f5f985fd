"""Bounds on means and shares, held against values from tables and against what they promise."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics.bounds import mean_bounds, share_bounds

values = st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=20)


def test_a_mean_has_the_margin_of_the_t_table() -> None:
    # t(0.975, 4) = 2.776 in any table; the sample 1..5 has standard deviation sqrt(2.5)
    mean, lower, upper = mean_bounds([1, 2, 3, 4, 5], 0.025)
    assert mean == 3
    assert upper - mean == pytest.approx(2.776 * (2.5 / 5) ** 0.5, abs=1e-3)
    assert mean - lower == pytest.approx(upper - mean)


def test_one_value_bounds_nothing() -> None:
    assert mean_bounds([2.0], 0.05) == (2.0, -np.inf, np.inf)


@pytest.mark.parametrize(("sample", "alpha"), [([], 0.05), ([1, float("nan")], 0.05), ([1, 2], 0.5), ([1, 2], 0)])
def test_no_bounds_of_nonsense(sample: list[float], alpha: float) -> None:
    with pytest.raises(ValueError, match="bounds need"):
        mean_bounds(sample, alpha)


@given(values)
def test_a_smaller_alpha_never_narrows(sample: list[float]) -> None:
    wide, narrow = mean_bounds(sample, 0.001), mean_bounds(sample, 0.05)
    assert wide.lower <= narrow.lower <= narrow.value <= narrow.upper <= wide.upper


def test_each_bound_of_a_mean_misses_as_often_as_it_says() -> None:
    samples = np.random.default_rng(0).normal(size=(4000, 5))
    missed = np.mean([mean_bounds(sample, 0.05).lower > 0 for sample in samples])
    assert 0.04 < missed < 0.06  # 0.05 ± 3 standard errors of 4,000 draws


@pytest.mark.parametrize(
    ("hits", "n", "lower", "upper"),
    [
        (0, 299, 0.0, 1 - 0.05 ** (1 / 299)),  # the rule of three, exactly
        (10, 10, 0.05 ** (1 / 10), 1.0),
        (4, 10, 0.1500, 0.6965),  # Clopper & Pearson 1934, 90 % two-sided
    ],
)
def test_a_share_has_exact_bounds(hits: int, n: int, lower: float, upper: float) -> None:
    found = share_bounds(hits, n)
    assert found == pytest.approx((hits / n, lower, upper), abs=1e-4)


@pytest.mark.parametrize(("hits", "n"), [(1, 0), (-1, 5), (6, 5)])
def test_no_share_of_nonsense(hits: int, n: int) -> None:
    with pytest.raises(ValueError, match="a share needs"):
        share_bounds(hits, n)
