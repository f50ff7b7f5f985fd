"""Every metric of a table, by name. To add one: a file with a `Metric`, a line here, a line in README.md, a test."""

from metrics.base import Metric
from metrics.lengths import EMPTY_SHARE, LENGTH_RATIO, SHORT_SHARE
from metrics.name_recall import NAME_RECALL
from metrics.repetition import REPEATED_TOKEN_RATE, SEQ_REP_4
from metrics.sacrebleu_scores import bleu, chrf, ter

METRICS: dict[str, Metric] = {
    "bleu": bleu(),
    "chrf": chrf(),
    "ter": ter(),
    "repeated_token_rate": REPEATED_TOKEN_RATE,
    "seq_rep_4": SEQ_REP_4,
    "length_ratio": LENGTH_RATIO,
    "short_share": SHORT_SHARE,
    "empty_share": EMPTY_SHARE,
    "name_recall": NAME_RECALL,
}
