"""Places for direct labels, so that no two overlap: plain geometry in the figure's own units."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple


class Box(NamedTuple):
    left: float
    bottom: float
    right: float
    top: float

    def overlaps(self, other: "Box") -> bool:
        return (
            self.left < other.right and other.left < self.right and self.bottom < other.top and other.bottom < self.top
        )

    def inside(self, frame: "Box") -> bool:
        return (
            self.left >= frame.left
            and self.right <= frame.right
            and self.bottom >= frame.bottom
            and self.top <= frame.top
        )


def stacked(wanted: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Heights as near as may be to the `wanted` ones, `gap` apart and within [low, high] if there is room.

    The order of the wanted heights is kept, ties as they come. With too little room the labels are spread evenly.
    """
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    gap = min(gap, (high - low) / max(len(wanted) - 1, 1))
    placed: list[float] = []
    for i in order:
        floor = placed[-1] + gap if placed else low
        placed.append(max(floor, min(wanted[i], high)))
    for k in reversed(range(len(placed))):
        ceiling = placed[k + 1] - gap if k + 1 < len(placed) else high
        placed[k] = min(placed[k], ceiling)
    heights = [0.0] * len(wanted)
    for i, height in zip(order, placed, strict=True):
        heights[i] = height
    return heights


def scattered(
    points: Sequence[tuple[float, float]],
    widths: Sequence[float],
    height: float,
    frame: Box,
    obstacles: Sequence[Box] = (),
) -> list[Box]:
    """A box of its width beside each point, clear of other points and boxes and within `frame` where that is possible.

    Nearer places are tried first; a point hemmed in on all sides gets the nearest place inside the frame.
    """
    taken = [Box(x - 5, y - 5, x + 5, y + 5) for x, y in points] + list(obstacles)
    boxes = []
    for (x, y), width in zip(points, widths, strict=True):
        inside = [box for box in _places(x, y, width, height) if box.inside(frame)]
        free = (box for box in inside if not any(box.overlaps(other) for other in taken))
        chosen = next(free, inside[0] if inside else next(_places(x, y, width, height)))
        taken.append(chosen)
        boxes.append(chosen)
    return boxes


def _places(x: float, y: float, width: float, height: float) -> Iterator[Box]:
    """Right, left, above, below, then the same farther away."""
    for away in (8, 16, 28, 44, 64, 90, 120):
        for dx, dy in ((1, 0), (-1, 0), (1, 1), (1, -1), (-1, 1), (-1, -1), (0, 1), (0, -1)):
            left = x + dx * away if dx > 0 else x - away - width if dx < 0 else x - width / 2
            middle = y + dy * away * 0.9
            yield Box(left, middle - height / 2, left + width, middle + height / 2)
