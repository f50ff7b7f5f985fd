"""A summary for a terminal and for programs."""

import json
from typing import Any

from reports.evidence_tables import evidence_tables
from reports.names import visible
from reports.rankings import race_table
from reports.summary import Cell, Contestant, Estimate, Quality, Speedup, Summary
from reports.tables import Table
from reports.verdict import verdict

QUALITIES = ("bleu", "chrf", "ter", "repeated_token_rate", "seq_rep_4", "length_ratio", "name_recall")


def as_json(summary: Summary) -> str:
    """A JSON array, one object a contestant and task and one object a line; null is "not measured or not defined".

    Latency, calls, positions and both speedups are those of the workload named by `mode`, `length` (null: natural
    lengths) and `batch_size`. Under mode "exact" the length was given, so `length_candidates_timed` is 1, while BLEU is
    of outputs at natural lengths. An interval is [low, high]; `METRIC_n` counts the outputs with something to measure
    and `METRIC_skipped` the others; `share_of_ar_gain` is a share, 1 being AR; `same_as_ar` is the share of outputs
    with AR's token ids.
    """
    rows = [_row(summary, coverage.task, coverage.label) for coverage in summary.coverage]
    lines = (json.dumps(row, ensure_ascii=True, allow_nan=False) for row in rows)
    return "[\n" + ",\n".join(lines) + "\n]" if rows else "[]"


def as_text(summary: Summary) -> str:
    """The verdict, the warnings and a table a task, as lines without control characters."""
    found = verdict(summary)
    parts = [found.lead, *(f"{topic}. {text}" for topic, texts in found.findings for text in texts)]
    parts += [f"Missing: {sentence}" for sentence in found.missing if sentence != found.lead]
    parts += [f"Warning: {sentence}" for sentence in summary.warnings]
    parts += [plain(table) for task in summary.tasks if (table := race_table(summary, task))]
    parts += [plain(table) for table in evidence_tables(summary)]
    return "\n\n".join(visible(part) for part in parts)


def _row(summary: Summary, task: str, label: str) -> dict[str, Any]:
    cell, quality = summary.headline(task, label), summary.quality(task, label)
    coverage = next(c for c in summary.coverage if (c.task, c.label) == (task, label))
    return {
        "strategy": label,
        "registry_name": summary.contestant(label).strategy,
        "task": task,
        "n": quality.n if quality else 0,
        "n_expected": quality.n_expected if quality else 0,
        **_quality_fields(quality),
        **_speed_fields(cell, summary.contestant(label)),
        "trials_ok": coverage.ok,
        "trials_planned": coverage.planned,
    }


def _quality_fields(quality: Quality | None) -> dict[str, Any]:
    scores = quality.scores if quality else {}
    share = quality.share_of_ar_gain if quality else None
    fields: dict[str, Any] = {}
    for name in QUALITIES:
        fields[name] = scores[name].value if name in scores else None
        fields[f"{name}_interval"] = _interval(scores.get(name))
        fields[f"{name}_n"] = scores[name].n if name in scores else None
        fields[f"{name}_skipped"] = quality.n - scores[name].n if quality and name in scores else None
    same = quality.same_as_ar if quality else None
    return {
        **fields,
        "share_of_ar_gain": share.value / 100 if share else None,
        "share_of_ar_gain_interval": _interval(share, 0.01),
        "same_as_ar": same.share if same else None,
        "same_as_ar_common_prefix": same.common_prefix if same else None,
        "same_as_ar_n": same.n if same else None,
    }


def _speed_fields(cell: Cell | None, contestant: Contestant) -> dict[str, Any]:
    return {
        "mode": cell.mode if cell else None,
        "length_candidates_timed": _length_candidates(cell, contestant) if cell else None,
        "length": cell.length if cell else None,
        "batch_size": cell.batch_size if cell else None,
        "latency_n": cell.latency_s.n if cell else 0,
        "latency_s_median": cell.latency_s.value if cell else None,
        "latency_s_interval": _interval(cell.latency_s) if cell else None,
        "ms_per_token": cell.ms_per_token if cell else None,
        "tokens_per_s": cell.tokens_per_s if cell else None,
        "calls": cell.calls if cell else None,
        "positions": cell.positions if cell else None,
        "wasted_positions": cell.wasted if cell else None,
        **_speedup_fields("speedup_like_for_like", cell.like_for_like if cell else None),
        **_speedup_fields("speedup_each_at_best", cell.each_at_best if cell else None),
    }


def _length_candidates(cell: Cell, contestant: Contestant) -> int | str | None:
    """How many lengths each timed request tried; null for a strategy that has no length to choose."""
    beam = contestant.length_beam
    if beam is None:
        return None
    if cell.mode == "exact":
        return 1
    return int(beam) if beam.isdecimal() and len(beam) < 10 else beam


def _speedup_fields(name: str, speedup: Speedup | None) -> dict[str, Any]:
    return {
        name: speedup.ratio.value if speedup else None,
        f"{name}_interval": _interval(speedup.ratio) if speedup else None,
        f"{name}_against": speedup.against if speedup else None,
    }


def _interval(estimate: Estimate | None, scale: float = 1.0) -> list[float] | None:
    if estimate is None or estimate.low is None or estimate.high is None:
        return None
    return [estimate.low * scale, estimate.high * scale]


def plain(table: Table) -> str:
    """The table in aligned columns: values without their small print, `*` behind the best."""
    rows = [list(table.heads)] + [[entry.text + ("*" if entry.best else "") for entry in row] for row in table.rows]
    widths = [max(len(row[i]) for row in rows) for i in range(len(table.heads))]
    lines = ["  ".join(_aligned(text, widths[i], i) for i, text in enumerate(row)).rstrip() for row in rows]
    marked = any(entry.best for row in table.rows for entry in row)
    stars = "* best of its column" if marked else ""
    return "\n".join([table.title, *lines, *filter(None, [stars, table.note])])


def _aligned(text: str, width: int, column: int) -> str:
    return text.ljust(width) if column == 0 else text.rjust(width)
