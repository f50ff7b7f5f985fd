"""The quality of a report, from outputs whose worth is known."""

import pytest

from reports.summarise import summarise
from reports.summary import SameAsAr
from suites.records import Score
from tests.reports.parts import scored, together
from tests.reports.synthetic import TASK, race


def test_an_item_that_failed_is_counted_against_the_rows_asked_for() -> None:
    made = together(scored("ar", ["the king went"] * 3), scored("ctc", ["the king went"] * 2))
    quality = summarise(made.run()).quality(TASK, "ctc")
    assert quality is not None
    assert (quality.n, quality.n_expected) == (2, 3)


def test_the_share_of_ars_gain_is_0_for_copying_and_100_for_ar() -> None:
    made = race(labels=["ar", "ctc", "copy"], rows=30)
    summary = summarise(made.run())
    ar, ctc, copy = (summary.quality(TASK, label) for label in ("ar", "ctc", "copy"))
    assert ar and ctc and copy
    bleu = [quality.scores["bleu"].value for quality in (ar, ctc, copy)]
    assert ar.share_of_ar_gain and ctc.share_of_ar_gain
    assert ar.share_of_ar_gain.value == pytest.approx(100)
    assert copy.share_of_ar_gain is None
    assert ctc.share_of_ar_gain.value == pytest.approx(100 * (bleu[1] - bleu[2]) / (bleu[0] - bleu[2]))
    assert ctc.share_of_ar_gain.low is not None and ctc.share_of_ar_gain.high is not None
    assert ctc.share_of_ar_gain.low < ctc.share_of_ar_gain.value < ctc.share_of_ar_gain.high


def test_identical_outputs_do_not_differ() -> None:
    texts = ["the king went out from here", "the king came out from there"] * 6
    quality = summarise(together(scored("ar", texts), scored("ctc", texts)).run()).quality(TASK, "ctc")
    assert quality and quality.bleu_difference
    assert (quality.bleu_difference.value, quality.bleu_difference.significant) == (0.0, False)


def test_the_references_own_repetition_stands_beside_the_outputs() -> None:
    made = scored("ar", ["very very good it was"], reference="very very good it is")
    assert summarise(made.run()).reference_scores[TASK]["repeated_token_rate"] == pytest.approx(20.0)  # 1 of 5 tokens


def test_scores_of_an_unknown_signature_are_left_out_and_named() -> None:
    made = scored("ar", ["the king went out"])
    made.scores = [Score(task=TASK, label="ar", row=0, statistics={"BLEU|of:tomorrow": (1.0,)})]
    summary = summarise(made.run())
    assert any("BLEU|of:tomorrow" in sentence for sentence in summary.missing)
    assert "python -m suites rescore" in " ".join(summary.missing)
    quality = summary.quality(TASK, "ar")
    assert quality and quality.scores == {}


def test_where_ar_gains_nothing_over_copying_the_share_is_undefined_and_said_to_be() -> None:
    good, bad = ["the king went out from there"] * 4, ["a thing of no use whatever here"] * 4
    summary = summarise(together(scored("ar", bad), scored("ctc", good), scored("copy", good)).run())
    quality = summary.quality(TASK, "ctc")
    assert quality and quality.share_of_ar_gain is None
    assert "No share of AR's gain on verse: AR scores no higher there than copying the source." in summary.missing


def test_a_metric_counts_the_outputs_it_could_measure_and_not_those_it_skipped() -> None:
    quality = summarise(scored("ar", ["the king went out", "the king", ""]).run()).quality(TASK, "ar")
    assert quality is not None and quality.n == 3
    assert quality.scores["seq_rep_4"].n == 1  # the others are shorter than four tokens
    assert quality.scores["bleu"].n == 3
    assert "name_recall" not in quality.scores  # no names, nothing to recall


def test_engines_on_ars_weights_are_compared_with_ar_token_by_token() -> None:
    texts = ["the king went out", "the people came in"]
    made = together(
        scored("ar", texts),
        scored("ctranslate2", ["the king went out", "the people went in"]),
        scored("ar:weights=ar_shallow", texts),
        scored("ctc", texts),
    )
    summary = summarise(made.run())
    same = {c.label: q.same_as_ar for c in summary.contestants if (q := summary.quality(TASK, c.label))}
    assert same["ctranslate2"] == SameAsAr(share=0.5, common_prefix=3.0, n=2)  # 4 and 2 tokens alike
    assert same["ar"] is same["ar:weights=ar_shallow"] is same["ctc"] is None
