"""Share of AR's gain and agreement of two strategies."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics.comparison import agreement, share_of_gain

ROWS = st.lists(st.lists(st.integers(0, 2), max_size=6), min_size=1, max_size=5)


@pytest.mark.parametrize(("bleu", "expected"), [(62.0, 1.0), (42.0, 0.0), (52.0, 0.5), (32.0, -0.5), (72.0, 1.5)])
def test_share_of_gain_by_hand(bleu, expected):
    assert share_of_gain(bleu, bleu_copy=42.0, bleu_ar=62.0) == expected


@pytest.mark.parametrize("bleu_ar", [42.0, 41.0])
def test_share_of_gain_is_undefined_where_ar_gains_nothing(bleu_ar):
    assert share_of_gain(50.0, bleu_copy=42.0, bleu_ar=bleu_ar) is None


def test_agreement_by_hand():
    # prefixes 3, 1, 2 (one row ends early), 0, 0
    a = [(1, 2, 3), (1, 2, 3), (1, 2), (), (9,)]
    b = [(1, 2, 3), (1, 9, 3), (1, 2, 3), (), (8,)]
    assert agreement(a, b) == (0.4, 1.2)


@pytest.mark.parametrize(("a", "b"), [([], []), ([(1,)], []), ([(1,)], [(1,), (2,)])])
def test_agreement_of_no_or_unpaired_rows_is_refused(a, b):
    with pytest.raises(ValueError, match=f"got {len(a)} and {len(b)}"):
        agreement(a, b)


@given(a=ROWS, data=st.data())
def test_agreement_is_symmetric_and_bounded(a, data):
    b = data.draw(st.lists(st.lists(st.integers(0, 2), max_size=6), min_size=len(a), max_size=len(a)))
    share, prefix = agreement(a, b)
    assert agreement(b, a) == (share, prefix)
    assert 0 <= share <= 1
    assert 0 <= prefix <= sum(map(len, a)) / len(a)
    assert (share == 1) == (a == b)
