"""The tables in which contestants compete: a row each, the best of a column marked."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from metrics.registry import METRICS
from reports import caveats, entries
from reports.entries import Entry
from reports.formats import NONE, fixed, interval, workload
from reports.summary import Cell, Contestant, Estimate, Quality, Speedup, Summary
from reports.tables import Table

SHOWN_METRICS = {  # metric name -> (head, decimals)
    "bleu": ("BLEU", 1),
    "chrf": ("chrF", 1),
    "ter": ("TER", 1),
    "repeated_token_rate": ("repeated tokens", 2),
    "seq_rep_4": ("seq-rep-4", 3),
    "length_ratio": ("length ratio", 3),
    "short_share": ("short outputs", 3),
    "empty_share": ("empty outputs", 3),
    "name_recall": ("name recall", 3),
}


Column = tuple[str, Callable[[Contestant], Entry], Callable[[Contestant], float | None] | None]  # None: no best


def race_table(summary: Summary, task: str) -> Table | None:
    """One row a contestant at the task's headline workload: time, both speedups, their price in quality, the work."""
    headline = summary.headline_workload(task)
    contestants = [c for c in summary.contestants if summary.headline(task, c.label) or summary.quality(task, c.label)]
    if not contestants:
        return None

    def cell(c: Contestant) -> Cell | None:
        return summary.headline(task, c.label)

    def score(name: str) -> Callable[[Contestant], Estimate | None]:
        return lambda c: q.scores.get(name) if (q := summary.quality(task, c.label)) else None

    def like(c: Contestant) -> Speedup | None:
        return found.like_for_like if (found := cell(c)) else None

    def best(c: Contestant) -> Speedup | None:
        return found.each_at_best if (found := cell(c)) else None

    def gain(c: Contestant) -> Entry:
        return entries.estimate(entries.share(summary.quality(task, c.label)), 0)

    over = f"speedup, × {summary.name(summary.baseline) if summary.baseline else 'AR'}"
    bleu, chrf, repeated = score("bleu"), score("chrf"), score("repeated_token_rate")
    columns: list[Column] = [
        ("latency, ms", lambda c: entries.latency(cell(c)), lambda c: _value(c, cell(c))),
        (over, lambda c: entries.speedup(summary, like(c), c.label, named=False), lambda c: _ratio(like(c))),
        ("speedup, × best AR", lambda c: entries.speedup(summary, best(c), c.label), lambda c: _ratio(best(c))),
        ("BLEU", lambda c: entries.estimate(bleu(c), 1), lambda c: _best(bleu(c))),
        ("chrF", lambda c: entries.estimate(chrf(c), 1), lambda c: _best(chrf(c))),
        ("AR's gain, %", gain, None),
        ("repeated tokens, %", lambda c: entries.estimate(repeated(c), 2), lambda c: _best(repeated(c), -1)),
        ("calls", lambda c: Entry(fixed(found.calls if (found := cell(c)) else None)), None),
        ("positions", lambda c: Entry(fixed(found.positions if (found := cell(c)) else None)), None),
    ]
    where = "quality only" if headline is None else workload(*headline)
    columns = [column for column in columns if any(column[1](c).text != NONE for c in contestants)]
    cells = [found for c in contestants if (found := cell(c))]
    note = (
        "Median latency of one request; AR's gain: share of AR's BLEU gain over copying the source; calls, positions: "
        "mean model calls and token positions of a request, of engines we can look into."
    )
    note = caveats.joined(note, caveats.strongest(summary, task, cells), caveats.exact_beside_bleu(summary, cells))
    return _table(f"The race on {task}, {where}", note, contestants, columns)


