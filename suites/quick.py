"""A mix for `make bench`: latency against length, quality on a sample of verses, and three steps of iterations."""

from collections.abc import Sequence

from suites import latency, quality
from suites.plan import Round, Setup

TIMED = (*latency.CONTESTANTS, latency.UNCACHED)
SCORED = (*quality.CONTESTANTS, "mask_predict:n_iterations=2")
CONTESTANTS = (*SCORED, latency.UNCACHED)
REPEATS = 20
BUDGET = "200s"  # loading and warming up included; scoring and the report come on top
VERSES = 200
SENTENCES = 60
BATCH_SIZE = 10  # a round of 40 verses: small enough for the budget to cut between rounds


def plan(setup: Setup) -> list[Sequence[Round]]:
    """Three parts: latency on the first task, quality and natural-length latency on the last one."""
    lengths, verses = setup.tasks[0], setup.tasks[-1]
    rows = quality.spread(setup, verses)[:VERSES]
    timed, scored = setup.among(TIMED), setup.among(SCORED)
    return [
        latency.latency_rounds(setup, lengths, timed),
        quality.quality_rounds(setup, verses, scored, rows, batch_size=BATCH_SIZE),
        quality.sentence_rounds(setup, verses, scored, rows[:SENTENCES]),
    ]
