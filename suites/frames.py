"""A run as pandas tables, for a notebook."""

from dataclasses import fields
from typing import TYPE_CHECKING, Any

from suites.records import Record, Run, Sample, StepRecord

if TYPE_CHECKING:
    import pandas as pd


def to_frames(run: Run) -> "dict[str, pd.DataFrame]":
    """The run as pandas tables: `records` and `samples`, a row each; `steps`, a row a step with its record's key."""
    import pandas as pd

    tables: dict[str, list[dict[str, Any]]] = {
        "records": [_row(record) for record in run.records],
        "steps": [{"key": r.key, "step": i, **_row(step)} for r in run.records for i, step in enumerate(r.steps)],
        "samples": [_row(sample) for sample in run.samples],
    }
    columns = {
        "records": _columns(Record),
        "steps": ["key", "step", *_columns(StepRecord)],
        "samples": _columns(Sample),
    }
    return {name: pd.DataFrame(rows, columns=columns[name]) for name, rows in tables.items()}


def _row(value: Record | StepRecord | Sample) -> dict[str, Any]:
    return {name: getattr(value, name) for name in _columns(type(value))}


def _columns(cls: type[Record | StepRecord | Sample]) -> list[str]:
    return [field.name for field in fields(cls) if field.name not in ("steps", "trace")]
