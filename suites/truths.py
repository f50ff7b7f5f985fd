"""What must stand in the files of a synthetic run, and in what is computed from them."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from metrics.crossovers import crossover
from suites.records import Record, Run
from suites.synthetic import EMERGENT_WRITES_LESS_BY, LAWS, Law

TWIN = "ar:twin=1"  # `ar` again under another label: whatever is said to lie between them is false
AR, OTHER = "ar", "mask_predict"
CROSSING = (LAWS[OTHER].a_s - LAWS[AR].a_s) / (LAWS[AR].b_s - LAWS[OTHER].b_s)  # tokens


def law_of(label: str) -> Law:
    """The law of a contestant, its twin's too."""
    return LAWS[label.split(":")[0]]


def writes(law: Law, length: int) -> int:
    """The tokens that a contestant writes a row where `length` are asked for, or stand in the reference."""
    return length - EMERGENT_WRITES_LESS_BY if law.emergent else length


def problems(run: Run) -> list[str]:
    """What is wrong in the records of a run without noise, a line each record; empty where all is as it must be."""
    return [f"{r.label} at {r.length}, batch {r.batch_size}: {wrong}" for r in run.records if (wrong := _wrong(r))]


def _wrong(record: Record) -> str:
    law = law_of(record.label)
    written = writes(law, record.length or 0)
    true_s = law.seconds(written, record.batch_size)
    calls = sum(step.calls for step in record.steps)
    if record.status != "ok" or record.latency_s is None:
        return f"{record.status}: {record.reason}"
    if any(kept != written for kept in record.tokens_kept):
        return f"{record.tokens_kept[0]} tokens kept, {written} written"
    if calls != law.calls(written):
        return f"{calls} calls counted, {law.calls(written)} made"
    if abs(record.latency_s - true_s) > 2e-9:  # the clock ticks in nanoseconds
        return f"{1000 * record.latency_s:.3f} ms measured, {1000 * true_s:.3f} ms taken"
    return ""


def off(line: dict[str, Any]) -> tuple[float, float]:
    """How far a line's a and b are off, as shares of the true ones."""
    law = law_of(line["strategy"])
    a_ms, b_ms = 1000 * law.a_s, 1000 * law.slope_s(line["batch_size"])
    return line["a_ms"] / a_ms - 1, line["b_ms_per_token"] / b_ms - 1


def off_at(run: Run, label: str, length: int, rows: int) -> float:
    """How far the median latency of one cell is off, as a share of the true one."""
    law = law_of(label)
    return median_s(run, label, length, rows) / law.seconds(writes(law, length), rows) - 1


def crosses(line: dict[str, Any], margin: float) -> bool:
    """Whether a line overtakes the baseline's at the true crossing, give or take a share of it."""
    ahead = line["ahead"]
    return ahead["answer"] == "from" and ahead["tokens"] is not None and abs(ahead["tokens"] / CROSSING - 1) < margin


def told(line: dict[str, Any]) -> str:
    """What a line says of where it overtakes, in tokens: `from 80.12 [78.9, 81.3]`."""
    ahead = line["ahead"]
    places = (ahead["tokens"], *ahead["interval"])
    crossing, low, high = ("open" if tokens is None else f"{tokens:.4g}" for tokens in places)
    return f"{ahead['answer']} {crossing} [{low}, {high}]"


def batch_crossing(length: int) -> float:
    """The batch size up to which the one-shot contestant is ahead of `ar`: where both take the same time."""
    ar, other = LAWS[AR], LAWS[OTHER]
    lead_s = ar.seconds(length, 1) - other.seconds(length, 1)
    return 1 + lead_s / (length * (other.b_s * other.c - ar.b_s * ar.c))


def found_batch_crossing(run: Run, length: int, sizes: Sequence[int]) -> float:
    """The same as measured, from median latencies."""
    ar_s, other_s = (np.array([median_s(run, label, length, size) for size in sizes]) for label in (AR, OTHER))
    return crossover(np.array(sizes, float), (ar_s - other_s)[None], n_repeats=1).crossing


def median_s(run: Run, label: str, length: int, rows: int) -> float:
    """The median latency of one cell."""
    own = [r for r in run.records if (r.label, r.length, r.batch_size) == (label, length, rows)]
    return float(np.median([r.latency_s or 0.0 for r in own]))


def claims(lines: Sequence[dict[str, Any]]) -> dict[str, list[bool]]:
    """Which 95 % intervals hold the truth, by what they are of; the twin's slope over `ar`'s is 1."""
    found: dict[str, list[bool]] = {}
    for line in lines:
        for name, holds in _claims(line):
            found.setdefault(name, []).append(holds)
    return found


def _claims(line: dict[str, Any]) -> Iterator[tuple[str, bool]]:
    label, law = line["strategy"], law_of(line["strategy"])
    if label == TWIN:
        yield "b over ar's, of ar itself", _within(line["b_over_baseline_interval"], 1.0)
        return
    yield f"a of {label}", _within(line["a_ms_interval"], 1000 * law.a_s)
    yield f"b of {label}", _within(line["b_ms_per_token_interval"], 1000 * law.b_s)
    if label == OTHER:
        ahead = line["ahead"]
        yield "the crossover length", ahead["answer"] == "from" and _within(ahead["interval"], CROSSING)


def _within(bounds: Sequence[float | None], truth: float) -> bool:
    low, high = bounds
    return (low is None or low <= truth) and (high is None or truth <= high)
