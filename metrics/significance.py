"""Beyond one comparison of scores: several tests at once, and how many times less time something takes."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from metrics.base import Array
from metrics.bootstrap import p_value
from metrics.resampling import resampled_medians

FEWEST = 6  # a median of fewer samples has no 95 % interval


class Ratio(NamedTuple):
    """A ratio of two medians, its 95 % interval, and the two-sided p-value of "they are the same"."""

    value: float
    low: float
    high: float
    p_value: float


def holm(p_values: Sequence[float]) -> list[float]:
    """The p-values as they stand when all of them are asked at once, in their order (Holm 1979).

    The smallest is multiplied by how many there are, the next by one less, and so on; none falls below one before it
    and none exceeds 1. Whatever stays under 0.05 may be believed together at 95 %. Nothing gives nothing.
    """
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    adjusted, least = [0.0] * len(p_values), 0.0
    for rank, i in enumerate(order):
        least = max(least, min(1.0, (len(order) - rank) * p_values[i]))
        adjusted[i] = least
    return adjusted


def paired_ratio(over: Sequence[float], under: Sequence[float], seed: int, n_resamples: int = 1000) -> Ratio | None:
    """The median of `over` by the median of `under`, unit by unit: a bootstrap over prompts, or over repeats.

    `over[i]` and `under[i]` belong to one prompt or repeat, and a resample draws the same ones for both. None where
    there are fewer than 6. Raises ValueError when they do not pair or are not above 0.
    """
    found = _medians(over, under, seed, n_resamples)
    if found is None:
        return None
    ratios = found[0] / found[1]
    return ratio(float(ratios[0]), ratios[1:])


def unpaired_ratio(over: Sequence[float], under: Sequence[float], seed: int, n_resamples: int = 1000) -> Ratio | None:
    """The same of samples that have nothing to do with each other, such as those of two runs: each is drawn alone."""
    tops, bottoms = _positive(over), _positive(under)
    if min(len(tops), len(bottoms)) < FEWEST:
        return None
    above = resampled_medians(tops[:, None], seed, n_resamples)[:, 0]
    below = resampled_medians(bottoms[:, None], seed + 1, n_resamples)[:, 0]
    return ratio(float(np.median(tops) / np.median(bottoms)), above / below)


def change_of_ratio(
    before: tuple[Sequence[float], Sequence[float]],
    after: tuple[Sequence[float], Sequence[float]],
    seed: int,
    n_resamples: int = 1000,
) -> Ratio | None:
    """How a paired ratio changes: that of `after` over that of `before`, each (over, under) drawn by its own units."""
    found = [_medians(*pair, seed + i, n_resamples) for i, pair in enumerate((before, after))]
    if found[0] is None or found[1] is None:
        return None
    (over_b, under_b), (over_a, under_a) = found[0], found[1]
    changes = (over_a / under_a) / (over_b / under_b)
    return ratio(float(changes[0]), changes[1:])


def gap_closed(
    slow: Sequence[float], fast: Sequence[float], between: Sequence[float], seed: int, n_resamples: int = 1000
) -> Ratio | None:
    """Which part of the time between the medians of `slow` and `fast` the median of `between` saves, repeat by repeat.

    1 is as fast as `fast`, 0 as slow as `slow`; the p-value is of "none". None where there are fewer than 6 repeats,
    or where `fast` is not faster in at least 97.5 % of the resamples: then there is no gap to close.
    """
    first = _medians(slow, fast, seed, n_resamples)
    second = _medians(slow, between, seed, n_resamples)
    if first is None or second is None:
        return None
    gaps, saved = first[0] - first[1], second[0] - second[1]
    if gaps[0] <= 0 or np.quantile(gaps[1:], 0.025) <= 0:
        return None
    shares = saved / gaps
    low, high = np.quantile(shares[1:], [0.025, 0.975])
    return Ratio(float(shares[0]), float(low), float(high), p_value(shares[1:], float(shares[0])))


def ratio(value: float, resampled: Array) -> Ratio:
    """The ratio `value` with what its resamples say of it."""
    low, high = np.quantile(resampled, [0.025, 0.975])
    return Ratio(value, float(low), float(high), p_value(np.log(resampled), float(np.log(value))))


def _medians(a: Sequence[float], b: Sequence[float], seed: int, n_resamples: int) -> tuple[Array, Array] | None:
    """The medians of both, observed first and then resampled together; None where there are too few."""
    if len(a) != len(b):
        raise ValueError(f"a paired ratio needs the same units of both, got {len(a)} and {len(b)}")
    values = np.column_stack([_positive(a), _positive(b)])
    if len(values) < FEWEST:
        return None
    every = np.vstack([np.median(values, axis=0), resampled_medians(values, seed, n_resamples)])
    return every[:, 0], every[:, 1]


def _positive(samples: Sequence[float]) -> Array:
    values = np.asarray(samples, dtype=np.float64)
    if not np.isfinite(values).all() or (values <= 0).any():
        raise ValueError(f"seconds must be finite and above 0, got {samples!r:.60}")
    return values
