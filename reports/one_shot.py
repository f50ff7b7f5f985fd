"""Why decoding all at once must lose: what the tokens of a task tell of each other, mixtures, and damage by errors."""

from collections.abc import Iterable, Sequence

import numpy as np

from metrics.base import Output, Statistics, corpus_score, ratio_of_sums, table
from metrics.bootstrap import resampled_sums
from metrics.coupled import INVALID_MIXTURES, LANGUAGE, expected, known_total_correlation
from metrics.damage import downstream, healed, wrong_place
from metrics.total_correlation import NATS, estimated
from reports.evidence import Correlation, Damage, Mixture
from reports.summary import Contestant, Estimate
from suites.records import Run, Sample

SEED = 2015
Outputs = dict[int, Sample]  # row of the test set -> output


def correlations(run: Run, order: Sequence[Contestant]) -> tuple[Correlation, ...]:
    """One a task whose references were scored by a one-shot and by an autoregressive contestant."""
    nats: dict[str, dict[str, dict[int, Statistics]]] = {}
    for score in run.scores:
        if NATS in score.statistics:
            nats.setdefault(score.task, {}).setdefault(score.label, {})[score.row] = score.statistics[NATS]
    sources = {(sample.task, sample.row): sample.source for sample in run.samples}
    found = []
    for task, by_label in sorted(nats.items()):
        one_shot, ar = (
            next((c.label for c in order if c.kind == kind and c.label in by_label), None)
            for kind in ("parallel", "ar")
        )
        if one_shot is None or ar is None:
            continue
        rows = sorted(by_label[one_shot].keys() & by_label[ar].keys())
        if not any(by_label[ar][row][1] for row in rows):
            continue
        value, low, high = estimated([by_label[one_shot][r] for r in rows], [by_label[ar][r] for r in rows], SEED)
        texts = [sources[task, row] for row in rows if (task, row) in sources]
        known = known_total_correlation(texts) if texts and set(texts) <= LANGUAGE.keys() else None
        estimate = Estimate(value, low, high, len(rows))
        found.append(Correlation(task=task, one_shot=one_shot, ar=ar, estimate=estimate, known=known))
    return tuple(found)


def mixtures(run: Run, order: Sequence[Contestant]) -> tuple[Mixture, ...]:
    """One a task and contestant that wrote in the language of coupled pairs; of equal sources the first counts."""
    spoken = _by_contestant(sample for sample in run.samples if sample.source in LANGUAGE)
    spoken = {cell: {sample.row: sample for sample in _first_of_each(rows)} for cell, rows in spoken.items()}
    return tuple(
        Mixture(
            task=task,
            label=contestant.label,
            share=_percent([INVALID_MIXTURES.statistics(_output(sample)) for sample in rows.values()]),
            expected=_expected(contestant, rows),
        )
        for task in sorted({task for task, _ in spoken})
        for contestant in order
        if (rows := spoken.get((task, contestant.label)))
    )


def damages(run: Run, order: Sequence[Contestant]) -> tuple[Damage, ...]:
    """One a task with a wrong token and contestant, against what the contestant wrote without it."""
    outputs, settings = _by_contestant(run.samples), run.info.plan.get("settings", {})
    placed = settings.get("wrong_at") if isinstance(settings, dict) else None
    found = []
    for task, (clean_task, at) in sorted((placed or {}).items(), key=lambda item: (item[1][0], item[1][1])):
        for contestant in order:
            clean = outputs.get((clean_task, contestant.label), {})
            damaged = outputs.get((task, contestant.label), {})
            pairs = [(clean[row], damaged[row]) for row in sorted(clean.keys() & damaged.keys())]
            if one := _damage(task, contestant.label, at, pairs):
                found.append(one)
    return tuple(found)


def _damage(task: str, label: str, at: float, pairs: Sequence[tuple[Sample, Sample]]) -> Damage | None:
    """Where the output ended before the place, or stood there with the wrong token anyway, nothing was done to it."""
    placed = [(c, d, wrong_place(len(c.reference_ids), at)) for c, d in pairs]
    behind = [downstream(c.token_ids, d.token_ids, place) for c, d, place in placed]
    back = [healed(c.token_ids, d.token_ids, place) for c, d, place in placed]
    if not any(n for _, n in behind):
        return None
    taken_back = _percent(back) if any(n for _, n in back) else None
    return Damage(task=task, label=label, at=at, edits=_percent(behind), healed=taken_back)


def _expected(contestant: Contestant, rows: Outputs) -> float | None:
    """What a perfect model would mix up: one that writes what AR writes nothing, mask-predict what its passes leave."""
    passes = dict(contestant.config).get("n_iterations", "")
    if contestant.kind in ("ar", "speculative"):
        return 0.0
    if contestant.strategy != "mask_predict" or not passes.isdecimal():
        return None
    perfect = [_output(sample, expected(sample.source, int(passes))) for sample in rows.values()]
    share = corpus_score(INVALID_MIXTURES, [INVALID_MIXTURES.statistics(output) for output in perfect])
    return None if share is None else 100 * share


def _first_of_each(rows: Outputs) -> Iterable[Sample]:
    """One output a source: what a strategy writes again for the same source proves nothing more."""
    return {rows[row].source: rows[row] for row in sorted(rows, reverse=True)}.values()


def _by_contestant(samples: Iterable[Sample]) -> dict[tuple[str, str], Outputs]:
    found: dict[tuple[str, str], Outputs] = {}
    for sample in samples:
        found.setdefault((sample.task, sample.label), {})[sample.row] = sample
    return found


def _output(sample: Sample, text: str | None = None) -> Output:
    return Output(
        token_ids=sample.token_ids,
        text=sample.text if text is None else text,
        source=sample.source,
        reference=sample.reference,
        reference_ids=sample.reference_ids,
    )


def _percent(rows: Sequence[Statistics]) -> Estimate:
    """100 times sum over sum of (over, under), with its interval over the sentences that have something to measure."""
    values = table([row for row in rows if any(row)])
    share = 100 * ratio_of_sums(values.sum(axis=0))
    if len(values) < 2:
        return Estimate(float(share), None, None, len(values))
    low, high = np.nanquantile(100 * ratio_of_sums(resampled_sums(values, SEED, 1000)), [0.025, 0.975])
    return Estimate(float(share), float(low), float(high), len(values))
