"""The records of a run to a `Summary`: every number of the report is computed here or in the modules it calls."""

import functools
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from reports import lines, names, quality, speed
from reports.costing import costs_of
from reports.findings import bleu_difference, evidence_of
from reports.rows import row_facts
from reports.summary import Cell, Contestant, Coverage, Quality, Summary, scored_task
from suites.records import Record, Run, RunInfo, Sample, Score


def summarise(run: Run, folder: str = "") -> Summary:
    """The summary of a run, failed and missing trials included; `folder` is cut from the paths in the run's notes.

    An empty run gives an empty summary whose `missing` says so. Raises ValueError for values no run can hold, such as
    a latency of 0.
    """
    info, records = run.info, run.records
    planned = _planned(info)
    order = names.contestants(records, [label for _, label in planned])
    baseline = speed.baseline_label(order)
    table = quality.table_of(score for score in run.scores if score.task not in _spoilt(info))
    qualities = quality.qualities(table, order, records, run.samples, baseline)

    @functools.cache
    def below(task: str, engine: str, label: str) -> bool:
        return quality.significantly_below(table, scored_task(qualities, task) or task, engine, label)

    cells = speed.cells(records, order, baseline, below)
    evidence = evidence_of(run, table, order, cells, qualities, baseline, below)
    qualities = tuple(replace(q, bleu_difference=bleu_difference(evidence, q)) for q in qualities)
    gaps = (_missing(records, order, run.scores, baseline), _unrivalled(cells, order), _no_gain(qualities, baseline))
    return Summary(
        info=info,
        tasks=tuple(sorted({record.task for record in records} | {task for task, _ in planned})),
        contestants=order,
        cells=cells,
        lines=lines.lines(records, order, baseline, cells),
        qualities=qualities,
        reference_scores=quality.reference_scores(run.samples),
        coverage=_coverage(records, order, planned),
        recorded=len(records),
        warmups=sum(len(record.warmup_s) for record in records),
        warmup_s=sum(sum(record.warmup_s) for record in records),
        baseline=baseline,
        missing=tuple(sentence for found in gaps for sentence in found),
        warnings=tuple(_warnings(info, records, [note.replace(f"{folder}/", "") for note in run.notes])),
        samples=run.samples,
        traced=_traced(run),
        rows=row_facts(records, run.scores),
        evidence=evidence,
        costs=costs_of(run, order),
    )


def _spoilt(info: RunInfo) -> frozenset[str]:
    """Tasks whose outputs were given a wrong token: what they show is damage and not quality."""
    settings = info.plan.get("settings", {})
    return frozenset(settings.get("wrong_at") or ()) if isinstance(settings, dict) else frozenset()


def _traced(run: Run) -> tuple[tuple[Sample, Record], ...]:
    keys = {sample.key for sample in run.traced}
    records = {record.key: record for record in run.records if record.key in keys}
    return tuple((sample, records[sample.key]) for sample in run.traced)


def _planned(info: RunInfo) -> Counter[tuple[str, str]]:
    """Planned trials by task and label, from the plan's cells; empty where the plan does not list them."""
    planned: Counter[tuple[str, str]] = Counter()
    try:
        for cell in info.plan.get("cells", []):
            planned[str(cell["task"]), str(cell["label"])] += int(cell["planned"])
    except (TypeError, KeyError) as wrong:
        raise ValueError(f"run.json: field 'plan': 'cells' is no list of planned cells: {wrong!r}") from None
    return planned


def _coverage(
    records: Sequence[Record], order: Sequence[Contestant], planned: Counter[tuple[str, str]]
) -> tuple[Coverage, ...]:
    trials: dict[tuple[str, str], list[Record]] = {pair: [] for pair in planned}
    for record in records:
        trials.setdefault((record.task, record.label), []).append(record)
    rank = {contestant.label: i for i, contestant in enumerate(order)}
    pairs = sorted(trials, key=lambda pair: (pair[0], rank[pair[1]]))
    return tuple(_covered(pair, trials[pair], planned.get(pair, len(trials[pair]))) for pair in pairs)


def _covered(pair: tuple[str, str], trials: Sequence[Record], planned: int) -> Coverage:
    failed = Counter((r.status, r.reason or "no reason given") for r in trials if r.status != "ok")
    failures = tuple((status, reason, count) for (status, reason), count in sorted(failed.items()))
    ok = len(trials) - sum(failed.values())
    return Coverage(task=pair[0], label=pair[1], ok=ok, planned=planned, failures=failures)


