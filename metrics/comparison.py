"""Two strategies side by side: what a parallel one keeps of AR's gain, and how often two say the same."""

from collections.abc import Sequence
from itertools import takewhile
from typing import NamedTuple


class Agreement(NamedTuple):
    identical_share: float
    mean_common_prefix: float  # tokens


def share_of_gain(bleu: float, bleu_copy: float, bleu_ar: float) -> float | None:
    """The part of AR's gain over copying the source that a strategy reaches: 1 is AR, 0 is copying.

    May be negative or above 1. None where AR gains nothing over copying. Ours: where source and target share most
    words, BLEU alone makes every strategy look good.
    """
    gain = bleu_ar - bleu_copy
    return (bleu - bleu_copy) / gain if gain > 0 else None


def agreement(ids_a: Sequence[Sequence[int]], ids_b: Sequence[Sequence[int]]) -> Agreement:
    """How often two strategies gave the same tokens, row by row, and how many leading tokens they share on average.

    Raises ValueError for no rows, or another number of rows on either side.
    """
    if len(ids_a) != len(ids_b) or len(ids_a) == 0:
        raise ValueError(f"agreement needs the same rows of both, at least one: got {len(ids_a)} and {len(ids_b)}")
    pairs = list(zip(ids_a, ids_b, strict=True))
    identical = sum(tuple(a) == tuple(b) for a, b in pairs)
    return Agreement(identical / len(pairs), sum(_common_prefix(a, b) for a, b in pairs) / len(pairs))


def _common_prefix(a: Sequence[int], b: Sequence[int]) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(a, b, strict=False)))
