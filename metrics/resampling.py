"""Bootstrap draws as counts: how often each unit is drawn, and the medians of what is drawn.

A sample is sorted once, and the median of each draw is found among the few values around its middle; it is the very
number that a median of the drawn values themselves gives. For a thousand units that costs a tenth.
"""

import functools
from collections.abc import Iterator, Sequence
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from metrics.base import Array

KEPT_ROWS = 4000  # up to so many rows, what a seed draws is kept: 32 MB a thousand resamples
BLOCK = 4_000_000  # entries of the tables that more rows are drawn in


def drawn_counts(n: int, seed: int, n_resamples: int) -> Iterator[Array]:
    """How often each of n units is drawn, as tables [resamples, n] that are `n_resamples` rows long together."""
    if n <= KEPT_ROWS:
        yield _kept_counts(n, seed, n_resamples)
        return
    rng = np.random.default_rng(seed)
    for start in range(0, n_resamples, rows := max(1, BLOCK // n)):
        yield _counts(rng, n, min(rows, n_resamples - start))


def resampled_medians(values: Array, seed: int, n_resamples: int) -> Array:
    """Medians over drawn units, [units, k] -> [n_resamples, k]; every resample draws the same units for all k."""
    return np.vstack([counted_medians(values, counts) for counts in drawn_counts(len(values), seed, n_resamples)])


def counted_medians(values: Array, counts: Array) -> Array:
    """Medians over the units, each as often as it is counted, [units, k] and [draws, units] -> [draws, k].

    NaN in `values` is a unit without a value and is left out; NaN comes out where a draw has no value at all.
    """
    medians = np.empty((len(counts), values.shape[1]))
    for i, column in enumerate(values.T):
        medians[:, i] = _medians(column, counts)
    return medians


@functools.lru_cache(maxsize=4)
def _kept_counts(n: int, seed: int, n_resamples: int) -> Array:
    """The whole table, kept because every metric and every pair of contestants draws it again."""
    return _counts(np.random.default_rng(seed), n, n_resamples)


def _counts(rng: np.random.Generator, n: int, n_resamples: int) -> Array:
    return np.stack([np.bincount(rng.integers(n, size=n), minlength=n) for _ in range(n_resamples)]).astype(np.float64)


def _medians(values: Array, counts: Array) -> Array:
    """[units] and [draws, units] -> [draws]"""
    order = np.argsort(values)[: np.count_nonzero(~np.isnan(values))]  # NaN goes to the end
    # how many draws fall below the sample's middle varies by sqrt(n)/2 or less, and this reaches six times as far
    middle, reach = len(order) // 2, 3 * isqrt(len(order)) + 3
    return _medians_between(values, counts, order, max(0, middle - reach), middle + reach)


def _medians_between(values: Array, counts: Array, order: NDArray[np.intp], low: int, high: int) -> Array:
    """The medians, looked for between two ranks of the sample, and at all ranks if one of them lies outside."""
    drawn, below = (counts @ _marked([order, order[:low]], counts)).T  # at once: reading `counts` is what takes time
    upto = below[:, None] + np.cumsum(counts[:, order[low:high]], axis=1)  # draws up to and with each rank
    lower, upper = (drawn - 1) // 2, drawn // 2
    if (low > 0 and (below > lower).any()) or (high < len(order) and (upto[:, -1] <= upper).any()):
        return _medians_between(values, counts, order, 0, len(order))
    ordered = np.append(values[order[low:high]], np.nan)
    places = [np.count_nonzero(upto <= k[:, None], axis=1) for k in (np.maximum(lower, 0), upper)]
    medians: Array = (ordered[places[0]] + ordered[places[1]]) / 2
    return medians


def _marked(groups: Sequence[NDArray[np.intp]], counts: Array) -> Array:
    """[units, groups]: 1 where a unit is of a group."""
    marks = np.zeros((counts.shape[1], len(groups)), dtype=counts.dtype)
    for i, units in enumerate(groups):
        marks[units, i] = 1
    return marks
