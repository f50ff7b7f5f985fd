"""Seconds: every kind of trial once or twice, to see that a race can be run at all."""

from collections.abc import Sequence

from suites import latency, quality
from suites.plan import Round, Setup

CONTESTANTS = ("copy", "ar", "ctc", "mask_predict:n_iterations=2")
LENGTHS = (4, 8)
REPEATS = 2
VERSES = 4


def plan(setup: Setup) -> list[Sequence[Round]]:
    """Three parts, as in `quick`, on four verses."""
    task = setup.tasks[0]
    rows = quality.spread(setup, task)[:VERSES]
    return [
        latency.latency_rounds(setup, task, setup.entrants),
        quality.quality_rounds(setup, task, setup.entrants, rows, batch_size=2),
        quality.sentence_rounds(setup, task, setup.entrants, rows),
    ]