def _warnings(info: RunInfo, records: Sequence[Record], notes: Sequence[str]) -> list[str]:
    """What a reader must know before believing a number, the gravest first."""
    found = []
    if (gap := info.expected - len(records)) > 0:
        found.append(
            f"Incomplete: {gap:,} of {info.expected:,} planned trials have no record; resume the run to fill them."
        )
    if failed := sum(record.status != "ok" for record in records):
        found.append(f"{failed:,} of {len(records):,} recorded trials failed; the coverage table gives the reasons.")
    if info.reduced:
        found.append(f"Reduced: fewer trials than the suite's default were planned ({info.reduced}).")
    if any(start.dirty for start in info.starts):
        found.append("Dirty: the code had uncommitted changes, so the commit below does not fully name it.")
    if any(start.commit is None for start in info.starts):
        found.append("The code's commit is unknown, so this run cannot be traced to a version.")
    return [*found, *notes]


def _missing(
    records: Sequence[Record], order: Sequence[Contestant], scores: Sequence[Score], baseline: str | None
) -> list[str]:
    """Which numbers this run cannot give, and why."""
    ok = [record for record in records if record.status == "ok"]
    if not ok:
        return [_nothing(records)]
    if all(record.memory for record in ok):
        return ["No latency, no speedup and no quality: each request was made once, for its memory alone."]
    timed = [record for record in ok if record.mode != "batched"]
    return [*_missing_speed(timed, order, baseline), *_missing_quality(order, scores, baseline)]


def _nothing(records: Sequence[Record]) -> str:
    if not records:
        return "Nothing was measured: the run has no records yet."
    (status, reason), count = Counter((r.status, r.reason or "no reason given") for r in records).most_common(1)[0]
    return f"Nothing was measured: all {len(records):,} trials failed, {count:,} of them with {status}: {reason}"


def _missing_speed(timed: Sequence[Record], order: Sequence[Contestant], baseline: str | None) -> list[str]:
    if not timed:
        return ["No latency and no speedup: only batched quality passes succeeded, and those are not timed one by one."]
    strategies = {record.strategy for record in timed}
    found = []
    if baseline is None:
        found.append("No like-for-like speedup: the run has no greedy ar contestant to divide by.")
    elif all(record.label != baseline for record in timed):
        found.append(f"No like-for-like speedup: no timed trial of {baseline} succeeded.")
    if not strategies & set(names.AR_STRATEGIES):
        found.append("No speedup over the strongest AR engine: no AR contestant was timed.")
    elif "ctranslate2" not in strategies:
        found.append(
            "ctranslate2, the strongest AR engine we know of, was not timed: each-at-its-best speedups flatter."
        )
    counts = Counter((r.task, r.label, r.mode, r.length, r.batch_size, r.source_length) for r in timed)
    if few := sum(count < 6 for count in counts.values()):
        found.append(f"No interval on {few} of {len(counts)} median latencies: it takes 6 samples, they have fewer.")
    return found


def _unrivalled(cells: Sequence[Cell], order: Sequence[Contestant]) -> list[str]:
    """Contestants that were timed beside AR engines none of which writes as well."""
    names_of = {contestant.label: contestant.name for contestant in order}
    found = dict.fromkeys((c.task, names_of[c.label]) for c in cells if c.like_for_like and not c.each_at_best)
    return [
        f"No each-at-its-best speedup of {name} on {task}: every AR engine's BLEU is significantly below its own."
        for task, name in found
    ]


def _no_gain(qualities: Sequence[Quality], baseline: str | None) -> list[str]:
    """Tasks in which AR and copying were scored and AR gains nothing."""
    return [
        f"No share of AR's gain on {q.task}: AR scores no higher there than copying the source."
        for q in qualities
        if q.label == baseline and q.share_of_ar_gain is None and q.scores and _copied(qualities, q.task)
    ]


def _copied(qualities: Sequence[Quality], task: str) -> bool:
    return any(q.task == task and names.kind_of(q.label.split(":")[0]) == "copy" for q in qualities)


def _missing_quality(order: Sequence[Contestant], scores: Sequence[Score], baseline: str | None) -> list[str]:
    if not scores:
        return [
            "No quality: the run holds no scored outputs (a latency suite times its outputs and does not score them)."
        ]
    scored = {score.label for score in scores}
    found = []
    if unknown := quality.unknown_signatures(scores):
        found.append(
            f"Scores with signatures unknown here are left out: {', '.join(unknown)}; `python -m suites rescore` makes "
            "them anew from the saved outputs."
        )
    if baseline not in scored:
        found.append("No BLEU difference and no share of AR's gain: no greedy ar contestant was scored.")
    elif not any(c.kind == "copy" and c.label in scored for c in order):
        found.append("No share of AR's gain over copying: copy was not scored.")
    return found
