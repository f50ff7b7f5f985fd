"""A run as a file for other tools: its raw records, its tables, or its timings."""

import json
from collections.abc import Callable
from dataclasses import fields
from io import BytesIO
from typing import TYPE_CHECKING, Any

from reports.exports import TIMING_FORMATS, Origin, Timing
from reports.formats import workload
from reports.names import visible
from reports.rankings import race_table
from reports.speed import timed
from reports.summarise import summarise
from reports.summary import Summary
from reports.table_text import as_latex, as_markdown
from reports.tables import Table
from suites.records import Record, Run

if TYPE_CHECKING:
    import pandas as pd


def exported(run: Run, form: str) -> bytes:
    """The run in the format of that name, one of `FORMATS`.

    Raises ValueError, naming those there are, for another format, for parquet without pyarrow, and where a format of
    timings is asked of a run without any.
    """
    if form not in FORMATS:
        raise ValueError(f"unknown format {form!r}; choose from: {', '.join(FORMATS)}")
    return FORMATS[form](run)


def records_frame(run: Run) -> "pd.DataFrame":
    """A row a record; calls and positions are of all its steps, lists and knobs are JSON, text as UTF-8 can hold it."""
    import pandas as pd

    names = [field.name for field in fields(Record) if field.name != "steps"]
    columns = {name: [_plain(getattr(record, name)) for record in run.records] for name in names}
    columns["calls"] = [sum(step.calls for step in record.steps) for record in run.records]
    columns["positions"] = [sum(step.positions for step in record.steps) for record in run.records]
    return pd.DataFrame(columns)


def timings(run: Run) -> list[Timing]:
    """One timing a cell: what was timed by itself and succeeded, failed trials left out."""
    found = [
        Timing(visible(f"{run.info.suite}/{task}/{label}/{mode}, {workload(length, batch)}"), _seconds(trials))
        for (task, label, mode, length, batch), trials in timed(run.records).items()
    ]
    if not found:
        raise ValueError("this run has no timed trial that succeeded, so there is no timing to export")
    return sorted(found, key=lambda timing: timing.name)


def report_tables(summary: Summary) -> list[Table]:
    """The tables for a paper: every task's race, its metrics and its latencies, and what failed."""
    from reports.html import tables_of

    races = [table for task in summary.tasks if (table := race_table(summary, task))]
    return [*races, *tables_of(summary)]


def _csv(run: Run) -> bytes:
    text: str = records_frame(run).to_csv(index=False, lineterminator="\n")
    return text.encode()


def _parquet(run: Run) -> bytes:
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise ValueError("parquet needs pyarrow: pip install pyarrow, or take csv") from None
    out = BytesIO()
    records_frame(run).to_parquet(out, engine="pyarrow", index=False)
    return out.getvalue()


def _tables(write: Callable[[Table], str], heading: Callable[[Table], str]) -> Callable[[Run], bytes]:
    def written(run: Run) -> bytes:
        parts = [heading(table) + write(table) for table in report_tables(summarise(run))]
        return "\n".join(parts).encode()

    return written


def _timings(form: str) -> Callable[[Run], bytes]:
    return lambda run: TIMING_FORMATS[form](timings(run), _origin(run)).encode()


def _origin(run: Run) -> Origin:
    if not run.info.starts:
        raise ValueError("this run never started, so there is no timing to export")
    start = run.info.starts[0]
    return Origin(start.commit, start.dirty, start.started_at, start.machine)


def _seconds(trials: list[Any]) -> tuple[float, ...]:
    return tuple(trial.latency_s for trial in trials)


def _plain(value: Any) -> Any:
    if isinstance(value, dict | list | tuple):
        return json.dumps(value, sort_keys=True)
    return value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value


FORMATS: dict[str, Callable[[Run], bytes]] = {
    "csv": _csv,
    "parquet": _parquet,
    "latex": _tables(as_latex, lambda table: ""),
    "markdown": _tables(as_markdown, lambda table: f"### {visible(table.title)}\n\n"),
    **{form: _timings(form) for form in TIMING_FORMATS},
}
