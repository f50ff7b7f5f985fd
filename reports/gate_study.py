"""The gate's evidence, collected: blocks of fresh processes of one tree, some of them made slower by real work.

Every block is a line appended to one file as soon as it is done, so that a study goes on where it stopped. How much
work makes a strategy how much slower is found once, before the first block, and kept in the file's first line.
"""

import json
import math
import platform
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
from reports.gate_session import DEFAULT, Burden, Key, Session, Unit, choose_unit, reading
from reports.gate_tree import head_commit
from reports.gate_workers import ROOT, Side, Worker, workers

SHARES = {"plus5": 0.05, "plus10": 0.10, "plus20": 0.20}  # extra work in every decoder pass
FIXED_SHARE = 0.10  # of a call on average over the lengths, as the same work once in every call
SLEEP_SHARE = 0.40  # of a call, slept away in its decoder passes
SIDES = (BASE, AGAIN, "third", *SHARES, "fixed", "sleep")
TRIALS = 9  # units by which a burden's weight is found
PROBE = {"per_step": 20.0, "per_call": 400.0}


def collect(options: Namespace, say: Callable[[str], None], root: Path = ROOT) -> int:
    """Append `options.blocks` blocks, or `options.gates` whole gates of a scenario, under the load; 0."""
    file: Path = options.file
    strategies = options.strategies.split(",") if options.strategies else list(DEFAULT)
    with neighbours(options.load):
        units, burdens = _prepare(file, strategies, root, say)
        if options.gates:
            _gates(options, strategies, units, burdens, root, file, say)
            return 0
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
    for _ in range(options.gates):
        session = Session(
            sides=[Side(name, root) for name in (BASE, HEAD, AGAIN)], lengths=LENGTHS, device="cpu",
            seed=time.time_ns(), say=say, units=units, burdens={HEAD: burdens.get(options.scenario, {})},
        )  # fmt: skip
        found = verdicts(strategies, session.measure)
        words = {name: verdict.word for name, verdict in found.items()}
        line = {"kind": "gate", "load": options.load, "scenario": options.scenario, "at": _now(), "words": words}
        _append(file, line)
        say(f"gate, {options.scenario}, {options.load}: {words}")


def _prepare(
    file: Path, strategies: Sequence[str], root: Path, say: Callable[[str], None]
) -> tuple[dict[Key, Unit], dict[str, dict[Key, Burden]]]:
    """Units and burdens, from the file's first line or found now."""
    if file.is_file():
        with file.open(encoding="utf-8") as lines:
            return _read_setup(json.loads(lines.readline()), strategies)
    say("finding how much work makes each strategy how much slower")
    with workers([Side(BASE, root)], strategies, LENGTHS, "cpu") as started:
        worker, said = started[BASE]
        keys: list[Key] = [(cell["strategy"], cell["length"]) for cell in said["cells"]]
        cells = {key: weigh(worker, index, key) for index, key in enumerate(keys)}
    setup = {
        "kind": "setup", "at": _now(), "commit": head_commit(root), "machine": platform.processor(),
        "cells": [{"strategy": name, "length": length, **cell} for (name, length), cell in cells.items()],
    }  # fmt: skip
    _append(file, setup)
    return _read_setup(setup, strategies)


def weigh(worker: Worker, index: int, key: Key) -> dict[str, Any]:
    """How long a call of a cell takes, its passes, and the seconds that one product adds a step or a call."""
    passes = worker.ask({"do": "count", "cell": index})["fixed"]["seen_decoder_calls"]
    unit = choose_unit(reading(worker, worker.ask({"do": "time", "cell": index, "calls": 1}), key).cpu_s)
    seconds: dict[str, list[float]] = {"": [], **{kind: [] for kind in PROBE}}
    for _ in range(TRIALS):
        for kind, samples in seconds.items():
            burden = {kind: PROBE[kind]} if kind else None
            command = {"do": "time", "cell": index, "calls": unit.calls, "burden": burden}
            samples.append(reading(worker, worker.ask(command), key).cpu_s / unit.calls)
    plain = median(seconds[""])
    weights = {kind: (median(seconds[kind]) - plain) / products for kind, products in PROBE.items()}
    return {"unit": asdict(unit), "passes": passes, "call_s": plain, "product_s": weights}


def _read_setup(
    setup: Mapping[str, Any], strategies: Sequence[str]
) -> tuple[dict[Key, Unit], dict[str, dict[Key, Burden]]]:
    cells = {(cell["strategy"], cell["length"]): cell for cell in setup["cells"]}
    if missing := set(strategies) - {name for name, _ in cells}:
        raise ValueError(f"the study's file was begun without {', '.join(sorted(missing))}; use another --file")
    burdens: dict[str, dict[Key, Burden]] = {name: {} for name in (*SHARES, "fixed", "sleep")}
    for key, cell in cells.items():
        of_strategy = [other["call_s"] for (name, _), other in cells.items() if name == key[0]]
        fixed_s = FIXED_SHARE * len(of_strategy) / sum(1 / call_s for call_s in of_strategy)
        for name, share in SHARES.items():
            burdens[name][key] = {"per_step": _products(share * cell["call_s"], cell["product_s"]["per_step"])}
        burdens["fixed"][key] = {"per_call": _products(fixed_s, cell["product_s"]["per_call"])}
        burdens["sleep"][key] = {"sleep_s": SLEEP_SHARE * cell["call_s"] / cell["passes"]}
    return {key: Unit(**cell["unit"]) for key, cell in cells.items()}, burdens


def _products(wanted_s: float, product_s: float) -> float:
    """How many products take `wanted_s`. Raises ValueError where noise hid what one takes."""
    if not (product_s > 0 and math.isfinite(product_s)):
        raise ValueError("the machine is too busy to find what a product costs: begin the study when it is quiet")
    return wanted_s / product_s


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
