"""The gate's verdict replayed over the blocks of a study, drawn again with replacement.

A gate sees whole blocks, so blocks are what is drawn. How sure a share is comes from an outer bootstrap over blocks,
and beside it from gates on blocks that no other gate sees, in the order in which they were measured, with exact
binomial bounds.
"""

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from metrics.bounds import Bounds, share_bounds
from reports.gate import AGAIN, BASE, HEAD, Block, Reading, Round
from reports.gate_looks import verdicts

RESAMPLES = 100  # of the blocks
GATES = 40  # replayed on each …
GATES_OF_EQUALS = 500  # … and where head and base are the same: an alarm is rare there, and 40 would seldom see one
SCENARIOS = {
    "aa": "third",
    "plus5": "plus5",
    "plus10": "plus10",
    "plus20": "plus20",
    "fixed": "fixed",
    "sleep": "sleep",
}

Rounds = tuple[Round, ...]
Pool = Sequence[Mapping[str, Block]]  # a gate's blocks: by strategy


@dataclass(frozen=True, slots=True)
class Study:
    setup: Mapping[str, Any]
    blocks: dict[str, list[dict[str, Rounds]]] = field(default_factory=dict)  # by load: all sides, by strategy
    gates: list[Mapping[str, Any]] = field(default_factory=list)  # whole ones
    torn: int = 0  # lines that a killed study left unfinished


@dataclass(frozen=True, slots=True, kw_only=True)
class Shares:
    """What became of replayed gates. A gate is an alarm when any of its strategies is called a regression."""

    alarms: Bounds  # of gates
    found: Bounds  # of verdicts: called a regression
    inconclusive: Bounds  # of verdicts
    passed: Bounds  # of verdicts
    alarms_in_order: Bounds  # of gates on blocks of their own
    gates_in_order: int


def read_study(file: Path) -> Study:
    """The study in `file`. Raises ValueError where it does not begin with a set-up."""
    first, *rest = file.read_text(encoding="ascii").splitlines() or [""]
    blocks: dict[str, list[dict[str, Rounds]]] = {}
    gates, torn = [], 0
    for line in rest:
        try:
            value = json.loads(line)
        except ValueError:
            torn += 1
            continue
        if value["kind"] == "block":
            blocks.setdefault(value["load"], []).append({n: _rounds(r) for n, r in value["rounds"].items()})
        elif value["kind"] == "gate":
            gates.append(value)
    return Study(read_setup(first, file), blocks, gates, torn)


def read_setup(line: str, file: Path) -> dict[str, Any]:
    """The set-up in a study's first line. Raises ValueError where it is none."""
    try:
        setup = json.loads(line)
    except ValueError:
        setup = None
    if not isinstance(setup, dict) or setup.get("kind") != "setup":
        raise ValueError(f"{file} does not begin with a study's set-up; use another --file")
    return setup


def pool(blocks: Sequence[Mapping[str, Rounds]], scenario: str) -> list[dict[str, Block]]:
    """The blocks in which the scenario's side is the head."""
    side = SCENARIOS[scenario]
    return [{name: Block(tuple(_cast(one, side) for one in rounds)) for name, rounds in one.items()} for one in blocks]


def shares(blocks: Pool, seed: int, resamples: int = RESAMPLES, gates: int = GATES) -> Shares:
    """What the gate makes of such blocks, each share with two one-sided 95 % bounds; `gates` on every resample."""
    draw = np.random.default_rng(seed)
    rows = [_counted(blocks, gates, draw)]
    for _ in range(resamples):
        drawn = [blocks[i] for i in draw.integers(len(blocks), size=len(blocks))]
        rows.append(_counted(drawn, gates, draw))
    table = np.array(rows)
    value = _counted(blocks, gates * max(1, resamples // 4), draw)
    low, high = np.quantile(table, [0.05, 0.95], axis=0)
    alarms, found, inconclusive, passed = (
        Bounds(float(v), float(min(a, v)), float(max(b, v))) for v, a, b in zip(value, low, high, strict=True)
    )
    hits, n = in_order(blocks)
    return Shares(
        alarms=alarms, found=found, inconclusive=inconclusive, passed=passed,
        alarms_in_order=share_bounds(hits, n) if n else Bounds(np.nan, 0.0, 1.0), gates_in_order=n,
    )  # fmt: skip


def in_order(blocks: Pool) -> tuple[int, int]:
    """Alarms, and gates that end, when gates run one after the other on the blocks as they were measured."""
    rest, hits, n = list(blocks), 0, 0
    while True:
        exhausted = False

        def measure(names: Sequence[str], needed: bool) -> Mapping[str, Block]:
            nonlocal exhausted
            if len(rest) <= 1:
                exhausted = True
                return blocks[0]
            return rest.pop(0)

        words = [verdict.word for verdict in verdicts(list(blocks[0]), measure).values()]
        if exhausted:
            return hits, n
        hits, n = hits + ("REGRESSION" in words), n + 1


def effects(blocks: Pool) -> dict[str, float]:
    """The mean log ratio of head to base in CPU time, by strategy: what the burden really weighed."""
    return {
        name: float(np.mean([np.mean(list(block[name].head["cpu_s"].values())) for block in blocks]))
        for name in blocks[0]
    }


def _counted(blocks: Pool, gates: int, draw: np.random.Generator) -> tuple[float, float, float, float]:
    """Shares of gates with an alarm, and of verdicts that are REGRESSION, INCONCLUSIVE and PASS."""
    names = list(blocks[0])
    words: Counter[str] = Counter()
    alarms = 0
    measure = _drawing(blocks, draw)
    for _ in range(gates):
        found = [verdict.word for verdict in verdicts(names, measure).values()]
        words.update(found)
        alarms += "REGRESSION" in found
    total = gates * len(names)
    return alarms / gates, words["REGRESSION"] / total, words["INCONCLUSIVE"] / total, words["PASS"] / total


def _drawing(blocks: Pool, draw: np.random.Generator) -> Callable[[Sequence[str], bool], Mapping[str, Block]]:
    return lambda names, needed: blocks[int(draw.integers(len(blocks)))]


def _rounds(compact: Sequence[Any]) -> Rounds:
    return tuple(
        Round(length, {side: Reading(*(1e-6 * us for us in pair)) for side, pair in sides.items()})
        for length, sides in compact
    )


def _cast(one: Round, side: str) -> Round:
    return Round(one.length, {BASE: one.readings[BASE], HEAD: one.readings[side], AGAIN: one.readings[AGAIN]})
