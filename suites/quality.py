"""Quality on a whole test set, decoded in batches, and latency at the length each output happens to have."""

from collections.abc import Sequence

from suites import latency
from suites.plan import Block, Cell, Entrant, Mode, Round, Setup, Trial
from suites.tasks import Task

CONTESTANTS = (
    *latency.CONTESTANTS,
    "copy",
    "ar:weights=ar",
    "ar:beam_size=4",
)
BATCH_SIZE = 32
BATCHES_A_ROUND = 4
SENTENCES_A_ROUND = 10  # one untimed call serves ten timed ones


def plan(setup: Setup) -> list[Sequence[Round]]:
    """Two parts: every row in batches, and `repeats` sentences one by one."""
    task = setup.tasks[0]
    rows = spread(setup, task)
    batches = quality_rounds(setup, task, setup.entrants, rows, batch_size=BATCH_SIZE)
    return [batches, sentence_rounds(setup, task, setup.entrants, rows[: setup.repeats])]


def spread(setup: Setup, task: Task) -> list[int]:
    """The rows of the test set in an order drawn from the seed: any beginning of it is a fair sample."""
    return setup.shuffled(range(len(task.rows)), "rows")


def quality_rounds(
    setup: Setup, task: Task, entrants: Sequence[Entrant], rows: Sequence[int], *, batch_size: int
) -> list[Round]:
    """Rounds of a few batches, the same for every contestant. Inside a round, rows of like length share a batch."""
    lengths = setup.reference_lengths(task)
    chunks = _chunks(rows, batch_size * BATCHES_A_ROUND)
    batches = [_chunks(sorted(chunk, key=lambda row: (lengths[row], row)), batch_size) for chunk in chunks]
    return [
        tuple(_block(setup, task, e, "batched", place * BATCHES_A_ROUND, of_round) for e in order)
        for place, of_round in enumerate(batches)
        for order in [setup.shuffled(entrants, "quality", place)]
    ]


def sentence_rounds(setup: Setup, task: Task, entrants: Sequence[Entrant], rows: Sequence[int]) -> list[Round]:
    """Rounds of ten sentences at batch 1 and natural length, the same for every contestant, timed."""
    return [
        tuple(_block(setup, task, e, "natural", place * SENTENCES_A_ROUND, [(row,) for row in chunk]) for e in order)
        for place, chunk in enumerate(_chunks(rows, SENTENCES_A_ROUND))
        for order in [setup.shuffled(entrants, "sentences", place)]
    ]


def _chunks(rows: Sequence[int], size: int) -> list[tuple[int, ...]]:
    return [tuple(rows[start : start + size]) for start in range(0, len(rows), size)]


def _block(
    setup: Setup, task: Task, entrant: Entrant, mode: Mode, first: int, batches: Sequence[tuple[int, ...]]
) -> Block:
    trials = (
        Trial(setup.suite, Cell(task.name, entrant.label, mode, None, len(rows)), first + i, rows)
        for i, rows in enumerate(batches)
    )
    return Block(entrant.label, tuple(trials))
