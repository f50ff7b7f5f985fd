"""What latency samples support saying: medians, percentiles, rates, lines and speedups, each with how sure it is.

Seconds in, seconds out. An empty sample and one that is not finite are refused.
"""

from collections.abc import Sequence
from itertools import combinations
from typing import Literal, NamedTuple

import numpy as np

from metrics.base import Array


class Estimate(NamedTuple):
    """A value and its interval; the bounds are None where there are too few samples for one."""

    value: float
    low: float | None
    high: float | None


class Line(NamedTuple):
    """t = a_s + b_s_per_token * L"""

    a_s: float
    b_s_per_token: float


class Crossover(NamedTuple):
    """At which lengths the second line is the faster one: always, never, or beyond or below `length` tokens."""

    answer: Literal["always", "never", "beyond", "below"]
    length: float | None = None


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


def fit_line(lengths: Sequence[float], medians: Sequence[float]) -> Line | None:
    """The Theil-Sen line through (length, median latency): the median slope of all pairs, then the median intercept.

    None with fewer than two different lengths. One wild median moves it little (Sen 1968).
    """
    points = list(zip(lengths, medians, strict=True))
    slopes = [(t2 - t1) / (l2 - l1) for (l1, t1), (l2, t2) in combinations(points, 2) if l1 != l2]
    if not slopes:
        return None
    b = float(np.median(slopes))
    return Line(float(np.median([t - b * length for length, t in points])), b)


def crossover(a1: float, b1: float, a2: float, b2: float) -> Crossover:
    """From which length on, 1 token being the least, the line a2 + b2 L is faster than a1 + b1 L.

    Lines that only touch or coincide count as not faster. The length may lie far outside the measured ones.
    """
    gain_at_1, gain_per_token = (a1 + b1) - (a2 + b2), b1 - b2
    if gain_at_1 > 0 and gain_per_token >= 0:
        return Crossover("always")
    if gain_at_1 <= 0 and gain_per_token <= 0:
        return Crossover("never")
    return Crossover("beyond" if gain_per_token > 0 else "below", (a2 - a1) / gain_per_token)


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
    draws = np.random.default_rng(seed).integers(n, size=(n_resamples, n))
    low, high = np.quantile(np.median(slow[draws], axis=1) / np.median(fast[draws], axis=1), [0.025, 0.975])
    return Estimate(value, float(low), float(high))


def _rank(n: int, confidence: float) -> int:
    """The largest k such that the k-th smallest and k-th largest of n enclose the median that surely; 0 for none."""
    # of the 2^n ways n coins fall, `outside` counts those with at most k heads or at most k tails
    k, ways, outside = 0, 1, 2
    while outside / 2**n <= 1 - confidence:
        k += 1
        ways = ways * (n - k + 1) // k
        outside += 2 * ways
    return k


def _finite(samples: Sequence[float]) -> Array:
    values = np.asarray(samples, dtype=np.float64)
    if values.ndim != 1 or not len(values) or not np.isfinite(values).all():
        raise ValueError(f"samples must be one or more finite numbers, got {samples!r:.60}")
    return values
