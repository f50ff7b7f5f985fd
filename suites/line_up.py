"""Who races on what, where a suite's own lists do not say it all: models made on the spot, tasks made of others."""

from collections.abc import Callable
from dataclasses import dataclass

from suites.tasks import Task


@dataclass(frozen=True, slots=True, kw_only=True)
class LineUp:
    """Labels and tasks as the lists or the user name them; a suite may answer with others."""

    labels: tuple[str, ...]
    tasks: tuple[Task, ...]
    chosen: bool  # the user named the labels
    seed: int
    say: Callable[[str], None]


def as_it_is(asked: LineUp) -> LineUp:
    return asked
