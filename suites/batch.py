"""Throughput and latency against batch size: 1, 2, 4 … until memory or the budget ends it.

The smallest and the largest size are the S1 and Smax of Kasai et al. 2020, https://arxiv.org/abs/2006.10369: a parallel
decoder that wins at batch 1 may lose where many rows share a pass.
"""

from collections.abc import Sequence
from dataclasses import replace

from suites.latency import latency_rounds
from suites.plan import Round, Setup

CONTESTANTS = (
    "ar",
    "ar:weights=ar_shallow",
    "ctranslate2",
    "ctranslate2:compute_type=int8",
    "ctc",
    "mask_predict:n_iterations=1",
    "mask_predict:n_iterations=4",
    "mask_predict:n_iterations=10",
)
SIZES = tuple(2**i for i in range(13))  # to 4,096: few machines get there
LENGTHS = (64,)
REPEATS = 7
BUDGET = "10m"
POOL = 32  # sources of nearly one length; larger batches hold them several times, so that padding does not grow


def plan(setup: Setup) -> list[Sequence[Round]]:
    """One part, one round a size: all its repeats, so that a budget ends the sizes and not their repeats."""
    return [[_of_size(replace(setup, batch_sizes=(size,))) for size in sorted(setup.batch_sizes)]]


def _of_size(setup: Setup) -> Round:
    repeats = latency_rounds(setup, setup.tasks[0], setup.entrants, POOL)
    return tuple(block for blocks in repeats for block in blocks)
