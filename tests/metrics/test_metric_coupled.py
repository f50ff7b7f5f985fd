"""The language of coupled words: its probabilities, and what perfect parallel decoding makes of it."""

import math

import pytest

from metrics.base import corpus_score
from metrics.coupled import INVALID_MIXTURES, LANGUAGE, expected, known_total_correlation, sentences
from metrics.total_correlation import total_correlation


def invalid(said, source, text):
    return INVALID_MIXTURES.statistics(said(text, source=source))


@pytest.mark.parametrize("word", LANGUAGE)
def test_every_pair_has_a_distribution(word):
    assert [math.isclose(sum(joint.values()), 1.0) for joint in LANGUAGE[word]] == [True] * 4


def test_a_coupled_pair_has_the_entropy_of_its_first_token_and_a_free_one_nothing():
    # the second token tells the first, so what they share is the first's entropy: 0.4 and 0.6
    of_first = -(0.4 * math.log(0.4) + 0.6 * math.log(0.6))
    assert total_correlation(LANGUAGE["A"][0]) == pytest.approx(of_first)
    assert total_correlation(LANGUAGE["E"][0]) == pytest.approx(0.0, abs=1e-12)
    # A has four coupled pairs of four, B three, E none
    assert known_total_correlation(["A", "B", "E"]) == pytest.approx(7 * of_first / 24)
    with pytest.raises(ValueError, match="at least one source"):
        known_total_correlation([])


def test_what_was_never_written_together_is_invalid(said):
    assert invalid(said, "A", "a b d e d f d e") == (1, 4)  # turned by one letter a pair: "d e d f" is right, "d e" not
    assert invalid(said, "A", "") == (4, 4)
    assert invalid(said, "the word of the king", "went out") == (0, 0)  # not of this language: skipped


def test_one_pass_mixes_every_coupled_pair_and_two_passes_none(said):
    assert expected("A", 1) == "c b d c e d f e"
    assert expected("A", 2) == "c d d e e f f g"
    assert invalid(said, "A", expected("A", 1)) == (4, 4)


def test_free_pairs_are_looked_at_first_so_that_mixtures_last_longer(said):
    by_passes = [invalid(said, "C", expected("C", t))[0] for t in (1, 2, 3, 4, 8)]
    assert by_passes == [2, 2, 1, 0, 0]  # by hand: 4, then 5 and 2, then 6, 4 and 2 of 8 tokens are masked again


def test_mixtures_never_rise_with_passes_and_end_at_none(said):
    shares = [
        corpus_score(INVALID_MIXTURES, [invalid(said, source, expected(source, t)) for source in LANGUAGE])
        for t in (1, 2, 3, 4, 8)
    ]
    assert shares[0] == pytest.approx(0.5)  # two words of each number of free pairs from 0 to 4
    assert shares == sorted(shares, reverse=True) and shares[-1] == 0
    assert len(set(shares)) == 5


def test_sentences_are_drawn_by_their_probabilities(said):
    drawn = sentences(3000, seed=1)
    assert drawn == sentences(3000, seed=1) != sentences(3000, seed=2)
    assert all(invalid(said, source, target)[0] == 0 for source, target in drawn)
    firsts = [target.split()[0] for source, target in drawn if source == "A"]
    # 0.4 of about 300 draws, standard error 0.028
    assert firsts.count("a") / len(firsts) == pytest.approx(0.4, abs=0.09)
