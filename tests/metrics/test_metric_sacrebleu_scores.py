"""BLEU, chrF and TER are sacreBLEU's, to the last bit, and misuse is refused."""

import sys
from importlib.metadata import version

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics import BLEU, CHRF, TER

from metrics.base import corpus_score
from metrics.registry import METRICS
from metrics.sacrebleu_scores import bleu

SCORERS = [("bleu", BLEU), ("chrf", CHRF), ("ter", TER)]
TEXTS = st.lists(st.sampled_from(["the", "cat", "sat", "Sat", "on", "mat", ".", "3,5", "don't"]), max_size=9).map(
    " ".join
)


def _sacrebleu_and_ours(name, scorer, outputs):
    theirs = scorer().corpus_score([o.text for o in outputs], [[o.reference for o in outputs]])
    return theirs.score, corpus_score(METRICS[name], [METRICS[name].statistics(o) for o in outputs])


@pytest.mark.parametrize(("name", "scorer"), SCORERS)
def test_real_sentences_and_an_empty_output_score_exactly_as_in_sacrebleu(name, scorer, copied_verses):
    theirs, ours = _sacrebleu_and_ours(name, scorer, copied_verses)
    assert copied_verses[-1].text == ""
    assert 10 < ours < 90  # neither of the values that an accident would give
    assert ours == theirs


@pytest.mark.parametrize(("name", "scorer"), SCORERS)
@settings(max_examples=40, deadline=None)
@given(pairs=st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=4))
def test_any_text_scores_exactly_as_in_sacrebleu(name, scorer, said, pairs):
    theirs, ours = _sacrebleu_and_ours(name, scorer, [said(text, reference=reference) for text, reference in pairs])
    assert ours == theirs


def test_signatures_are_sacrebleus_own_with_its_version():
    v = version("sacrebleu")
    assert METRICS["bleu"].signature == f"nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:{v}"
    assert METRICS["chrf"].signature == f"nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:{v}"
    assert METRICS["ter"].signature == f"nrefs:1|case:lc|tok:tercom|norm:no|punct:yes|asian:no|version:{v}"


def test_bleu_by_hand(said):
    row = METRICS["bleu"].statistics(said("the cat sat on the mat", reference="the cat sat on a mat"))
    # matches: 5 of 6 words, 3 of 5 pairs, 2 of 4 triples, 1 of 3 quadruples; their product is 1/12, no brevity penalty
    assert row == (6, 6, 5, 3, 2, 1, 6, 5, 4, 3)
    assert corpus_score(METRICS["bleu"], [row]) == pytest.approx(100 * (1 / 12) ** 0.25)


def test_chrf_by_hand(said):
    row = METRICS["chrf"].statistics(said("ab", reference="ac"))
    # characters 1 of 2, pairs 0 of 1, longer ones do not exist: precision and recall both (1/2 + 0) / 2
    assert corpus_score(METRICS["chrf"], [row]) == pytest.approx(25.0)


def test_ter_by_hand(said):
    row = METRICS["ter"].statistics(said("a b c d", reference="a c b d"))
    assert row == (1, 4)  # one move of "c", four reference words
    assert corpus_score(METRICS["ter"], [row]) == 25.0


@pytest.mark.parametrize(
    ("text", "reference", "expected"),
    [
        ("", "a b c d", {"bleu": 0.0, "chrf": 0.0, "ter": 100.0}),
        ("a b c d", "", {"bleu": 0.0, "chrf": 0.0, "ter": 100.0}),
        ("", "", {"bleu": 0.0, "chrf": 0.0, "ter": 0.0}),
        ("a", "a", {"bleu": 0.0, "chrf": 100.0, "ter": 0.0}),  # one word holds no 4-gram, so BLEU has no mean to give
        ("a b c d", "a b c d", {"bleu": 100.0, "chrf": 100.0, "ter": 0.0}),
    ],
)
def test_nothing_to_divide_by_has_a_value(said, text, reference, expected):
    output = said(text, reference=reference)
    scores = {name: corpus_score(METRICS[name], [METRICS[name].statistics(output)]) for name in expected}
    assert scores == pytest.approx(expected)


def test_references_in_another_shape_are_refused(said):
    with pytest.raises(ValueError, match="reference must be one string an output, got list"):
        said("a", reference=["a", "b", "c"])
    with pytest.raises(ValueError, match="text must be one string an output, got NoneType"):
        said(None, reference="a")


def test_chinese_under_13a_is_refused(said):
    with pytest.raises(ValueError, match="13a cannot split this reference: set target_language"):
        METRICS["bleu"].statistics(said("你好世界", reference="你好世界。"))


def test_a_foreign_name_in_an_english_reference_is_fine(said):
    row = METRICS["bleu"].statistics(said("the city of 東京", reference="the city of 東京"))
    assert corpus_score(METRICS["bleu"], [row]) == pytest.approx(100.0)


def test_chinese_is_scored_by_character(said):
    metric = bleu("zh")
    assert "|tok:zh|" in metric.signature
    assert metric.statistics(said("你好世人", reference="你好世界"))[:6] == (4, 4, 3, 2, 1, 0)


def test_japanese_without_its_tokenizer_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "MeCab", None)  # as if it were not installed
    monkeypatch.delitem(sys.modules, "sacrebleu.tokenizers.tokenizer_ja_mecab", raising=False)
    with pytest.raises(ValueError, match=r"no tokenizer for 'ja': pip install 'sacrebleu\[ja\]'"):
        bleu("ja")


@pytest.mark.parametrize("code", ["", "zh-CN", "Chinese", "ZH"])
def test_a_language_that_is_no_two_letter_code_is_refused(code):
    with pytest.raises(ValueError, match="two-letter code"):
        bleu(code)


def test_tokenised_text_is_scored_as_it_stands_and_loses(said):
    def words_matched(text):
        return METRICS["bleu"].statistics(said(text, reference="I don't know."))[2]

    assert words_matched("I don't know.") == 4
    assert words_matched("I do n't know .") == 3
    assert words_matched("▁I ▁don't ▁know.") == 1  # the full stop


@settings(max_examples=40, deadline=None)
@given(pairs=st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=4))
def test_many_sums_scored_at_once_score_as_one_by_one(said, pairs):
    metric = METRICS["bleu"]
    rows = np.array([metric.statistics(said(text, reference=reference)) for text, reference in pairs])
    sums = np.vstack([rows.cumsum(axis=0), 3 * rows.sum(axis=0), np.zeros_like(rows[0])])
    assert metric.aggregate(sums) == pytest.approx([float(metric.aggregate(one)) for one in sums], rel=1e-12)
