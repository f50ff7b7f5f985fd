"""What latency samples support saying: medians, percentiles, rates and speedups, each with how sure it is.

Seconds in, seconds out. An empty sample and one that is not finite are refused.
"""

from collections.abc import Sequence
from math import comb
from typing import NamedTuple

import numpy as np

from metrics.base import Array
from metrics.resampling import resampled_medians


class Estimate(NamedTuple):
    """A value and its interval; the bounds are None where there are too few samples for one."""

    value: float
    low: float | None
    high: float | None


def median_interval(samples: Sequence[float], confidence: float = 0.95) -> Estimate:
    """The median with an interval between two of the samples, which holds whatever the distribution.

    The k-th smallest and k-th largest sample enclose the true median unless fewer than k samples fall on one side of
    it, which is a matter of coin tosses (David & Nagaraja 2003, Order Statistics, 7.1). Under 6 samples even the
    extremes fall short of 95 %.
    """
    ordered = np.sort(_finite(samples))
    k = _rank(len(ordered), confidence)
    bounds = (float(ordered[k - 1]), float(ordered[-k])) if k else (None, None)
    return Estimate(float(np.median(ordered)), *bounds)


def percentile(samples: Sequence[float], p: float, confidence: float = 0.95) -> float | None:
    """The p-th percentile (p = 90 for p90), linear between samples, or None where they are too few to support it."""
    values = _finite(samples)
    return float(np.percentile(values, p)) if percentile_supported(p, len(values), confidence) else None


def percentile_supported(p: float, n: int, confidence: float = 0.95) -> bool:
    """Whether, with this confidence, some of n samples lie beyond the true p-th percentile (p = 90 for p90).

    All n stay on the near side with probability (p/100)^n, or (1 - p/100)^n for p under 50: p90 takes 29 samples and
    p99 takes 299. Raises ValueError for p under 1 (0.9 is no way to say p90) and from 100 on.
    """
    if not 1 <= p < 100:
        raise ValueError(f"a percentile must lie in [1, 100), as in 90 for p90; got {p}")
    return bool((max(p, 100 - p) / 100) ** n <= 1 - confidence)


def ratio_of_totals(numerators: Sequence[float], denominators: Sequence[float]) -> float | None:
    """Sum over sum, such as tokens over seconds: a rate in which every token weighs alike, not every request.

    None where the denominators sum to 0. Raises ValueError unless both have the same number of entries.
    """
    if len(numerators) != len(denominators):
        raise ValueError(f"a ratio of totals needs pairs, got {len(numerators)} and {len(denominators)} entries")
    total = float(sum(denominators))
    return float(sum(numerators)) / total if total else None


def speedup_interval(
    baseline: Sequence[float], candidate: Sequence[float], seed: int, n_resamples: int = 1000
) -> Estimate:
    """How many times faster the candidate is: ratio of medians, with a 95 % percentile interval over whole repeats.

    `baseline[i]` and `candidate[i]` were timed in repeat i, and a resample draws repeats, so what slowed both in one
    repeat cancels. No interval under 6 repeats, where a median has none. Raises ValueError when they do not pair, or
    a latency is 0.
    """
    slow, fast = _finite(baseline), _finite(candidate)
    if (n := len(slow)) != len(fast) or min(*slow, *fast) <= 0:
        raise ValueError(f"a paired speedup needs the same repeats of both, each above 0 s: got {n} and {len(fast)}")
    value = float(np.median(slow) / np.median(fast))
    if not _rank(n, 0.95):
        return Estimate(value, None, None)
    above, below = resampled_medians(np.column_stack([slow, fast]), seed, n_resamples).T
    low, high = np.quantile(above / below, [0.025, 0.975])
    return Estimate(value, float(low), float(high))


def _rank(n: int, confidence: float) -> int:
    """The largest k such that the k-th smallest and k-th largest of n enclose the median that surely; 0 for none."""
    # outwards from the middle, where few steps hold nearly all: the chance that n coins show from k to n - k heads
    k, inside, chance = n // 2 + 1, 0.0, comb(n, n // 2) / 2**n
    while inside < confidence and k > 0:
        k -= 1
        inside += chance if 2 * k == n else 2 * chance
        chance *= k / (n - k + 1)
    return k


def _finite(samples: Sequence[float]) -> Array:
    values = np.asarray(samples, dtype=np.float64)
    if values.ndim != 1 or not len(values) or not np.isfinite(values).all():
        raise ValueError(f"samples must be one or more finite numbers, got {samples!r:.60}")
    return values
