"""What a gate leaves: gate.json with every reading, gate.md, JUnit XML, and the formats of other tools."""

import json
import platform
from argparse import Namespace
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

import numpy as np

from metrics.bounds import Bounds
from reports.exports import TIMING_FORMATS, Origin, Timing
from reports.gate import HEAD, Block, Judgement
from reports.gate_looks import ALPHA, CONFIRM_ALPHA, CONFIRMING, LOOKS, Verdict
from reports.gate_tree import head_commit, is_dirty
from reports.gate_words import junit, markdown

SCHEMA = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a gate found."""

    exact: tuple[str, ...]  # what changed, a line each
    notes: tuple[str, ...]
    cells: int  # counted
    base: str | None = None  # the commit compared with
    strategies: tuple[str, ...] = ()  # to be timed
    verdicts: Mapping[str, Verdict] = field(default_factory=dict)

    def judged(self, verdicts: Mapping[str, Verdict], notes: Sequence[str], strategies: Sequence[str]) -> "Outcome":
        return replace(self, verdicts=verdicts, notes=tuple(notes), strategies=tuple(strategies))


def files(outcome: Outcome, options: Namespace, said: Sequence[str]) -> dict[str, str]:
    """What each file of the folder holds, by name."""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    origin = Origin(head_commit(), is_dirty(), now, {"cpu": platform.processor() or platform.machine()})
    text = json.dumps(as_json(outcome, options, origin), allow_nan=False, indent=1) + "\n"
    found = {
        "gate.json": text,
        "gate.md": markdown(outcome.verdicts, said),
        "junit.xml": junit(outcome.verdicts, outcome.exact),
    }
    if timings := head_timings(outcome.verdicts):
        found |= {f"{name}.json": writer(timings, origin) for name, writer in TIMING_FORMATS.items()}
    return found


def head_timings(verdicts: Mapping[str, Verdict]) -> list[Timing]:
    """The head's wall times by cell, every timed unit of every block."""
    found: dict[str, list[float]] = {}
    for name, verdict in verdicts.items():
        for block in (*verdict.blocks, *verdict.confirming):
            for one in block.rounds:
                found.setdefault(f"{name}@{one.length}", []).append(one.readings[HEAD].wall_s)
    return [Timing(name, tuple(seconds)) for name, seconds in found.items()]


def as_json(outcome: Outcome, options: Namespace, origin: Origin) -> dict[str, Any]:
    """Everything by which a verdict can be taken again: every reading, in the order in which it was made."""
    return {
        "schema": SCHEMA,
        "made_at": origin.measured_at,
        "head": origin.commit,
        "dirty": origin.dirty,
        "base": outcome.base,
        "device": options.device,
        "seed": options.seed,
        "budget": options.budget,
        "machine": dict(origin.machine),
        "rule": {"looks": LOOKS, "alpha": ALPHA, "confirming": CONFIRMING, "confirm_alpha": CONFIRM_ALPHA},
        "exact": list(outcome.exact),
        "notes": list(outcome.notes),
        "strategies": {name: _verdict(verdict) for name, verdict in outcome.verdicts.items()},
    }


def _verdict(verdict: Verdict) -> dict[str, Any]:
    again = verdict.confirmation
    return {
        "verdict": verdict.word,
        "why": verdict.why,
        "judgement": _judgement(verdict.judgement),
        "confirmation": None if again is None else _judgement(again),
        "blocks": [_block(block) for block in verdict.blocks],
        "confirming_blocks": [_block(block) for block in verdict.confirming],
    }


def _judgement(judgement: Judgement) -> dict[str, Any]:
    """The judgement's numbers; log ratios, and null for a bound that so few blocks do not give."""
    parts = {"per_token": judgement.per_token, "fixed": judgement.fixed}
    return {
        "outcome": judgement.outcome,
        "reason": judgement.reason,
        "blocks": judgement.blocks,
        "log_effect": _bounds(judgement.effect),
        "log_wall": _bounds(judgement.wall),
        "log_control": _bounds(judgement.control),
        "log_cells": {str(length): _bounds(bounds) for length, bounds in judgement.cells.items()},
        "log_findable": _finite(judgement.findable),
        **{name: None if bounds is None else _bounds(bounds) for name, bounds in parts.items()},
    }


def _block(block: Block) -> list[dict[str, Any]]:
    return [
        {"length": one.length, **{side: [reading.cpu_s, reading.wall_s] for side, reading in one.readings.items()}}
        for one in block.rounds
    ]


def _bounds(bounds: Bounds) -> list[float | None]:
    return [_finite(value) for value in bounds]


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
