"""The wrong tokens of a trial: which, and where. The same for every contestant, from the references alone."""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from metrics.damage import wrong_place
from suites.plan import Trial
from suites.tasks import Task

if TYPE_CHECKING:
    from generators.models.text import Codec
    from generators.registry import Loaded


@contextmanager
def slips_of(trial: Trial, task: Task, loaded: "Loaded") -> Iterator[None]:
    """Where the task has wrong tokens, its contestant makes them inside; elsewhere nothing happens."""
    if task.wrong_at is None:
        yield
        return
    from generators.slips import Slip, slipping

    _, share = task.wrong_at
    slips = [Slip(*wrong_token(task, row, share, loaded.codec)) for row in trial.rows]
    with slipping(loaded.generator, slips):
        yield


def wrong_token(task: Task, row: int, share: float, codec: "Codec") -> tuple[int, int]:
    """(place, token id): a token of the task's other references that is not the one the row's reference has there."""
    draw = random.Random(f"{share}:{row}")
    right = codec.encode_target(task.rows[row].reference)
    place = wrong_place(len(right), share)
    for _ in range(1000):
        others = codec.encode_target(draw.choice(task.rows).reference)
        if others and (token_id := draw.choice(others)) not in right[place : place + 1]:
            return place, token_id
    raise ValueError(f"task {task.name!r} has no second token to put in the place of a right one")
