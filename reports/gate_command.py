"""`python -m reports gate`: the exact line, then the clock; exit codes that tell a machine what was found."""

import signal
import sys
import time
from argparse import Namespace
from collections.abc import Callable
from types import FrameType

from reports.gate import AGAIN, BASE, HEAD
from reports.gate_claims import check_claims
from reports.gate_exact import LENGTHS, Counted, against_base, against_file, count, read_baseline, write_baseline
from reports.gate_files import Outcome, files
from reports.gate_looks import Verdict, verdicts
from reports.gate_session import DEFAULT, Session
from reports.gate_tree import NoBase, base_tree, head_commit
from reports.gate_words import line, resolution
from reports.gate_workers import ROOT, Side, WorkerFailed
from reports.names import visible

FINE, REGRESSION, BAD_INPUT, CHANGED, NO_BASE, INCONCLUSIVE, INTERRUPTED = 0, 1, 2, 3, 4, 5, 130
LOOKING = 0.8  # share of the budget for looking; the rest is for confirming what was found
UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0}


def gate(options: Namespace) -> int:
    """The exit code: 0 fine, 1 slower, 2 bad input, 3 a counter changed, 4 no base, 5 inconclusive under --strict."""
    return _guarded(_gate, options)


def study(options: Namespace) -> int:
    """The exit code of a step of the gate's own evidence; what was measured before an interrupt is kept."""
    return _guarded(_study, options)


def _guarded(command: Callable[[Namespace], int], options: Namespace) -> int:
    before = signal.signal(signal.SIGTERM, _interrupt)
    try:
        return command(options)
    except NoBase as wrong:
        return _refuse(str(wrong), NO_BASE)
    except WorkerFailed as wrong:
        return _refuse(f"the {wrong}", BAD_INPUT if wrong.side == HEAD else NO_BASE)
    except KeyboardInterrupt:
        return _refuse("interrupted; nothing more is judged, and no process or worktree is left", INTERRUPTED)
    finally:
        signal.signal(signal.SIGTERM, before)


def _gate(options: Namespace) -> int:
    if options.write_baseline:
        print(write_baseline(count([Side(HEAD, ROOT)], options.device)[HEAD]))
        return FINE
    options.out.mkdir(parents=True, exist_ok=True)  # now, and not after minutes of measuring
    if options.ratio:
        return check_claims(options, time.monotonic() + parse_budget(options.budget), _say)
    if options.exact:
        return _exact_alone(options)
    return _against_base(options, time.monotonic())


def _study(options: Namespace) -> int:
    if options.step == "collect":
        from reports.gate_study import collect

        return collect(options, _say)
    from reports.gate_evidence import render

    print("\n".join(map(str, render(options.file))))
    return FINE


def _exact_alone(options: Namespace) -> int:
    committed = read_baseline()
    head = count([Side(HEAD, ROOT)], options.device)[HEAD]
    found = against_file(head, committed)
    absent = [f"{name} is not counted here: {reason}" for name, reason in head.absent.items()]
    return _finish(options, Outcome(exact=tuple(found), notes=tuple(absent), cells=len(head.fixed)))


def _against_base(options: Namespace, began: float) -> int:
    deadline = began + LOOKING * parse_budget(options.budget)
    committed = read_baseline()
    with base_tree(options.base) as base:
        for note in base.notes:
            _say(f"note: {note}")
        sides = [Side(BASE, base.tree), Side(HEAD, ROOT)]
        counted = count(sides, options.device)
        refused, meant = against_base(counted[HEAD], counted[BASE], committed)
        found = sorted({*against_file(counted[HEAD], committed), *refused})
        outcome = Outcome(
            exact=tuple(found), notes=(*base.notes, *(f"meant, as the committed counters say: {one}" for one in meant)),
            cells=len(counted[HEAD].fixed), base=base.commit,
        )  # fmt: skip
        if found and not options.allow_changes:
            return _finish(options, outcome)
        strategies = choose(options.strategies, counted[HEAD], counted[BASE])
        session = Session(
            sides=[*sides, Side(AGAIN, base.tree)], lengths=LENGTHS, device=options.device, seed=options.seed,
            ends_at=deadline, say=_say,
        )  # fmt: skip
        judged = verdicts(strategies, session.measure, "cpu_s" if options.device == "cpu" else "wall_s")
    missing = [f"{name} was not measured: no time left" for name in strategies if name not in judged]
    notes = (*outcome.notes, *session.left_out, *missing)
    return _finish(options, outcome.judged(judged, notes, strategies))


def choose(asked: str | None, head: Counted, base: Counted) -> tuple[str, ...]:
    """What is timed: what was asked for, else the default strategies and one of the others, another each commit.

    Of the defaults and the others, only those that both sides have can be timed.
    """
    if asked is not None:
        return tuple(name.strip() for name in asked.split(","))
    both = [name for name in head.strategies if _runs(name, head) and _runs(name, base)]
    others = [name for name in both if name not in DEFAULT]
    turn = [others[int(head_commit() or "0", 16) % len(others)]] if others else []
    return (*(name for name in DEFAULT if name in both), *turn)


def _runs(name: str, side: Counted) -> bool:
    return all(f"{name}@{length}" in side.fixed for length in LENGTHS)


def parse_budget(text: str) -> float:
    """The seconds in `90s`, `3m` or `1h`. Raises ValueError for anything else."""
    number, unit = text[:-1], text[-1:]
    if unit not in UNITS or not number.replace(".", "", 1).isdecimal() or not float(number):
        raise ValueError(f"--budget must be a time above zero such as 90s, 3m or 1h, got {text!r}")
    return float(number) * UNITS[unit]


def exit_code(outcome: Outcome, *, strict: bool, allow_changes: bool) -> int:
    """What the outcome is for a machine. A counter that changed comes before any clock."""
    words = {verdict.word for verdict in outcome.verdicts.values()}
    if outcome.exact and not allow_changes:
        return CHANGED
    if "REGRESSION" in words:
        return REGRESSION
    undecided = "INCONCLUSIVE" in words or set(outcome.strategies) - outcome.verdicts.keys()
    return INCONCLUSIVE if undecided and strict else FINE


def _finish(options: Namespace, outcome: Outcome) -> int:
    """Say the verdicts, write the files, and return the exit code. What was found is said even where no file can be."""
    said = lines(outcome)
    written = files(outcome, options, said)
    print(written["gate.json"] if options.json else "\n".join(visible(one) for one in said), flush=True)
    for name, text in written.items():
        (options.out / name).write_text(text, encoding="utf-8")
    return exit_code(outcome, strict=options.strict, allow_changes=options.allow_changes)


def lines(outcome: Outcome) -> list[str]:
    """What a person reads: the exact line, a line a strategy, what could have been found, what must be known."""
    n = outcome.cells
    exact = [f"exact: {one}: CHANGED" for one in outcome.exact] or [f"exact: {n} cells compute what they did: PASS"]
    judged: dict[str, Verdict] = dict(outcome.verdicts)
    measured = [resolution(judged)] if judged else []
    return [*exact, *(line(name, verdict) for name, verdict in judged.items()), *measured,
            *(f"note: {note}" for note in outcome.notes)]  # fmt: skip


def _refuse(reason: str, code: int) -> int:
    _say(f"gate: {' '.join(reason.split())}")
    return code


def _say(text: str) -> None:
    print(visible(text), file=sys.stderr, flush=True)


def _interrupt(signum: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt
