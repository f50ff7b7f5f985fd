"""Timed trials to latency cells and speedups. Every speedup names its denominator.

A speedup is the denominator's median time per kept token over the contestant's, in the repeats (and on the prompts)
that both ran; its interval resamples whole repeats, so that what slowed both in one counts for neither. At one exact
length it is the ratio of the two median latencies; at natural lengths it compares an output of 120 tokens with one of
128 fairly.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import fmean, median

from metrics.latency import median_interval, percentile, ratio_of_totals, speedup_interval
from reports.summary import Cell, Contestant, Estimate, Mode, Speedup, workload_of
from suites.records import Record

SEED = 2015  # of every bootstrap here, so that the same records give the same intervals
CellKey = tuple[str, str, Mode, int | None, int]  # task, label, mode, length, batch size
Unit = tuple[int, tuple[int, ...]]  # repeat, and prompts where both sides ran the same ones
Below = Callable[[str, str, str], bool]  # task, AR label, contestant label: is the AR engine significantly worse?


@dataclass(frozen=True)
class Trials:
    """The timed trials of one cell, with what every cell that is compared with it asks of them."""

    records: Sequence[Record]

    @cached_property
    def per_token(self) -> float:
        """Median of the seconds per kept token; infinite where no trial kept a token."""
        return median([_seconds(t) / _kept(t) for t in self.records if _kept(t)] or [float("inf")])

    @cached_property
    def by_repeat(self) -> dict[Unit, float]:
        return _per_unit((trial, (trial.repeat, ())) for trial in self.records)

    @cached_property
    def by_request(self) -> dict[Unit, float]:
        """The same by repeat and prompts, for two sides that ran the same ones."""
        return _per_unit((trial, (trial.repeat, trial.prompt_rows)) for trial in self.records)


def cells(
    records: Iterable[Record], order: Sequence[Contestant], baseline: str | None, below: Below
) -> tuple[Cell, ...]:
    """One cell a task, contestant, length and batch size, in that order, with both speedups where they exist."""
    trials = {key: Trials(own) for key, own in timed(records).items()}
    rank = {contestant.label: i for i, contestant in enumerate(order)}
    keys = sorted(trials, key=lambda k: (k[0], k[3] is None, k[3] or 0, k[4], rank[k[1]], k[2]))
    plain = {key: _cell(key, trials[key].records) for key in keys}
    kinds = {contestant.label: contestant.kind for contestant in order}
    return tuple(_with_speedups(key, plain, trials, kinds, baseline, below) for key in keys)


def baseline_label(order: Sequence[Contestant]) -> str | None:
    """The like-for-like denominator: our own greedy `ar`, the plain label first, then the student's weights."""
    candidates = [c for c in order if c.strategy == "ar" and dict(c.config).get("beam_size", "1") == "1"]
    student = [c for c in candidates if dict(c.config).get("weights") == "ar_student"]
    plain = [c for c in candidates if c.label == "ar"]
    return next((c.label for c in (*plain, *student, *candidates)), None)


def median_of(samples: Sequence[float]) -> Estimate:
    """The median with its distribution-free 95 % interval, which needs six samples."""
    return Estimate(*median_interval(samples), len(samples))


def timed(records: Iterable[Record]) -> dict[CellKey, list[Record]]:
    trials: dict[CellKey, list[Record]] = defaultdict(list)
    for record in records:
        if record.source_length is not None:
            continue  # sources of several lengths: see `costs`
        if record.mode != "batched" and record.status == "ok" and record.latency_s is not None:
            trials[record.task, record.label, record.mode, record.length, record.batch_size].append(record)
    return trials


