"""A language whose every probability is known, to see what decoding in parallel does to words that belong together.

Each source word becomes two tokens. A *coupled* word becomes "a b", "c d" or "c e": the second token follows from the
first or nearly so, and the most probable first and second token belong to different outputs, so that whoever chooses
both at once writes "c b", which nobody ever wrote. A *free* word's two tokens are independent, and less sure than a
coupled word's, so that mask-predict looks at them first and needs more passes to come round to the mixtures.
"""

import random
from collections.abc import Sequence
from typing import NamedTuple

from metrics.base import Metric, Output, Statistics, ratio_of_sums
from metrics.total_correlation import Joint, marginal, total_correlation

LETTERS = "abcdefgh"
FREE = (0.31, 0.25, 0.23, 0.21)
WORDS = 4  # of a sentence


class Choice(NamedTuple):
    token: str
    probability: float


def _coupled(turn: int) -> Joint:
    a, b, c, d, e = (LETTERS[(turn + i) % len(LETTERS)] for i in range(5))
    return {(a, b): 0.45, (c, d): 0.33, (c, e): 0.22}


def _free(turn: int) -> Joint:
    letters = LETTERS[turn:] + LETTERS[:turn]
    first, second = zip(letters[:4], FREE, strict=True), tuple(zip(letters[4:], FREE, strict=True))
    return {(x, y): p * q for x, p in first for y, q in second}


LANGUAGE: dict[str, Joint] = {
    **{word: _coupled(turn) for turn, word in enumerate("ABCDEFGH")},
    **{word: _free(turn) for turn, word in enumerate("IJKLMNOP")},
}


def sentences(n: int, seed: int) -> list[tuple[str, str]]:
    """n pairs of a source and one of the outputs it may have, drawn by its probability."""
    draw = random.Random(seed)
    found = []
    for _ in range(n):
        words = draw.choices(list(LANGUAGE), k=WORDS)
        pairs = [draw.choices(list(LANGUAGE[word]), weights=list(LANGUAGE[word].values()))[0] for word in words]
        found.append((" ".join(words), " ".join(token for pair in pairs for token in pair)))
    return found


def known_total_correlation(sources: Sequence[str]) -> float:
    """Conditional total correlation of these sources, in nats a token. Raises ValueError when there are none."""
    words = [word for source in sources for word in source.split()]
    if not words:
        raise ValueError("total correlation needs at least one source word")
    return sum(total_correlation(LANGUAGE[word]) for word in words) / (2 * len(words))


def expected(source: str, n_iterations: int) -> str:
    """What mask-predict writes in so many passes when its model knows every probability of the language."""
    joints = [LANGUAGE[word] for word in source.split()]
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
    """The likeliest token at `place` (0 or 1) of a word, given the other one or nothing."""
    given = {pair: p for pair, p in joint.items() if other in (None, pair[1 - place])} or joint
    probabilities = marginal(given, place)
    token = max(probabilities, key=lambda token: probabilities[token])
    return Choice(token, probabilities[token] / sum(given.values()))


def _invalid(output: Output) -> Statistics:
    """(source words whose two tokens nobody ever wrote together, source words of the language)."""
    tokens = output.text.split()
    words = [(i, LANGUAGE[word]) for i, word in enumerate(output.source.split()) if word in LANGUAGE]
    return sum(tuple(tokens[2 * i : 2 * i + 2]) not in joint for i, joint in words), len(words)


INVALID_MIXTURES = Metric(
    name="invalid_mixtures",
    unit="share",
    direction="lower",
    signature="invalid_mixtures|language:coupled|version:1",
    definition="share of source words whose two tokens never stand together in this language",
    source="ours; the coupled choices of Gu et al. 2018, Non-Autoregressive Neural Machine Translation",
    statistics=_invalid,
    aggregate=ratio_of_sums,
)
