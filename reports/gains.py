"""What a change of the training text gives to two kinds of model, compared on the same sentences."""

import numpy as np

from metrics.bootstrap import difference, resampled_sums
from metrics.registry import METRICS
from reports.comparing import SEED, Table
from reports.summary import Estimate


def gain_of_gains(
    table: Table, task: str, one: tuple[str, str], other: tuple[str, str]
) -> tuple[Estimate, Estimate] | None:
    """(BLEU that the first of `one` has above its second, and how far that exceeds the same gain of `other`).

    Over the sentences that all four contestants have; None where there are fewer than two.
    """
    sides = [table.get((task, label), {}).get("bleu", {}) for label in (*one, *other)]
    common = sorted(set.intersection(*(set(side) for side in sides)))
    if len(common) < 2:
        return None
    wide = np.hstack([np.array([side[row] for row in common]) for side in sides])
    sums = np.vstack([wide.sum(axis=0), resampled_sums(wide, SEED, 1000)])
    bleu = METRICS["bleu"].aggregate(sums.reshape(len(sums), 4, -1))
    gain = bleu[:, 0] - bleu[:, 1]
    extra = gain - (bleu[:, 2] - bleu[:, 3])
    found = [difference(values[1:], float(values[0])) for values in (gain, extra)]
    first, second = (Estimate(d.difference, d.low, d.high, len(common)) for d in found)
    return first, second
