"""The changes between two runs for a terminal and for programs."""

import json
from dataclasses import asdict

from metrics.significance import Ratio
from reports.compare import Changes, LatencyChange, QualityChange
from reports.entries import Entry
from reports.formats import NONE, number, p_value, signed, workload
from reports.names import clipped, visible
from reports.rankings import SHOWN_METRICS
from reports.tables import Table
from reports.text import plain

LATENCY_NOTE = (
    "Change: second run's median over the first's, above 1 is slower, its samples drawn apart since the runs were not "
    "interleaved. Relative to ar: the same of the time over ar's in the same run, in which a run slow as a whole "
    "cancels. 95 % intervals; – under 6 samples, or without ar."
)
QUALITY_NOTE = "Second run minus first, paired over the sentences both wrote; two-sided p-values, each asked alone."


def changes_as_json(changes: Changes) -> str:
    """One JSON object: `differences`, `latencies`, `qualities`, `only_in`; ratios are second over first."""
    return json.dumps(asdict(changes), ensure_ascii=True, allow_nan=False)


def changes_as_text(changes: Changes) -> str:
    """What differs between the runs, then a table of latencies and one of quality."""
    parts = [f"Differs: {line}" for line in changes.differences]
    parts += [
        f"Only in the {which} run: {line}" for which, own in zip(RUNS, changes.only_in, strict=True) for line in own
    ]
    latencies = Table("Latency", LATENCY_NOTE, LATENCY_HEADS, tuple(map(_latency, changes.latencies)))
    qualities = Table("Quality", QUALITY_NOTE, QUALITY_HEADS, tuple(map(_quality, changes.qualities)))
    tables = [plain(table) for table in (latencies, qualities) if table.rows]
    return "\n\n".join(visible(text) for text in ["\n".join(parts), *tables] if text)


RUNS = ("first", "second")
LATENCY_HEADS = ("contestant", "task", "workload", "first, ms", "second, ms", "change, ×", "relative to ar, ×", "n")
QUALITY_HEADS = ("contestant", "task", "metric", "change", "p", "n")


def _latency(change: LatencyChange) -> tuple[Entry, ...]:
    return (
        Entry(clipped(change.label, 60)),
        Entry(clipped(change.task, 40)),
        Entry(workload(change.length, change.batch_size)),
        Entry(number(change.before_ms)),
        Entry(number(change.after_ms)),
        Entry(_ratio(change.ratio)),
        Entry(_ratio(change.relative)),
        Entry(f"{change.n[0]}, {change.n[1]}"),
    )


def _quality(change: QualityChange) -> tuple[Entry, ...]:
    head, decimals = SHOWN_METRICS[change.metric]
    found = change.change
    bounds = f"[{signed(found.low, decimals)}, {signed(found.high, decimals)}]"
    return (
        Entry(clipped(change.label, 60)),
        Entry(clipped(change.task, 40)),
        Entry(head),
        Entry(f"{signed(found.difference, decimals)} {bounds}"),
        Entry(p_value(found.p_value)),
        Entry(f"{change.n:,}"),
    )


def _ratio(ratio: Ratio | None) -> str:
    return NONE if ratio is None else f"{number(ratio.value)} [{number(ratio.low)}, {number(ratio.high)}]"
