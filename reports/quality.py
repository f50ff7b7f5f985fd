"""Per-sentence statistics to corpus scores with intervals, differences to the baseline and the share of AR's gain."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from metrics.base import Array, Metric, Output, corpus_score, skipped
from metrics.bootstrap import interval, resampled_sums
from metrics.comparison import agreement, share_of_gain
from metrics.registry import METRICS
from metrics.total_correlation import NATS
from reports.comparing import difference
from reports.summary import Contestant, Estimate, Quality, SameAsAr
from suites.records import Record, Sample, Score

SEED = 2015  # of every bootstrap in a report, so that the same records give the same intervals
N_RESAMPLES = 1000
Rows = dict[int, tuple[float, ...]]  # row of the test set -> statistics
Outputs = dict[tuple[str, str], dict[int, tuple[int, ...]]]  # (task, label) -> row -> token ids
Table = dict[tuple[str, str], dict[str, Rows]]  # (task, label) -> metric name -> rows


def table_of(scores: Iterable[Score]) -> Table:
    """The statistics by task, contestant and metric; a signature no metric here has is left out."""
    names = {metric.signature: name for name, metric in METRICS.items()}
    table: Table = {}
    for score in scores:
        cell = table.setdefault((score.task, score.label), {})
        for signature, statistics in score.statistics.items():
            if signature in names:
                cell.setdefault(names[signature], {})[score.row] = statistics
    return table


def unknown_signatures(scores: Iterable[Score]) -> tuple[str, ...]:
    """Signatures in the scores that no metric here has: they were made by other settings or another version."""
    known = {metric.signature for metric in METRICS.values()} | {NATS}
    return tuple(sorted({signature for score in scores for signature in score.statistics} - known))


def qualities(
    table: Table,
    order: Sequence[Contestant],
    records: Sequence[Record],
    samples: Iterable[Sample],
    baseline: str | None,
) -> tuple[Quality, ...]:
    """The quality of each scored contestant, by task and then in the order given."""
    asked = _rows_asked(records, table)
    copies = [contestant.label for contestant in order if contestant.kind == "copy"]
    copy = copies[0] if copies else None
    tasks = sorted({task for task, _ in table})
    pairs = [(task, c.label) for task in tasks for c in order if (task, c.label) in table]
    found = [_quality(table, task, label, len(asked[task]), baseline, copy) for task, label in pairs]
    ids, alike = _token_ids(samples), _should_agree(order, baseline)
    return tuple(replace(q, same_as_ar=_same_as_ar(ids, q, baseline)) if q.label in alike else q for q in found)


def significantly_below(table: Table, task: str, label: str, other: str) -> bool:
    """Whether BLEU of `label` is below `other`'s at p < 0.05; False where either has none."""
    found = difference(table, task, "bleu", label, other)
    return found is not None and found.value < 0 and found.significant


def reference_scores(samples: Iterable[Sample]) -> dict[str, dict[str, float]]:
    """The references' own repetition, by task and metric name: what an output's repetition must be compared with."""
    outputs: dict[str, dict[int, Output]] = {}
    for sample in samples:
        outputs.setdefault(sample.task, {})[sample.row] = _reference_output(sample)
    return {task: _repetition([rows[row] for row in sorted(rows)]) for task, rows in sorted(outputs.items())}


def _repetition(outputs: Sequence[Output]) -> dict[str, float]:
    metrics = [METRICS[name] for name in ("repeated_token_rate", "seq_rep_4")]
    values = {m.name: corpus_score(m, [m.statistics(output) for output in outputs]) for m in metrics}
    return {name: value for name, value in values.items() if value is not None}


def _reference_output(sample: Sample) -> Output:
    return Output(
        token_ids=sample.reference_ids,
        text=sample.reference,
        source=sample.source,
        reference=sample.reference,
        reference_ids=sample.reference_ids,
    )


def _rows_asked(records: Sequence[Record], table: Table) -> dict[str, set[int]]:
    """The rows of each task that the quality pass asked of anyone: failures are seen against these."""
    asked: dict[str, set[int]] = {}
    for record in records:
        if record.mode == "batched":
            asked.setdefault(record.task, set()).update(record.prompt_rows)
    for (task, _), cell in table.items():
        asked.setdefault(task, set()).update(*cell.values())
    return asked


def _quality(table: Table, task: str, label: str, asked: int, baseline: str | None, copy: str | None) -> Quality:
    cell = table[task, label]
    scores = {name: estimate for name in METRICS if name in cell and (estimate := _estimate(METRICS[name], cell[name]))}
    return Quality(
        task=task,
        label=label,
        n=max(map(len, cell.values()), default=0),
        n_expected=asked,
        scores=scores,
        bleu_difference=None,  # until all contestants are tested together
        share_of_ar_gain=_share(table, task, label, baseline, copy),
    )


def _estimate(metric: Metric, rows: Rows) -> Estimate | None:
    ordered = [rows[row] for row in sorted(rows)]
    value = corpus_score(metric, ordered)
    if value is None:
        return None
    low, high = interval(metric, ordered, SEED) or (None, None)
    return Estimate(value, low, high, len(ordered) - skipped(ordered))


def _token_ids(samples: Iterable[Sample]) -> Outputs:
    ids: Outputs = {}
    for sample in samples:
        ids.setdefault((sample.task, sample.label), {})[sample.row] = sample.token_ids
    return ids


def _should_agree(order: Sequence[Contestant], baseline: str | None) -> set[str]:
    """Labels of who decodes greedily with the baseline's weights, by drafts or not: all should write the same."""
    weights = {c.label: dict(c.config).get("weights") for c in order}
    greedy = [c for c in order if c.kind in ("ar", "speculative") and dict(c.config).get("beam_size", "1") == "1"]
    return {c.label for c in greedy if baseline not in (None, c.label) and weights[c.label] == weights[baseline]}


def _same_as_ar(ids: Outputs, quality: Quality, baseline: str | None) -> SameAsAr | None:
    ours, theirs = (ids.get((quality.task, label), {}) for label in (quality.label, baseline or ""))
    common = sorted(ours.keys() & theirs.keys())
    if not common:
        return None
    found = agreement([ours[row] for row in common], [theirs[row] for row in common])
    return SameAsAr(found.identical_share, found.mean_common_prefix, len(common))


def _share(table: Table, task: str, label: str, baseline: str | None, copy: str | None) -> Estimate | None:
    """100 · (BLEU − copy's) / (AR's − copy's), resampling the rows that all three have together."""
    if baseline is None or copy is None or label == copy:
        return None
    sides = [table.get((task, name), {}).get("bleu", {}) for name in (label, copy, baseline)]
    common = sorted(set.intersection(*(set(side) for side in sides)))
    if not common:
        return None
    wide = np.hstack([np.array([side[row] for row in common]) for side in sides])
    value = _gain(wide.sum(axis=0))
    if value is None:
        return None
    resampled = (_gain(sums) for sums in resampled_sums(wide, SEED, N_RESAMPLES))
    shares = [share for share in resampled if share is not None]
    if len(common) < 2 or not shares or label == baseline:
        return Estimate(value, None, None, len(common))
    low, high = np.percentile(shares, [2.5, 97.5])
    return Estimate(value, float(low), float(high), len(common))


def _gain(sums: Array) -> float | None:
    """The share, in per cent, from the summed statistics of contestant, copy and AR side by side."""
    bleu, copy, ar = METRICS["bleu"].aggregate(sums.reshape(3, -1)).tolist()
    share = share_of_gain(bleu, copy, ar)
    return None if share is None else 100 * share