def _cell(key: CellKey, trials: Sequence[Record]) -> Cell:
    task, label, mode, length, batch_size = key
    seconds = [_seconds(trial) for trial in trials]
    kept = sum(_kept(trial) for trial in trials)
    counted = [t for t in trials if t.steps and all(step.phase != "engine" for step in t.steps)]
    return Cell(
        task=task,
        label=label,
        mode=mode,
        length=length,
        batch_size=batch_size,
        latency_s=median_of(seconds),
        p90_s=percentile(seconds, 90),
        kept_mean=kept / (len(trials) * batch_size),
        tokens_per_s=ratio_of_totals([kept], [sum(seconds)]),
        ms_per_token=ratio_of_totals([1000 * sum(seconds)], [kept]),
        calls=fmean(sum(s.calls for s in t.steps) for t in counted) if counted else None,
        positions=fmean(sum(s.positions for s in t.steps) for t in counted) if counted else None,
        wasted=_wasted(trials),
    )


def _wasted(trials: Sequence[Record]) -> float | None:
    """Positions of the canvas that became no kept token, a row."""
    canvases = [(t.canvas_positions, t.tokens_kept) for t in trials if t.canvas_positions]
    rows = sum(len(canvas) for canvas, _ in canvases)
    return sum(sum(canvas) - sum(kept) for canvas, kept in canvases) / rows if rows else None


def _with_speedups(
    key: CellKey,
    plain: dict[CellKey, Cell],
    trials: Mapping[CellKey, Trials],
    kinds: Mapping[str, str],
    baseline: str | None,
    below: Below,
) -> Cell:
    """The cell with its denominators: `copy` has none, since it decodes nothing."""
    cell = plain[key]
    if kinds[cell.label] == "copy":
        return cell
    rivals = _rivals(key, plain)
    own = next((k for k in rivals if k[1] == baseline), None)
    engines = [k for k in rivals if kinds[k[1]] == "ar"]
    best = _strongest(cell, engines, trials, below)
    return replace(
        cell,
        like_for_like=_speedup(trials[key], own and trials[own], own),
        each_at_best=_speedup(trials[key], best and trials[best], best),
    )


def _rivals(key: CellKey, plain: dict[CellKey, Cell]) -> list[CellKey]:
    """Cells of the same task and workload, those of the same mode first."""
    task, workload = key[0], workload_of(plain[key])
    same = [k for k in plain if k[0] == task and workload_of(plain[k]) == workload]
    return sorted(same, key=lambda k: k[2] != key[2])


def _strongest(
    cell: Cell, engines: Sequence[CellKey], trials: Mapping[CellKey, Trials], below: Below
) -> CellKey | None:
    """The fastest AR engine whose BLEU is not significantly below the contestant's."""
    fastest_first = sorted(engines, key=lambda k: trials[k].per_token)
    return next((k for k in fastest_first if k[1] == cell.label or not below(cell.task, k[1], cell.label)), None)


def _speedup(trials: Trials, against: Trials | None, key: CellKey | None) -> Speedup | None:
    if not against or key is None:
        return None
    by_rows = trials.records[0].mode == against.records[0].mode
    ours, theirs = ((side.by_request if by_rows else side.by_repeat) for side in (trials, against))
    common = sorted(ours.keys() & theirs.keys())
    if not common:
        return None
    ratio = speedup_interval([theirs[unit] for unit in common], [ours[unit] for unit in common], SEED)
    return Speedup(Estimate(*ratio, len(common)), key[1])


def _per_unit(trials: Iterable[tuple[Record, Unit]]) -> dict[Unit, float]:
    """Seconds per kept token by unit; a unit of empty outputs has none."""
    totals: dict[Unit, tuple[float, int]] = {}
    for trial, unit in trials:
        seconds, kept = totals.get(unit, (0.0, 0))
        totals[unit] = (seconds + _seconds(trial), kept + _kept(trial))
    return {unit: seconds / kept for unit, (seconds, kept) in totals.items() if kept}


def _seconds(record: Record) -> float:
    return record.latency_s or 0.0


def _kept(record: Record) -> int:
    return sum(record.tokens_kept)
