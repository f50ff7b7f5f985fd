"""The fitted lines of runs for programs: straight from the records, without the rest of a report."""

import json
from collections.abc import Iterable, Iterator
from math import isinf
from pathlib import Path
from typing import Any

from reports import names, speed
from reports.lines import lines
from reports.summary import Crossing, Estimate, Line
from suites.records import read_run


def lines_as_json(folders: Iterable[Path]) -> str:
    """A JSON array, one object a run, task, batch size and contestant and one object a line.

    `a_ms` and `b_ms_per_token` are those of t(L) = a + bL, whether or not `curved` says that there is no such line;
    `b_over_baseline` is b over that of `baseline`. `ahead` says where the contestant takes less time than the baseline:
    `always`, `never`, `from` or `until` so many `tokens`. An interval is [low, high] at 95 %; a null in one is open, as
    far as `lengths` go, and a null for one means too few repeats, `n`. Raises as `read_run` does.
    """
    rows = (json.dumps(row, allow_nan=False) for folder in folders for row in _rows(folder))
    return "[\n" + ",\n".join(rows) + "\n]"


def _rows(folder: Path) -> Iterator[dict[str, Any]]:
    run = read_run(folder)
    order = names.contestants(run.records, ())
    baseline = speed.baseline_label(order)
    for line in lines(run.records, order, baseline):
        yield {"run": str(folder), **_row(line, baseline)}


def _row(line: Line, baseline: str | None) -> dict[str, Any]:
    curvature = line.curvature
    return {
        "task": line.task,
        "batch_size": line.batch_size,
        "strategy": line.label,
        "mode": line.mode,
        "lengths": line.tokens,
        "n": line.a_ms.n if line.a_ms else 0,
        **_estimate("a_ms", line.a_ms),
        **_estimate("b_ms_per_token", line.b_ms),
        "baseline": baseline,
        **_estimate("b_over_baseline", line.relative_b),
        "curved": curvature.curved if curvature else None,
        "line_error": curvature.line_error if curvature else None,
        "quadratic_error": curvature.quadratic_error if curvature else None,
        "ahead": _crossing(line.with_baseline),
    }


def _estimate(name: str, estimate: Estimate | None) -> dict[str, Any]:
    bounds = None if estimate is None or estimate.low is None else [estimate.low, estimate.high]
    return {name: estimate.value if estimate else None, f"{name}_interval": bounds}


def _crossing(crossing: Crossing | None) -> dict[str, Any] | None:
    if crossing is None:
        return None
    found = crossing.found
    bounds = None if found.low is None or found.high is None else [_finite(found.low), _finite(found.high)]
    return {
        "answer": found.answer,
        "tokens": _finite(found.crossing),
        "interval": bounds,
        "of_lines": crossing.of_lines,
    }


def _finite(tokens: float) -> float | None:
    return None if isinf(tokens) else tokens
