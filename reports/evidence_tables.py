"""Tables of the evidence: differences with their p-values, the front, the claims, and why one-shot must lose."""

from dataclasses import replace

from metrics.fronts import BLEU_MARGIN, LATENCY_MARGIN, Rival
from metrics.significance import Ratio
from reports import entries
from reports.entries import Entry
from reports.evidence import Claim
from reports.formats import NONE, fixed, number, p_value, signed
from reports.rankings import SHOWN_METRICS
from reports.summary import Difference, Estimate, Summary
from reports.tables import Table

SACREBLEU = ("bleu", "chrf")  # metrics whose p-value sacreBLEU prints too


def evidence_tables(summary: Summary) -> list[Table]:
    """All that the run has evidence for, in reading order."""
    found = [claims_table(summary)]
    for task in summary.tasks:
        found += [best_table(summary, task), front_table(summary, task), comparison_table(summary, task)]
    found += [correlation_table(summary), mixture_table(summary), damage_table(summary)]
    return [table for table in found if table.rows]


def claims_table(summary: Summary) -> Table:
    """One row a claim of the literature."""
    rows = tuple(
        (Entry(claim.claim), Entry(claim.judgement), _value(claim), Entry(claim.because), Entry(claim.source))
        for claim in summary.evidence.claims
    )
    note = (
        "Judged by 95 % intervals of paired bootstraps; undecided means that the interval holds the bound, or that the "
        "run lacks what the claim is about. Times are seconds a kept token at an exact length, where mask-predict has "
        "one length candidate; its BLEU is with the candidates that its name says."
    )
    heads = ("claim", "verdict", "value", "rule", "source")
    return Table("Shapes of the literature", note, heads, rows, of_text=True)


def best_table(summary: Summary, task: str) -> Table:
    """One row a decoding: its default setting, and the fastest one that does not write worse."""
    found = [best for best in summary.evidence.bests if best.task == task]
    cells = {best.label: summary.headline(task, best.label) for best in found}
    scored = summary.scored_task(task) or task

    def bleu(label: str) -> Entry:
        quality = summary.quality(scored, label)
        return entries.estimate(quality.scores.get("bleu") if quality else None, 1)

    rows = tuple(
        (
            entries.who(summary.contestant(best.default)),
            entries.latency(summary.headline(task, best.default)),
            bleu(best.default),
            replace(entries.who(summary.contestant(best.label)), detail=(f"of {best.settings} settings",)),
            entries.latency(cells[best.label]),
            bleu(best.label),
            _time(best.gain, best.n),
            entries.speedup(summary, cell.each_at_best if (cell := cells[best.label]) else None, best.label),
        )
        for best in found
    )
    note = (
        "Its best: of its data types, threads and engines in this run (of AR: also its weights) the fastest whose BLEU "
        "is not significantly below the default's (p < 0.05, of each alone). Over itself: the default's median "
        "latency over its own, on the requests both ran. Over the best AR: time per kept token, as in the race. Who "
        "wins among many partly wins by luck: choose on one text, and believe what the chosen do on another."
    )
    heads = (
        "contestant", "latency, ms", "BLEU", "its best", "its latency, ms", "its BLEU", "over itself, ×",
        "over the best AR, ×",
    )  # fmt: skip
    return Table(f"Each at its best on {task}", note, heads, rows, facets=(("task", task),))


def front_table(summary: Summary, task: str) -> Table:
    """One row a contestant of the task's front: where it stands and, if it does not, for whom it left."""
    front = next((front for front in summary.evidence.fronts if front.task == task), None)
    rows = tuple(
        (
            entries.who(summary.contestant(point.label)),
            entries.latency(summary.headline(task, point.label)),
            entries.estimate(quality.scores.get("bleu"), 1) if quality else Entry(NONE),
            Entry("on the front" if point.beaten_by is None else f"behind {summary.name(point.beaten_by.label)}"),
            Entry(NONE) if point.beaten_by is None else Entry("beaten", _margins(point.beaten_by)),
        )
        for point in (front.points if front else ())
        for quality in [summary.quality(front.scored if front else task, point.label)]
    )
    counted = f"{front.n_sentences:,} sentences and {front.n_units:,} repeats or prompts, " if front else ""
    note = (
        f"Over the {counted}which all share. A contestant leaves the front when another is better at 95 % (Holm's "
        "correction over its rivals and both axes) and, by the whole 95 % interval, not worse by more than "
        f"{BLEU_MARGIN} BLEU or {100 * LATENCY_MARGIN:.0f} % of the time. Too little evidence keeps it on the front."
    )
    heads = ("contestant", "latency, ms", "BLEU", "front", "by how much")
    return Table(f"The front on {task}", note, heads, rows, facets=(("task", task),))


