"""Whether the harness measures what is true: contestants of known cost, raced and read through the command line.

Three kinds of check. On a clock that only the contestants move, every record must be right to the nanosecond, and every
mutant of `suites.mutants` must be found out. On this machine's clock, contestants that wait on the processor must come
out as long as they waited. And over 400 runs on noisy virtual machines, 95 % intervals must hold the truth as often as
they say.
"""

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stderr
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

from suites import latency, truths
from suites.clock import timed_by
from suites.environment import ROOT
from suites.mutants import HONEST, MUTANTS, Lie, lying
from suites.records import read_run
from suites.synthetic import BusyMachine, Machine, VirtualMachine, write_task
from suites.truths import OTHER, TWIN

LABELS = ("ar", TWIN, OTHER, "ctc")
LENGTHS = latency.LENGTHS
BATCHES = (1, 2, 4, 8)
USUAL = 128  # tokens, at which the batch size is varied
BUSY_REPEATS = 60
BUSY_TRIES = 3  # a machine that is taken away from most calls gets another chance
RUNS, CHUNK, REPEATS = 400, 50, 30  # as many repeats as the latency suite makes
DRIFT, NOISE = 0.03, 0.03  # shares of a call's time
HOLD = (92.5, 98.5)  # per cent of the runs; of 400 at 95 %, chance alone gives 92.9 to 97.1 in 19 of 20 tries


@dataclass(frozen=True, slots=True)
class Check:
    name: str
    wanted: str
    got: str
    passed: bool


def selfcheck(say: Callable[[Check], None], runs: int = RUNS) -> bool:
    """Whether every check passed; each is told to `say` as soon as it is done."""
    passed = True
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        task = write_task(folder / "known.tsv", LENGTHS)
        for kind in (exact(folder, task), mutants(folder, task), real(folder, task), intervals(folder, task, runs)):
            for check in kind:
                say(check)
                passed &= check.passed
    return passed


def exact(folder: Path, task: Path) -> Iterator[Check]:
    """Of a run without noise: every record, every line, and both crossovers."""
    out = raced(folder / "exact", task, VirtualMachine())
    run, lines = read_run(out), _reports("lines", out)
    wrong = truths.problems(run)
    yield Check("every record of a known clock", "right", wrong[0] if wrong else f"{len(run.records)} right", not wrong)
    worst = max(abs(share) for line in lines for share in truths.off(line))
    yield Check("a and b in every batch", "off by 0 %", f"off by {100 * worst:.4f} %", worst < 1e-5)
    line = _line(lines, OTHER)
    yield Check("crossover length", f"from {truths.CROSSING:g}", truths.told(line), truths.crosses(line, 1e-4))
    ratio = _line(lines, TWIN)["b_over_baseline"]
    yield Check("b over ar's, of ar itself", "1", f"{ratio:.6f}", abs(ratio - 1) < 1e-9)
    true, size = truths.batch_crossing(USUAL), truths.found_batch_crossing(run, USUAL, BATCHES)
    yield Check(
        f"crossover batch at {USUAL} tokens", f"until {true:.3f}", f"until {size:.3f}", abs(size / true - 1) < 1e-4
    )


def mutants(folder: Path, task: Path) -> Iterator[Check]:
    """Of each way to measure wrongly: whether a record gives it away."""
    for name, lie in MUTANTS.items():
        wrong = truths.problems(read_run(raced(folder / name, task, VirtualMachine(), lie)))
        yield Check(f"mutant: {name}", "found out", wrong[0] if wrong else "passed for true", bool(wrong))


def real(folder: Path, task: Path) -> Iterator[Check]:
    """Of contestants that wait on this machine's processor: t at the shortest length, b, and `ar` against itself."""
    checks: list[Check] = []
    for attempt in range(BUSY_TRIES):
        machine = BusyMachine()
        checks = list(_real(raced(folder / f"real-{attempt}", task, machine, repeats=BUSY_REPEATS, batches=(1, 4))))
        if all(check.passed for check in checks):
            break
    taken = f"{100 * machine.late / machine.calls:.0f} % of calls ended late"
    yield Check("this machine", "any", f"{taken}, in try {attempt + 1} of {BUSY_TRIES}", True)
    yield from checks


