"""One side of the latency gate: a process that loads strategies from one tree and answers commands, line by line.

The gate starts the same worker for both sides, each with its own import path; a worker proves that the `generators` it
holds lie in the tree it was started for. Commands and answers are JSON lines on standard input and output; whatever
else is printed goes to standard error. The process ends when its input does, so none outlives the gate.

Of `generators` it uses as little as it can, and times calls by itself, because it must drive older code than its own.

Cells: exactly n tokens where the length can be set; where it emerges, the source whose reference has about n tokens.
"""

import gc
import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter_ns, process_time_ns
from typing import IO, TYPE_CHECKING, Any

from generators.base import Capability, Exact, Generator, Natural, Placement, Prompt, Request, Stopwatch
from suites import environment
from suites.gate_burden import carrying
from suites.gate_counts import counted
from suites.refusal import Refusal
from suites.tasks import load_task
from suites.trial import FAILURES, failure_of

if TYPE_CHECKING:
    from generators.registry import Loaded, Spec
    from suites.contestants import Registry

TASK = "mixed"
SLACK = 2  # a natural run may be this many times as long as its reference


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    label: str
    length: int
    loaded: "Loaded"
    request: Request

    @property
    def generator(self) -> Generator:
        return self.loaded.generator


def serve(tree: Path, labels: Sequence[str], lengths: Sequence[int], device: str, registry: "Registry") -> int:
    """Answer commands until there are no more; 0. Refuses when `generators` come from elsewhere than `tree`.

    An empty `labels` stands for every strategy of the registry.
    """
    answers = _own_stdout()
    names = list(getattr(registry, "STRATEGIES", ()))
    synchronize = environment.synchronizer(device)
    cells, failures = _load_all(labels or names, lengths, device, registry)
    hello = {
        "generators": [str(path) for path in prove(tree)],
        "threads": _threads(),
        "cpu": environment.cpu_name(),
        "strategies": names,
        "cells": [{"strategy": cell.label, "length": cell.length} for cell in cells],
        "failures": failures,
    }
    gc.disable()  # for as short as this process lives, in no call and between none
    _say(answers, hello)
    for line in sys.stdin:
        _say(answers, answer(json.loads(line), cells, synchronize))
    return 0


def answer(command: dict[str, Any], cells: Sequence[Cell], synchronize: Callable[[], None]) -> dict[str, Any]:
    """The answer to one command, or `{"error": …}` when the strategy failed.

    `{"do": "count", "cell": i}` gives the cell's counters, taken by hooks; `{"do": "time", "cell": i, "calls": k}` the
    CPU and wall seconds of k calls in a row, after `untimed` others. A `burden` slows them down (see `gate_burden`);
    the CPU seconds of its products come with the answer.
    """
    cell = cells[command["cell"]]
    try:
        if command["do"] == "count":
            return counted(cell.loaded, cell.request)
        return _timed(cell, command, synchronize)
    except FAILURES as failure:
        return {"error": failure_of(failure).reason}


def prove(tree: Path) -> Iterator[Path]:
    """The files of every loaded module of `generators`; refuses one that does not lie in `tree`."""
    for name, module in sorted(sys.modules.items()):
        if name.split(".")[0] == "generators" and module.__file__ is not None:
            path = Path(module.__file__).resolve()
            if not path.is_relative_to(tree.resolve()):
                raise Refusal(f"{name} was loaded from {path}, which is not in {tree}: the wrong code would be timed")
            if name == "generators":
                yield path


def _load_all(
    labels: Sequence[str], lengths: Sequence[int], device: str, registry: "Registry"
) -> tuple[list[Cell], dict[str, dict[str, str]]]:
    """The cells that can be run, and for each label that cannot the kind of failure and its reason."""
    cells: list[Cell] = []
    failures: dict[str, dict[str, str]] = {}
    for label in labels:
        try:
            spec = registry.parse(label)
        except ValueError as wrong:
            failures[label] = {"kind": "unknown", "reason": str(wrong)}
            continue
        try:
            loaded = registry.build(spec, Placement(device=device))
        except FAILURES as wrong:
            kind = "absent" if isinstance(wrong, ModuleNotFoundError) or _unshipped(spec, registry) else "broken"
            failures[label] = {"kind": kind, "reason": failure_of(wrong).reason}
            continue
        found = zip(lengths, _requests(loaded, lengths), strict=True)
        cells += [Cell(label=label, length=n, loaded=loaded, request=request) for n, request in found]
    return cells, failures


def _unshipped(spec: "Spec", registry: "Registry") -> bool:
    """Whether the entry's weights are known and not in the repository yet, which is no fault of the code."""
    strategy = getattr(registry, "STRATEGIES", {}).get(spec.strategy)
    weights = spec.knobs.get("weights", getattr(strategy, "weights", None))
    return weights in getattr(registry, "UNSHIPPED", ())


def _requests(loaded: "Loaded", lengths: Sequence[int]) -> Iterator[Request]:
    codec, rows = loaded.codec, load_task(TASK).rows
    n_tokens = [len(codec.encode_target(row.reference)) for row in rows]
    exact = Capability.EXACT_LENGTH in loaded.generator.capabilities
    for n in lengths:
        row = min(range(len(rows)), key=lambda index: abs(n_tokens[index] - n))
        prompt = Prompt(prefix_ids=codec.encode(rows[row].source))
        yield Request(prompts=(prompt,), length=Exact(n) if exact else Natural(SLACK * n))


def _timed(cell: Cell, command: dict[str, Any], synchronize: Callable[[], None]) -> dict[str, float]:
    def call(times: int) -> None:
        for _ in range(times):
            cell.generator.generate(cell.request, Stopwatch())
        synchronize()

    with carrying(cell.generator, command.get("burden")) as products_s:
        call(command.get("untimed", 0))
        before_s, cpu_ns, wall_ns = products_s(), process_time_ns(), perf_counter_ns()
        call(command["calls"])
        wall_s, cpu_s = (perf_counter_ns() - wall_ns) * 1e-9, (process_time_ns() - cpu_ns) * 1e-9
        return {"wall_s": wall_s, "cpu_s": cpu_s, "products_s": products_s() - before_s}


def _threads() -> int:
    """The threads of the pools, torch's among them. Refuses more than one: they would be timed too."""
    found = 1
    if torch := sys.modules.get("torch"):
        torch.set_num_interop_threads(1)
        found = max(torch.get_num_threads(), torch.get_num_interop_threads())
    unset = [name for name in environment.THREAD_VARIABLES if os.environ.get(name) != "1"]
    if found != 1 or unset:
        raise Refusal(f"a gate's process must run on one thread; torch has {found}, not limited: {', '.join(unset)}")
    return found


def _own_stdout() -> IO[str]:
    """Standard output for answers alone; from now on what others print there goes to standard error."""
    answers = os.fdopen(os.dup(1), "w", encoding="ascii")
    os.dup2(2, 1)
    return answers


def _say(answers: IO[str], value: dict[str, Any]) -> None:
    answers.write(json.dumps(value, allow_nan=False) + "\n")
    answers.flush()
