"""What the references cost the models of a run, kept beside the scores: outside every timed region."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from generators.base import Prompt
from metrics.total_correlation import NATS
from suites.contestants import Contestant
from suites.records import Sample, Score

STRATEGIES = ("ar", "mask_predict")  # whose models give every token of a reference a probability


def with_likelihoods(
    scores: Iterable[Score], samples: Sequence[Sample], contestants: Iterable[Contestant]
) -> Iterator[Score]:
    """The scores, with (nats, tokens) of the reference under each model, at the first contestant that runs on it."""
    known = {
        (sample.task, contestant.label, sample.row): statistics
        for contestant in _one_a_model(contestants)
        for sample, statistics in _of(contestant, samples)
    }
    for score in scores:
        found = known.get((score.task, score.label, score.row))
        yield score if found is None else replace(score, statistics={**score.statistics, NATS: found})


def _one_a_model(contestants: Iterable[Contestant]) -> list[Contestant]:
    """The first contestant of each such strategy and weights; those elsewhere or not loaded cannot tell."""
    first: dict[tuple[str, str], Contestant] = {}
    for contestant in contestants:
        if contestant.loaded is not None and contestant.strategy in STRATEGIES:
            first.setdefault((contestant.strategy, contestant.loaded.weights_sha256), contestant)
    return list(first.values())


def _of(contestant: Contestant, samples: Sequence[Sample]) -> list[tuple[Sample, tuple[float, float]]]:
    from generators.likelihood import nats

    if contestant.loaded is None:
        return []
    own = [sample for sample in samples if sample.label == contestant.label]
    codec = contestant.loaded.codec
    prompts = [Prompt(prefix_ids=tuple(codec.encode(sample.source))) for sample in own]
    found = nats(contestant.loaded.generator, prompts, [sample.reference_ids for sample in own])
    if found is None:
        return []
    return [(sample, (cost, float(len(sample.reference_ids)))) for sample, cost in zip(own, found, strict=True)]
