"""Latency against length: how long a text of L tokens takes, for each contestant, batch size and length."""

from collections.abc import Sequence

from suites.plan import Block, Cell, Entrant, Round, Setup, Trial
from suites.tasks import Task

CONTESTANTS = (
    "ar",
    "ar:weights=ar_shallow",
    "hf_generate",
    "ctranslate2",
    "ctranslate2:compute_type=int8",
    "ctranslate2:weights=ar_shallow",
    "ctranslate2:weights=ar_shallow:compute_type=int8",
    "ctc",
    "mask_predict:n_iterations=1",
    "mask_predict:n_iterations=4",
    "mask_predict:n_iterations=10",
)
UNCACHED = "ar_uncached"  # in the curves only: what it writes is what `ar` writes
LENGTHS = (8, 16, 32, 64, 128, 192)
LONGEST_UNCACHED = 64  # without a cache time grows with the square of the length: longer ones would eat the budget
POOL = 8  # sources a length draws from, so that no single one decides it


def plan(setup: Setup) -> list[Sequence[Round]]:
    """The one part of this suite."""
    return [latency_rounds(setup, setup.tasks[0], setup.entrants)]


def latency_rounds(setup: Setup, task: Task, entrants: Sequence[Entrant], pool_size: int | None = None) -> list[Round]:
    """One round a repeat: each contestant at each length and batch size.

    Exact lengths where they can be set. Where the length emerges, natural runs on the same sources: those whose
    reference is nearest to the length in tokens, `pool_size` of them taken in turn (8, or a batch's worth).
    """
    lengths, n_pool = setup.reference_lengths(task), pool_size or max(POOL, *setup.batch_sizes)
    pools = {length: nearest(lengths, length)[:n_pool] for length in setup.lengths}
    return [_round(setup, task, entrants, pools, repeat) for repeat in range(setup.repeats)]


def nearest(lengths: Sequence[int], wanted: int) -> list[int]:
    """All rows, those whose length is nearest to the wanted one first."""
    return sorted(range(len(lengths)), key=lambda row: (abs(lengths[row] - wanted), row))


def taken(pool: Sequence[int], size: int, repeat: int) -> tuple[int, ...]:
    """The rows of a repeat's batch: those of the pool in turn, again from its start where it is too small."""
    return tuple(pool[(repeat * size + i) % len(pool)] for i in range(size))


def _round(setup: Setup, task: Task, entrants: Sequence[Entrant], pools: dict[int, list[int]], repeat: int) -> Round:
    shapes = [(length, size) for length in setup.lengths for size in setup.batch_sizes]
    order = setup.shuffled(entrants, "latency", repeat)
    return tuple(
        Block(
            entrant.label,
            tuple(
                _trial(setup, task, entrant, length, size, pools[length], repeat)
                for length, size in setup.shuffled(shapes, "shapes", repeat)
                if setup.chosen or entrant.label != UNCACHED or length <= LONGEST_UNCACHED
            ),
        )
        for entrant in order
    )


def _trial(setup: Setup, task: Task, entrant: Entrant, length: int, size: int, pool: list[int], repeat: int) -> Trial:
    cell = Cell(task.name, entrant.label, "exact" if entrant.exact else "natural", length, size)
    return Trial(setup.suite, cell, repeat, taken(pool, size, repeat))
