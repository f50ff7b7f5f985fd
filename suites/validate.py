"""Whether a run is whole: every planned trial has its record, every quality output its sample and its score."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

from suites.plan import Cell
from suites.records import Run

CELL = ("task", "label", "mode", "length", "batch_size")


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """One planned cell. `ok` of `planned` trials were measured; the rest failed, or are missing."""

    cell: dict[str, Any]
    planned: int
    recorded: int
    ok: int


def coverage(run: Run) -> tuple[Coverage, ...]:
    """The planned cells in the plan's order, counted against the records."""
    recorded = Counter(tuple(getattr(record, name) for name in CELL) for record in run.records)
    ok = Counter(tuple(getattr(r, name) for name in CELL) for r in run.records if r.status == "ok")
    return tuple(
        Coverage(
            cell={name: cell.get(name) for name in CELL},
            planned=cell.get("planned", 0),
            recorded=recorded[tuple(cell.get(name) for name in CELL)],
            ok=ok[tuple(cell.get(name) for name in CELL)],
        )
        for cell in run.info.plan.get("cells", [])
    )


def problems(run: Run) -> list[str]:
    """What keeps the run from being whole, in words; empty when it is."""
    found = list(run.notes)
    if missing := len(run.expected_keys) - len(run.records):
        found.append(f"{missing} of {len(run.expected_keys)} planned trials have no record")
    if run.info.expected != len(run.expected_keys):
        found.append(f"run.json expects {run.info.expected} trials but lists {len(run.expected_keys)} keys")
    due = {
        (r.task, r.label, row) for r in run.records if r.mode == "batched" and r.status == "ok" for row in r.prompt_rows
    }
    for what, made in (("sample", run.samples), ("score", run.scores)):
        if absent := due - {(one.task, one.label, one.row) for one in made}:
            found.append(f"{len(absent)} of {len(due)} outputs have no {what}")
    return found + _trace_problems(run)


def _trace_problems(run: Run) -> list[str]:
    """Traces that are due and missing, unless it is said why, and traces that tell of another output."""
    excused = {label for start in run.info.starts for label in start.untraced}
    n = run.info.plan.get("settings", {}).get("traces", 0)  # runs from before there were traces promise none
    ok = [r for r in run.records if r.status == "ok" and r.label not in excused and r.repeat < n]
    due = {r.key for r in ok if Cell(r.task, r.label, r.mode, r.length, r.batch_size, r.source_length).of_sentences}
    found = []
    if absent := due - {sample.key for sample in run.traced}:
        found.append(f"{len(absent)} of {len(due)} outputs have no trace")
    if wrong := sum(s.trace is not None and s.trace.token_ids != s.token_ids for s in run.traced):
        found.append(f"{wrong} of {len(run.traced)} traces do not end in the tokens of their output")
    return found


def failures(run: Run) -> list[str]:
    """The contestants some of whose trials failed, in words; empty when every recorded trial is ok."""
    recorded = Counter(record.label for record in run.records)
    reasons: dict[str, list[str | None]] = {}
    for record in run.records:
        if record.status != "ok":
            reasons.setdefault(record.label, []).append(record.reason)
    return [
        f"{len(why)} of {recorded[label]} trials of {label!r} are not ok, the first: {why[0]}"
        for label, why in reasons.items()
    ]
