"""Rings around the points that nothing beats."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from reports.drawing import MUTED, Canvas, Draw
from reports.plots import Point
from reports.summary import Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes

RING = 14.0  # across, in CSS pixels


def standing(summary: Summary, task: str) -> tuple[str, ...]:
    """The labels on the task's front; none where it could not be tested."""
    return next((front.standing for front in summary.evidence.fronts if front.task == task), ())


def ringed(draw: Draw, points: Sequence[Point]) -> Draw:
    """The same drawing with a ring around each of the points of its first panel."""

    def with_rings(axes: list["Axes"], canvas: Canvas) -> None:
        draw(axes, canvas)
        xs, ys = [p.x for p in points], [p.y for p in points]
        rings = axes[0].plot(xs, ys, linestyle="none", marker="o", markersize=RING, color=MUTED)
        rings[0].set(markerfacecolor="none", markeredgecolor=MUTED, markeredgewidth=1.2)

    return with_rings if points else draw


def how_ringed(labels: Sequence[str]) -> str:
    """What the rings mean; '' where there are none."""
    return "Ringed: on the front, beaten by nobody beyond doubt (see its table)." if labels else ""
