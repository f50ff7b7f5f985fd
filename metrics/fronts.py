"""Which contestants nothing beats: the front of quality against latency, left only on evidence.

A point leaves the front only when another is better on one axis at 95 % and not worse on the other by more than a
margin. "Not worse" is meant at 95 % too: the whole interval must lie within the margin, so few sentences or noisy
clocks keep points on the front instead of throwing them off.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

from metrics.base import Array
from metrics.bootstrap import PairedDifference, difference
from metrics.significance import Ratio, holm, ratio

BLEU_MARGIN = 0.3  # points
LATENCY_MARGIN = 0.03  # of the time
LEVEL = 0.05
N_RESAMPLES = 2000  # so that even the smallest of a hundred tests can pass Holm's correction


class Rival(NamedTuple):
    """Another contestant as seen from a point, on the same sentences and in the same repeats."""

    label: str
    bleu: PairedDifference  # the rival's minus the point's
    speed: Ratio  # the point's time over the rival's: above 1, the rival is faster


class Sampled(NamedTuple):
    """What all contestants were observed to have [C], and the same in every resample [R, C]."""

    observed: Array
    resampled: Array


def front(labels: Sequence[str], bleu: Sampled, seconds: Sampled) -> list[Rival | None]:
    """For each contestant the rival for which it leaves the front, None where it stays.

    The resamples of each axis draw the same sentences, or the same repeats, for all contestants.
    """
    everyone = range(len(labels))
    rivals = ([_rival(labels[j], bleu, seconds, i, j) for j in everyone if j != i] for i in everyone)
    return [displacer(found) for found in rivals]


def displacer(rivals: Sequence[Rival]) -> Rival | None:
    """The rival for which a point leaves the front, or None where it stays.

    Both axes of all rivals are tested at once, by Holm's correction. Of two that beat each other, each on its axis and
    within the margins, the one leaves that gains less in margins than it loses, so that a front is never empty. Of
    several displacers the one that gains most is named.
    """
    p_values = holm([p for rival in rivals for p in (rival.bleu.p_value, rival.speed.p_value)])
    judged = zip(rivals, p_values[::2], p_values[1::2], strict=True)
    found = [rival for rival, p_bleu, p_speed in judged if _beats(rival, p_bleu, p_speed)]
    return max(found, key=_gain, default=None)


def _rival(label: str, bleu: Sampled, seconds: Sampled, point: int, other: int) -> Rival:
    observed = float(bleu.observed[other] - bleu.observed[point])
    differences = bleu.resampled[:, other] - bleu.resampled[:, point]
    faster = float(seconds.observed[point] / seconds.observed[other])
    ratios = seconds.resampled[:, point] / seconds.resampled[:, other]
    return Rival(label, difference(differences, observed), ratio(faster, ratios))


def _beats(rival: Rival, p_bleu: float, p_speed: float) -> bool:
    bleu, speed = rival.bleu, rival.speed
    writes_better = bleu.difference > 0 and p_bleu < LEVEL and speed.low >= 1 / (1 + LATENCY_MARGIN)
    is_faster = speed.value > 1 and p_speed < LEVEL and bleu.low >= -BLEU_MARGIN
    return (writes_better or is_faster) and _gain(rival) > 0


def _gain(rival: Rival) -> float:
    """What it is better by on both axes together, each in units of its margin."""
    return rival.bleu.difference / BLEU_MARGIN + math.log(rival.speed.value) / math.log(1 + LATENCY_MARGIN)
