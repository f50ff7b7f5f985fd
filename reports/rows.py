"""What is known of single outputs: their chrF, and their latency where the same request was timed alone."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import fmean, median

import numpy as np

from metrics.base import defined
from metrics.registry import METRICS
from suites.records import Record, Score

Key = tuple[str, str, int]  # task, label, row of the test set


@dataclass(frozen=True, slots=True)
class RowFacts:
    chrf: float | None = None  # of this one output
    latency_s: float | None = None  # median of timed requests of this row alone, at natural lengths
    calls: float | None = None  # mean of the same; None for an engine we cannot look into


def row_facts(records: Iterable[Record], scores: Iterable[Score]) -> dict[Key, RowFacts]:
    """The facts of every output that was scored or timed alone."""
    chrf, timed = _chrf(scores), _timed(records)
    return {key: RowFacts(chrf.get(key), *timed.get(key, (None, None))) for key in chrf.keys() | timed.keys()}


def _chrf(scores: Iterable[Score]) -> dict[Key, float | None]:
    metric = METRICS["chrf"]
    rows = [
        (s.task, s.label, s.row, s.statistics[metric.signature]) for s in scores if metric.signature in s.statistics
    ]
    if not rows:
        return {}
    values = metric.aggregate(np.asarray([statistics for *_, statistics in rows], dtype=np.float64))
    return {(task, label, row): defined(value) for (task, label, row, _), value in zip(rows, values, strict=True)}


def _timed(records: Iterable[Record]) -> dict[Key, tuple[float, float | None]]:
    trials: dict[Key, list[Record]] = defaultdict(list)
    for record in records:
        if record.mode == "natural" and len(record.prompt_rows) == 1 and record.latency_s is not None:
            trials[record.task, record.label, record.prompt_rows[0]].append(record)
    return {key: (median(t.latency_s or 0.0 for t in found), _calls(found)) for key, found in trials.items()}


def _calls(trials: Iterable[Record]) -> float | None:
    counted = [t for t in trials if t.steps and all(step.phase != "engine" for step in t.steps)]
    return fmean(sum(step.calls for step in t.steps) for t in counted) if counted else None
