"""Peak memory, untimed: each number is of a process of its own, since a high-water mark never falls.

A record's `memory` holds bytes: `loaded_bytes` resident once the contestant was loaded, `peak_bytes` the most that was
ever resident from the process's start to the end of the one request it made, and on an accelerator
`device_peak_bytes`, the most that torch had allocated there. The interpreter and torch are in all of them; `copy`,
which has no model, shows how much that is.
"""

from collections.abc import Sequence
from dataclasses import replace

from suites.exchange import record_of
from suites.latency import POOL, nearest, taken
from suites.plan import Block, Cell, Entrant, Round, Setup, Trial
from suites.process_memory import device_peak_bytes, peak_bytes, resident_bytes
from suites.runner import Runner

CONTESTANTS = (
    "copy",
    "ar",
    "ar:weights=ar_shallow",
    "ar:beam_size=4",
    "ar_uncached",
    "hf_generate",
    "ctranslate2",
    "ctranslate2:compute_type=int8",
    "ctc",
    "mask_predict:n_iterations=4",
)
LENGTHS = (128,)
SIZES = (1, 16)
REPEATS = 2


def plan(setup: Setup) -> list[Sequence[Round]]:
    """One part, one round a repeat and shape: a block of one request a contestant, each for a fresh process."""
    lengths = setup.reference_lengths(setup.tasks[0])
    pools = {length: nearest(lengths, length)[: max(POOL, *setup.batch_sizes)] for length in setup.lengths}
    shapes = [(length, size) for length in setup.lengths for size in setup.batch_sizes]
    return [
        [
            tuple(Block(e.label, (_trial(setup, e, length, size, pools[length], repeat),)) for e in order)
            for repeat in range(setup.repeats)
            for length, size in shapes
            for order in [setup.shuffled(setup.entrants, "memory", repeat, length, size)]
        ]
    ]


def measured(runner: Runner, trial: Trial, order: int, device: str) -> None:
    """Make the request of `trial` once and hand on a record without any time, its memory in it."""
    loaded_bytes = resident_bytes()
    outcome = runner.call(trial)
    memory = {"loaded_bytes": loaded_bytes, "peak_bytes": peak_bytes()}
    if (on_device := device_peak_bytes(device)) is not None:
        memory["device_peak_bytes"] = on_device
    record = record_of(trial, runner.contestants[trial.cell.label], runner.start, order, outcome, ())
    runner.sink(replace(record, latency_s=None, cpu_s=None, steps=(), memory=memory), [])


def _trial(setup: Setup, entrant: Entrant, length: int, size: int, pool: Sequence[int], repeat: int) -> Trial:
    cell = Cell(setup.tasks[0].name, entrant.label, "exact" if entrant.exact else "natural", length, size)
    return Trial(setup.suite, cell, repeat, taken(pool, size, repeat))
