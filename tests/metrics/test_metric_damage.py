"""What is counted as damage behind a wrong token."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics.damage import downstream, edits, healed, wrong_place

IDS = st.lists(st.integers(0, 4), max_size=8)


@pytest.mark.parametrize(
    ("a", "b", "n"), [("kitten", "sitting", 3), ("", "abc", 3), ("abc", "abc", 0), ("flaw", "lawn", 2)]
)
def test_edits_are_levenshteins(a, b, n):
    assert edits(a, b) == n  # textbook values


@given(IDS, IDS)
def test_edits_go_both_ways_and_never_exceed_the_longer(a, b):
    assert edits(a, b) == edits(b, a) <= max(len(a), len(b))
    assert (edits(a, b) == 0) is (a == b)


def test_only_what_stands_behind_the_wrong_token_counts():
    assert downstream((1, 2, 3, 4), (1, 9, 3, 4), 1) == (0, 2)
    assert downstream((1, 2, 3, 4), (1, 9, 3, 5), 1) == (1, 2)
    assert downstream((1, 2, 3, 4), (7, 9, 3, 4), 1) == (0, 2)
    assert downstream((1, 2), (1, 9), 1) == (0, 0)  # nothing stood there
    assert downstream((1, 2, 3), (1, 9, 5, 5, 5), 1) == (3, 1)  # longer than it was: more edits than tokens


def test_a_token_taken_back_is_healed():
    assert healed((1, 2, 3), (1, 2, 9), 1) == (1, 1)
    assert healed((1, 2, 3), (1, 9, 3), 1) == (0, 1)
    assert healed((1,), (1, 2), 1) == (0, 0)


@pytest.mark.parametrize(("n", "share", "place"), [(8, 0.0, 0), (8, 0.5, 4), (8, 1.0, 7), (1, 0.5, 0), (0, 0.5, 0)])
def test_the_place_lies_inside_the_text(n, share, place):
    assert wrong_place(n, share) == place