def quality_table(summary: Summary, task: str) -> Table | None:
    """One row a contestant with every metric, and the references' own repetition as the last row."""
    found = [(c, q) for c in summary.contestants if (q := summary.quality(task, c.label))]
    if not found:
        return None
    by_label = {c.label: q for c, q in found}
    names = [name for name in METRICS if any(name in q.scores for _, q in found)]
    columns: list[Column] = [("sentences", lambda c: entries.sentences(by_label[c.label]), None)]
    columns += [_metric_column(name, by_label) for name in names]
    columns += [
        ("BLEU against AR", lambda c: entries.difference(by_label[c.label]), None),
        ("AR's gain, %", lambda c: _bounded(entries.share(by_label[c.label]), 0), None),
        ("same as ar, %", lambda c: entries.same_as_ar(by_label[c.label].same_as_ar), None),
    ]
    note = (
        "Corpus scores with 95 % bootstrap intervals over sentences; sentences: scored of asked. Skipped: outputs "
        "with nothing to measure, such as a sentence without a name. Same as ar: outputs "
        "with the very token ids of our own greedy AR, and the mean leading tokens alike; of AR engines and "
        "speculative decoding with its weights."
    )
    table = _table(f"Quality on {task}", note, [c for c, _ in found], columns)
    return replace(table, rows=(*table.rows, *_references_row(summary, task, names)))


def _table(title: str, note: str, contestants: Sequence[Contestant], columns: Sequence[Column]) -> Table:
    """The table with the best of each column marked, where two or more compete."""
    best = [_top([key(c) for c in contestants]) if key else None for _, _, key in columns]
    rows = tuple(
        (
            entries.who(contestant),
            *(
                replace(entry(contestant), best=key is not None and top is not None and key(contestant) == top)
                for (_, entry, key), top in zip(columns, best, strict=True)
            ),
        )
        for contestant in contestants
    )
    return Table(title, note, ("contestant", *(head for head, _, _ in columns)), rows)


def _top(values: Sequence[float | None]) -> float | None:
    present = [value for value in values if value is not None]
    top = max(present, default=None)
    shared = present.count(top) if top is not None else 0
    return top if 2 * shared <= len(present) else None  # what most contestants reach sets nobody apart


def _value(contestant: Contestant, cell: Cell | None) -> float | None:
    """Minus the latency, since the lowest is best; who decodes nothing is no contestant for speed."""
    return None if cell is None or contestant.kind in ("copy", "floor") else -cell.latency_s.value


def _ratio(speedup: Speedup | None) -> float | None:
    return speedup.ratio.value if speedup else None


def _best(estimate: Estimate | None, sign: int = 1) -> float | None:
    return sign * estimate.value if estimate else None


def _metric_column(name: str, by_label: dict[str, Quality]) -> Column:
    metric, (head, decimals) = METRICS[name], SHOWN_METRICS.get(name, (name, 3))
    sign = {"higher": 1, "lower": -1, "none": 0}[metric.direction]

    def entry(contestant: Contestant) -> Entry:
        quality = by_label[contestant.label]
        return _measured(quality.scores.get(name), decimals, quality.n)

    def key(contestant: Contestant) -> float | None:
        return _best(by_label[contestant.label].scores.get(name), sign)

    arrow = {"higher": " ↑", "lower": " ↓", "none": ""}[metric.direction]
    unit = "" if metric.unit == "ratio" else f", {metric.unit}"
    return f"{head}{unit}{arrow}", entry, key if sign else None


def _bounded(estimate: Estimate | None, decimals: int) -> Entry:
    """The value and its interval; n stands in a column of its own."""
    if estimate is None:
        return Entry(NONE)
    return Entry(fixed(estimate.value, decimals), entries.small(interval(estimate, 1, decimals)))


def _measured(estimate: Estimate | None, decimals: int, n: int) -> Entry:
    """The same, with how many of the n scored outputs had something to measure where others had not."""
    entry = _bounded(estimate, decimals)
    if estimate is None or estimate.n == n:
        return entry
    return replace(entry, detail=(*entry.detail, f"n = {estimate.n:,}, {n - estimate.n:,} skipped"))


def _references_row(summary: Summary, task: str, names: Sequence[str]) -> list[tuple[Entry, ...]]:
    own = summary.reference_scores.get(task)
    if not own:
        return []
    scores = [Entry(fixed(own.get(name), SHOWN_METRICS.get(name, (name, 3))[1])) for name in names]
    return [(Entry("the references"), Entry(NONE), *scores, *[Entry(NONE)] * 3)]
