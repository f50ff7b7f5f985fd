"""How much a one-shot model must lose: what the tokens of an output know of each other once the source is known.

Conditional total correlation, Σ_t H(Y_t | X) − H(Y | X) in nats (Huang et al. 2022, On the Learning of
Non-Autoregressive Transformers): the least Kullback-Leibler divergence that a model reaches which chooses every token
without seeing the others. It is 0 where tokens are independent.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from metrics.base import Statistics, table
from metrics.bootstrap import resampled_sums
from metrics.latency import Estimate

Joint = Mapping[tuple[str, ...], float]  # an output's tokens -> its probability
# (nats, tokens) of a reference under a model: what a run keeps beside the metrics' statistics
NATS = "nats|of:reference_ids|length:known|version:1"


def total_correlation(joint: Joint) -> float:
    """Of a known distribution over outputs of one length, in nats an output.

    Raises ValueError for outputs of different lengths or probabilities that do not sum to 1.
    """
    if len({len(tokens) for tokens in joint}) > 1 or not math.isclose(sum(joint.values()), 1.0):
        raise ValueError("total correlation needs outputs of one length whose probabilities sum to 1")
    places = range(len(next(iter(joint))))
    return sum(entropy(marginal(joint, place).values()) for place in places) - entropy(joint.values())


def marginal(joint: Joint, place: int) -> dict[str, float]:
    """The distribution of the token at `place` alone."""
    found: Counter[str] = Counter()
    for tokens, probability in joint.items():
        found[tokens[place]] += probability  # type: ignore[assignment]
    return dict(found)


def entropy(probabilities: Iterable[float]) -> float:
    """In nats; what has probability 0 adds nothing."""
    return -sum(p * math.log(p) for p in probabilities if p > 0)


def estimated(one_shot: Sequence[Statistics], ar: Sequence[Statistics], seed: int) -> Estimate:
    """Nats a token, from what the same references cost two models; with a 95 % interval over sentences.

    `one_shot[i]` and `ar[i]` are (nats, tokens) of sentence i: under a model that sees the source and the true length
    alone, and under one that also sees the true tokens before. Real models stand above the entropies they estimate,
    the one-shot one further if it is the worse trained, so this is as good as the models are. Raises ValueError for
    no or unequally many sentences.
    """
    a, b = table(one_shot), table(ar)
    if len(a) != len(b) or not np.array_equal(a[:, 1], b[:, 1]):
        raise ValueError("total correlation needs the same references under both models")
    rows = np.column_stack([a[:, 0] - b[:, 0], a[:, 1]])
    total = rows.sum(axis=0)
    if total[1] == 0:
        raise ValueError("total correlation needs at least one token")
    if len(rows) < 2:
        return Estimate(float(total[0] / total[1]), None, None)
    sums = resampled_sums(rows, seed, 1000)
    low, high = np.quantile(sums[:, 0] / np.maximum(sums[:, 1], 1), [0.025, 0.975])
    return Estimate(float(total[0] / total[1]), float(low), float(high))
