"""What one wrong token does to the text behind it: put at the start, or a quarter, half or three quarters into it."""

from collections.abc import Sequence
from dataclasses import replace

from suites import quality
from suites.line_up import LineUp
from suites.plan import Round, Setup
from suites.tasks import Task

CONTESTANTS = (
    "ar",
    "ar:weights=ar_shallow",
    "mask_predict:n_iterations=1",
    "mask_predict:n_iterations=4",
    "mask_predict:n_iterations=10",
)
SHARES = (0.0, 0.25, 0.5, 0.75)
SENTENCES = 200


def line_up(asked: LineUp) -> LineUp:
    """The first task as it is, and once more for each place of the wrong token."""
    return replace(asked, tasks=(asked.tasks[0], *(with_wrong_token(asked.tasks[0], share) for share in SHARES)))


def with_wrong_token(task: Task, share: float) -> Task:
    """The same rows under another name, each to be written with one wrong token that far into its reference."""
    return replace(task, name=f"{task.name} wrong at {100 * share:.0f}%", wrong_at=(task.name, share))


def plan(setup: Setup) -> list[Sequence[Round]]:
    """One part a task: the same rows, in batches. Nothing is timed."""
    rows = quality.spread(setup, setup.tasks[0])[: setup.repeats]
    return [
        quality.quality_rounds(setup, task, setup.entrants, rows, batch_size=quality.BATCH_SIZE) for task in setup.tasks
    ]
