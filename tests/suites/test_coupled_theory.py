"""The theory of mixtures against the decoder itself, around a model that knows the language's true probabilities."""

import math

import pytest
import torch
from torch import Tensor

from generators.base import Stopwatch
from generators.models.heads import CmlmMarian
from generators.models.marian import Memory
from generators.models.text import Codec
from generators.strategies.mask_predict import MaskPredict, MaskPredictConfig
from metrics.coupled import LANGUAGE, expected
from metrics.total_correlation import Joint, marginal
from tests.generators.tiny import VOCAB_SIZE, tiny_model
from tests.suites.fakes import Words

IDS = {letter: number for number, letter in enumerate("abcdefghij", start=1)}
LETTERS = {number: letter for letter, number in IDS.items()}


def log_probs(joint: Joint, place: int, other: str | None) -> Tensor:
    """What is at `place` of a pair, by Bayes' rule; -inf for what cannot be."""
    given = {pair: p for pair, p in joint.items() if other in (None, pair[1 - place])}
    found = torch.full((VOCAB_SIZE,), float("-inf"), dtype=torch.float64)
    for letter, probability in marginal(given, place).items():
        found[IDS[letter]] = math.log(probability / sum(given.values()))
    return found


@pytest.mark.parametrize("n_iterations", [1, 2, 3, 4, 5, 8])
@pytest.mark.parametrize("word", LANGUAGE)
def test_theory_is_what_the_decoder_writes_with_a_perfect_model(
    word: str, n_iterations: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = tiny_model("cmlm")
    assert isinstance(model, CmlmMarian)

    def fill(token_ids: Tensor, memory: Memory, mask: Tensor | None) -> Tensor:
        letters = [LETTERS.get(i) for i in token_ids[0].tolist()]
        places = [log_probs(LANGUAGE[word][i // 2], i % 2, letters[i ^ 1]) for i in range(8)]
        return torch.stack(places)[None]

    monkeypatch.setattr(model, "fill", fill)
    codec: Codec = Words()
    strategy = MaskPredict(model, codec, MaskPredictConfig(n_iterations=n_iterations, length_beam=1))
    memory, stopwatch = model.encode(torch.tensor([[5, 0]])), Stopwatch()
    stopwatch.start()
    token_ids, _ = strategy.refine(memory, torch.tensor([8]), stopwatch)
    assert " ".join(LETTERS[i] for i in token_ids[0].tolist()) == expected(word, n_iterations)
