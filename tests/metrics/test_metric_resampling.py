"""Draws as counts: the medians are those of the drawn values themselves, to the last bit."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from metrics.resampling import KEPT_ROWS, counted_medians, drawn_counts, resampled_medians


@given(
    values=arrays(float, st.tuples(st.integers(1, 90), st.just(2)), elements=st.floats(0, 9)), seed=st.integers(0, 9)
)
def test_resampled_medians_are_those_of_the_drawn_values(values, seed):
    draws = np.random.default_rng(seed).integers(len(values), size=(8, len(values)))
    assert (resampled_medians(values, seed, 8) == np.median(values[draws], axis=1)).all()


def test_a_median_far_from_the_middle_of_the_sample_is_found_too():
    counts = np.zeros((3, 400))
    counts[0, 0] = counts[1, 399] = 400
    counts[2] = 1
    assert counted_medians(np.arange(400.0)[:, None], counts)[:, 0].tolist() == [0.0, 399.0, 199.5]


def test_units_without_a_value_are_left_out():
    values = np.array([[np.nan], [4.0], [2.0]])
    counts = np.array([[1.0, 1, 1], [5, 1, 0], [3, 0, 0]])
    assert counted_medians(values, counts)[:, 0] == pytest.approx([3.0, 4.0, np.nan], nan_ok=True)


def test_many_units_are_drawn_in_blocks_that_are_the_same_draws():
    n = KEPT_ROWS + 1
    blocks = list(drawn_counts(n, seed=3, n_resamples=1100))
    assert len(blocks) > 1
    draws = np.random.default_rng(3).integers(n, size=(1100, n))
    assert (np.vstack(blocks)[[0, 999, 1099]] == [np.bincount(draws[i], minlength=n) for i in (0, 999, 1099)]).all()
