"""The gate's evidence, collected: blocks of fresh processes of one tree, some of them made slower by real work.

Every block is a line appended to one file as soon as it is done, so that a study goes on where it stopped. How much
work makes a strategy how much slower is found once, before the first block, and kept in the file's first line.

The strategies are those that the study began with: a replayed gate needs all of them in every block.
"""

import json
import math
import time
from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any

from reports.gate import AGAIN, BASE, HEAD, Block
from reports.gate_exact import LENGTHS
from reports.gate_looks import verdicts
from reports.gate_neighbours import neighbours
from reports.gate_replay import SCENARIOS, read_setup
from reports.gate_session import DEFAULT, PRECISE, SWEEPS, Burden, Key, Session, Unit, choose_unit, reading
from reports.gate_tree import head_commit
from reports.gate_workers import ROOT, Side, Worker, WorkerFailed, workers

SHARES = {"plus5": 0.05, "plus10": 0.10, "plus20": 0.20}  # extra work in every decoder pass
FIXED_SHARE = 0.10  # of a call on average over the lengths, as the same work once in every call
SLEEP_SHARE = 0.40  # of a call, slept away once in every call
SIDES = (BASE, AGAIN, "third", *SHARES, "fixed", "sleep")
NOTHING: Burden = {"per_step": 0.0}  # the hooks without a product, so that a burden weighs its products alone
PRODUCT_S = 2e-6  # about what one product takes: by this guess …
PROBE_SHARE = 0.10  # … a probe adds this share of a call: the first products of a pass cost more than those that follow
TRIALS = 8  # of every probe in each process
DESIGN = {"weighed": "in their calls", "share": PROBE_SHARE, "precise": PRECISE, "sweeps": SWEEPS}  # of a block

Setup = tuple[dict[Key, Unit], dict[str, dict[Key, Burden]]]


def collect(options: Namespace, say: Callable[[str], None], root: Path = ROOT) -> int:
    """Append `options.blocks` blocks, or `options.gates` whole gates of a scenario, under the load; 0."""
    file: Path = options.file
    asked = options.strategies.split(",") if options.strategies else None
    with neighbours(options.load):
        units, burdens = _prepare(file, asked or DEFAULT, root, say)
        begun = list(dict.fromkeys(name for name, _ in units))
        strategies = asked or begun
        if unknown := set(strategies) - set(begun):
            raise ValueError(f"{file} was begun without {', '.join(sorted(unknown))}; use another --file")
        if options.gates:
            _gates(options, strategies, units, burdens, root, file, say)
            return 0
        if set(strategies) != set(begun):
            raise ValueError(f"{file} holds blocks of {', '.join(begun)}; use another --file for other strategies")
        session = Session(
            sides=[Side(name, root) for name in SIDES], lengths=LENGTHS, device="cpu", seed=time.time_ns(), say=say,
            units=units, burdens=burdens,
        )  # fmt: skip
        for _ in range(options.blocks):
            blocks = session.measure(strategies, True) or {}
            rounds = {name: _compact(block) for name, block in blocks.items()}
            _append(file, {"kind": "block", "load": options.load, "at": _now(), "rounds": rounds})
    return 0


def _gates(
    options: Namespace, strategies: Sequence[str], units: dict[Key, Unit],
    burdens: Mapping[str, Mapping[Key, Burden]], root: Path, file: Path, say: Callable[[str], None],
) -> None:  # fmt: skip
    """Whole gates whose head is slowed down by the scenario's burden, or by nothing in `aa`."""
    carried = {BASE: burdens[BASE], HEAD: burdens[SCENARIOS[options.scenario]], AGAIN: burdens[AGAIN]}
    for _ in range(options.gates):
        session = Session(
            sides=[Side(name, root) for name in (BASE, HEAD, AGAIN)], lengths=LENGTHS, device="cpu",
            seed=time.time_ns(), say=say, units=units, burdens=carried,
        )  # fmt: skip
        began = time.monotonic()
        found = verdicts(strategies, session.measure)
        words = {name: verdict.word for name, verdict in found.items()}
        line = {"kind": "gate", "load": options.load, "scenario": options.scenario, "at": _now(), "words": words}
        _append(file, {**line, "seconds": round(time.monotonic() - began)})
        say(f"gate, {options.scenario}, {options.load}: {words}")


