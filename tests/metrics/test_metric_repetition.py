"""Repetition, counted by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics.base import corpus_score, skipped
from metrics.repetition import REPEATED_TOKEN_RATE, SEQ_REP_4

IDS = st.lists(st.integers(0, 3), max_size=12).map(tuple)


def _score(metric, said, *token_rows):
    return corpus_score(metric, [metric.statistics(said(token_ids=ids)) for ids in token_rows])


@pytest.mark.parametrize(
    ("ids", "expected"),
    [((5, 5, 5, 7), 50.0), ((5, 7, 5, 7), 0.0), ((5,), 0.0), ((), 0.0), ((5, 5), 50.0)],
)
def test_repeated_token_rate_by_hand(said, ids, expected):
    assert _score(REPEATED_TOKEN_RATE, said, ids) == expected


def test_repeated_token_rate_pools_tokens_rather_than_averaging_outputs(said):
    assert _score(REPEATED_TOKEN_RATE, said, (1, 1), (1, 2, 3, 4, 5, 6, 7, 8)) == 10.0  # 1 of 10, not (50 + 0) / 2


def test_the_references_own_rate_can_stand_beside_it(said):
    output = said("no", token_ids=(1, 2), reference="very very good", reference_ids=(4, 4, 9, 9))
    assert corpus_score(REPEATED_TOKEN_RATE, [REPEATED_TOKEN_RATE.statistics(output.of_reference())]) == 50.0
    assert output.of_reference().text == "very very good"


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        ((1, 2, 3, 4), 0.0),  # one 4-gram
        ((1, 1, 1, 1, 1), 0.5),  # the same 4-gram twice
        ((1, 2, 1, 2, 1, 2, 1), 0.5),  # 1212 2121 1212 2121
        ((1, 2, 3), None),
        ((7,), None),
        ((), None),
    ],
)
def test_seq_rep_4_by_hand(said, ids, expected):
    assert _score(SEQ_REP_4, said, ids) == expected


def test_seq_rep_4_averages_outputs_and_counts_those_too_short(said):
    rows = [SEQ_REP_4.statistics(said(token_ids=ids)) for ids in ((1,) * 5, (1, 2, 3, 4, 5, 6), (1, 2, 3), ())]
    assert corpus_score(SEQ_REP_4, rows) == 0.25  # (0.5 + 0) / 2
    assert skipped(rows) == 2


@given(rows=st.lists(IDS, min_size=1, max_size=5))
def test_repetition_stays_in_bounds(said, rows):
    assert 0 <= _score(REPEATED_TOKEN_RATE, said, *rows) < 100
    assert (share := _score(SEQ_REP_4, said, *rows)) is None or 0 <= share < 1


@given(ids=IDS, fresh=st.integers(10, 20))
def test_a_new_token_at_the_end_adds_no_repetition(said, ids, fresh):
    assert (
        REPEATED_TOKEN_RATE.statistics(said(token_ids=(*ids, fresh)))[0]
        == (REPEATED_TOKEN_RATE.statistics(said(token_ids=ids))[0])
    )
