"""Beam search against every sequence there is, and against greedy search."""

import itertools
import math

import pytest
import torch

from generators.base import Exact, Natural, Stopwatch
from generators.models.marian import Marian
from generators.models.text import MarianCodec
from generators.strategies.ar import ArConfig, Autoregressive
from generators.strategies.beam import Finished, beam_search
from tests.generators.asking import ask, random_sources
from tests.generators.tiny import tiny_model

EOS, PAD = 0, 5
SMALL = {"vocab_size": 6, "decoder_vocab_size": 6, "pad_token_id": PAD, "decoder_start_token_id": PAD}


def score(
    model: Marian, source: tuple[int, ...], sequence: tuple[int, ...], length_penalty: float, exact: bool
) -> float:
    """The log probability of a whole sequence, teacher-forced and without beams, over its length to a power."""
    with torch.no_grad():
        logits = model(torch.tensor([source]), torch.tensor([[PAD, *sequence[:-1]]]))[0]
    logits[:, [PAD, EOS] if exact else [PAD]] = -math.inf
    rows = logits.log_softmax(-1)
    total = sum(rows[step, token_id].item() for step, token_id in enumerate(sequence))
    return total / len(sequence) ** length_penalty


def every_sequence(n: int, exact: bool) -> list[tuple[int, ...]]:
    words = range(1, PAD)
    whole = list(itertools.product(words, repeat=n))
    ended = [(*prefix, EOS) for k in range(n) for prefix in itertools.product(words, repeat=k)]
    return whole if exact else [*ended, *whole]


@pytest.mark.parametrize("exact", [False, True], ids=["natural", "exact"])
@pytest.mark.parametrize("length_penalty", [0.0, 1.0, 2.0])
@pytest.mark.parametrize("seed", [0, 1])
def test_a_beam_as_wide_as_the_tree_finds_the_best_of_all(seed: int, length_penalty: float, exact: bool) -> None:
    model, source, n = tiny_model(seed=seed, **SMALL), (2, 4, 1, 0), 3
    with torch.no_grad():
        memory = model.encode(torch.tensor([source]))
        found = beam_search(model, memory, Exact(n) if exact else Natural(n), 64, length_penalty, Stopwatch())
    scores = {one: score(model, source, one, length_penalty, exact) for one in every_sequence(n, exact)}
    assert tuple(found[0]) == max(scores, key=lambda one: scores[one])


def test_a_beam_of_one_is_greedy(codec: MarianCodec) -> None:
    model, sources = tiny_model(eos_bias=6.0), random_sources(20, seed=1)
    greedy = ask(Autoregressive(model, codec), sources, Natural(12))
    for source, wanted, n_raw in zip(sources, greedy.token_ids, greedy.tokens_raw, strict=True):
        with torch.no_grad():
            memory = model.encode(torch.tensor([source]))
            (row,) = beam_search(model, memory, Natural(12), 1, 1.0, Stopwatch())
        assert tuple(row[: len(wanted)]) == wanted
        assert len(row) == n_raw


def test_a_row_gains_nothing_from_passes_made_for_others(codec: MarianCodec) -> None:
    sources = random_sources(40, seed=2)
    beam = Autoregressive(tiny_model(eos_bias=5.0), codec, ArConfig(beam_size=4))
    alone = [ask(beam, [source], Natural(14)) for source in sources]
    assert len({got.tokens_raw for got in alone}) > 3
    together = ask(beam, sources, Natural(14))
    assert list(together.token_ids) == [got.token_ids[0] for got in alone]
    assert list(together.tokens_raw) == [got.tokens_raw[0] for got in alone]


def test_a_closed_row_takes_no_more() -> None:
    row = Finished(beam_size=2, length_penalty=1.0)
    row.add(-4.0, [1, 0])
    row.close_to(-9.0, 3)
    assert not row.closed  # one place is free
    row.add(-2.0, [2, 0])
    row.close_to(-5.0, 3)
    assert not row.closed  # -5 / 3 would beat -4 / 2
    row.close_to(-6.0, 3)
    assert row.closed  # -6 / 3 only equals it
    row.add(-0.1, [3, 0])
    assert [token_ids for _, token_ids in row.hypotheses] == [[2, 0], [1, 0]]


def test_a_beam_that_never_lived_cannot_win() -> None:
    row = Finished(beam_size=2, length_penalty=1.0)
    row.add(-math.inf, [0])
    assert row.hypotheses == []


def test_more_beams_than_words_still_meet_an_exact_length(codec: MarianCodec) -> None:
    beam = Autoregressive(tiny_model(**SMALL), codec, ArConfig(beam_size=8))
    (row,) = ask(beam, [(2, 3, 0)], Exact(5)).token_ids
    assert len(row) == 5
    assert {EOS, PAD}.isdisjoint(row)
