"""The static picture of a replay: a row a token, time from left to right, thicker and darker the more it is settled."""

from collections.abc import Sequence
from dataclasses import dataclass

from suites.records import TracedSlot

WIDTH, ROW = 1000, 10  # in the units of the drawing
BARS = {"masked": (4, 2), "tentative": (3, 4), "final": (1, 8)}  # top and height inside a row: told apart by shape too


@dataclass(frozen=True, slots=True)
class Strip:
    rows: int
    paths: tuple[tuple[str, str], ...]  # (class of its ink, outline)

    @property
    def height(self) -> int:
        return self.rows * ROW


def strip(slots: Sequence[TracedSlot], shades: Sequence[int], times: Sequence[float]) -> Strip:
    """The bars of every slot from each change to the next; `times` of the frames are shares of the width."""
    places = [min(WIDTH, max(0, round(time * WIDTH))) for time in times]
    outlines: dict[str, list[str]] = {}
    row = 0
    for slot, shade in zip(slots, shades, strict=True):
        ends = [places[change.frame] for change in slot.changes[1:]] + [WIDTH]
        bars = [(places[change.frame], end, change.state) for change, end in zip(slot.changes, ends, strict=True)]
        seen = [(begin, end, state) for begin, end, state in bars if state in BARS and end > begin]
        for begin, end, state in seen:
            top, height = BARS[state]
            box = f"M{begin} {row * ROW + top}h{end - begin}v{height}h{begin - end}z"
            outlines.setdefault(f"f{shade}" if state == "final" else state[0], []).append(box)
        row += bool(seen)  # a slot that came and went within a hair of the clock takes no row
    return Strip(row, tuple((ink, "".join(boxes)) for ink, boxes in sorted(outlines.items())))
