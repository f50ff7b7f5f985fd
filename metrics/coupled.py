"""A language whose every probability is known, to see what decoding in parallel does to words that belong together.

A source is one word, its output four pairs of tokens; a word says which of its pairs are *coupled*, and there is one
for every choice. A coupled pair is "a b", "c d", "c e" or "c f": the likeliest first token, c, and the likeliest second
one, b, belong to different pairs, so that whoever takes the likeliest of each at once writes "c b", which nobody ever
wrote. The tokens of the other pairs are *independent*, and less sure than any of a coupled pair, so that mask-predict
looks at them first and needs more passes to come round to the mixtures.

How sure a token is takes five values, told apart by a model trained for seconds: 1/4 (independent), 0.4 (b), 1/2 (d
after c), 0.6 (c) and 1 (c before d). Only tokens of one of these kinds are equally sure, and then which of them is
masked changes where a mixture stands, not how many there are.
"""

import itertools
import random
from collections.abc import Sequence
from typing import NamedTuple

from metrics.base import Metric, Output, Statistics, ratio_of_sums
from metrics.total_correlation import Joint, marginal, total_correlation

COUPLED: Joint = {("a", "b"): 0.4, ("c", "d"): 0.3, ("c", "e"): 0.15, ("c", "f"): 0.15}
INDEPENDENT: Joint = dict.fromkeys(itertools.product("ghij", repeat=2), 1 / 16)
PAIRS = 4  # of an output
WORDS = "ABCDEFGHIJKLMNOP"  # from all pairs coupled to none
LANGUAGE: dict[str, tuple[Joint, ...]] = dict(
    zip(WORDS, itertools.product((COUPLED, INDEPENDENT), repeat=PAIRS), strict=True)
)


class Choice(NamedTuple):
    token: str
    probability: float


def sentences(n: int, seed: int) -> list[tuple[str, str]]:
    """n pairs of a source, drawn evenly, and one of the outputs it may have, drawn by its probability."""
    draw = random.Random(seed)
    return [(source, _drawn(draw, source)) for source in draw.choices(list(LANGUAGE), k=n)]


def _drawn(draw: random.Random, source: str) -> str:
    pairs = (draw.choices(list(joint), weights=list(joint.values()))[0] for joint in LANGUAGE[source])
    return " ".join(token for pair in pairs for token in pair)


def known_total_correlation(sources: Sequence[str]) -> float:
    """Conditional total correlation of these sources, in nats a token. Raises ValueError when there are none."""
    joints = [joint for source in sources for joint in LANGUAGE[source]]
    if not joints:
        raise ValueError("total correlation needs at least one source")
    return sum(map(total_correlation, joints)) / (2 * len(joints))


def expected(source: str, n_iterations: int) -> str:
    """What mask-predict writes in so many passes when its model knows every probability of the language."""
    joints = LANGUAGE[source]
    n = 2 * len(joints)
    tokens: list[str | None] = [None] * n
    sure = [0.0] * n
    masked = list(range(n))
    for n_done in range(1, n_iterations + 1):
        chosen = {place: best(joints[place // 2], place % 2, tokens[place ^ 1]) for place in masked}
        for place, choice in chosen.items():
            tokens[place], sure[place] = choice
        masked = sorted(range(n), key=lambda place: (sure[place], place))[: n * (n_iterations - n_done) // n_iterations]
        for place in masked:
            tokens[place] = None
    return " ".join(token or "" for token in tokens)


def best(joint: Joint, place: int, other: str | None) -> Choice:
    """The likeliest token at `place` (0 or 1) of a pair, given the other one or nothing."""
    given = {pair: p for pair, p in joint.items() if other in (None, pair[1 - place])} or joint
    probabilities = marginal(given, place)
    token = max(probabilities, key=lambda token: probabilities[token])
    return Choice(token, probabilities[token] / sum(given.values()))


def _invalid(output: Output) -> Statistics:
    """(pairs that nobody ever wrote, pairs); (0, 0) for a source of no word of the language."""
    tokens, joints = output.text.split(), LANGUAGE.get(output.source, ())
    return sum(tuple(tokens[2 * i : 2 * i + 2]) not in joint for i, joint in enumerate(joints)), len(joints)


INVALID_MIXTURES = Metric(
    name="invalid_mixtures",
    unit="share",
    direction="lower",
    signature="invalid_mixtures|language:coupled|version:2",
    definition="share of the output's pairs whose two tokens never stand together in this language",
    source="ours; the coupled choices of Gu et al. 2018, Non-Autoregressive Neural Machine Translation",
    statistics=_invalid,
    aggregate=ratio_of_sums,
)
