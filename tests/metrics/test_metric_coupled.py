"""The language of coupled words: its probabilities, and what perfect parallel decoding makes of it."""

import math

import pytest

from metrics.base import corpus_score
from metrics.coupled import (
    COUPLED,
    INDEPENDENT,
    INVALID_MIXTURES,
    LANGUAGE,
    best,
    expected,
    known_total_correlation,
    sentences,
)
from metrics.total_correlation import marginal, total_correlation


def invalid(said, source, text):
    return INVALID_MIXTURES.statistics(said(text, source=source))


@pytest.mark.parametrize("word", LANGUAGE)
def test_every_pair_has_a_distribution(word):
    assert [math.isclose(sum(joint.values()), 1.0) for joint in LANGUAGE[word]] == [True] * 4


def test_there_is_a_word_for_every_choice_of_coupled_pairs():
    choices = {tuple(joint is COUPLED for joint in joints) for joints in LANGUAGE.values()}
    assert len(choices) == len(LANGUAGE) == 2**4
    assert (LANGUAGE["A"], LANGUAGE["P"]) == ((COUPLED,) * 4, (INDEPENDENT,) * 4)


def test_a_coupled_pair_has_the_entropy_of_its_first_token_and_an_independent_one_nothing():
    # the second token tells the first, so what they share is the first's entropy: 0.4 and 0.6
    of_first = -(0.4 * math.log(0.4) + 0.6 * math.log(0.6))
    assert total_correlation(COUPLED) == pytest.approx(of_first)
    assert total_correlation(INDEPENDENT) == pytest.approx(0.0, abs=1e-12)
    # A has four coupled pairs of four, B three, P none
    assert known_total_correlation(["A", "B", "P"]) == pytest.approx(7 * of_first / 24)
    with pytest.raises(ValueError, match="at least one source"):
        known_total_correlation([])


def test_how_sure_a_token_is_leaves_a_small_model_a_margin():
    """Else nobody could tell a wrong order of masking from a model that is a little off."""
    seen = {
        best(joint, place, other).probability
        for joint in (COUPLED, INDEPENDENT)
        for place in (0, 1)
        for other in [None, *marginal(joint, 1 - place)]
    }
    # by hand: independent; b; d after c; c; c before d, e or f, and a and b of each other
    assert sorted(seen) == pytest.approx([0.25, 0.4, 0.5, 0.6, 1.0])


def test_what_was_never_written_together_is_invalid(said):
    assert invalid(said, "A", "a b c d c b a d") == (2, 4)
    assert invalid(said, "B", "a b c d c f g j") == (0, 4)  # B's last pair is independent
    assert invalid(said, "A", "a b c d c f g j") == (1, 4)
    assert invalid(said, "A", "") == (4, 4)
    assert invalid(said, "the word of the king", "went out") == (0, 0)  # not of this language: skipped


def test_one_pass_mixes_every_coupled_pair_and_two_passes_none(said):
    assert expected("A", 1) == "c b c b c b c b"
    assert expected("A", 2) == "c d c d c d c d"  # half is masked again: every b, the less sure
    assert invalid(said, "A", expected("A", 1)) == (4, 4)


def test_independent_pairs_are_looked_at_first_so_that_mixtures_last_longer(said):
    by_passes = [invalid(said, "D", expected("D", t))[0] for t in (1, 2, 3, 4, 8)]
    # by hand: 4, then 5 and 2, then 6, 4 and 2 of 8 tokens are masked again; 4 of the 8 are independent
    assert by_passes == [2, 2, 1, 0, 0]


def test_mixtures_fall_with_passes_and_end_at_none(said):
    shares = [
        corpus_score(INVALID_MIXTURES, [invalid(said, source, expected(source, t)) for source in LANGUAGE])
        for t in (1, 2, 3, 4, 8)
    ]
    # by hand: mixtures a word with 0, 1, 2, 3, 4 independent pairs, of which there are 1, 4, 6, 4, 1, in 64 pairs:
    # 4 3 2 1 0 after one pass, 0 1 2 1 0 after two, 0 0 1 1 0 after three, 0 0 0 1 0 after four
    assert shares == [32 / 64, 20 / 64, 10 / 64, 4 / 64, 0]


def test_sentences_are_drawn_by_their_probabilities(said):
    drawn = sentences(3000, seed=1)
    assert drawn == sentences(3000, seed=1) != sentences(3000, seed=2)
    assert all(invalid(said, source, target)[0] == 0 for source, target in drawn)
    firsts = [target.split()[0] for source, target in drawn if source == "A"]
    # 0.4 of about 190 draws, standard error 0.036
    assert firsts.count("a") / len(firsts) == pytest.approx(0.4, abs=0.11)