def comparison_table(summary: Summary, task: str) -> Table:
    """One row a contestant: each metric and the time against the baseline's, with both p-values."""
    found = [c for c in summary.evidence.comparisons if c.task == task]
    metrics = [name for name in SHOWN_METRICS if any(name in c.differences for c in found)]
    rows = tuple(
        (
            entries.who(summary.contestant(c.label)),
            *(_difference(c.differences.get(name), name) for name in metrics),
            _time(c.time, c.time_n, c.time_p_holm),
        )
        for c in found
    )
    note = (
        "Contestant minus baseline on the sentences both have; time: the baseline's median latency over the "
        "contestant's, in the repeats or on the prompts both ran. 95 % intervals and two-sided p-values by paired "
        "bootstrap (1,000 resamples), p by Holm's correction over all contestants of the column. sacreBLEU: what "
        "`sacrebleu --paired-bs` prints, one-tailed and uncorrected, for two identical systems its smallest."
    )
    baseline = summary.name(found[0].against) if found else ""
    heads = ("contestant", *(SHOWN_METRICS[name][0] for name in metrics), "time, ×")
    return Table(f"Against {baseline} on {task}", note, heads, rows, facets=(("task", task),))


def correlation_table(summary: Summary) -> Table:
    """One row a task whose references were scored by both kinds of model."""
    rows = tuple(
        (
            Entry(c.task),
            entries.estimate(c.estimate, 3),
            Entry(fixed(c.known, 3)),
            entries.who(summary.contestant(c.one_shot)),
            entries.who(summary.contestant(c.ar)),
        )
        for c in summary.evidence.correlations
    )
    note = (
        "Conditional total correlation, in nats a token: what the reference costs a model that sees source and length "
        "alone, minus what it costs one that also sees the tokens before. No one-shot model can come closer than this "
        "to the data (Huang et al. 2022). Both models cost more than the truth: the estimate is too high by what the "
        "one-shot model lost in training, too low by what the autoregressive one lost."
    )
    heads = ("task", "total correlation, nats a token", "known", "one-shot", "autoregressive")
    return Table("What the tokens know of each other", note, heads, rows)


def mixture_table(summary: Summary) -> Table:
    """One row a contestant that wrote in the language of coupled pairs."""
    rows = tuple(
        (entries.who(summary.contestant(m.label)), entries.estimate(m.share, 1), Entry(fixed(m.expected)))
        for m in summary.evidence.mixtures
    )
    note = (
        "Pairs whose two tokens never stand together in the language, in % of all pairs; by theory: what the same "
        "decoding gives with a model that knows every probability."
    )
    heads = ("contestant", "invalid mixtures, %", "by theory, %")
    return Table("Mixtures of coupled pairs", note, heads, rows)


def damage_table(summary: Summary) -> Table:
    """One row a contestant and place of the wrong token."""
    rows = tuple(
        (
            entries.who(summary.contestant(d.label)),
            Entry(f"{100 * d.at:.0f} %"),
            entries.estimate(d.edits, 1),
            entries.estimate(d.healed, 1),
        )
        for d in summary.evidence.damages
    )
    note = (
        "One token is replaced the first time its place is decided, by a wrong one with the same confidence. Damage: "
        "token edits between the text behind it and what the same contestant writes undisturbed, in % of those tokens. "
        "Healed: outputs that have the undisturbed token there again. Outputs that end before the place are left out."
    )
    heads = ("contestant", "wrong token at", "damage behind it, %", "healed, %")
    return Table("What one wrong token does", note, heads, rows)


def _value(claim: Claim) -> Entry:
    if claim.value is None:
        return Entry(NONE)
    shown = entries.estimate(claim.value, 2)
    return Entry(shown.text, (*shown.detail, claim.what))


def _margins(rival: Rival) -> tuple[str, ...]:
    bleu, speed = rival.bleu, rival.speed
    return (
        f"{signed(bleu.difference)} BLEU [{signed(bleu.low)}, {signed(bleu.high)}]",
        f"{number(speed.value)}× as fast [{number(speed.low)}, {number(speed.high)}]",
    )


def _difference(difference: Difference | None, metric: str) -> Entry:
    if difference is None:
        return Entry(NONE)
    decimals = SHOWN_METRICS[metric][1]
    bounds = f"[{signed(difference.low, decimals)}, {signed(difference.high, decimals)}]"
    quoted = (f"sacreBLEU p = {difference.p_sacrebleu:.4f}",) if metric in SACREBLEU else ()
    judged = f"{p_value(difference.p_holm)}, n = {difference.n:,}"
    return Entry(signed(difference.value, decimals), (bounds, judged, *quoted))


def _time(ratio: Ratio | None, n: int, p_holm: float | None = None) -> Entry:
    if ratio is None:
        return Entry(NONE)
    judged = f"n = {n:,}" if p_holm is None else f"{p_value(p_holm)}, n = {n:,}"
    return Entry(number(ratio.value), (f"[{number(ratio.low)}, {number(ratio.high)}]", judged))


def percent(estimate: Estimate) -> str:
    """`41.2 % [39.0, 43.1]`."""
    bounds = "" if estimate.low is None else f" [{fixed(estimate.low)}, {fixed(estimate.high)}]"
    return f"{fixed(estimate.value)} %{bounds}"
