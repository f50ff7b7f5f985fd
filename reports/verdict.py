"""The verdict in plain sentences, each computed from the summary, with its numbers, intervals and denominators."""

from dataclasses import dataclass

from reports.caveats import THREADS, exact_lengths, joined
from reports.choices import lead_cell, representatives
from reports.cost_words import floor_sentences
from reports.curves import curves
from reports.evidence_words import front_sentences, literature_sentences, one_shot_sentences
from reports.formats import fixed, listed, number, p_value, signed, with_interval
from reports.lead import both, lead, where
from reports.line_words import line_sentence
from reports.names import visible
from reports.summary import Cell, Contestant, Difference, Quality, Speedup, Summary


@dataclass(frozen=True, slots=True)
class Verdict:
    lead: str  # one sentence
    findings: tuple[tuple[str, tuple[str, ...]], ...]  # (topic, paragraphs)
    missing: tuple[str, ...]
    shown_by: dict[str, tuple[tuple[str, ...], str]]  # lead or paragraph -> (kinds of figure that show it, the task)


def verdict(summary: Summary) -> Verdict:
    """What the run shows, in words; `choices` says which contestants and workloads stand for the run."""
    topics = (
        ("Speed", "speedup", _speed),
        ("AR engines", "latency", _engines),
        ("Floor", "", floor_sentences),
        ("Quality", "quality", _quality),
        ("Iterations", "n-iterations", _iterations),
        ("Front", "quality", front_sentences),
        ("Literature", "", literature_sentences),
        ("One-shot", "", one_shot_sentences),
    )
    found = [(topic, kind, task, written(summary, task)) for topic, kind, written in topics for task in summary.tasks]
    findings = {topic: tuple(p for name, _, _, texts in found if name == topic for p in texts) for topic, *_ in topics}
    first, led = lead(summary), lead_cell(summary)
    shown_by: dict[str, tuple[tuple[str, ...], str]] = {t: ((kind,), task) for _, kind, task, ts in found for t in ts}
    shown_by |= {first: (("speedup", "quality"), led.task)} if led else {}
    return Verdict(
        first, tuple((topic, texts) for topic, texts in findings.items() if texts), summary.missing, shown_by
    )


def _speed(summary: Summary, task: str) -> list[str]:
    paragraphs = []
    for contestant in representatives(summary, task):
        if cell := summary.headline(task, contestant.label):
            line = summary.line(task, contestant.label, cell.batch_size)
            sentences = [_latency_sentence(summary, cell), *_grid_sentence(summary, contestant, cell)]
            sentences += [line_sentence(summary, line)] if line else []
            paragraphs.append(joined(*sentences, exact_lengths(summary, [cell])))
    return paragraphs


def _latency_sentence(summary: Summary, cell: Cell) -> str:
    latency, speedups = with_interval(cell.latency_s, 1000, unit=" ms"), both(summary, cell)
    start = f"{where(cell)}, {summary.name(cell.label)} takes {latency} (median of {cell.latency_s.n})"
    return f"{start}: {speedups}." if speedups else f"{start}."


def _grid_sentence(summary: Summary, contestant: Contestant, headline: Cell) -> list[str]:
    """At which measured lengths the contestant is ahead, against each denominator."""
    cells = [
        cell
        for cell in summary.cells
        if (cell.task, cell.label, cell.batch_size) == (headline.task, contestant.label, headline.batch_size)
        and cell.length is not None
    ]
    like = [(cell, cell.like_for_like) for cell in cells if cell.like_for_like]
    best = [(cell, cell.each_at_best) for cell in cells if cell.each_at_best]
    same = [s.against for _, s in like] == [s.against for _, s in best]
    sides = [like] if same else [like, best]
    parts = [_ahead(summary, pairs) for pairs in sides if len(pairs) > 1]
    return [f"It is faster than {', and than '.join(parts)}."] if parts else []


def _ahead(summary: Summary, pairs: list[tuple[Cell, Speedup]]) -> str:
    """`ar at 32 and 64 tokens but not at 8`: faster means that the whole interval lies above 1."""
    against = listed(sorted({summary.name(speedup.against) for _, speedup in pairs}))
    ahead = [str(cell.length) for cell, speedup in pairs if _bound(speedup) > 1]
    behind = [str(cell.length) for cell, speedup in pairs if _bound(speedup) <= 1]
    ends = f"from {pairs[0][0].length} to {pairs[-1][0].length} tokens"
    if not behind:
        return f"{against} at every length {ends}"
    return (
        f"{against} at {listed(ahead)} tokens but not at {listed(behind)}"
        if ahead
        else f"{against} at no length {ends}"
    )


