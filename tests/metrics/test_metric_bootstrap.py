"""Intervals and paired comparisons: known spreads, and what happens where there is nothing to compare."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics import BLEU, CHRF, TER
from sacrebleu.significance import PairedTest, _bootstrap_resample

from metrics.base import corpus_score, table
from metrics.bootstrap import interval, paired_bootstrap, resampled_sums
from metrics.lengths import EMPTY_SHARE
from metrics.name_recall import NAME_RECALL
from metrics.registry import METRICS
from metrics.repetition import SEQ_REP_4

ONE_IN_FIVE = [(1, 1)] * 20 + [(0, 1)] * 80
COUNTS = st.lists(st.tuples(st.integers(0, 9), st.integers(1, 9)), min_size=2, max_size=20)


def test_interval_of_a_share_is_that_of_the_binomial():
    low, high = interval(EMPTY_SHARE, ONE_IN_FIVE * 20, seed=1, n_resamples=4000)
    # 0.2 +- 1.96 sqrt(0.2 * 0.8 / 2000), where a 90 % interval would be 0.2 +- 0.0147
    assert low == pytest.approx(0.2 - 0.0175, abs=0.0015)
    assert high == pytest.approx(0.2 + 0.0175, abs=0.0015)


def test_the_same_seed_gives_the_same_interval_and_another_seed_another():
    assert interval(EMPTY_SHARE, ONE_IN_FIVE, seed=1) == interval(EMPTY_SHARE, ONE_IN_FIVE, seed=1)
    rows = [(x / 97, 1) for x in range(97)]
    assert interval(SEQ_REP_4, rows, seed=1) != interval(SEQ_REP_4, rows, seed=2)


def test_resamples_are_those_of_sacrebleu(copied_verses, monkeypatch):
    monkeypatch.setenv("SACREBLEU_SEED", "12345")
    rows = [METRICS["bleu"].statistics(output) for output in copied_verses]
    ours = METRICS["bleu"].aggregate(resampled_sums(table(rows), seed=12345, n_resamples=50))
    _, theirs = _bootstrap_resample([list(row) for row in rows], BLEU(), 50)
    assert ours == pytest.approx([score.score for score in theirs], rel=1e-5)  # sacreBLEU's are single precision
    assert len(set(ours)) > 25


@pytest.mark.parametrize("name", METRICS)
def test_one_output_has_no_interval_and_no_paired_difference(said, name):
    rows = [METRICS[name].statistics(said("in Rome", reference="in Rome", token_ids=(1,) * 5, reference_ids=(1, 2)))]
    assert interval(METRICS[name], rows, seed=0) is None
    assert paired_bootstrap(METRICS[name], rows, rows, seed=0) is None


def test_an_undefined_score_has_no_interval_and_no_paired_difference():
    assert interval(NAME_RECALL, [(0, 0), (0, 0)], seed=0) is None
    assert paired_bootstrap(NAME_RECALL, [(0, 0)] * 3, [(1, 1)] * 3, seed=0) is None


def test_resamples_without_a_value_are_left_out():
    # a quarter of the resamples draw the second row twice, and have no fact to recall
    assert interval(NAME_RECALL, [(1, 1), (0, 0)], seed=0) == (1.0, 1.0)
    assert paired_bootstrap(NAME_RECALL, [(1, 1), (0, 0)], [(0, 1), (0, 0)], seed=0)[:3] == (1.0, 1.0, 1.0)


def test_both_systems_see_the_same_sentences_in_every_resample():
    a = [(x, 1) for x in range(50)]
    b = [(x - 0.25, 1) for x in range(50)]
    difference, low, high, p_value, _ = paired_bootstrap(SEQ_REP_4, a, b, seed=3)
    assert (difference, low, high) == pytest.approx((0.25, 0.25, 0.25))  # unpaired, it would be lost in +-5
    assert p_value == 1 / 1001


def test_a_large_difference_is_significant_and_signed():
    found = paired_bootstrap(EMPTY_SHARE, [(0, 1)] * 100, [(1, 1), (0, 1)] * 50, seed=0)
    assert found.difference == -0.5
    assert found.low == pytest.approx(-0.598, abs=0.02)  # -0.5 - 1.96 * 0.05
    assert found.high == pytest.approx(-0.402, abs=0.02)
    assert found.p_value == 1 / 1001  # ten standard errors: no resample strays so far


def test_p_value_is_two_sided():
    # 60 wins and 40 losses of 1 in 100: z = 0.2 / sqrt((1 - 0.04) / 100) = 2.04, two-sided p = 0.041 (one-sided 0.021)
    a = [(1, 1)] * 60 + [(0, 1)] * 40
    b = [(0, 1)] * 60 + [(1, 1)] * 40
    found = paired_bootstrap(EMPTY_SHARE, a, b, seed=0, n_resamples=20_000)
    assert found.p_value == pytest.approx(0.045, abs=0.008)
    assert paired_bootstrap(EMPTY_SHARE, b, a, seed=0, n_resamples=20_000).p_value == found.p_value


@pytest.mark.parametrize("name", ["bleu", "chrf", "ter"])
def test_sacrebleus_own_paired_test_gives_the_same_p_value(copied_verses, monkeypatch, name):
    monkeypatch.setenv("SACREBLEU_SEED", "12345")
    outputs = copied_verses[:-1] * 5
    worse = [replace(output, text=" ".join(output.text.split()[:-2])) for output in outputs[:9]] + outputs[9:]
    systems = [(who, [output.text for output in texts]) for who, texts in (("base", outputs), ("other", worse))]
    references = [[output.reference for output in outputs]]
    scorer = {"bleu": BLEU, "chrf": CHRF, "ter": TER}[name]()
    _, theirs = PairedTest(systems, {name: scorer}, references, test_type="bs", n_samples=1000)()
    key = next(key for key in theirs if key != "System")
    rows = [[METRICS[name].statistics(output) for output in texts] for texts in (worse, outputs)]
    ours = paired_bootstrap(METRICS[name], *rows, seed=12345)
    assert ours.p_sacrebleu == theirs[key][1].p_value
    assert ours.difference == pytest.approx(theirs[key][1].score - theirs[key][0].score)
    assert 1 / 1001 < ours.p_sacrebleu < 0.5
    assert ours.p_value > ours.p_sacrebleu  # two tails


def test_sacrebleus_p_value_calls_identical_systems_different_and_ours_does_not():
    found = paired_bootstrap(EMPTY_SHARE, ONE_IN_FIVE, ONE_IN_FIVE, seed=12345)
    assert (found.p_value, found.p_sacrebleu) == (1.0, 1 / 1001)


def test_unpaired_and_missing_rows_are_refused():
    with pytest.raises(ValueError, match="got 2 and 1 rows"):
        paired_bootstrap(EMPTY_SHARE, [(0, 1)] * 2, [(0, 1)], seed=0)
    with pytest.raises(ValueError, match="no outputs to score"):
        paired_bootstrap(EMPTY_SHARE, [], [], seed=0)
    with pytest.raises(ValueError, match="no outputs to score"):
        interval(EMPTY_SHARE, [], seed=0)


@settings(max_examples=25)
@given(rows=COUNTS, seed=st.integers(0, 2**32))
def test_identical_systems_do_not_differ(rows, seed):
    assert paired_bootstrap(EMPTY_SHARE, rows, rows, seed, n_resamples=50)[:4] == (0.0, 0.0, 0.0, 1.0)


@settings(max_examples=25)
@given(rows=COUNTS, seed=st.integers(0, 2**32))
def test_an_interval_lies_between_the_worst_and_the_best_output(rows, seed):
    low, high = interval(EMPTY_SHARE, rows, seed, n_resamples=50)
    each = [corpus_score(EMPTY_SHARE, [row]) for row in rows]
    assert min(each) - 1e-9 <= low <= high <= max(each) + 1e-9


@settings(max_examples=25)
@given(a=COUNTS, seed=st.integers(0, 2**32), data=st.data())
def test_swapping_the_systems_turns_the_difference_round(a, seed, data):
    b = data.draw(st.permutations(a))
    there = paired_bootstrap(EMPTY_SHARE, a, b, seed, n_resamples=50)
    back = paired_bootstrap(EMPTY_SHARE, b, a, seed, n_resamples=50)
    assert there == pytest.approx((-back.difference, -back.high, -back.low, back.p_value, back.p_sacrebleu))


def test_resampled_sums_keep_the_number_of_rows():
    sums = resampled_sums(np.ones((7, 2)), seed=0, n_resamples=5)
    assert sums.tolist() == [[7.0, 7.0]] * 5
