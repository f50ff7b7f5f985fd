"""Beyond one comparison of scores: several tests at once, and how many times less time something takes."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from metrics.base import Array
from metrics.bootstrap import p_value

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
    if len(over) != len(under):
        raise ValueError(f"a paired ratio needs the same units of both, got {len(over)} and {len(under)}")
    tops, bottoms = _positive(over), _positive(under)
    if len(tops) < FEWEST:
        return None
    draws = np.random.default_rng(seed).integers(len(tops), size=(n_resamples, len(tops)))
    return _ratio(tops, bottoms, np.median(tops[draws], axis=1) / np.median(bottoms[draws], axis=1))


def unpaired_ratio(over: Sequence[float], under: Sequence[float], seed: int, n_resamples: int = 1000) -> Ratio | None:
    """The same of samples that have nothing to do with each other, such as those of two runs: each is drawn alone."""
    tops, bottoms = _positive(over), _positive(under)
    if min(len(tops), len(bottoms)) < FEWEST:
        return None
    rng = np.random.default_rng(seed)
    above, below = (
        np.median(values[rng.integers(len(values), size=(n_resamples, len(values)))], axis=1)
        for values in (tops, bottoms)
    )
    return _ratio(tops, bottoms, above / below)


def _ratio(tops: Array, bottoms: Array, resampled: Array) -> Ratio:
    value = float(np.median(tops) / np.median(bottoms))
    low, high = np.quantile(resampled, [0.025, 0.975])
    return Ratio(value, float(low), float(high), p_value(np.log(resampled), float(np.log(value))))


def _positive(samples: Sequence[float]) -> Array:
    values = np.asarray(samples, dtype=np.float64)
    if not np.isfinite(values).all() or (values <= 0).any():
        raise ValueError(f"seconds must be finite and above 0, got {samples!r:.60}")
    return values
