"""From which length (or batch size, or whatever grows along a grid) one contestant is ahead of another."""

from typing import Literal, NamedTuple

import numpy as np

from metrics.base import Array
from metrics.fits import FEWEST_REPEATS

Answer = Literal["always", "never", "from", "until"]


class Crossover(NamedTuple):
    """Where on a grid a contestant is ahead.

    `always` and `never` hold on the whole grid in 97.5 % of the draws. Otherwise it is ahead `from` the crossing up to
    the grid's end, or `until` it. Minus infinity is a place before the grid and infinity one beyond it: as a bound,
    the interval is open on that side; as the crossing, the sample itself shows none. Without bounds there were too few
    repeats to say.
    """

    answer: Answer
    crossing: float
    low: float | None
    high: float | None

    @property
    def undecided(self) -> bool:
        """Whether the crossing may as well lie before the grid as beyond it: then nobody is ahead for sure."""
        return self.low == -np.inf and self.high == np.inf


def crossover(grid: Array, margins: Array, n_repeats: int) -> Crossover:
    """Where margins pass 0: by how much the other's time is longer, over a rising grid, [k] and [draws, k].

    Row 0 is the sample itself, as everywhere in `metrics.fits`; between two places of the grid a margin is a straight
    line. Bounds are order statistics of the draws, so that one beyond the grid counts as such; none under 6 repeats.
    Raises ValueError for a grid that does not rise or an undefined margin of the sample.
    """
    if len(grid) < 2 or np.any(np.diff(grid) <= 0) or np.isnan(margins[0]).any():
        raise ValueError(f"a crossover needs a rising grid of two places or more with a margin each, got {grid!r:.60}")
    until = bool(margins[0, 0] > margins[0, -1])
    found = -_ahead_from(-grid[::-1], margins[:, ::-1]) if until else _ahead_from(grid, margins)
    crossing = float(found[0])
    answer: Answer = "until" if until else "from"
    if n_repeats < FEWEST_REPEATS:
        return Crossover(_on_whole_grid(margins[:1]) or answer, crossing, None, None)
    drawn = margins[1:][~np.isnan(margins[1:]).any(axis=-1)]
    places = np.sort(found[1:][~np.isnan(margins[1:]).any(axis=-1)])
    low, high = (float(places[round(q * (len(places) - 1))]) for q in (0.025, 0.975))
    return Crossover(_on_whole_grid(drawn) or answer, crossing, low, high)


def _on_whole_grid(margins: Array) -> Answer | None:
    if np.mean((margins > 0).all(axis=-1)) >= 0.975:
        return "always"
    return "never" if np.mean((margins <= 0).all(axis=-1)) >= 0.975 else None


def _ahead_from(grid: Array, margins: Array) -> Array:
    """From where to the grid's end each row stays above 0: minus infinity for all of it, infinity for none of it."""
    behind = margins <= 0
    k = len(grid)
    last = k - 1 - np.argmax(behind[:, ::-1], axis=1)  # the last place where it is behind, if there is one
    i = np.minimum(last, k - 2)
    rows = np.arange(len(margins))
    before, after = margins[rows, i], margins[rows, i + 1]
    rise = np.where(after > before, after - before, 1.0)  # where it matters, before <= 0 < after
    crossing = grid[i] - before * (grid[i + 1] - grid[i]) / rise
    crossing = np.where(last == k - 1, np.inf, crossing)
    return np.where(behind.any(axis=1), crossing, -np.inf)
