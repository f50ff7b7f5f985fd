"""What a metric is, what it reads, and how a corpus score comes from sums.

Every metric is a function of the *sum* of one small tuple of numbers an output (BLEU's n-gram counts, TER's edits).
So a score can be computed again from a file without the texts, and a bootstrap is a sum over resampled rows.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Statistics = tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """One generated text beside what it was asked for. Texts are detokenised; ids are kept tokens, without EOS."""

    token_ids: tuple[int, ...]
    text: str
    source: str
    reference: str
    reference_ids: tuple[int, ...]

    def __post_init__(self) -> None:
        for name in ("text", "source", "reference"):
            if not isinstance(value := getattr(self, name), str):
                raise ValueError(f"{name} must be one string an output, got {type(value).__name__}: {value!r:.60}")

    def of_reference(self) -> "Output":
        """The output a perfect writer would have given: the reference in the place of the generated text."""
        return replace(self, token_ids=self.reference_ids, text=self.reference)


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """A score of a set of outputs, computed from the sum of their statistics."""

    name: str
    unit: str
    direction: Literal["higher", "lower", "none"]  # which is better
    signature: str  # the settings; unique a metric, and changes whenever the same texts could score otherwise
    definition: str
    source: str
    statistics: Callable[[Output], Statistics]  # all zeros: this output has nothing to measure and is skipped
    aggregate: Callable[[Array], Array]  # sums [..., k] -> scores [...]; NaN where undefined, in memory only


def corpus_score(metric: Metric, rows: Sequence[Statistics]) -> float | None:
    """The score of all outputs together, or None where it is undefined.

    `rows` holds one output's statistics each, in any order. Raises ValueError when there are none.
    """
    return defined(metric.aggregate(table(rows).sum(axis=0)))


def skipped(rows: Sequence[Statistics]) -> int:
    """The number of outputs that had nothing to measure, and so count neither for nor against."""
    return int((~table(rows).any(axis=1)).sum())


def table(rows: Sequence[Statistics]) -> Array:
    """The rows as an array [outputs, k]; raises ValueError unless they are one or more, alike in width, and finite."""
    if len(rows) == 0:
        raise ValueError("no outputs to score: a score needs at least one")
    if len(widths := {len(row) for row in rows}) > 1:
        raise ValueError(f"rows of one metric must hold the same number of statistics, got {sorted(widths)}")
    values = np.asarray(rows, dtype=np.float64)
    if not np.isfinite(values).all():
        raise ValueError("statistics must be finite numbers, got NaN or Infinity")
    return values


def defined(value: float | Array) -> float | None:
    """A plain float, or None for NaN: what may leave this package."""
    return None if np.isnan(value) else float(value)


def ratio_of_sums(sums: Array) -> Array:
    """First statistic over second, [..., 2] -> [...]; NaN where the second is 0."""
    over, under = sums[..., 0], sums[..., 1]
    return np.divide(over, under, out=np.full_like(over, np.nan), where=under != 0)
