"""From samples to scores: per-sentence sufficient statistics of every metric. Outside every timed region."""

from collections.abc import Iterable, Iterator, Mapping

from metrics.base import Metric, Output
from suites.records import Sample, Score


def scores_of(samples: Iterable[Sample], metrics: Mapping[str, Metric]) -> Iterator[Score]:
    """One score a sample, in their order."""
    for sample in samples:
        output = Output(
            token_ids=sample.token_ids,
            text=sample.text,
            source=sample.source,
            reference=sample.reference,
            reference_ids=sample.reference_ids,
        )
        statistics = {metric.signature: tuple(metric.statistics(output)) for metric in metrics.values()}
        yield Score(task=sample.task, label=sample.label, row=sample.row, statistics=statistics)
