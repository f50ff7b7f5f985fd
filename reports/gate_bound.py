"""How often the gate cries wolf at the most: a bound that holds although no replayed gate ever did.

Where none of the blocks leads to an alarm, neither do blocks drawn again from them, and a bootstrap bounds nothing. But
single blocks of equal code do stray beyond a limit now and then, and an alarm takes many that do. If the t bound of n
values lies above a limit, more than n t² / (n - 1 + t²) of the values do: the one-sided inequality of Chebyshev
(Cantelli 1928), applied to the sample itself, whatever the distribution. With exact bounds on how often a block strays,
the binomial distribution gives the rest. It assumes that blocks are independent draws of one kind, and nothing else.
"""

import math
from dataclasses import dataclass

from scipy.special import bdtrc, stdtrit

from metrics.bounds import share_bounds
from reports.gate import CELL_LIMIT, TOLERATED, WALL_LIMIT, Block
from reports.gate_looks import ALPHA, CONFIRMING, LOOKS
from reports.gate_replay import Pool


@dataclass(frozen=True, slots=True, kw_only=True)
class FalseAlarms:
    """What blocks of equal code say of the alarms of gates on such code."""

    blocks: int
    strayed: int  # blocks in which any strategy lies beyond any limit
    strays_at_most: float  # share of all such blocks, upper 95 % bound
    needed: dict[int, int]  # by blocks looked at: how many of them must stray for an alarm
    at_most: float  # share of gates with an alarm, upper 95 % bound


def false_alarms(blocks: Pool) -> FalseAlarms:
    """The bound from blocks whose head is the same code as their base.

    A gate alarms when, at one of its looks, one strategy's blocks show something beyond a limit and so does the mean of
    the confirming ones. Strategies and limits need not be added up: what makes any of them alarm strays in the sense
    of `strayed`.
    """
    strayed = sum(any(strays(block) for block in one.values()) for one in blocks)
    share = share_bounds(strayed, len(blocks)).upper
    alpha = ALPHA / (len(LOOKS) * len(blocks[0]))
    least = {n: needed(n, alpha) for n in LOOKS}
    found = sum(float(bdtrc(k - 1, n, share)) for n, k in least.items())
    confirmed = 1 - (1 - share) ** CONFIRMING  # a mean beyond a limit takes at least one block beyond it
    return FalseAlarms(
        blocks=len(blocks), strayed=strayed, strays_at_most=share, needed=least, at_most=min(1.0, found * confirmed)
    )


def strays(block: Block) -> bool:
    """Whether the block, by itself, lies beyond any limit of the gate."""
    lengths, wall = block.head["cpu_s"].values(), block.head["wall_s"].values()
    return sum(lengths) / len(lengths) > TOLERATED or max(lengths) > CELL_LIMIT or sum(wall) / len(wall) > WALL_LIMIT


def needed(n: int, alpha: float) -> int:
    """How many of n values lie above whatever their lower t bound, missed with probability `alpha`, lies above."""
    t = float(stdtrit(n - 1, 1 - alpha))
    return math.floor(n * t * t / (n - 1 + t * t)) + 1
