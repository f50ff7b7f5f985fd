"""How much an output says again: the trace that one-shot decoding leaves when positions do not see each other."""

import numpy as np

from metrics.base import Array, Metric, Output, Statistics, ratio_of_sums


def _repeats(output: Output) -> Statistics:
    ids = output.token_ids
    return sum(a == b for a, b in zip(ids, ids[1:], strict=False)), len(ids)


def _percent_or_zero(sums: Array) -> Array:
    return 100 * np.nan_to_num(ratio_of_sums(sums))  # nothing generated, nothing repeated


def _repeated_4_grams(output: Output) -> Statistics:
    ids = output.token_ids
    grams = [ids[start : start + 4] for start in range(len(ids) - 3)]
    return (1 - len(set(grams)) / len(grams), 1) if grams else (0, 0)


REPEATED_TOKEN_RATE = Metric(
    name="repeated_token_rate",
    unit="%",
    direction="lower",
    signature="repeated_token_rate|units:token_ids|pooled:yes|version:1",
    definition="sub-word tokens equal to the one before them, in % of all tokens; 0 when nothing was generated",
    source="Ghazvininejad et al. 2019, Mask-Predict",
    statistics=_repeats,
    aggregate=_percent_or_zero,
)

SEQ_REP_4 = Metric(
    name="seq_rep_4",
    unit="share",
    direction="lower",
    signature="seq_rep|n:4|units:token_ids|pooled:no|version:1",
    definition="mean over outputs of 1 - unique 4-grams / 4-grams; outputs under 4 tokens are skipped and counted",
    source="Welleck et al. 2020, Neural Text Generation with Unlikelihood Training",
    statistics=_repeated_4_grams,
    aggregate=ratio_of_sums,
)
