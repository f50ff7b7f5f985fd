"""The verdict in plain sentences, each computed from the summary, with its numbers, intervals and denominators."""

from dataclasses import dataclass

from reports.curves import curves
from reports.formats import fixed, interval, listed, number, p_value, signed, with_interval, workload
from reports.names import visible
from reports.summary import Cell, Contestant, Difference, Quality, Speedup, Summary, workload_of


@dataclass(frozen=True, slots=True)
class Verdict:
    lead: str  # one sentence
    findings: tuple[tuple[str, tuple[str, ...]], ...]  # (topic, paragraphs)
    missing: tuple[str, ...]


def verdict(summary: Summary) -> Verdict:
    """What the run shows, in words; each parallel strategy is represented by its contestant with the best BLEU."""
    topics = (("Speed", _speed), ("AR engines", _engines), ("Quality", _quality), ("Iterations", _iterations))
    findings = [
        (topic, tuple(p for task in summary.tasks for p in written(summary, task))) for topic, written in topics
    ]
    return Verdict(_lead(summary), tuple((topic, texts) for topic, texts in findings if texts), summary.missing)


def representatives(summary: Summary, task: str) -> tuple[Contestant, ...]:
    """One contestant a parallel strategy: the best BLEU in the task, without quality the first."""
    best: dict[str, Contestant] = {}
    for contestant in summary.contestants:
        if contestant.kind == "parallel" and (
            summary.headline(task, contestant.label) or _has_bleu(summary, task, contestant)
        ):
            held = best.setdefault(contestant.strategy, contestant)
            if _bleu(summary, task, contestant) > _bleu(summary, task, held):
                best[contestant.strategy] = contestant
    return tuple(best.values())


def _bleu(summary: Summary, task: str, contestant: Contestant) -> float:
    quality = summary.quality(task, contestant.label)
    return quality.scores["bleu"].value if quality and "bleu" in quality.scores else float("-inf")


def _has_bleu(summary: Summary, task: str, contestant: Contestant) -> bool:
    return _bleu(summary, task, contestant) > float("-inf")


def _lead(summary: Summary) -> str:
    """The fastest parallel contestant against both denominators, and what its speed costs."""
    found = [
        (speedup.ratio.value, cell)
        for task in summary.tasks
        for c in representatives(summary, task)
        if (cell := summary.headline(task, c.label)) and (speedup := cell.each_at_best or cell.like_for_like)
    ]
    if not found:
        return _lead_without_race(summary)
    cell = max(found, key=lambda pair: pair[0])[1]
    speedups = _both(summary, cell, with_bounds=False)
    return f"{_where(cell)}, {summary.name(cell.label)} is {speedups}{_price(summary, cell)}."


def _price(summary: Summary, cell: Cell) -> str:
    """What the lead's contestant costs in BLEU, in its own task or else the first that has it."""
    for task in (cell.task, *summary.tasks):
        quality = summary.quality(task, cell.label)
        if quality and (difference := quality.bleu_difference):
            where = "" if task == cell.task else f" on {task}"
            return f", at {signed(difference.value)} BLEU{where} relative to {summary.name(difference.against)}"
    return "; this run does not say at what cost in quality"


def _lead_without_race(summary: Summary) -> str:
    ok = sum(coverage.ok for coverage in summary.coverage)
    if not ok:
        return summary.missing[0] if summary.missing else "Nothing was measured."
    parallel = any(contestant.kind == "parallel" for contestant in summary.contestants)
    what = "no parallel strategy was timed beside an AR engine" if parallel else "no parallel strategy took part"
    return f"No race to decide: {what}. {ok:,} of {summary.info.expected:,} planned trials succeeded."


def _speed(summary: Summary, task: str) -> list[str]:
    paragraphs = []
    for contestant in representatives(summary, task):
        if cell := summary.headline(task, contestant.label):
            paragraphs.append(" ".join([_latency_sentence(summary, cell), *_grid_sentence(summary, contestant, cell)]))
    return paragraphs


def _latency_sentence(summary: Summary, cell: Cell) -> str:
    latency, speedups = with_interval(cell.latency_s, 1000, unit=" ms"), _both(summary, cell)
    start = f"{_where(cell)}, {summary.name(cell.label)} takes {latency} (median of {cell.latency_s.n})"
    return f"{start}: {speedups}." if speedups else f"{start}."


def _where(cell: Cell) -> str:
    return f"On {cell.task} at {workload(*workload_of(cell))}"


def _both(summary: Summary, cell: Cell, with_bounds: bool = True) -> str:
    """The two speedups with their denominators in words; the second is left out where both are the same."""
    like, best = cell.like_for_like, cell.each_at_best
    parts = []
    if like:
        parts.append(f"{_times(like, with_bounds)} as fast as {summary.name(like.against)} in the same runtime")
    if best and (like is None or best.against != like.against):
        strongest = f"{summary.name(best.against)}, the strongest AR engine here"
        parts.append(f"{_times(best, with_bounds)} as fast as {strongest}")
    return " and ".join(parts)


def _times(speedup: Speedup, with_bounds: bool) -> str:
    bounds = interval(speedup.ratio)
    return (
        f"{number(speedup.ratio.value)}× {bounds}" if with_bounds and bounds else f"{number(speedup.ratio.value, 2)}×"
    )


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
    first = f"{fastest[1]} is the fastest AR engine with {number(fastest[0], 2)} ms a token"
    return [f"{_where(fastest[2])}, {first}; {rest} ms."]


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
    against = f"against {summary.name(difference.against)}, {judged} ({p_value(difference.p_value)})"
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
