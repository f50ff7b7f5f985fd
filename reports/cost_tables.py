"""The tables behind the figures of costs, and that of memory, which has none."""

from collections.abc import Sequence

from reports import entries
from reports.costs import PARTS, Memory, OverFloor, Parts, Roofline
from reports.entries import Entry
from reports.formats import NONE, fixed, interval, number
from reports.summary import Estimate, Summary
from reports.tables import Table

MB = 2**20
PARTS_NOTE = (
    "Median ms a request by part, with its 95 % interval, and the part's share of all trials' time (a ratio of "
    "totals); n: trials. Prefill: the encoder and what it prepares. Steps: decoder passes, drafts, searching and "
    "choosing. Overhead: what lies in the latency and in no step. Engine: one we cannot look into."
)
ROOFLINE_NOTE = (
    "A mean decoder pass: bytes and operations from the model's shape (weights read once a pass, inputs and outputs of "
    "products once, keys and values once; a multiplication with its addition is two), per pass; time: median over n "
    "trials of the decoder's seconds a pass, with its 95 % interval. Shares: bytes/s and FLOP/s achieved over what the "
    "machine did at the start of this run, with the run's threads, at that working set. Verdict: the higher share's "
    "roof where it explains half of the time or more, else dispatch-bound: starting many small operations, or kernels "
    "far from both roofs. Whole: the request's whole time and work, encoder included, stand for its passes; an engine "
    "is taken to make one cached step a token, and its FLOP/s are set beside those of the run's dtype."
)
FLOOR_NOTE = (
    "Median latency over that of one parallel scoring pass of as many tokens (the denominator, in small print), in the "
    "n repeats both ran, with its 95 % interval by bootstrap over whole repeats. A single decoder pass over as many "
    "positions does the same work, so it stands at about 1, above or below by noise; only an interval that lies wholly "
    "below 1 says that less work was done: a smaller pass, or a smaller model."
)
MEMORY_NOTE = (
    "MB of 2^20 bytes. Peak: the most that was ever resident in a process that loaded the contestant and answered one "
    "request, the largest of n such processes (in small print the smallest; so few give no interval). Loaded: resident "
    "before the request. Python and torch are in all of them; copy, which has no model, shows how much they take. "
    "Never timed, and no denominator."
)


def parts_table(summary: Summary, task: str, *, by_source: bool) -> Table:
    """One row a cell: its median latency and where it went."""
    found = [
        p for p in summary.costs.parts if p.place.task == task and (p.place.source_length is not None) == by_source
    ]
    there = [part for part in PARTS if any(part in parts.shares for parts in found)]
    source = ("source",) if by_source else ()
    heads = ("contestant", *source, "length", "batch", "latency, ms", *(f"{part}, ms" for part in there))
    rows = [
        (
            entries.who(summary.contestant(parts.place.label)),
            *([Entry(str(parts.place.source_length))] if by_source else []),
            *_workload(parts),
            _milliseconds(parts.latency_s),
            *(_part(parts, part) for part in there),
        )
        for parts in found
    ]
    title = f"Source length by output length on {task}" if by_source else f"Where a request's time goes on {task}"
    return Table(title, PARTS_NOTE, heads, tuple(rows), facets=(("task", task),))


def roofline_table(summary: Summary, task: str) -> Table:
    """One row a cell: what a pass moves and computes, how fast, and what holds it up."""
    heads = (
        *("contestant", "length", "batch", "ms a pass", "passes", "MB a pass", "MFLOP a pass", "FLOP/byte"),
        *("GB/s here", "of bandwidth, %", "of FLOP/s, %", "verdict"),
    )
    rows = [_roofline_row(summary, r) for r in summary.costs.rooflines if r.place.task == task]
    return Table(f"Roofline on {task}", ROOFLINE_NOTE, heads, tuple(rows), facets=(("task", task),))


def memory_table(summary: Summary) -> Table:
    """One row a contestant and shape."""
    device = any(memory.device_peak_bytes is not None for memory in summary.costs.memories)
    heads = ("contestant", "task", "length", "batch", "peak, MB", "loaded, MB", "request, MB")
    rows = [_memory_row(summary, memory, device) for memory in summary.costs.memories]
    return Table("Memory", MEMORY_NOTE, (*heads, *(["on the device, MB"] if device else [])), tuple(rows))


def floor_table(summary: Summary, task: str) -> Table:
    """One row a cell that has a scoring pass beside it."""
    found = [over for over in summary.costs.over_floor if over.place.task == task]
    rows = [
        (
            entries.who(summary.contestant(over.place.label)),
            *_workload(over),
            Entry(number(over.ratio.value), _over(summary, over)),
        )
        for over in found
    ]
    heads = ("contestant", "length", "batch", "time over the floor's, ×")
    return Table(f"Above one scoring pass on {task}", FLOOR_NOTE, heads, tuple(rows), facets=(("task", task),))


def _over(summary: Summary, over: OverFloor) -> tuple[str, ...]:
    return entries.small(interval(over.ratio), over.ratio.n, f"over {summary.name(over.floor)}")


def cost_tables(summary: Summary) -> list[Table]:
    """Every table of costs that has a row."""
    found = [table for task in summary.tasks for table in _of_task(summary, task)]
    return [table for table in (*found, memory_table(summary)) if table.rows]


def _of_task(summary: Summary, task: str) -> Sequence[Table]:
    return (
        parts_table(summary, task, by_source=True),
        parts_table(summary, task, by_source=False),
        roofline_table(summary, task),
        floor_table(summary, task),
    )


def _workload(row: Parts | Roofline | Memory | OverFloor) -> tuple[Entry, Entry]:
    length = row.place.length
    return Entry("natural" if length is None else str(length)), Entry(str(row.place.batch_size))


def _milliseconds(seconds: Estimate) -> Entry:
    return Entry(number(1000 * seconds.value), entries.small(interval(seconds, 1000), seconds.n))


def _part(parts: Parts, part: str) -> Entry:
    if part not in parts.seconds:
        return Entry(NONE)
    entry = _milliseconds(parts.seconds[part])
    return Entry(entry.text, (f"{fixed(100 * parts.shares[part])} % of the time", *entry.detail))


def _roofline_row(summary: Summary, r: Roofline) -> tuple[Entry, ...]:
    return (
        entries.who(summary.contestant(r.place.label)),
        *_workload(r),
        _milliseconds(r.pass_s),
        Entry(fixed(r.passes)),
        Entry(number(r.bytes / MB)),
        Entry(number(r.flop / 1e6)),
        Entry(number(r.flop_per_byte)),
        Entry(number(r.bytes_per_s / 1e9)),
        Entry(fixed(100 * r.roof.bandwidth_share, 0)),
        Entry(fixed(100 * r.roof.flop_share, 0)),
        Entry(r.roof.bound, ("whole",) if r.whole else ()),
    )


def _memory_row(summary: Summary, memory: Memory, device: bool) -> tuple[Entry, ...]:
    on_device = memory.device_peak_bytes
    return (
        entries.who(summary.contestant(memory.place.label)),
        Entry(memory.place.task),
        *_workload(memory),
        Entry(fixed(memory.peak_bytes / MB), (f"from {fixed(memory.least_peak_bytes / MB)}", f"n = {memory.n}")),
        Entry(fixed(memory.loaded_bytes / MB)),
        Entry(fixed((memory.peak_bytes - memory.loaded_bytes) / MB)),
        *([Entry(NONE if on_device is None else fixed(on_device / MB))] if device else []),
    )
