"""Claims about the scoring pass: what it says is what the model says, and the tokens are those it was given."""

from types import SimpleNamespace
from typing import Any

import pytest
import torch

from generators.base import Exact, Natural, Prompt, Request, Stopwatch, Unsupported
from generators.models.marian import Marian
from generators.strategies.teacher_forcing import TeacherForcing, repeated
from tests.generators.tiny import tiny_model

CODEC: Any = SimpleNamespace(decode=str)  # there is nothing to decode for


@pytest.fixture(scope="module")
def model() -> Marian:
    return tiny_model()


def test_scores_are_the_log_probabilities_one_token_at_a_time(model: Marian) -> None:
    scorer = TeacherForcing(model, CODEC)
    source, tokens = torch.tensor([[7, 9, 11, 0]]), torch.tensor([[5, 6, 8]])
    with torch.inference_mode():
        scores = scorer.score(tokens, model.encode(source))[0]
        for place in range(3):
            prefix = torch.tensor([[model.config.decoder_start_token_id, *tokens[0, :place].tolist()]])
            alone = model(source, prefix)[0, -1].log_softmax(-1)[tokens[0, place]]
            assert scores[place] == pytest.approx(float(alone), abs=1e-12)


def test_what_comes_back_is_the_source_as_often_as_it_takes(model: Marian) -> None:
    request = Request(prompts=(Prompt(prefix_ids=(7, 9, 0)), Prompt(prefix_ids=(5, 0))), length=Exact(5))
    got = TeacherForcing(model, CODEC).generate(request, Stopwatch())
    assert got.token_ids == ((7, 9, 7, 9, 7), (5, 5, 5, 5, 5))
    assert [(step.phase, step.calls, step.positions) for step in got.steps] == [("encode", 1, 6), ("score", 1, 10)]


def test_a_scorer_has_no_length_of_its_own(model: Marian) -> None:
    request = Request(prompts=(Prompt(prefix_ids=(7, 0)),), length=Natural(5))
    with pytest.raises(Unsupported, match="natural_length"):
        TeacherForcing(model, CODEC).generate(request, Stopwatch())


def test_an_empty_source_has_nothing_to_score() -> None:
    with pytest.raises(Unsupported, match="no tokens to score"):
        repeated((0,), 3, 0)
