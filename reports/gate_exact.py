"""The exact line of the gate: what every cell computes, counted without a clock and compared number by number.

The committed file holds what is the same on every machine. What may vary with its kernels (how many tokens a strategy
keeps that chooses its own length) is compared between base and head in the same job alone.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reports.gate import HEAD
from reports.gate_tree import NoBase
from reports.gate_workers import ROOT, Side, WorkerFailed, workers

LENGTHS = (16, 32, 64, 128)
BASELINE = Path("reports/baselines/exact.json")
SCHEMA = 1

Counters = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Counted:
    """What one side computes, by cell (`ar@16`)."""

    fixed: dict[str, Counters]
    kernel: dict[str, Counters]
    failed: dict[str, str]  # cells that raised
    absent: dict[str, str]  # strategies whose engine is not installed, or weights not shipped: no change of code
    strategies: tuple[str, ...]


def count(sides: Sequence[Side], device: str) -> dict[str, Counted]:
    """The counters of every strategy of each side. Raises WorkerFailed where one cannot be loaded."""
    with workers(sides, (), LENGTHS, device) as started:
        names = {side: [f"{cell['strategy']}@{cell['length']}" for cell in said["cells"]]
                 for side, (_, said) in started.items()}  # fmt: skip
        answers: dict[str, list[dict[str, Any]]] = {side: [] for side in started}
        for index in range(max(map(len, names.values()))):
            asked = [side for side in started if index < len(names[side])]
            for side in asked:
                started[side][0].send({"do": "count", "cell": index})
            for side in asked:
                answers[side].append(started[side][0].receive())
    order = sorted(started, key=lambda side: side != HEAD)  # of what both cannot load, the head is told first
    return {side: _counted(side, names[side], answers[side], started[side][1]) for side in order}


def _counted(side: str, names: Sequence[str], answers: Sequence[dict[str, Any]], said: dict[str, Any]) -> Counted:
    failures: dict[str, dict[str, str]] = said["failures"]
    for label, failure in failures.items():
        if failure["kind"] == "broken":
            raise WorkerFailed(side, f"{label}: {failure['reason']}")
    found = {name: answer for name, answer in zip(names, answers, strict=True) if "error" not in answer}
    return Counted(
        fixed={name: {**answer["fixed"], "cache": answer["cache"]} for name, answer in found.items()},
        kernel={name: answer["kernel"] for name, answer in found.items()},
        failed={n: a["error"] for n, a in zip(names, answers, strict=True) if "error" in a},
        absent={label: failure["reason"] for label, failure in failures.items() if failure["kind"] == "absent"},
        strategies=tuple(said["strategies"]),
    )


def against_file(head: Counted, committed: Mapping[str, Counters]) -> list[str]:
    """What differs between the committed counters and the head's, a line each."""
    found = [f"{name}: fails: {reason}" for name, reason in head.failed.items()]
    here = {**head.fixed, **dict.fromkeys(head.failed, {})}
    kept = {name: cell for name, cell in committed.items() if _strategy(name) not in head.absent}
    found += _vanished(kept, here) + _new(kept, here)
    for name in kept.keys() & head.fixed.keys():
        found += _differences(name, kept[name], head.fixed[name], "committed")
    return sorted(found)


def against_base(head: Counted, base: Counted, committed: Mapping[str, Counters]) -> tuple[list[str], list[str]]:
    """What differs between base and head: what is refused, and what the committed counters say is meant.

    Where they agree with the base, what differs from it is found by `against_file` and not said twice.
    """
    if base.failed:
        name, reason = next(iter(base.failed.items()))
        raise NoBase(f"the base cannot run {name}: {reason}")
    refused = _vanished(base.fixed, {**head.fixed, **dict.fromkeys(head.failed, {})}) + _new(base.fixed, head.fixed)
    meant: list[str] = []
    for name in sorted(base.fixed.keys() & head.fixed.keys()):
        refused += _differences(name, base.kernel[name], head.kernel[name], "at the base")
        if committed.get(name) != base.fixed[name]:  # else `against_file` says it
            changed = _differences(name, base.fixed[name], head.fixed[name], "at the base")
            (meant if committed.get(name) == head.fixed[name] else refused).extend(changed)
    return refused, meant


def read_baseline(root: Path = ROOT) -> dict[str, Counters]:
    """The committed counters by cell. Raises NoBase where there are none that can be read."""
    path = root / BASELINE
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
        cells: dict[str, Counters] = value["cells"]
        if value["schema"] != SCHEMA or not all(isinstance(cell, dict) for cell in cells.values()):
            raise ValueError("not of this version")
    except FileNotFoundError:
        raise NoBase(f"{BASELINE} is missing; write it and commit it: make baseline") from None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as wrong:
        raise NoBase(f"{BASELINE} cannot be read ({wrong}); write it anew: make baseline") from None
    return cells


def write_baseline(head: Counted, root: Path = ROOT) -> Path:
    """The file that now holds the head's counters; what it said of strategies that are absent here, it goes on saying.

    Raises WorkerFailed where a cell fails.
    """
    for name, reason in head.failed.items():
        raise WorkerFailed("head", f"{name}: {reason}; a baseline is of cells that run")
    path = root / BASELINE
    path.parent.mkdir(exist_ok=True)
    before = read_baseline(root) if head.absent and path.is_file() else {}
    kept = {name: cell for name, cell in before.items() if _strategy(name) in head.absent}
    cells = ",\n".join(
        f" {json.dumps(name)}: {json.dumps(cell, sort_keys=True)}" for name, cell in {**head.fixed, **kept}.items()
    )
    path.write_text(f'{{"schema": {SCHEMA}, "cells": {{\n{cells}\n}}}}\n', encoding="utf-8")
    return path


def _vanished(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    return [f"{name}: this cell is gone" for name in before if name not in now]


def _new(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    return [f"{name}: this cell is new" for name in now if name not in before]


def _differences(name: str, before: Counters, now: Counters, where: str) -> list[str]:
    fields = [field for field in sorted({*before, *now}) if before.get(field) != now.get(field)]
    return [f"{name}: {field} {before.get(field)} {where}, {now.get(field)} here" for field in fields]


def _strategy(cell: str) -> str:
    return cell.rpartition("@")[0]