def intervals(folder: Path, task: Path, runs: int) -> Iterator[Check]:
    """Of many noisy runs: how often each 95 % interval holds the truth."""
    lines: list[dict[str, Any]] = []
    waiting: list[tuple[subprocess.Popen[str], Path]] = []
    for first in range(0, runs, CHUNK):
        chunk = folder / f"noisy-{first}"
        outs = [_noisy(chunk, task, seed) for seed in range(first, min(first + CHUNK, runs))]
        lines += _collected(waiting)
        waiting.append((_asked("lines", *outs), chunk))  # reads this chunk while the next one is raced
    lines += _collected(waiting)
    for name, holds in truths.claims(lines).items():
        share = 100 * sum(holds) / len(holds)
        wanted = f"{HOLD[0]} to {HOLD[1]} % of {runs}"
        yield Check(f"95 % interval of {name}", wanted, f"{share:.2f} %", HOLD[0] <= share <= HOLD[1])


def raced(
    out: Path,
    task: Path,
    machine: Machine,
    lie: Lie = HONEST,
    *,
    labels: Sequence[str] = LABELS,
    repeats: int = 6,
    batches: Sequence[int] = BATCHES,
    seed: int = 0,
) -> Path:
    """The folder of a latency run of the synthetic contestants, made by the command line. Raises where it fails."""
    from suites.__main__ import INTERRUPTED, main

    flags = {"task": task, "strategies": ",".join(labels), "repeats": repeats, "seed": seed, "out": out}
    flags |= {"batch-sizes": ",".join(map(str, batches)), "lengths": ",".join(map(str, LENGTHS))}
    told = StringIO()
    with lying(lie, machine) as world, timed_by(machine.clock), redirect_stderr(told):
        code = main(["run", "latency", *(f"--{flag}={value}" for flag, value in flags.items())], world)
    if code == INTERRUPTED:
        raise KeyboardInterrupt
    if code:
        raise RuntimeError(f"a synthetic run ended with {code}: {told.getvalue()}")
    return out


def _real(out: Path) -> Iterator[Check]:
    lines, run, shortest = _reports("lines", out), read_run(out), min(LENGTHS)
    for line in lines:
        label, rows = line["strategy"], line["batch_size"]
        off_t, off_b = truths.off_at(run, label, shortest, rows), truths.off(line)[1]
        where = f"{label}, batch {rows}"
        yield Check(f"t at {shortest} tokens: {where}", "within 3 %", f"{100 * off_t:+.2f} %", abs(off_t) < 0.03)
        yield Check(f"b: {where}", "within 2 %", f"{100 * off_b:+.2f} %", abs(off_b) < 0.02)
    rows = _reports("summary", out, "--json")
    twin = next(row for row in rows if row["strategy"] == TWIN)
    speedup, (low, high) = twin["speedup_like_for_like"], twin["speedup_like_for_like_interval"]
    none = low <= 1 <= high or abs(speedup - 1) < 0.01
    yield Check("speedup of ar over itself", "none, or under 1 %", f"{speedup:.4f} [{low:.4f}, {high:.4f}]", none)
    line = _line(lines, OTHER)
    where, found = f"from {truths.CROSSING:g} within 5 %", truths.told(line)
    yield Check("crossover length", where, found, truths.crosses(line, 0.05))


def _collected(waiting: list[tuple["subprocess.Popen[str]", Path]]) -> list[dict[str, Any]]:
    """The lines of the chunk that is being read, whose folder then goes: all of them would take 150 MB."""
    lines: list[dict[str, Any]] = []
    while waiting:
        reader, chunk = waiting.pop()
        lines += _answer(reader)
        shutil.rmtree(chunk)
    return lines


def _noisy(chunk: Path, task: Path, seed: int) -> Path:
    machine, labels = VirtualMachine(seed, DRIFT, NOISE), LABELS[:3]
    return raced(chunk / str(seed), task, machine, labels=labels, repeats=REPEATS, batches=(1,), seed=seed)


def _line(lines: Sequence[dict[str, Any]], label: str) -> dict[str, Any]:
    return next(line for line in lines if (line["strategy"], line["batch_size"]) == (label, 1))


def _reports(*words: str | Path) -> Any:
    return _answer(_asked(*words))


def _asked(*words: str | Path) -> "subprocess.Popen[str]":
    """`python -m reports`, at work."""
    command = [sys.executable, "-m", "reports", *map(str, words)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def _answer(reader: "subprocess.Popen[str]") -> Any:
    """The JSON it prints."""
    out, told = reader.communicate()
    if reader.returncode:
        raise RuntimeError(f"python -m reports ended with {reader.returncode}: {told}")
    return json.loads(out)
