"""How sure a score, and a difference of two, can be: outputs are drawn again with replacement (Koehn 2004)."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from metrics.base import Array, Metric, Statistics, table


class PairedDifference(NamedTuple):
    """Score of A minus score of B, its 95 % interval, and the two-sided p-value of "there is no difference"."""

    difference: float
    low: float
    high: float
    p_value: float


def interval(
    metric: Metric, rows: Sequence[Statistics], seed: int, n_resamples: int = 1000
) -> tuple[float, float] | None:
    """The 95 % percentile interval of a corpus score, or None where the score is undefined or there is but one output.

    Resamples in which the score is undefined (no output drawn had a name, say) are left out. Raises ValueError for no
    rows.
    """
    values = table(rows)
    if len(values) < 2 or np.isnan(metric.aggregate(values.sum(axis=0))):
        return None
    return _middle_95_percent(metric.aggregate(resampled_sums(values, seed, n_resamples)))


def paired_bootstrap(
    metric: Metric, rows_a: Sequence[Statistics], rows_b: Sequence[Statistics], seed: int, n_resamples: int = 1000
) -> PairedDifference | None:
    """How far A's score stands above B's on the same sentences, or None where undefined or there is but one sentence.

    `rows_a[i]` and `rows_b[i]` belong to one sentence, and every resample draws the same sentences for both. The
    p-value is the share of resamples that stray from the observed difference by as much as that stands from 0, the
    observation itself counted: 1 for identical systems, never 0 (Efron & Tibshirani 1993, ch. 16). sacreBLEU's paired
    bootstrap counts one tail only, so it gives about half of this. Raises ValueError for no or unequally many rows.
    """
    a, b = table(rows_a), table(rows_b)
    if len(a) != len(b):
        raise ValueError(f"a paired comparison needs the same sentences of both, got {len(a)} and {len(b)} rows")
    observed = float(metric.aggregate(a.sum(axis=0)) - metric.aggregate(b.sum(axis=0)))
    if len(a) < 2 or np.isnan(observed):
        return None
    sums_a, sums_b = np.split(resampled_sums(np.hstack([a, b]), seed, n_resamples), 2, axis=-1)
    differences = metric.aggregate(sums_a) - metric.aggregate(sums_b)
    low, high = _middle_95_percent(differences)
    return PairedDifference(observed, low, high, _p_value(differences, observed))


def resampled_sums(values: Array, seed: int, n_resamples: int) -> Array:
    """Sums of as many rows drawn with replacement as there are, [rows, k] -> [n_resamples, k]; the seed decides all."""
    rng, n = np.random.default_rng(seed), len(values)
    return np.stack([np.bincount(rng.integers(n, size=n), minlength=n) @ values for _ in range(n_resamples)])


def _middle_95_percent(scores: Array) -> tuple[float, float]:
    low, high = np.nanquantile(scores, [0.025, 0.975])
    return float(low), float(high)


def _p_value(differences: Array, observed: float) -> float:
    defined = differences[~np.isnan(differences)]
    # the tolerance keeps two systems that differ by rounding alone from looking different
    strays = np.sum(np.abs(defined - observed) >= abs(observed) - 1e-12)
    return float((strays + 1) / (len(defined) + 1))
