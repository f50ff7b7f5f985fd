"""Small runs of one contestant each, to be put together: every number in them is chosen by the test."""

from collections.abc import Sequence
from dataclasses import replace

from reports.summary import Cell, Summary
from tests.reports.synthetic import Made, add_output, record


def timed(label: str, latencies_s: Sequence[float], kept: int | Sequence[int] = 10, mode: str = "exact") -> Made:
    counts = [kept] * len(latencies_s) if isinstance(kept, int) else kept
    made = Made()
    made.records = [
        record(label, mode=mode, length=10, repeat=i, latency_s=s, kept=n)
        for i, (s, n) in enumerate(zip(latencies_s, counts, strict=True))
    ]
    return made


def together(*parts: Made) -> Made:
    return Made(
        records=[r for part in parts for r in part.records],
        samples=[s for part in parts for s in part.samples],
        scores=[s for part in parts for s in part.scores],
    )


def scored(label: str, texts: Sequence[str], reference: str = "the king went out from there") -> Made:
    made = Made()
    batch = record(label, mode="batched", length=None, repeat=0, latency_s=1.0, kept=6)
    made.records = [replace(batch, prompt_rows=tuple(range(len(texts))))]
    for row, text in enumerate(texts):
        add_output(made, batch.key, label, row, reference, text)
    return made


def cell_of(summary: Summary, label: str) -> Cell:
    return next(cell for cell in summary.cells if cell.label == label)
