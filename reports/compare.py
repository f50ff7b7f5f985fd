"""Two runs side by side: what changed from the first to the second, each difference with its interval.

Runs are not interleaved, and a machine's speed wanders between them. So a change of absolute latency is given beside
the change *relative to ar of the same run*, in which what slowed a whole run cancels.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from metrics.bootstrap import PairedDifference, paired_bootstrap
from metrics.registry import METRICS
from metrics.significance import Ratio, change_of_ratio, unpaired_ratio
from reports import names, quality, speed
from reports.comparing import SEED, TESTED, seconds_of, timed_at
from suites.records import IncompatibleRun, Record, Run, RunInfo, read_run

CellKey = tuple[str, str, str, int | None, int]  # task, label, mode, length, batch size


@dataclass(frozen=True, slots=True, kw_only=True)
class LatencyChange:
    task: str
    label: str
    mode: str
    length: int | None
    batch_size: int
    before_ms: float
    after_ms: float
    ratio: Ratio | None  # after over before: above 1 is slower; None under 6 samples on either side
    relative: Ratio | None  # the same of the time over ar's in the same run
    n: tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class QualityChange:
    task: str
    label: str
    metric: str
    change: PairedDifference  # second minus first, over the sentences both runs wrote
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    differences: tuple[str, ...]  # what else differs between the runs, in words
    latencies: tuple[LatencyChange, ...]
    qualities: tuple[QualityChange, ...]
    only_in: tuple[tuple[str, ...], tuple[str, ...]]  # cells that one run has alone, in words


def compare(first: Path, second: Path, *, other_machine: bool) -> Changes:
    """What changed from the run in `first` to that in `second`.

    Raises IncompatibleRun for runs on different machines or thread counts, unless `other_machine`, for runs with other
    settings of device or dtype, and for runs that share nothing; `IncompatibleRun` or `BadRun` as `read_run` does.
    """
    before, after = read_run(first), read_run(second)
    elsewhere = _elsewhere(before.info, after.info)
    if elsewhere and not other_machine:
        raise IncompatibleRun(
            f"the runs are of different machines ({'; '.join(elsewhere)}): their times cannot be compared; "
            "--other-machine compares them all the same"
        )
    changes = Changes(
        differences=(*elsewhere, *_otherwise(before.info, after.info)),
        latencies=_latencies(before, after),
        qualities=_qualities(before, after),
        only_in=(_alone(before, after), _alone(after, before)),
    )
    if not changes.latencies and not changes.qualities:
        raise IncompatibleRun(f"{first} and {second} have no contestant, task and length in common")
    return changes


def _elsewhere(before: RunInfo, after: RunInfo) -> list[str]:
    """How the machines or what was asked of them differ, in words."""
    if not before.starts or not after.starts:
        return ["a run that never started names no machine"]
    one, other = before.starts[-1], after.starts[-1]
    settings = [{name: start.settings.get(name) for name in ("device", "dtype")} for start in (one, other)]
    found = _changed(one.machine, other.machine) + _changed(*settings)
    return found + _changed({"threads": one.threads}, {"threads": other.threads})


def _otherwise(before: RunInfo, after: RunInfo) -> list[str]:
    """What may explain a difference on one machine: code, versions, weights, test sets."""
    if not before.starts or not after.starts:
        return []
    one, other = before.starts[-1], after.starts[-1]
    code = {"code": one.code_sha256[:12]}, {"code": other.code_sha256[:12]}
    pairs = (code, (one.versions, other.versions), (one.weights, other.weights), (one.corpora, other.corpora))
    return [line for then, now in pairs for line in _changed(then, now) if "None" not in line]


def _changed(then: Mapping[str, object], now: Mapping[str, object]) -> list[str]:
    keys = sorted(then.keys() | now.keys())
    return [f"{k} {str(then.get(k))[:40]} then, {str(now.get(k))[:40]} now" for k in keys if then.get(k) != now.get(k)]


def _latencies(before: Run, after: Run) -> tuple[LatencyChange, ...]:
    sides = _cells(before), _cells(after)
    ars = _baseline(before), _baseline(after)
    found = []
    for key in sorted(sides[0].keys() & sides[1].keys(), key=str):
        task, label, mode, length, batch_size = key
        then, now = ([r.latency_s or 0.0 for r in side[key]] for side in sides)
        pairs = [_over_ar(run, key, ar) for run, ar in zip((before, after), ars, strict=True)]
        relative = None
        if pairs[0] and pairs[1] and label not in ars:
            relative = change_of_ratio(pairs[0], pairs[1], SEED)
        found.append(
            LatencyChange(
                task=task,
                label=label,
                mode=mode,
                length=length,
                batch_size=batch_size,
                before_ms=1000 * speed.median_of(then).value,
                after_ms=1000 * speed.median_of(now).value,
                ratio=unpaired_ratio(now, then, SEED),
                relative=relative,
                n=(len(then), len(now)),
            )
        )
    return tuple(found)


def _cells(run: Run) -> dict[CellKey, list[Record]]:
    cells: dict[CellKey, list[Record]] = {}
    for r in run.records:
        if r.mode != "batched" and r.status == "ok" and r.latency_s:
            cells.setdefault((r.task, r.label, r.mode, r.length, r.batch_size), []).append(r)
    return cells


def _baseline(run: Run) -> str | None:
    return speed.baseline_label(names.contestants(run.records, ()))


def _over_ar(run: Run, key: CellKey, ar: str | None) -> tuple[Sequence[float], Sequence[float]] | None:
    """The seconds of the cell and of ar at the same workload in the repeats both ran; None where ar has none."""
    task, label, mode, length, batch_size = key
    trials = timed_at(run.records, task, (length, batch_size))
    modes = {r.mode for r in trials.get(ar or "", ())}
    ours, theirs = (seconds_of(trials.get(who or "", ()), modes == {mode}) for who in (label, ar))
    common = sorted(ours.keys() & theirs.keys())
    return ([ours[unit] for unit in common], [theirs[unit] for unit in common]) if common else None


def _qualities(before: Run, after: Run) -> tuple[QualityChange, ...]:
    then, now = quality.table_of(before.scores), quality.table_of(after.scores)
    found = []
    for task, label in sorted(then.keys() & now.keys()):
        for metric in TESTED:
            old, new = (side[task, label].get(metric, {}) for side in (then, now))
            rows = sorted(old.keys() & new.keys())
            if not rows:
                continue
            change = paired_bootstrap(METRICS[metric], [new[r] for r in rows], [old[r] for r in rows], SEED)
            if change:
                found.append(QualityChange(task=task, label=label, metric=metric, change=change, n=len(rows)))
    return tuple(found)


def _alone(one: Run, other: Run) -> tuple[str, ...]:
    """The cells and scored contestants that only the first run has."""
    cells = _cells(one).keys() - _cells(other).keys()
    scored = quality.table_of(one.scores).keys() - quality.table_of(other.scores).keys()
    timed = (f"{label} on {task}, length {length or 'natural'}, batch {size}" for task, label, _, length, size in cells)
    return tuple(sorted([*timed, *(f"quality of {label} on {task}" for task, label in scored)]))
