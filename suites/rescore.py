"""Scores made anew from a run's saved outputs: after a change of a metric, nothing need be generated again."""

import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from metrics.registry import METRICS
from metrics.total_correlation import NATS
from suites import store
from suites.records import SCORES_FILE, BadRun, IncompatibleRun, Run, Score, read_run
from suites.refusal import Refusal
from suites.scoring import scores_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Rescored:
    run: str
    outputs: int
    metrics: tuple[str, ...]  # signatures


def rescore(path: Path) -> Rescored:
    """Put scores by today's metrics in the place of those of the run at `path`, whole or not at all.

    What only a model can tell (a reference's likelihood) is carried over; scores that cannot be read are lost all the
    same, and so is what they carried. Refuses what is no run, one without saved outputs, and one being written to.
    """
    lock = store.lock_folder(path)
    try:
        run = _read(path)
        if not run.samples:
            raise Refusal(f"{path} holds no outputs to score: its suite times its outputs and keeps none")
        scores = tuple(scores_of(run.samples, METRICS))
        store.write_scores(path, carried(run.scores, scores))
    finally:
        os.close(lock)
    signatures = tuple(metric.signature for metric in METRICS.values())
    return Rescored(run=str(path), outputs=len(run.samples), metrics=signatures)


def carried(old: Iterable[Score], fresh: Iterable[Score]) -> list[Score]:
    """The fresh scores, with the likelihoods that the old ones of the same output hold."""
    kept = {(s.task, s.label, s.row): {NATS: s.statistics[NATS]} for s in old if NATS in s.statistics}
    return [replace(s, statistics={**s.statistics, **kept.get((s.task, s.label, s.row), {})}) for s in fresh]


def _read(path: Path) -> Run:
    try:
        return read_run(path)
    except IncompatibleRun as wrong:
        raise Refusal(str(wrong), exit_code=4) from None
    except BadRun as wrong:
        if SCORES_FILE not in str(wrong):
            raise Refusal(str(wrong)) from None
        return read_run(path, scored=False)
