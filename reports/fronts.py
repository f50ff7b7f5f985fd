"""The front of quality against latency, from the sentences and the repeats that all its contestants share."""

from collections.abc import Sequence

import numpy as np

from metrics.bootstrap import resampled_sums
from metrics.fronts import N_RESAMPLES, Sampled, front
from metrics.registry import METRICS
from metrics.resampling import resampled_medians
from metrics.significance import FEWEST
from reports.comparing import SEED, Rows, Seconds, Table, seconds_of, timed_at
from reports.evidence import Front, Point
from reports.summary import Cell, Contestant, Quality, headline_workload, scored_task, workload_of
from suites.records import Record


def fronts(
    table: Table,
    records: Sequence[Record],
    cells: Sequence[Cell],
    qualities: Sequence[Quality],
    order: Sequence[Contestant],
) -> tuple[Front, ...]:
    """One front a task in which two or more contestants were timed at the headline workload and have BLEU."""
    found = (
        _front(table, records, cells, scored_task(qualities, task), order, task)
        for task in sorted({cell.task for cell in cells})
    )
    return tuple(front for front in found if front)


def _front(
    table: Table,
    records: Sequence[Record],
    cells: Sequence[Cell],
    scored: str | None,
    order: Sequence[Contestant],
    task: str,
) -> Front | None:
    workload = headline_workload(cells, task)
    there = {c.label: c.mode for c in cells if c.task == task and workload_of(c) == workload}
    bleu = {c.label: table.get((scored or "", c.label), {}).get("bleu", {}) for c in order}
    labels = [c.label for c in order if c.kind != "copy" and c.label in there and bleu[c.label]]
    by_rows = len({there[label] for label in labels}) == 1
    trials = timed_at(records, task, workload)
    seconds = [seconds_of(trials.get(label, ()), by_rows) for label in labels]
    if scored is None or len(labels) < 2:
        return None
    rows = sorted(set.intersection(*(set(bleu[label]) for label in labels)))
    units = sorted(set.intersection(*map(set, seconds)))
    if len(rows) < 2 or len(units) < FEWEST:
        return None
    beaten = front(labels, _sampled_bleu([bleu[label] for label in labels], rows), _sampled_times(seconds, units))
    points = tuple(Point(label, rival) for label, rival in zip(labels, beaten, strict=True))
    return Front(task=task, scored=scored, points=points, n_sentences=len(rows), n_units=len(units))


def _sampled_bleu(contestants: Sequence[Rows], rows: Sequence[int]) -> Sampled:
    """Everyone's BLEU over the same sentences, and over the same drawn ones."""
    wide = np.hstack([np.array([statistics[row] for row in rows]) for statistics in contestants])
    sums = np.vstack([wide.sum(axis=0), resampled_sums(wide, SEED, N_RESAMPLES)])
    scores = METRICS["bleu"].aggregate(sums.reshape(len(sums), len(contestants), -1))
    return Sampled(scores[0], scores[1:])


def _sampled_times(contestants: Sequence[Seconds], units: Sequence[tuple[int, tuple[int, ...]]]) -> Sampled:
    """Everyone's median latency over the same repeats or prompts, and over the same drawn ones."""
    wide = np.array([[seconds[unit] for seconds in contestants] for unit in units])
    return Sampled(np.median(wide, axis=0), resampled_medians(wide, SEED, N_RESAMPLES))
