"""Whether two runs of one plan tell the same story, such as one with `--isolate` and one without.

Counts must be equal, trial by trial. Times are set side by side as multiples of one contestant's in the same run and
the same repeats, since a machine's speed wanders between two runs.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from metrics.latency import Estimate, speedup_interval
from suites.records import Record, Run
from suites.refusal import Refusal

SEED = 2016  # of the bootstraps
Workload = tuple[str, int | None, int, int | None]  # task, length, batch size, source length


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """One contestant at one workload in both runs: how many times as long as `against` it took."""

    label: str
    against: str
    workload: Workload
    first: Estimate
    second: Estimate

    @property
    def alike(self) -> bool | None:
        """Whether the two 95 % intervals overlap; None where there are too few repeats for one."""
        bounds = (self.first.low, self.first.high, self.second.low, self.second.high)
        if any(bound is None for bound in bounds):
            return None
        low, high, other_low, other_high = (float(bound or 0.0) for bound in bounds)
        return low <= other_high and other_low <= high


@dataclass(frozen=True, slots=True, kw_only=True)
class Sameness:
    trials: int  # that both runs have
    differences: tuple[str, ...]  # of counts, a line a trial
    pairs: tuple[Pair, ...]


def sameness(first: Run, second: Run, against: str) -> Sameness:
    """What two runs have in common. Refuses runs that share no trial, and an `against` that one of them has not."""
    ours, theirs = ({record.key: record for record in run.records} for run in (first, second))
    common = [key for key in ours if key in theirs]
    if not common:
        raise Refusal("the two runs share no trial: were they made with the same settings?")
    for records in (ours, theirs):
        if all(record.label != against for record in records.values()):
            raise Refusal(f"{against!r} took part in one of the runs only; name another contestant with --against")
    pairs = _pairs([ours[key] for key in common], [theirs[key] for key in common], against)
    found = tuple(line for key in common for line in _differences(ours[key], theirs[key]))
    return Sameness(trials=len(common), differences=found, pairs=tuple(pairs))


def lines(found: Sameness) -> Iterator[str]:
    """The comparison for a person to read."""
    for pair in found.pairs:
        task, length, batch, source = pair.workload
        where = f"{task}, {'natural' if length is None else length} tokens, batch {batch}"
        where += "" if source is None else f", source {source}"
        said = {True: "alike", False: "NOT ALIKE", None: "too few repeats to say"}[pair.alike]
        numbers = " and ".join(_number(estimate) for estimate in (pair.first, pair.second))
        yield f"{pair.label}, {where}: {numbers} times as long as {pair.against}: {said}"
    judged = [pair.alike for pair in found.pairs if pair.alike is not None]
    yield f"times: {sum(judged)} of {len(judged)} alike (95 % intervals overlap)"
    yield f"counts: {len(found.differences)} differences in {found.trials} trials"


def counts(record: Record) -> dict[str, Any]:
    """All of a record that no clock decides."""
    return {
        "status": record.status,
        "steps": [(step.phase, step.calls, step.positions) for step in record.steps],
        "tokens_kept": record.tokens_kept,
        "tokens_raw": record.tokens_raw,
        "canvas_positions": record.canvas_positions,
        "finish_reasons": record.finish_reasons,
        "cache": record.cache,
    }


def _differences(one: Record, other: Record) -> Iterator[str]:
    ours, theirs = counts(one), counts(other)
    for name in ours:
        if ours[name] != theirs[name]:
            where = f"{one.label}, {one.task}, length {one.length}, batch {one.batch_size}, repeat {one.repeat}"
            yield f"{where}: {name} {ours[name]!r:.60} and {theirs[name]!r:.60}"


def _pairs(ours: list[Record], theirs: list[Record], against: str) -> Iterator[Pair]:
    first, second = _seconds(ours), _seconds(theirs)
    for label, workload in sorted(first, key=lambda key: (key[0], [n or 0 for n in key[1][1:]], key[1][0])):
        both = [_over(times, label, against, workload) for times in (first, second)]
        if label != against and both[0] and both[1]:
            yield Pair(label=label, against=against, workload=workload, first=both[0], second=both[1])


def _seconds(records: list[Record]) -> dict[tuple[str, Workload], dict[int, float]]:
    """Seconds of each timed trial by contestant, workload and repeat."""
    found: dict[tuple[str, Workload], dict[int, float]] = defaultdict(dict)
    for r in records:
        if r.latency_s and r.mode != "batched":
            found[r.label, (r.task, r.length, r.batch_size, r.source_length)][r.repeat] = r.latency_s
    return dict(found)


def _over(
    times: Mapping[tuple[str, Workload], dict[int, float]], label: str, against: str, workload: Workload
) -> Estimate | None:
    own, other = times.get((label, workload), {}), times.get((against, workload), {})
    if not (common := sorted(own.keys() & other.keys())):
        return None
    return speedup_interval([own[i] for i in common], [other[i] for i in common], SEED)


def _number(estimate: Estimate) -> str:
    bounds = "" if estimate.low is None else f" [{estimate.low:.3g}, {estimate.high:.3g}]"
    return f"{estimate.value:.3g}{bounds}"
