"""Direct labels do not overlap."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from reports.labels import Box, scattered, stacked

FRAME = Box(0, 0, 700, 400)
HEIGHTS = st.lists(st.floats(0, 300), min_size=1, max_size=12)
POINTS = st.lists(st.tuples(st.floats(60, 600), st.floats(30, 370)), min_size=1, max_size=8)


@given(HEIGHTS)
def test_stacked_labels_keep_their_gap_their_bounds_and_their_order(wanted: list[float]) -> None:
    placed = stacked(wanted, 15, 0, 300)
    assert all(-1e-6 <= height <= 300 + 1e-6 for height in placed)
    pairs = sorted(zip(wanted, placed, strict=True))
    assert all(b - a >= 15 - 1e-6 for a, b in itertools.pairwise(sorted(placed)))
    assert [height for _, height in pairs] == sorted(placed) or len(set(wanted)) < len(wanted)


def test_labels_with_room_stay_where_they_were_wanted() -> None:
    assert stacked([100, 20, 60], 15, 0, 300) == [100, 20, 60]


def test_too_many_labels_are_spread_over_the_room_there_is() -> None:
    assert stacked([5, 5, 5], 100, 0, 100) == [0, 50, 100]


@given(POINTS)
def test_scattered_labels_stay_within_the_frame(points: list[tuple[float, float]]) -> None:
    assert all(box.inside(FRAME) for box in scattered(points, [90.0] * len(points), 14, FRAME))


def test_labels_of_points_close_together_do_not_overlap() -> None:
    points = [(300.0 + 3 * i, 200.0 + 2 * i) for i in range(8)]
    boxes = scattered(points, [90.0] * 8, 14, FRAME)
    assert not any(a.overlaps(b) for a, b in itertools.combinations(boxes, 2))


def test_a_label_keeps_clear_of_an_obstacle() -> None:
    obstacle = Box(100, 190, 400, 210)
    (box,) = scattered([(90.0, 200.0)], [80.0], 14, FRAME, [obstacle])
    assert not box.overlaps(obstacle)
