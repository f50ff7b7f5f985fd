"""A start of a run: begin its folder or go on with it, race, score. Whatever ends it, its records are kept."""

import os
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from suites import environment, store
from suites.likelihoods import with_likelihoods
from suites.machine_speed import machine_speed, shapes
from suites.plan import Plan
from suites.prepare import Prepared
from suites.process_memory import memory_limit
from suites.progress import Progress
from suites.records import SCHEMA_VERSION, BadRun, IncompatibleRun, Record, Run, RunInfo, Start, read_run
from suites.refusal import Refusal
from suites.rounds import run_rounds
from suites.runner import Runner
from suites.runs import runner_for
from suites.scoring import scores_of
from suites.tracing import add_traces


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    folder: Path
    planned: int
    statuses: dict[str, int]
    failures: tuple[str, ...]  # a line a contestant and reason
    reduced: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Begun:
    """A folder open for writing, and the records in it that need not be made again."""

    folder: store.RunFolder
    info: RunInfo
    done: frozenset[str]


def race(
    ready: Prepared, path: Path, start: Start, progress: Progress, began_s: float, *, resume: bool, force: bool
) -> Outcome:
    """Run what is left of the plan into the folder `path`. `began_s` is the monotonic time the budget counts from."""
    begun = _go_on(ready, path, start, progress) if resume and holds_run(path) else _begin(ready, path, start, force)
    try:
        store.point_latest(path)
        info = _race(ready, begun, progress, began_s)
        return _finish(ready, path, begun.folder, info, progress)
    finally:
        progress.end()
        begun.folder.close()


def start_of(ready: Prepared, command: str) -> Start:
    """What identifies this start, taken before its first trial."""
    commit, dirty = environment.commit()
    settings = ready.settings
    models = {} if ready.suite.of_memory else shapes(ready.contestants, settings.dtype)
    return Start(
        command=command,
        settings={**asdict(settings), **ready.plan.settings, "budget": ready.budget},
        commit=commit,
        dirty=dirty,
        machine=environment.machine(settings.device),
        threads=settings.threads,
        versions=environment.versions(),
        weights={c.label: c.loaded.weights_sha256 for c in ready.contestants if c.loaded is not None},
        corpora={task.name: task.sha256 for task in ready.tasks},
        code_sha256=environment.code_sha256(),
        started_at=_now(),
        load_s={c.label: round(c.load_s, 3) for c in ready.contestants},
        models=models,
        speed=machine_speed(settings.device, settings.dtype, ready.synchronize) if models else None,
    )


def _race(ready: Prepared, begun: Begun, progress: Progress, began_s: float) -> RunInfo:
    """The run's info when all its rounds, or those the budget allowed, are done. Written on an interrupt too."""
    runner = runner_for(ready, begun.folder.add, len(begun.info.starts) - 1)
    plan, info = ready.plan, begun.info
    progress.begin(len(plan.trials), len(begun.done))
    try:
        ends_s = began_s + ready.budget_s
        with memory_limit(ready.memory_bytes if isinstance(runner, Runner) else None):
            rounds = run_rounds(plan, begun.done, runner, lambda: ends_s - time.monotonic(), progress.advance)
        info = _info(ready, plan.cut(rounds), begun.info.starts)
    finally:
        if not isinstance(runner, Runner):
            runner.stop()
        info = replace(info, starts=(*info.starts[:-1], replace(info.starts[-1], ended_at=_now())))
        begun.folder.write_info(info)
    return info


def _info(ready: Prepared, plan: Plan, starts: tuple[Start, ...]) -> RunInfo:
    n_rounds, n_planned = len(plan.rounds), len(ready.plan.rounds)
    cut = f"budget {ready.budget}: {n_rounds} of {n_planned} rounds" if n_rounds < n_planned else None
    return RunInfo(
        schema_version=SCHEMA_VERSION,
        suite=ready.settings.suite,
        plan=plan.to_json(),
        plan_hash=ready.plan.hash,
        expected=len(plan.trials),
        reduced="; ".join(why for why in (ready.fewer_repeats, cut) if why) or None,
        starts=starts,
    )


