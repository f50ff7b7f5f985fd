"""Time against length as a line, t(L) = a + bL, through the medians of each length, and how sure a and b are.

Theil–Sen, a pair of lengths weighing as much as they are apart: lengths double, and of equal votes most would go to the
short pairs, whose slopes are hardly known.

Whole repeats are drawn again, the same ones for every strategy and length, so that two strategies can be compared draw
by draw. Arrays of draws hold the sample itself in row 0: one computation serves a value and its interval.
"""

from typing import NamedTuple

import numpy as np

from metrics.base import Array
from metrics.latency import Estimate
from metrics.resampling import drawn_counts

FEWEST_REPEATS = 6  # a median of fewer has no 95 % interval, so a line through such medians has none
FEWEST_LENGTHS = 3  # any two points lie on a line
FEWEST_TO_CHECK = 4  # a quadratic takes three, and one is held out
MARGIN = 0.03  # a line that misses held-out lengths by less is good enough, however sure the quadratic is better
RESAMPLES = 1000
CHECKED = 1 + 200  # rows in which curvature is looked for: enough for one share, and least squares are slow


class Line(NamedTuple):
    """Intercepts (the unit of the times) and slopes (that unit a token), [draws] each."""

    a: Array
    b: Array

    def at(self, xs: Array) -> Array:
        """The lines' values, [draws] and [k] or [draws, k] -> [draws, k]."""
        return self.a[:, None] + self.b[:, None] * xs


class Curvature(NamedTuple):
    """How far a line and a quadratic miss lengths they have not seen: mean distance, as a share of the median."""

    line_error: float
    quadratic_error: float
    curved: bool


def draw_repeats(n_repeats: int, seed: int, n_resamples: int = RESAMPLES) -> Array:
    """How often each repeat is drawn, [1 + n_resamples, n_repeats]: every one once in row 0, at random below."""
    return np.vstack([np.ones(n_repeats), *drawn_counts(n_repeats, seed, n_resamples)])


def theil_sen(xs: Array, ys: Array) -> Line:
    """The lines with the weighted median of all pairwise slopes, and the median of what is left, [draws, k] each.

    NaN where fewer than two different x have a y. Theil 1950; Sen 1968; the weights: Jaeckel 1972.
    """
    i, j = np.triu_indices(ys.shape[-1], 1)
    run, rise = xs[..., j] - xs[..., i], ys[..., j] - ys[..., i]
    slopes = np.divide(rise, run, out=np.full(rise.shape, np.nan), where=run != 0)
    b = _weighted_median(slopes, np.broadcast_to(np.abs(run), slopes.shape))
    return Line(_median(ys - b[..., None] * xs), b)


def fit(xs: Array, medians: Array) -> Line:
    """The line through a sample's medians, and that of each draw, from [draws, k] each.

    What is drawn again is how far each median strays, and it is laid on the sample's own line: a bootstrap around
    points that do not quite lie on a line would count their distance from it twice, and cover 99 % for 95 (measured).
    """
    own = theil_sen(xs[:1], medians[:1])
    return theil_sen(xs, medians - medians[:1] + own.at(xs[:1]))


def estimate(values: Array, n_repeats: int) -> Estimate | None:
    """The value of row 0 with the 95 % percentile interval of the draws; None where undefined in the sample.

    No interval under 6 repeats, or where a draw in forty is undefined too.
    """
    if not np.isfinite(values[0]):
        return None
    drawn = np.sort(values[1:][np.isfinite(values[1:])])
    if n_repeats < FEWEST_REPEATS or len(drawn) < 0.975 * (len(values) - 1):
        return Estimate(float(values[0]), None, None)
    low, high = np.quantile(drawn, [0.025, 0.975])
    return Estimate(float(values[0]), float(low), float(high))


def curvature(xs: Array, medians: Array) -> Curvature | None:
    """Whether the medians, [draws, k], bend: each length is predicted from the others by a line and by a quadratic.

    Curved means that the line misses by more than 3 % on average and that the quadratic misses by less, both in the
    sample, the latter also in 97.5 % of the draws. None with fewer than 4 lengths. Least squares of relative errors.
    """
    if medians.shape[-1] < FEWEST_TO_CHECK:
        return None
    medians = medians[:CHECKED]
    xs = np.broadcast_to(xs[:CHECKED], medians.shape)
    line, quadratic = (_held_out_error(xs, medians, degree) for degree in (1, 2))
    better = float(np.mean(quadratic[1:] < line[1:]))
    curved = bool(line[0] > MARGIN and quadratic[0] < line[0] and better >= 0.975)
    return Curvature(float(line[0]), float(quadratic[0]), curved)


def _held_out_error(xs: Array, ys: Array, degree: int) -> Array:
    """Mean relative error over lengths, each predicted by the polynomial through the others, [draws, k] -> [draws]."""
    powers = (xs[..., None] / xs.max()) ** np.arange(degree + 1)  # [draws, k, degree + 1]
    errors = []
    for held in range(ys.shape[-1]):
        rest = np.arange(ys.shape[-1]) != held
        rows = powers[:, rest] / ys[:, rest, None]  # each equation over its y: relative errors are what is squared
        turned = rows.swapaxes(-1, -2)
        weights = (np.linalg.pinv(turned @ rows, hermitian=True) @ turned).sum(axis=-1)  # the right-hand sides are 1
        errors.append(np.abs((powers[:, held] * weights).sum(axis=-1) / ys[:, held] - 1))
    found: Array = np.mean(errors, axis=0)
    return found


def _weighted_median(values: Array, weights: Array) -> Array:
    """Where half of the weight lies below, over the last axis, NaN left out; NaN where there is nothing else."""
    order = np.argsort(values, axis=-1)  # NaN goes to the end
    ordered = np.take_along_axis(values, order, axis=-1)
    below = np.cumsum(np.where(np.isnan(ordered), 0.0, np.take_along_axis(weights, order, axis=-1)), axis=-1)
    half = below[..., -1:] / 2
    low, high = np.argmax(below >= half, axis=-1), np.argmax(below > half, axis=-1)  # apart where a half ends exactly
    picked = [np.take_along_axis(ordered, k[..., None], axis=-1)[..., 0] for k in (low, high)]
    return (picked[0] + picked[1]) / 2


def _median(values: Array) -> Array:
    """Medians over the last axis, NaN left out; NaN where there is nothing else. Many times faster than NumPy's."""
    ordered = np.sort(values, axis=-1)  # NaN goes to the end
    n = np.count_nonzero(~np.isnan(values), axis=-1)[..., None]
    low, high = (np.take_along_axis(ordered, np.maximum(k, 0), axis=-1)[..., 0] for k in ((n - 1) // 2, n // 2))
    return np.where(n[..., 0] > 0, (low + high) / 2, np.nan)
