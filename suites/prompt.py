"""Latency over source length and output length: where reading the source takes the time, and where writing does."""

from collections.abc import Sequence

from suites.latency import POOL, nearest, taken
from suites.plan import Block, Cell, Entrant, Mode, Round, Setup, Trial

CONTESTANTS = (
    "ar",
    "ar:weights=ar_shallow",
    "ctranslate2",
    "ctc",
    "mask_predict:n_iterations=1",
    "mask_predict:n_iterations=4",
)
SOURCE_LENGTHS = (8, 32, 96, 192)  # about what the shipped test set has
LENGTHS = (8, 32, 128)
REPEATS = 10


def plan(setup: Setup) -> list[Sequence[Round]]:
    """One part, one round a repeat: each contestant on sources of each length, at each output length.

    Sources are those nearest to the length in tokens. Where a strategy's length emerges, the source decides it: one
    cell a source length.
    """
    lengths = setup.source_lengths(setup.tasks[0])
    pools = {length: nearest(lengths, length)[: max(POOL, *setup.batch_sizes)] for length in SOURCE_LENGTHS}
    return [[_round(setup, pools, repeat) for repeat in range(setup.repeats)]]


def _round(setup: Setup, pools: dict[int, list[int]], repeat: int) -> Round:
    return tuple(
        Block(entrant.label, tuple(_trials(setup, entrant, pools, repeat)))
        for entrant in setup.shuffled(setup.entrants, "prompt", repeat)
    )


def _trials(setup: Setup, entrant: Entrant, pools: dict[int, list[int]], repeat: int) -> list[Trial]:
    outputs = setup.lengths if entrant.exact else (None,)
    shapes = [(source, length, size) for source in pools for length in outputs for size in setup.batch_sizes]
    mode: Mode = "exact" if entrant.exact else "natural"
    return [
        Trial(
            setup.suite,
            Cell(setup.tasks[0].name, entrant.label, mode, length, size, source),
            repeat,
            taken(pools[source], size, repeat),
        )
        for source, length, size in setup.shuffled(shapes, "shapes", repeat)
    ]
