"""Length ratios and the shares of short and empty outputs, counted by hand."""

import pytest

from metrics.base import corpus_score
from metrics.lengths import EMPTY_SHARE, LENGTH_RATIO, SHORT_SHARE


@pytest.fixture
def score(said):
    def of_lengths(metric, *lengths):
        outputs = [said(token_ids=(1,) * n, reference_ids=(1,) * n_reference) for n, n_reference in lengths]
        return corpus_score(metric, [metric.statistics(output) for output in outputs])

    return of_lengths


def test_length_ratio_is_a_ratio_of_totals(score):
    assert score(LENGTH_RATIO, (2, 1), (10, 23)) == 0.5  # 12 / 24, not the mean of 2 and 0.43


def test_length_ratio_of_nothing(score):
    assert score(LENGTH_RATIO, (0, 5)) == 0.0
    assert score(LENGTH_RATIO, (5, 0)) is None
    assert score(LENGTH_RATIO, (0, 0)) is None


@pytest.mark.parametrize(
    ("length", "reference_length", "is_short"), [(4, 9, 1), (4, 8, 0), (0, 1, 1), (0, 0, 0), (1, 0, 0), (1, 1, 0)]
)
def test_short_means_fewer_than_half_the_references_tokens(score, length, reference_length, is_short):
    assert score(SHORT_SHARE, (length, reference_length)) == is_short


def test_empty_share_counts_outputs_without_a_token(score):
    assert score(EMPTY_SHARE, (0, 3), (1, 3), (0, 0), (2, 0)) == 0.5
