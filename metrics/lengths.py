"""How long outputs are beside their references, in sub-word tokens: outputs that stop early flatter latency."""

from metrics.base import Metric, Output, Statistics, ratio_of_sums


def _lengths(output: Output) -> Statistics:
    return len(output.token_ids), len(output.reference_ids)


def _short(output: Output) -> Statistics:
    return int(2 * len(output.token_ids) < len(output.reference_ids)), 1


def _empty(output: Output) -> Statistics:
    return int(not output.token_ids), 1


LENGTH_RATIO = Metric(
    name="length_ratio",
    unit="ratio",
    direction="none",
    signature="length_ratio|units:token_ids|pooled:yes|version:1",
    definition="all generated tokens / all reference tokens; undefined when every reference is empty",
    source="ours",
    statistics=_lengths,
    aggregate=ratio_of_sums,
)

SHORT_SHARE = Metric(
    name="short_share",
    unit="share",
    direction="lower",
    signature="short_share|units:token_ids|under:0.5|version:1",
    definition="share of outputs with fewer than half their reference's tokens",
    source="ours",
    statistics=_short,
    aggregate=ratio_of_sums,
)

EMPTY_SHARE = Metric(
    name="empty_share",
    unit="share",
    direction="lower",
    signature="empty_share|units:token_ids|version:1",
    definition="share of outputs without a token",
    source="ours",
    statistics=_empty,
    aggregate=ratio_of_sums,
)
