"""How sure a mean or a share is: Student's t bounds, and exact binomial ones."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import betaincinv, stdtrit


class Bounds(NamedTuple):
    """A value between two bounds; infinite where the sample is too small for one."""

    value: float
    lower: float
    upper: float


def mean_bounds(values: Sequence[float], alpha: float) -> Bounds:
    """The mean with two one-sided bounds, each of which misses with probability `alpha` (Student 1908).

    Infinite bounds for a single value. Raises ValueError for none, for one that is not finite, and for an alpha outside
    (0, 0.5).
    """
    sample = np.asarray(values, dtype=np.float64)
    if not len(sample) or not np.isfinite(sample).all() or not 0 < alpha < 0.5:
        raise ValueError(f"bounds need finite values and an alpha in (0, 0.5), got {values!r:.60} and {alpha}")
    mean, n = float(sample.mean()), len(sample)
    if n == 1:
        return Bounds(mean, -np.inf, np.inf)
    margin = float(stdtrit(n - 1, 1 - alpha) * sample.std(ddof=1) / np.sqrt(n))
    return Bounds(mean, mean - margin, mean + margin)


def share_bounds(hits: int, n: int, alpha: float = 0.05) -> Bounds:
    """The share hits/n with two one-sided bounds, each of which misses with probability at most `alpha`.

    Exact: no approximation by a normal curve (Clopper & Pearson 1934). Raises ValueError unless 0 <= hits <= n, n > 0.
    """
    if not 0 <= hits <= n or n < 1:
        raise ValueError(f"a share needs 0 <= hits <= n and n > 0, got {hits} of {n}")
    lower = float(betaincinv(hits, n - hits + 1, alpha)) if hits else 0.0
    upper = float(betaincinv(hits + 1, n - hits, 1 - alpha)) if hits < n else 1.0
    return Bounds(hits / n, lower, upper)
