"""Prefix beam search: wide enough, it finds the text whose alignments together are most probable."""

import itertools
import math
from collections import defaultdict

import pytest
import torch

from generators.base import Natural
from generators.models.text import MarianCodec
from generators.strategies.ctc import Ctc, CtcConfig, collapse
from generators.strategies.prefix_beam import log_add, prefix_beam_search
from tests.generators.asking import ask, random_sources
from tests.generators.test_strategy_ctc import ctc_model

BLANK = 3


def texts(log_probs: torch.Tensor) -> dict[tuple[int, ...], float]:
    """The probability of every text, summed over all alignments one by one."""
    probabilities = log_probs.exp()
    found: dict[tuple[int, ...], float] = defaultdict(float)
    for alignment in itertools.product(range(log_probs.shape[1]), repeat=log_probs.shape[0]):
        p = math.prod(probabilities[slot, token].item() for slot, token in enumerate(alignment))
        found[tuple(collapse(alignment, BLANK))] += p
    return found


def random_canvas(seed: int, spread: float = 1.0) -> torch.Tensor:
    random = torch.Generator().manual_seed(seed)
    return (torch.randn(5, 4, generator=random, dtype=torch.float64) * spread).log_softmax(-1)


@pytest.mark.parametrize("seed", range(20))
def test_a_wide_beam_finds_the_most_probable_text(seed: int) -> None:
    log_probs = random_canvas(seed)
    found = texts(log_probs)
    assert tuple(prefix_beam_search(log_probs, BLANK, 1000)) == max(found, key=lambda text: found[text])


def test_it_is_not_always_the_best_alignments_text_and_never_a_worse_one() -> None:
    n_better = 0
    for seed in range(20):
        log_probs = random_canvas(seed, spread=0.5)
        found, greedy = texts(log_probs), tuple(collapse(log_probs.argmax(-1).tolist(), BLANK))
        searched = tuple(prefix_beam_search(log_probs, BLANK, 1000))
        assert found[searched] >= found[greedy]
        n_better += searched != greedy
    assert n_better > 3


def test_two_alignments_of_one_text_outweigh_one_better_alignment_of_another() -> None:
    # Worked by hand, ids a = 0 and blank = 3: "" has .6 * .6 = .36; "a" has .4 * .4 + 2 * .4 * .6 = .64.
    slot = torch.tensor([0.4, 0.0, 0.0, 0.6], dtype=torch.float64).log()
    log_probs = torch.stack([slot, slot])
    assert collapse(log_probs.argmax(-1).tolist(), BLANK) == []
    assert prefix_beam_search(log_probs, BLANK, 2) == [0]


def test_a_token_said_twice_needs_a_blank_between() -> None:
    sure = torch.full((5, 4), -50.0, dtype=torch.float64)
    for slot, token in enumerate((0, 0, BLANK, 0, 1)):
        sure[slot, token] = 0.0
    assert prefix_beam_search(sure, BLANK, 4) == [0, 0, 1]


@pytest.mark.parametrize("beam_size", [2, 5])
def test_rows_do_not_know_each_other_and_padding_says_nothing(codec: MarianCodec, beam_size: int) -> None:
    ctc, sources = Ctc(ctc_model(), codec, CtcConfig(beam_size=beam_size)), random_sources(6, seed=5)
    together = ask(ctc, sources, Natural(30))
    assert list(together.token_ids) == [ask(ctc, [source], Natural(30)).token_ids[0] for source in sources]
    greedy = ask(Ctc(ctc.model, codec), sources, Natural(30))
    assert [(step.calls, step.positions) for step in together.steps] == [
        (step.calls, step.positions) for step in greedy.steps
    ]


def test_probabilities_add_where_one_of_them_is_nothing() -> None:
    assert log_add(-math.inf, -math.inf) == -math.inf
    assert log_add(math.log(0.25), -math.inf) == math.log(0.25)
    assert log_add(math.log(0.25), math.log(0.5)) == pytest.approx(math.log(0.75))


def test_a_beam_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="beam_size must be 1 or more, got 0"):
        CtcConfig(beam_size=0)
