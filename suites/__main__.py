"""`python -m suites run|list|validate|rescore|…`: the only place of the suites that prints results."""

import json
import shlex
import signal
import sys
import time
import traceback
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from suites.arguments import parse, settings_of
from suites.records import BadRun, IncompatibleRun, Run, read_run
from suites.refusal import Refusal

if TYPE_CHECKING:
    from suites.contestants import Registry
    from suites.prepare import Prepared
    from suites.race import Outcome

CHECK_FAILED, COUNTS_DIFFER, INCOMPATIBLE, OUR_BUG, INTERRUPTED = 1, 3, 4, 70, 130


def main(arguments: Sequence[str] | None = None, registry: "Registry | None" = None) -> int:
    """The exit code: 0 fine, 1 a failed self-check, 2 bad input, 3 counts that differ, 4 a run that does not fit or is
    not whole, 70 our bug, 130 interrupted."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    options = parse(given)
    before = signal.signal(signal.SIGTERM, _interrupt)
    try:
        if options.command == "run":
            return _run(options, given, registry)
        if options.command == "gate-worker":
            return _gate_worker(options, registry)
        commands = {"list": _list, "validate": _validate, "same": _same, "rescore": _rescore, "overhead": _overhead}
        return {**commands, "agreement": _agreement, "selfcheck": _selfcheck}[options.command](options)
    except Refusal as refusal:
        print(f"suites: {refusal}", file=sys.stderr)
        return refusal.exit_code
    except KeyboardInterrupt:
        kept = f"; everything measured so far is kept; to go on: {_again(given)}" if options.command == "run" else ""
        print(f"suites: interrupted{kept}", file=sys.stderr)
        return INTERRUPTED
    except Exception:  # noqa: BLE001 - the outermost boundary: a bug of ours has an exit code of its own
        traceback.print_exc()
        return OUR_BUG
    finally:
        signal.signal(signal.SIGTERM, before)


def _interrupt(signum: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _run(options: Namespace, given: Sequence[str], registry: "Registry | None") -> int:
    began_s = time.monotonic()
    settings = settings_of(options)
    if registry is None:
        registry = _real_registry(settings.threads)
    from suites import race, store
    from suites.prepare import prepare
    from suites.progress import progress_on

    path = options.out or Path("runs") / settings.suite
    goes_on = options.resume and race.holds_run(path)
    if not options.dry_run and not goes_on:
        store.check_free(path, options.force, go_on=_again(given))
    progress = progress_on(sys.stderr)
    ready = prepare(settings, registry, progress.say)
    if options.dry_run:
        return _dry_run(ready, began_s, as_json=options.json)
    if options.resume and not goes_on:
        progress.say(f"there is no run in {path} to go on with: a new one begins")
    start = race.start_of(ready, shlex.join(["python", "-m", "suites", *given]))
    outcome = race.race(ready, path, start, progress, began_s, resume=options.resume, force=options.force)
    return _tell(outcome, as_json=options.json)


def _again(given: Sequence[str]) -> str:
    """The command that goes on with what `given` began, ready for a shell."""
    kept = [word for word in given if word not in ("--resume", "--force")]
    return shlex.join([sys.executable, "-m", "suites", *kept, "--resume"])


def _real_registry(threads: int) -> "Registry":
    from suites import environment

    environment.limit_threads(threads)
    import generators.registry

    return generators.registry


def _dry_run(ready: "Prepared", began_s: float, *, as_json: bool) -> int:
    from suites.estimate import estimate, table

    found = estimate(ready, began_s)
    rows = [row.to_json() for row in found.rows]
    whole = {"seconds": found.seconds, "rounds": found.rounds, "rounds_in_budget": found.rounds_in_budget}
    print(_json({"suite": ready.settings.suite, **whole, "cells": rows}) if as_json else table(found))
    return 0


def _tell(outcome: "Outcome", *, as_json: bool) -> int:
    """Say what became of the run. A run in which nothing could be measured is no success."""
    for failure in outcome.failures:
        print(f"failed: {failure}", file=sys.stderr)
    done = ", ".join(f"{n} {status}" for status, n in outcome.statuses.items())
    reduced = f"; reduced: {outcome.reduced}" if outcome.reduced else ""
    print(f"{outcome.folder}: {outcome.planned} trials, {done}{reduced}", file=sys.stderr)
    if as_json:
        print(_json({**asdict(outcome), "folder": str(outcome.folder)}))
    if not outcome.statuses.get("ok"):
        raise Refusal(f"no trial succeeded; the reasons stand in {outcome.folder}")
    return 0


def _list(options: Namespace) -> int:
    from suites.registry import SUITES
    from suites.tasks import SHIPPED_TASKS

    if options.json:
        suites = {name: {"summary": s.summary, "contestants": s.contestants} for name, s in SUITES.items()}
        print(_json({"suites": suites, "tasks": list(SHIPPED_TASKS)}))
        return 0
    for name, suite in SUITES.items():
        print(f"{name:15} {suite.summary}\n{'':15} {', '.join(suite.contestants)}")
    print(f"tasks: {', '.join(SHIPPED_TASKS)}, or the path of a TSV file")
    return 0


def _validate(options: Namespace) -> int:
    from suites.validate import coverage, failures, problems

    run = _whole(options.run)
    found, cells = problems(run) + (failures(run) if options.strict else []), coverage(run)
    if options.json:
        print(_json({"run": str(options.run), "problems": found, "cells": [asdict(cell) for cell in cells]}))
    else:
        ok = sum(cell.ok for cell in cells)
        print(f"{options.run}: {len(run.records)} of {run.info.expected} planned trials recorded, {ok} of them ok")
    if found:
        raise Refusal(f"{options.run} is not whole: {'; '.join(found)}", INCOMPATIBLE)
    return 0


def _rescore(options: Namespace) -> int:
    from suites.rescore import rescore

    found = rescore(options.run)
    print(_json(asdict(found)) if options.json else f"{found.run}: {found.outputs} outputs scored anew")
    return 0


def _same(options: Namespace) -> int:
    from suites.same import lines, sameness

    first, second = (_whole(folder) for folder in options.runs)
    found = sameness(first, second, options.against)
    print(_json(asdict(found)) if options.json else "\n".join(lines(found)))
    if found.differences:
        raise Refusal(f"{len(found.differences)} counts differ, the first: {found.differences[0]}", COUNTS_DIFFER)
    return 0


def _whole(folder: Path) -> Run:
    try:
        return read_run(folder)
    except BadRun as wrong:
        raise Refusal(str(wrong), INCOMPATIBLE if isinstance(wrong, IncompatibleRun) else 2) from None


def _overhead(options: Namespace) -> int:
    from suites.overhead import overhead

    found = overhead()
    text = f"in a sample {found.in_sample_us:.1f} us, a whole trial {found.whole_trial_us:.1f} us"
    print(_json(asdict(found)) if options.json else f"median of {found.trials} trials of nothing: {text}")
    return 0


def _selfcheck(options: Namespace) -> int:
    """0 where every check passed, 1 where one failed."""
    from suites.selfcheck import Check, selfcheck

    checks: list[Check] = []

    def say(check: Check) -> None:
        checks.append(check)
        text = f"{'ok  ' if check.passed else 'FAIL'} {check.name}: {check.got} (wanted: {check.wanted})"
        print(text, file=sys.stderr if options.json else sys.stdout, flush=True)

    began_s = time.monotonic()
    passed = selfcheck(say)
    seconds = round(time.monotonic() - began_s, 1)
    failed = sum(not check.passed for check in checks)
    told = {"passed": passed, "seconds": seconds, "checks": [asdict(check) for check in checks]}
    print(_json(told) if options.json else f"{len(checks)} checks in {seconds:g} s, {failed} failed")
    return 0 if passed else CHECK_FAILED


def _agreement(options: Namespace) -> int:
    from suites.tasks import load_task

    task = load_task(options.task)
    _real_registry(options.threads)
    from generators.base import Placement
    from suites.agreement import agreement, lines

    try:
        n_rows = len(task.rows) if options.rows is None else options.rows
        found = agreement(options.engine, task, n_rows, Placement(dtype=options.dtype, threads=options.threads))
    except (ImportError, ValueError) as wrong:
        raise Refusal(f"{options.engine}: {wrong}") from None
    print(_json(asdict(found)) if options.json else "\n".join(lines(found)))
    return 0


def _gate_worker(options: Namespace, registry: "Registry | None") -> int:
    registry = registry or _real_registry(threads=1)
    from suites.gate_worker import serve
    from suites.settings import parse_numbers

    labels = options.strategies.split(",") if options.strategies else ()
    return serve(options.tree, labels, parse_numbers(options.lengths), options.device, registry)


def _json(value: dict[str, Any]) -> str:
    return json.dumps(value, allow_nan=False, ensure_ascii=False)


if __name__ == "__main__":
    sys.exit(main())