def _prepare(file: Path, strategies: Sequence[str], root: Path, say: Callable[[str], None]) -> Setup:
    """Units and burdens, from the file's first line or found now."""
    if file.is_file() and file.stat().st_size:
        with file.open(encoding="ascii") as lines:
            setup = read_setup(lines.readline(), file)
        if setup.get("design") != DESIGN:
            raise ValueError(f"{file} was begun when blocks were made otherwise; use another --file")
        if (here := _processor(strategies, root)) != setup["machine"]:
            raise ValueError(f"{file} was begun on {setup['machine']} and this is {here}; use another --file")
        return _read_setup(setup)
    say("finding how much work makes each strategy how much slower")
    sides = [Side(name, root) for name in (BASE, HEAD, AGAIN)]
    with workers(sides, strategies, LENGTHS, "cpu") as started:
        for failure in started[HEAD][1]["failures"].values():
            raise WorkerFailed(HEAD, failure["reason"])
        keys: list[Key] = [(cell["strategy"], cell["length"]) for cell in started[HEAD][1]["cells"]]
        asked = [worker for worker, _ in started.values()]
        cells = {}
        for index, key in enumerate(keys):
            say(f"  {key[0]} at {key[1]} tokens, {index + 1} of {len(keys)}")
            cells[key] = weigh(asked, index, key)
    setup = {
        "kind": "setup", "at": _now(), "commit": head_commit(root), "machine": started[HEAD][1]["cpu"],
        "design": DESIGN,
        "cells": [{"strategy": name, "length": length, **cell} for (name, length), cell in cells.items()],
    }  # fmt: skip
    found = _read_setup(setup)
    _append(file, setup)
    return found


def _processor(strategies: Sequence[str], root: Path) -> str:
    """The processor's name, as a worker says it: what a product costs on one is not what it costs on another."""
    with workers([Side(HEAD, root)], strategies[:1], LENGTHS[:1], "cpu") as started:
        return str(started[HEAD][1]["cpu"])


def weigh(asked: Sequence[Worker], index: int, key: Key) -> dict[str, Any]:
    """How long a call of a cell takes, its passes, and the seconds that one product adds a step or a call.

    Products are timed within their calls: what they take is a small share of a call, and differences of calls would
    drown it in noise. The processes take turns, as in a gate: a call after another process's finds cold caches.
    """

    def timed(worker: Worker, products: Burden) -> tuple[float, float]:
        answer = worker.ask({"do": "time", "cell": index, "calls": 1, "burden": products})
        return reading(worker, answer, key).cpu_s, answer["products_s"]

    passes = [one.ask({"do": "count", "cell": index})["fixed"]["seen_decoder_calls"] for one in asked][0]
    guess = max(passes, math.ceil(PROBE_SHARE * median(timed(worker, NOTHING)[0] for worker in asked) / PRODUCT_S))
    probes = {"per_step": (guess / passes, passes), "per_call": (guess, 1)}  # products, and how often in a call
    plain_s: list[float] = []
    product_s: dict[str, float] = {}
    for kind, (products, times) in probes.items():
        taken = [timed(worker, {kind: products}) for _ in range(TRIALS) for worker in asked]
        plain_s += [cpu_s - spent_s for cpu_s, spent_s in taken]
        product_s[kind] = times * median(spent_s for _, spent_s in taken) / guess
    plain = median(plain_s)
    return {"unit": asdict(choose_unit(plain)), "passes": passes, "call_s": plain, "product_s": product_s}


def _read_setup(setup: Mapping[str, Any]) -> Setup:
    cells = {(cell["strategy"], cell["length"]): cell for cell in setup["cells"]}
    burdens = {name: dict.fromkeys(cells, NOTHING) for name in SIDES}
    for key, cell in cells.items():
        of_strategy = [other["call_s"] for (name, _), other in cells.items() if name == key[0]]
        fixed_s = FIXED_SHARE * len(of_strategy) / sum(1 / call_s for call_s in of_strategy)
        for name, share in SHARES.items():
            burdens[name][key] = {"per_step": share * cell["call_s"] / cell["product_s"]["per_step"]}
        burdens["fixed"][key] = {"per_call": fixed_s / cell["product_s"]["per_call"]}
        burdens["sleep"][key] = {"sleep_s": SLEEP_SHARE * cell["call_s"]}
    return {key: Unit(**cell["unit"]) for key, cell in cells.items()}, burdens


def _compact(block: Block) -> list[list[Any]]:
    """Rounds as [length, {side: [CPU, wall microseconds]}]."""
    return [
        [one.length, {side: [round(1e6 * seconds) for seconds in reading] for side, reading in one.readings.items()}]
        for one in block.rounds
    ]


def _append(file: Path, line: Mapping[str, Any]) -> None:
    """Add a line; behind one that a killed study left torn, on a line of its own."""
    torn = file.is_file() and file.stat().st_size > 0 and not file.read_bytes().endswith(b"\n")
    with file.open("a", encoding="ascii") as lines:
        lines.write("\n" * torn + json.dumps(line, separators=(",", ":"), allow_nan=False) + "\n")


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
