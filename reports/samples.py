"""Outputs side by side: which rows are shown, by a rule nobody can bend, and where words repeat."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from reports.names import clipped, visible
from reports.summary import Contestant, Summary
from suites.records import Sample

EVEN, REPETITIVE = 18, 6  # rows shown: evenly spaced, and with the most repeated tokens
MAX_CHARS, PAGE_CHARS = 1200, 300_000  # of one text, of all: the page stays small whatever the models wrote
RULE = (
    f"Up to {EVEN} rows at equal steps through the test set, whatever was written there, and up to {REPETITIVE} with "
    "the most repeated tokens over all contestants. ↻ marks a word equal to the one before it, case and punctuation "
    "aside; the count beside a name is of adjacent equal sub-word ids."
)


@dataclass(frozen=True, slots=True)
class Output:
    contestant: Contestant
    words: tuple[tuple[str, bool], ...]  # (word or space between words, repeats the word before)
    repeats: int
    finish_reason: str


@dataclass(frozen=True, slots=True)
class Shown:
    anchor: str
    task: str
    row: int
    why: str
    source: str
    reference: str
    outputs: tuple[Output, ...]


def shown(summary: Summary) -> tuple[Shown, ...]:
    """The rows to show, the evenly spaced ones first, with every contestant's output."""
    rows: dict[tuple[str, int], dict[str, Sample]] = {}
    for sample in summary.samples:
        rows.setdefault((sample.task, sample.row), {})[sample.label] = sample
    picked = _picked(rows)
    texts = len(picked) * (len(summary.contestants) + 2)
    width = min(MAX_CHARS, PAGE_CHARS // max(texts, 1))
    return tuple(_shown(summary, key, why, rows[key], width) for key, why in picked)


def repeated_ids(token_ids: Sequence[int]) -> int:
    """How many token ids equal the one before them."""
    return sum(a == b for a, b in zip(token_ids, token_ids[1:], strict=False))


def marked(text: str) -> tuple[tuple[str, bool], ...]:
    """The words of `text` and the spaces between them, and of each whether it is a word that repeats the last one."""
    found, last = [], ""
    for piece in re.findall(r"\s+|\S+", text):
        core = "" if piece.isspace() else _core(piece)
        found.append((piece, core != "" and core == last))
        last = core or last
    return tuple(found)


def _core(piece: str) -> str:
    word = piece.casefold()
    return re.sub(r"^\W+|\W+$", "", word) or word


def _picked(rows: dict[tuple[str, int], dict[str, Sample]]) -> list[tuple[tuple[str, int], str]]:
    keys = sorted(rows)
    if len(keys) <= EVEN:
        return [(key, "evenly spaced") for key in keys]
    even = [keys[round(i * (len(keys) - 1) / (EVEN - 1))] for i in range(EVEN)]
    repeats = {key: sum(repeated_ids(sample.token_ids) for sample in rows[key].values()) for key in keys}
    worst = [key for key in sorted(keys, key=lambda key: (-repeats[key], key)) if repeats[key] and key not in even]
    return [(key, "evenly spaced") for key in even] + [(key, "most repeated tokens") for key in worst[:REPETITIVE]]


def _shown(summary: Summary, key: tuple[str, int], why: str, samples: dict[str, Sample], width: int) -> Shown:
    task, row = key
    outputs = tuple(_output(c, samples[c.label], width) for c in summary.contestants if c.label in samples)
    first = next(iter(samples.values()))
    anchor = f"sample-{summary.tasks.index(task) + 1 if task in summary.tasks else 0}-{row}"
    source, reference = (clipped(visible(text), width) for text in (first.source, first.reference))
    return Shown(anchor, task, row, why, source, reference, outputs)


def _output(contestant: Contestant, sample: Sample, width: int) -> Output:
    words = marked(clipped(visible(sample.text), width))
    return Output(contestant, words, repeated_ids(sample.token_ids), sample.finish_reason)
