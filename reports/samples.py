"""Outputs side by side: which rows are shown, by a rule nobody can bend, and what is said beside each output."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache

from markupsafe import escape

from reports.formats import fixed, number
from reports.marks import Run, marked
from reports.names import clipped, visible
from reports.rows import RowFacts
from reports.summary import Contestant, Summary
from suites.records import Sample

ROWS, REPETITIVE, APART = 200, 40, 40  # rows shown at most; of them for most repeated tokens, and for widest gap
MAX_CHARS = 1200  # of one text
BUDGET_BYTES = 700_000  # of all samples together: the page stays under 2 MB whatever the models wrote
RULE = (
    f"At most {ROWS} rows of the test sets: if there are more, three fifths at equal steps whatever was written there, "
    "one fifth with the most repeated tokens over all contestants, and one fifth with the widest gap between the best "
    "and the worst contestant's chrF; fewer where long texts would make this page heavy. A text that several wrote "
    "stands once. Below a name: chrF of this one output, how often a token id equals the one before it (↻), and the "
    "median latency and calls where the same request was timed alone."
)
LEGEND = (  # symbol's element, what it says
    ("ins", "words", "not what the reference has there"),
    ("del", "2", "so many words of the reference are missing"),
    ("mark", "word", "repeats the word before"),
)
Key = tuple[str, int]  # task, row
Rows = dict[Key, dict[str, Sample]]  # by label


@dataclass(frozen=True, slots=True)
class Output:
    """One text, with all who wrote it."""

    writers: tuple[tuple[Contestant, str], ...]  # each with what is known of its output
    runs: tuple[Run, ...]


@dataclass(frozen=True, slots=True)
class Shown:
    anchor: str
    task: str
    row: int
    why: str
    source: str
    reference: str
    outputs: tuple[Output, ...]
    repeats: int  # adjacent equal token ids, over all contestants
    gap: float  # best chrF minus worst among decoding contestants; 0 where unknown


def shown(summary: Summary) -> tuple[Shown, ...]:
    """The rows to show, in the test set's order, with every contestant's output."""
    rows: Rows = {}
    for sample in summary.samples:
        rows.setdefault((sample.task, sample.row), {})[sample.label] = sample
    repeats = {key: sum(repeated_ids(s.token_ids) for s in row.values()) for key, row in rows.items()}
    gaps = {key: _gap(summary, key) for key in rows}

    @cache
    def made(key: Key) -> Shown:
        return _shown(summary, key, rows[key], repeats[key], gaps[key])

    n = ROWS
    while True:
        found = [(made(key), why) for key, why in _picked(sorted(rows), repeats, gaps, n)]
        cost = sum(_cost(one) for one, _ in found)
        if cost <= BUDGET_BYTES or n <= 1:
            return tuple(replace(one, why=why) for one, why in found)
        n = max(1, min(n - 1, len(found) * BUDGET_BYTES // cost))


def repeated_ids(token_ids: Sequence[int]) -> int:
    """How many token ids equal the one before them."""
    return sum(a == b for a, b in zip(token_ids, token_ids[1:], strict=False))


def _gap(summary: Summary, key: Key) -> float:
    task, row = key
    facts = (summary.rows.get((task, c.label, row)) for c in summary.contestants if c.kind != "copy")
    values = [one.chrf for one in facts if one and one.chrf is not None]
    return max(values) - min(values) if values else 0.0


def _picked(keys: Sequence[Key], repeats: dict[Key, int], gaps: dict[Key, float], n: int) -> list[tuple[Key, str]]:
    """At most `n` keys, each with why it was taken."""
    if len(keys) <= n:
        return [(key, "") for key in keys]
    special = n * REPETITIVE // ROWS
    even = n - 2 * special
    step = (len(keys) - 1) / max(even - 1, 1)
    picked = {keys[round(i * step)]: "at equal steps" for i in range(even)}
    for why, values in (("most repeated tokens", repeats), ("widest gap in chrF", gaps)):
        ranked = sorted((key for key in keys if values[key] and key not in picked), key=lambda key: (-values[key], key))
        picked |= dict.fromkeys(ranked[:special], why)
    return sorted(picked.items())


def _shown(summary: Summary, key: Key, samples: dict[str, Sample], repeats: int, gap: float) -> Shown:
    task, row = key
    first = next(iter(samples.values()))
    source, reference = (clipped(visible(text), MAX_CHARS) for text in (first.source, first.reference))
    outputs = _outputs(summary, key, samples, reference)
    anchor = f"sample-{summary.tasks.index(task) + 1 if task in summary.tasks else 0}-{row}"
    return Shown(anchor, task, row, "", source, reference, outputs, repeats, gap)


def _outputs(summary: Summary, key: Key, samples: dict[str, Sample], reference: str) -> tuple[Output, ...]:
    """Each different text once, in the order of the contestants."""
    writers: dict[str, list[tuple[Contestant, str]]] = {}
    for c in summary.contestants:
        if sample := samples.get(c.label):
            facts = summary.rows.get((key[0], c.label, key[1]), RowFacts())
            writers.setdefault(sample.text, []).append((c, _facts(sample, facts)))
    return tuple(
        Output(tuple(who), marked(clipped(visible(text), MAX_CHARS), reference)) for text, who in writers.items()
    )


def _facts(sample: Sample, facts: RowFacts) -> str:
    repeats = repeated_ids(sample.token_ids)
    said = [
        f"chrF {fixed(facts.chrf)}" if facts.chrf is not None else "",
        f"↻ {repeats}" if repeats else "",
        f"{number(1000 * facts.latency_s)} ms" if facts.latency_s is not None else "",
        f"{number(facts.calls)} calls" if facts.calls is not None else "",
        f"ended by {visible(sample.finish_reason)}" if sample.finish_reason != "eos" else "",
    ]
    return " · ".join(filter(None, said))


def _cost(one: Shown) -> int:
    """About how many bytes of the page a row takes."""
    texts = [one.source, one.source[:70], one.reference]
    runs = [run for output in one.outputs for run in output.runs]
    marks = sum(11 + 2 * len(run.mark) for run in runs if run.mark)
    return (
        400
        + 180 * sum(len(output.writers) for output in one.outputs)
        + marks
        + _bytes(texts)
        + _bytes(run.text for run in runs)
    )


def _bytes(texts: Iterable[str]) -> int:
    return sum(len(escape(text).encode("utf-8", "replace")) for text in texts)
