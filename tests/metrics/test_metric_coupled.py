"""The language of coupled words: its probabilities, and what perfect parallel decoding makes of it."""

import math

import pytest

from metrics.base import corpus_score
from metrics.coupled import INVALID_MIXTURES, LANGUAGE, expected, known_total_correlation, sentences
from metrics.total_correlation import total_correlation


def invalid(said, source, text):
    return INVALID_MIXTURES.statistics(said(text, source=source))


@pytest.mark.parametrize("word", LANGUAGE)
def test_every_word_has_a_distribution(word):
    assert math.isclose(sum(LANGUAGE[word].values()), 1.0)


def test_a_coupled_word_has_the_entropy_of_its_first_token_and_a_free_one_nothing():
    # the second token tells the first, so what they share is the first's entropy: 0.45 and 0.55
    of_first = -(0.45 * math.log(0.45) + 0.55 * math.log(0.55))
    assert total_correlation(LANGUAGE["A"]) == pytest.approx(of_first)
    assert total_correlation(LANGUAGE["P"]) == pytest.approx(0.0, abs=1e-12)
    assert known_total_correlation(["A P", "A A"]) == pytest.approx(3 * of_first / 8)
    with pytest.raises(ValueError, match="at least one source word"):
        known_total_correlation([])


def test_what_was_never_written_together_is_invalid(said):
    assert invalid(said, "A A A", "a b c d c b") == (1, 3)
    assert invalid(said, "A", "") == (1, 1)
    assert invalid(said, "A I", "c e a f") == (0, 2)
    assert invalid(said, "the word of the king", "went out") == (0, 0)  # not of this language: skipped


def test_one_pass_mixes_every_coupled_word_and_two_passes_none(said):
    assert expected("A A A A", 1) == "c b c b c b c b"
    assert expected("A A A A", 2) == "c d c d c d c d"
    assert invalid(said, "A A A A", expected("A A A A", 1)) == (4, 4)


def test_free_words_are_looked_at_first_so_that_mixtures_last_longer(said):
    by_passes = [invalid(said, "A A I I", expected("A A I I", t))[0] for t in (1, 2, 3, 4, 8)]
    assert by_passes == [2, 2, 1, 0, 0]  # by hand: 4, then 5 and 2, then 6, 4 and 2 of 8 tokens are masked again


def test_mixtures_never_rise_with_passes_and_end_at_none(said):
    sources = [source for source, _ in sentences(200, seed=3)]
    shares = [
        corpus_score(INVALID_MIXTURES, [invalid(said, source, expected(source, t)) for source in sources])
        for t in (1, 2, 3, 4, 8)
    ]
    words = [word for source in sources for word in source.split()]
    assert shares[0] == pytest.approx(sum(word in "ABCDEFGH" for word in words) / len(words))
    assert shares == sorted(shares, reverse=True) and shares[-1] == 0


def test_sentences_are_drawn_by_their_probabilities(said):
    drawn = sentences(3000, seed=1)
    assert drawn == sentences(3000, seed=1) != sentences(3000, seed=2)
    assert all(invalid(said, source, target)[0] == 0 for source, target in drawn)
    firsts = [target.split()[0] for source, target in drawn if source[0] == "A"]
    # 0.45 of about 190 draws, standard error 0.036
    assert firsts.count("a") / len(firsts) == pytest.approx(0.45, abs=0.12)