def _bound(speedup: Speedup) -> float:
    return speedup.ratio.value if speedup.ratio.low is None else speedup.ratio.low


def _engines(summary: Summary, task: str) -> list[str]:
    """The AR engines from fast to slow: how much a speedup depends on the denominator."""
    found = [(c, summary.headline(task, c.label)) for c in summary.contestants if c.kind == "ar"]
    timed = sorted(
        ((cell.ms_per_token, c.name, cell) for c, cell in found if cell and cell.ms_per_token), key=lambda t: t[0]
    )
    if len(timed) < 2:
        return []
    fastest, *others = timed
    rest = listed([f"{name} {number(ms, 2)}" for ms, name, _ in others])
    first = f"{fastest[1]} is the fastest AR engine {THREADS}, with {number(fastest[0], 2)} ms a token"
    return [f"{where(fastest[2])}, {first}; {rest} ms."]


def _quality(summary: Summary, task: str) -> list[str]:
    found = [(c, summary.quality(task, c.label)) for c in representatives(summary, task)]
    return [_quality_sentence(summary, c, quality) for c, quality in found if quality and "bleu" in quality.scores]


def _quality_sentence(summary: Summary, contestant: Contestant, quality: Quality) -> str:
    bleu = with_interval(quality.scores["bleu"], decimals=1)
    start = (
        f"On {quality.task} ({quality.n:,} of {quality.n_expected:,} sentences), {contestant.name} scores {bleu} BLEU"
    )
    parts = [_difference(summary, quality.bleu_difference)] if quality.bleu_difference else []
    if share := quality.share_of_ar_gain:
        parts.append(f"{with_interval(share, decimals=0, unit=' %')} of AR's gain over copying the source")
    if repeated := quality.scores.get("repeated_token_rate"):
        own = summary.reference_scores.get(quality.task, {}).get("repeated_token_rate")
        beside = "" if own is None else f" (the references: {fixed(own, 2)} %)"
        parts.append(f"{with_interval(repeated, decimals=2, unit=' %')} of its tokens repeat the one before{beside}")
    return f"{start}: {'; '.join(parts)}." if parts else f"{start}."


def _difference(summary: Summary, difference: Difference) -> str:
    bounds = f"[{signed(difference.low)}, {signed(difference.high)}]"
    judged = "significant" if difference.significant else "not significant"
    against = f"against {summary.name(difference.against)}, {judged} ({p_value(difference.p_holm)})"
    return f"{signed(difference.value)} {bounds} {against}"


def _iterations(summary: Summary, task: str) -> list[str]:
    sentences = []
    for curve in curves(summary, task, "n_iterations"):
        qualities = [(t, q) for t, contestant in curve.points if (q := summary.quality(task, contestant.label))]
        parts = [
            _trend("BLEU", "bleu", 1, "", qualities),
            _trend("repetition", "repeated_token_rate", 2, " %", qualities),
        ]
        if found := [part for part in parts if part]:
            held = f" with {curve.held}" if curve.held else ""
            sentences.append(f"On {task}, for {visible(curve.strategy)}{held}: {'; '.join(found)}.")
    return sentences


def _trend(what: str, metric: str, decimals: int, unit: str, qualities: list[tuple[int, Quality]]) -> str:
    """`BLEU rises at every step, 16.0 at T = 1 and 31.0 at T = 4`, computed from all points; '' for a single one."""
    points = [(t, q.scores[metric].value) for t, q in qualities if metric in q.scores]
    if len(points) < 2:
        return ""
    shown = points if len(points) < 5 else [points[0], points[len(points) // 3], points[-1]]
    path = listed([f"{fixed(value, decimals)}{unit} at T = {t}" for t, value in shown])
    return f"{what} {_verb([value for _, value in points])}, {path}"


def _verb(values: list[float]) -> str:
    steps = [after - before for before, after in zip(values, values[1:], strict=False)]
    up = values[-1] > values[0]
    steady = min(steps) > 0 if up else max(steps) < 0
    return f"{'rises' if up else 'falls'}{' at every step' if steady else ', though not at every step'}"
