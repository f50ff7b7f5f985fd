"""Where one contestant overtakes another: values by hand, and what is said where there is no telling."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics.crossovers import Crossover, crossover

ENDS = np.array([8.0, 192.0])
INF = np.inf


def margins(*rows):
    return np.array(rows, dtype=float)


def leads(at, slope=1.0, grid=ENDS):
    """The margins of lines that pass 0 at these places, rising or falling; the first is the sample."""
    return np.array([slope * (grid - place) for place in at])


def test_two_lines_cross_where_they_are_equal():
    # 10 + 0.45 L against 2 + L: equal at 8 / 0.55
    found = crossover(ENDS, margins((2 + ENDS) - (10 + 0.45 * ENDS)), n_repeats=1)
    assert found == ("from", pytest.approx(8 / 0.55), None, None)


def test_bounds_are_those_of_the_middle_95_percent_of_the_draws():
    found = crossover(ENDS, leads([23, *range(1, 101)]), n_repeats=30)
    assert found == ("from", pytest.approx(23), -INF, pytest.approx(98))  # 2 of 100 lie before 8, and 3 is one of them
    assert crossover(ENDS, leads([23, *range(11, 111)]), 30)[2:] == (pytest.approx(13), pytest.approx(108))


@pytest.mark.parametrize(
    ("places", "expected"),
    [
        ([1] * 100, Crossover("always", -INF, -INF, -INF)),
        ([500] * 100, Crossover("never", INF, INF, INF)),
        ([-5] + [5] * 90 + [12] * 10, Crossover("from", -INF, -INF, 12.0)),
        ([300] + [100] * 10 + [300] * 90, Crossover("from", INF, 100.0, INF)),
        ([20] + [5] * 50 + [500] * 50, Crossover("from", 20.0, -INF, INF)),
    ],
    ids=["always", "never", "open below", "open above", "open on both sides"],
)
def test_answers(places, expected):
    found = crossover(ENDS, leads(places), n_repeats=30)
    assert found.answer == expected.answer
    assert found[1:] == pytest.approx(expected[1:])
    assert found.undecided == (expected[2:] == (-INF, INF))


def test_a_lead_that_is_lost_is_one_until_then():
    found = crossover(ENDS, leads([60, *[50] * 50, *[75] * 50], slope=-1.0), n_repeats=30)
    assert found == ("until", pytest.approx(60), pytest.approx(50), pytest.approx(75))


def test_between_two_measured_places_a_margin_is_a_straight_line():
    sizes = np.array([1.0, 2, 4, 8])
    found = crossover(sizes, margins([3, 2, 1, -1]), n_repeats=1)
    assert (found.answer, found.crossing) == ("until", pytest.approx(6.0))


def test_equals_are_never_ahead_of_each_other():
    assert crossover(ENDS, np.zeros((101, 2)), n_repeats=30).answer == "never"


def test_few_repeats_give_an_answer_without_bounds():
    assert crossover(ENDS, leads([23, 20, 30]), n_repeats=5) == ("from", pytest.approx(23), None, None)
    assert crossover(ENDS, leads([1, 1, 1]), n_repeats=5) == ("always", -INF, None, None)


@pytest.mark.parametrize("grid", [[8.0], [8.0, 8.0], [192.0, 8.0]])
def test_a_grid_that_does_not_rise_is_refused(grid):
    with pytest.raises(ValueError, match="rising grid of two places"):
        crossover(np.array(grid), np.ones((3, len(grid))), 30)


def test_an_undefined_margin_is_refused():
    with pytest.raises(ValueError, match="with a margin each"):
        crossover(ENDS, margins([np.nan, 1.0]), 30)


@given(places=st.lists(st.floats(9, 190), min_size=41, max_size=60))
def test_what_one_gains_from_a_length_on_the_other_loses_there(places):
    gained = crossover(ENDS, leads(places), n_repeats=30)
    lost = crossover(ENDS, leads(places, slope=-1.0), n_repeats=30)
    assert (gained.answer, lost.answer) == ("from", "until")
    assert gained[1:] == pytest.approx(lost[1:])
