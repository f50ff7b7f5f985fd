"""Every contestant against the like-for-like baseline: paired bootstraps, with Holm's correction over them all."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from metrics.bootstrap import paired_bootstrap
from metrics.registry import METRICS
from metrics.significance import Ratio, holm, paired_ratio
from reports.evidence import Comparison
from reports.summary import Cell, Contestant, Difference, Workload, headline_workload
from suites.records import Record

SEED = 12345  # sacreBLEU's own, so that its `--paired-bs` draws the same sentences and prints the same p-values
TESTED = ("bleu", "chrf", "repeated_token_rate", "seq_rep_4", "name_recall")
Rows = Mapping[int, tuple[float, ...]]  # row of the test set -> statistics
Table = Mapping[tuple[str, str], Mapping[str, Rows]]  # (task, label) -> metric name -> rows
Seconds = dict[tuple[int, tuple[int, ...]], float]  # repeat, and prompts where they are the same -> latency


def comparisons(
    table: Table, records: Sequence[Record], cells: Sequence[Cell], order: Sequence[Contestant], baseline: str | None
) -> tuple[Comparison, ...]:
    """One a task and contestant that has something to compare with the baseline there."""
    if baseline is None:
        return ()
    tasks = sorted({task for task, _ in table} | {cell.task for cell in cells})
    return tuple(c for task in tasks for c in _of_task(table, records, cells, order, baseline, task))


def difference(table: Table, task: str, metric: str, label: str, other: str) -> Difference | None:
    """The metric of `label` minus that of `other` over the rows both have; None where there are fewer than two."""
    ours, theirs = (table.get((task, name), {}).get(metric, {}) for name in (label, other))
    common = sorted(ours.keys() & theirs.keys())
    if not common:
        return None
    found = paired_bootstrap(METRICS[metric], [ours[r] for r in common], [theirs[r] for r in common], SEED)
    if found is None:
        return None
    value, low, high, p, p_sacrebleu = found
    return Difference(value, low, high, p, len(common), other, p_holm=p, p_sacrebleu=p_sacrebleu)


def timed_at(records: Iterable[Record], task: str, workload: Workload | None) -> dict[str, list[Record]]:
    """The trials timed at a workload of a task, by contestant."""
    found: dict[str, list[Record]] = defaultdict(list)
    for r in records:
        timed = r.status == "ok" and r.latency_s and r.mode != "batched"
        if timed and r.task == task and (r.length, r.batch_size) == workload:
            found[r.label].append(r)
    return found


def seconds_of(trials: Iterable[Record], by_rows: bool) -> Seconds:
    """The latency of each of a contestant's trials, by repeat, and by prompts where wanted."""
    return {(r.repeat, r.prompt_rows if by_rows else ()): r.latency_s for r in trials if r.latency_s}


def times_faster(trials: Mapping[str, Sequence[Record]], label: str, other: str) -> tuple[Ratio, int] | None:
    """How many times less time a request takes than with `other`, and in how many requests or repeats."""
    if label not in trials or other not in trials:
        return None
    sides = trials[label], trials[other]
    by_rows = sides[0][0].mode == sides[1][0].mode
    ours, theirs = (seconds_of(side, by_rows) for side in sides)
    common = sorted(ours.keys() & theirs.keys())
    ratio = paired_ratio([theirs[unit] for unit in common], [ours[unit] for unit in common], SEED)
    return (ratio, len(common)) if ratio else None


def _of_task(
    table: Table,
    records: Sequence[Record],
    cells: Sequence[Cell],
    order: Sequence[Contestant],
    baseline: str,
    task: str,
) -> list[Comparison]:
    labels = [c.label for c in order if c.label != baseline]
    found: dict[str, dict[str, Difference]] = {label: {} for label in labels}
    for metric in TESTED:
        tested = {label: d for label in labels if (d := difference(table, task, metric, label, baseline))}
        for label, p in zip(tested, holm([d.p_value for d in tested.values()]), strict=True):
            found[label][metric] = replace(tested[label], p_holm=p)
    trials = timed_at(records, task, headline_workload(cells, task))
    decoding = [c.label for c in order if c.label != baseline and c.kind != "copy"]  # copying decodes nothing
    times = {label: t for label in decoding if (t := times_faster(trials, label, baseline))}
    p_times = dict(zip(times, holm([ratio.p_value for ratio, _ in times.values()]), strict=True))
    return [
        Comparison(
            task=task,
            label=label,
            against=baseline,
            differences=found[label],
            time=times[label][0] if label in times else None,
            time_p_holm=p_times.get(label),
            time_n=times[label][1] if label in times else 0,
        )
        for label in labels
        if found[label] or label in times
    ]
