"""How sure a score, and a difference of two, can be: outputs are drawn again with replacement (Koehn 2004)."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from metrics.base import Array, Metric, Statistics, table
from metrics.resampling import drawn_counts


class PairedDifference(NamedTuple):
    """Score of A minus score of B, its 95 % interval, and two p-values of "there is no difference"."""

    difference: float
    low: float
    high: float
    p_value: float  # two-sided
    p_sacrebleu: float  # as sacreBLEU's paired bootstrap has it; see `sacrebleu_p_value`


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
    observation itself counted: 1 for identical systems, never 0 (Efron & Tibshirani 1993, ch. 16). With the seed and
    the resamples of sacreBLEU (12345 and 1000) the resamples are sacreBLEU's too. Raises ValueError for no or unequally
    many rows.
    """
    a, b = table(rows_a), table(rows_b)
    if len(a) != len(b):
        raise ValueError(f"a paired comparison needs the same sentences of both, got {len(a)} and {len(b)} rows")
    observed = float(metric.aggregate(a.sum(axis=0)) - metric.aggregate(b.sum(axis=0)))
    if len(a) < 2 or np.isnan(observed):
        return None
    sums_a, sums_b = np.split(resampled_sums(np.hstack([a, b]), seed, n_resamples), 2, axis=-1)
    differences = metric.aggregate(sums_a) - metric.aggregate(sums_b)
    return difference(differences[~np.isnan(differences)], observed)


def difference(resampled: Array, observed: float) -> PairedDifference:
    """The difference `observed` with what its resamples say of it."""
    p_values = p_value(resampled, observed), sacrebleu_p_value(resampled, observed)
    return PairedDifference(observed, *_middle_95_percent(resampled), *p_values)


def p_value(differences: Array, observed: float) -> float:
    """The share of resampled differences that stray from the observed one by as much as that stands from 0."""
    # the tolerance keeps two systems that differ by rounding alone from looking different
    strays = np.sum(np.abs(differences - observed) >= abs(observed) - 1e-12)
    return float((strays + 1) / (len(differences) + 1))


def sacrebleu_p_value(differences: Array, observed: float) -> float:
    """The p-value that sacreBLEU's `--paired-bs` prints for these resampled differences (Koehn 2004; Moses' script).

    The share of resamples whose absolute difference exceeds its own mean by more than the observed one. It counts one
    tail, so it is about half of a two-sided p-value, and for two identical systems it is the smallest there is: to be
    quoted beside other papers, not to be judged by.
    """
    sizes = np.abs(differences)
    return float((np.sum(sizes - sizes.mean() > abs(observed)) + 1) / (len(sizes) + 1))


def resampled_sums(values: Array, seed: int, n_resamples: int) -> Array:
    """Sums of as many rows drawn with replacement as there are, [rows, k] -> [n_resamples, k]; the seed decides all."""
    return np.vstack([counts @ values for counts in drawn_counts(len(values), seed, n_resamples)])


def _middle_95_percent(scores: Array) -> tuple[float, float]:
    low, high = np.nanquantile(scores, [0.025, 0.975])
    return float(low), float(high)
