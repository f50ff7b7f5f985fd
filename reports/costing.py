"""From a run's records to its `Costs`."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from statistics import fmean

from metrics.latency import speedup_interval
from metrics.roofline import bandwidth_at, roof
from reports.costs import PARTS, Costs, Memory, OverFloor, Parts, Place, Roofline
from reports.passes import Passes, passes_of, shape_of
from reports.speed import SEED, median_of
from reports.summary import Contestant, Estimate
from suites.records import Record, Run, RunInfo

PHASES = {"encode": "prefill", "decode": "steps", "score": "steps", "draft": "steps", "host": "steps"}
Trials = dict[Place, list[Record]]


def costs_of(run: Run, order: Sequence[Contestant]) -> Costs:
    """The costs of a run, its contestants in `order`."""
    rank = {contestant.label: i for i, contestant in enumerate(order)}
    trials = _by_place(run.records, rank)
    return Costs(
        parts=tuple(_parts(place, own) for place, own in trials.items() if _timed(own) and _tells(run.info, own)),
        rooflines=tuple(_rooflines(run.info, trials)),
        memories=tuple(_memory(place, own) for place, own in trials.items() if own[0].memory),
        over_floor=tuple(_over_floor(trials, [c.label for c in order if c.kind == "floor"])),
    )


def _by_place(records: Iterable[Record], rank: Mapping[str, int]) -> Trials:
    """Trials that succeeded and stand for something alone, those of a workload together."""
    found: Trials = defaultdict(list)
    for r in records:
        if r.status == "ok" and r.mode != "batched":
            place = Place(
                task=r.task, label=r.label, mode=r.mode, length=r.length, batch_size=r.batch_size,
                source_length=r.source_length,
            )  # fmt: skip
            found[place].append(r)

    def key(place: Place) -> tuple[object, ...]:
        length, source = place.length or 0, place.source_length or 0
        return place.task, source, place.length is None, length, place.batch_size, rank[place.label], place.mode

    return {place: found[place] for place in sorted(found, key=key)}


def _timed(trials: Sequence[Record]) -> bool:
    return all(trial.latency_s for trial in trials)


def _tells(info: RunInfo, trials: Sequence[Record]) -> bool:
    """Whether steps have seconds of their own: on an accelerator they are not synchronised; copying has none."""
    return all(trial.steps and on_cpu(info, trial) for trial in trials)


def on_cpu(info: RunInfo, trial: Record) -> bool:
    return not info.starts or info.starts[trial.start].settings.get("device", "cpu") == "cpu"


def _parts(place: Place, trials: Sequence[Record]) -> Parts:
    split = [_split(trial) for trial in trials]
    total = sum(sum(parts.values()) for parts in split)
    there = [part for part in PARTS if any(parts.get(part) for parts in split)]
    return Parts(
        place=place,
        latency_s=median_of([trial.latency_s or 0.0 for trial in trials]),
        seconds={part: median_of([parts.get(part, 0.0) for parts in split]) for part in there},
        shares={part: sum(parts.get(part, 0.0) for parts in split) / total for part in there},
    )


def _split(trial: Record) -> dict[str, float]:
    """Seconds by part; overhead is what lies in the latency and in no step."""
    parts: dict[str, float] = defaultdict(float)
    for step in trial.steps:
        parts[PHASES.get(step.phase, "engine")] += step.seconds
    parts["overhead"] = max(0.0, (trial.latency_s or 0.0) - sum(parts.values()))
    return parts


def _rooflines(info: RunInfo, trials: Trials) -> Iterable[Roofline]:
    sources = {
        (r.task, r.prompt_rows): step.positions // r.batch_size
        for own in trials.values()
        for r in own
        for step in r.steps
        if step.phase == "encode"
    }
    for place, own in trials.items():
        found = [_passes(info, r, sources.get((r.task, r.prompt_rows), 0)) for r in own if r.latency_s]
        if (known := [passes for passes in found if passes]) and (speed := info.starts[own[0].start].speed):
            curve = [(float(b.working_set_bytes), b.bytes_per_s) for b in speed.bandwidths]
            yield _roofline(place, known, curve, speed.flop_per_s)


def _passes(info: RunInfo, trial: Record, source: int) -> Passes | None:
    """The passes of a trial; None where its model's shape is not known, or it made none."""
    sizes = info.starts[trial.start].models.get(trial.label) if info.starts else None
    return passes_of(trial, shape_of(sizes), source, on_cpu(info, trial)) if sizes else None


def _roofline(
    place: Place, trials: Sequence[Passes], curve: Sequence[tuple[float, float]], flop_per_s: float
) -> Roofline:
    n = sum(passes.n for passes in trials)
    work = sum((passes.work for passes in trials[1:]), trials[0].work)
    bytes_per_s = bandwidth_at(curve, work.bytes / n)
    return Roofline(
        place=place,
        pass_s=median_of([passes.seconds / passes.n for passes in trials]),
        passes=fmean(passes.n for passes in trials),
        flop=work.flop / n,
        bytes=work.bytes / n,
        bytes_per_s=bytes_per_s,
        flop_per_s=flop_per_s,
        roof=roof(work, sum(passes.seconds for passes in trials), bytes_per_s, flop_per_s),
        whole=any(passes.whole for passes in trials),
    )


def _memory(place: Place, trials: Sequence[Record]) -> Memory:
    found = [trial.memory for trial in trials if trial.memory]
    peaks = [memory["peak_bytes"] for memory in found]
    return Memory(
        place=place,
        n=len(found),
        loaded_bytes=max(memory["loaded_bytes"] for memory in found),
        peak_bytes=max(peaks),
        least_peak_bytes=min(peaks),
        device_peak_bytes=max((m["device_peak_bytes"] for m in found if "device_peak_bytes" in m), default=None),
    )


def _over_floor(trials: Trials, floors: Sequence[str]) -> Iterable[OverFloor]:
    """Every contestant against the first floor of its task, length and batch size."""
    for place, own in trials.items():
        same = [replace(place, label=label, mode="exact") for label in floors]
        under = next((other for other in same if other in trials and other != place), None)
        if under and place.label not in floors and _timed(own):
            ours, theirs = _by_repeat(own), _by_repeat(trials[under])
            if common := sorted(ours.keys() & theirs.keys()):
                found = speedup_interval([ours[i] for i in common], [theirs[i] for i in common], SEED)
                yield OverFloor(place=place, ratio=Estimate(*found, len(common)), floor=under.label)


def _by_repeat(trials: Sequence[Record]) -> dict[int, float]:
    return {trial.repeat: trial.latency_s for trial in trials if trial.latency_s}