def _begin(ready: Prepared, path: Path, start: Start, force: bool) -> Begun:
    info = _info(ready, ready.plan, (start,))
    return Begun(folder=store.create(path, info, force=force), info=info, done=frozenset())


def holds_run(path: Path) -> bool:
    """Whether there is something at `path` to go on with."""
    return path.is_dir() and any(path.iterdir())


def _go_on(ready: Prepared, path: Path, start: Start, progress: Progress) -> Begun:
    """The folder with whole rounds only: an interrupted one is done again from its start, so that it is interleaved."""
    lock = store.lock_folder(path)
    try:
        old = _read(path)
        _check_same(old, ready, start, path)
    except Refusal:
        os.close(lock)
        raise
    for note in old.notes:
        progress.say(note)
    records = _of_whole_rounds(old.records, ready.plan)
    if dropped := len(old.records) - len(records):
        progress.say(f"{dropped} trials of an incomplete round are made again")
    done = frozenset(record.key for record in records)
    info = _info(ready, ready.plan, (*old.info.starts, start))
    samples = [sample for sample in (*old.samples, *old.traced) if sample.key in done]
    folder = store.reopen(path, lock, records, samples)
    folder.write_info(info)
    return Begun(folder=folder, info=info, done=done)


def _read(path: Path) -> Run:
    try:
        return read_run(path)
    except IncompatibleRun as wrong:
        raise Refusal(str(wrong), exit_code=4) from None
    except BadRun as wrong:
        raise Refusal(str(wrong)) from None


def _check_same(old: Run, ready: Prepared, start: Start, path: Path) -> None:
    settings = old.info.plan.get("settings", {})
    found = _changed(settings, ready.plan.settings) + environment.differences(old.info.starts[-1], start)
    if not found and old.info.plan_hash != ready.plan.hash:
        found = ["the plan made of the same settings is another one"]
    if found:
        raise Refusal(f"cannot go on with {path}: {'; '.join(found)}; give --force to begin anew", exit_code=4)


def _changed(then: dict[str, Any], now: dict[str, Any]) -> list[str]:
    names = sorted(then.keys() | now.keys())
    return [f"{n} {then.get(n)} then, {now.get(n)} now" for n in names if then.get(n) != now.get(n)]


def _of_whole_rounds(records: Sequence[Record], plan: Plan) -> list[Record]:
    made = {record.key for record in records}
    rounds = ([trial.key for block in blocks for trial in block.trials] for blocks in plan.rounds)
    whole = {key for keys in rounds if made.issuperset(keys) for key in keys}
    return [record for record in records if record.key in whole]


def _finish(ready: Prepared, path: Path, folder: store.RunFolder, info: RunInfo, progress: Progress) -> Outcome:
    """Trace a few outputs, score the samples and count the records against the plan."""
    from metrics.registry import METRICS

    progress.end()
    run = _read(path)
    if missing := run.expected_keys - {record.key for record in run.records}:
        raise RuntimeError(f"{len(missing)} planned trials left no record, the first is {min(missing)}")
    folder.write_info(add_traces(ready, run, folder, info, progress.say))
    if run.samples:
        progress.say(f"scoring {len(run.samples)} outputs")
    scores = scores_of(run.samples, METRICS)
    if ready.suite.likelihoods:
        progress.say("asking the models what the references cost them")
        scores = with_likelihoods(scores, run.samples, ready.contestants)
    folder.write_scores(scores)
    statuses = Counter(record.status for record in run.records)
    failed = Counter((r.label, r.status, r.reason) for r in run.records if r.status != "ok")
    return Outcome(
        folder=path,
        planned=info.expected,
        statuses=dict(sorted(statuses.items())),
        failures=tuple(f"{label}: {n} {status}: {reason}" for (label, status, reason), n in failed.items()),
        reduced=info.reduced,
    )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
