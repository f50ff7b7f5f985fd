"""Significance, fronts, claims and the costs of one-shot decoding, from runs whose truth is known."""

from dataclasses import replace
from typing import Any

import pytest

from metrics.coupled import expected
from metrics.total_correlation import NATS
from reports.curves import curves
from reports.damage_figure import damage_drawing
from reports.evidence import Claim
from reports.evidence_tables import evidence_tables
from reports.evidence_words import front_sentences, literature_sentences, one_shot_sentences
from reports.figures import figures
from reports.literature import judged
from reports.summarise import summarise
from reports.summary import Summary
from reports.titles import curve_title
from reports.verdict import verdict
from suites.records import Score
from tests.reports.parts import scored, timed, together
from tests.reports.synthetic import TASK, Made, add_output, race, record

BEAMS = {1: 0.3, 3: 0.1, 9: 0.4}  # length beam -> share of words changed


def contestants(**shares: float) -> Made:
    """Contestants by label (`T` and `b` spelt out below), each with its share of words that are wrong."""
    made = Made()
    for label, share in shares.items():
        texts = [f"the king {'went' if row % 100 >= 100 * share else 'thing'} out from row {row}" for row in range(100)]
        for row, text in enumerate(texts):
            if row == 0:
                made.records.append(batch(label))
            add_output(made, made.records[-1].key, label, row, f"the king went out from row {row}", text)
    return made


def batch(label: str) -> Any:
    found = record(label, mode="batched", length=None, repeat=0, latency_s=1.0, kept=7)
    return replace(found, prompt_rows=tuple(range(100)))


def literature(made: Made) -> Summary:
    made.suite = "literature"
    return summarise(made.run())


def claim(summary: Summary, words: str) -> Claim:
    return next(claim for claim in summary.evidence.claims if words in claim.claim)


def mask_predict(t: int, b: int = 3, weights: str = "cmlm") -> str:
    return f"mask_predict:n_iterations={t}:length_beam={b}:weights={weights}"


def test_an_equal_contestant_differs_by_nothing_and_a_worse_one_significantly() -> None:
    summary = summarise(contestants(ar=0.1, ctc=0.1, mask_predict=0.9).run())
    same, worse = summary.evidence.comparisons
    assert (same.label, same.differences["bleu"].value, same.differences["bleu"].significant) == ("ctc", 0.0, False)
    assert worse.differences["bleu"].value < -10 and worse.differences["bleu"].significant
    quality = summary.quality(TASK, "mask_predict")
    assert quality and quality.bleu_difference == worse.differences["bleu"]


def test_holm_asks_all_contestants_at_once() -> None:
    several = contestants(**{"ar": 0.1, "ctc": 0.15, "ctc:a=1": 0.15, "ctc:a=2": 0.15, "ctc:a=3": 0.15})
    found = [c.differences["bleu"] for c in summarise(several.run()).evidence.comparisons]
    alone = summarise(contestants(ar=0.1, ctc=0.15).run()).evidence.comparisons[0].differences["bleu"]
    assert alone.p_holm == alone.p_value
    assert [d.p_holm for d in found] == pytest.approx([min(1.0, 4 * alone.p_value)] * 4)


def test_time_is_compared_repeat_by_repeat() -> None:
    drift = [1.0, 5.0, 2.0, 9.0, 3.0, 1.5, 4.0]
    made = together(timed("ar", [0.02 * d for d in drift]), timed("ctc", [0.01 * d for d in drift]))
    (found,) = summarise(made.run()).evidence.comparisons
    assert found.time and (found.time.value, found.time.low, found.time.high) == pytest.approx((2.0, 2.0, 2.0))
    assert found.time_n == 7 and found.differences == {}


def test_the_front_keeps_whom_nothing_beats_and_names_the_beater() -> None:
    made = contestants(ar=0.1, ctranslate2=0.1, ctc=0.9)
    for label, seconds in (("ar", 0.10), ("ctranslate2", 0.05), ("ctc", 0.05)):
        made.records += timed(label, [seconds * (1 + i / 1000) for i in range(9)]).records
    summary = summarise(made.run())
    (front,) = summary.evidence.fronts
    assert front.standing == ("ctranslate2",)
    assert {p.label: p.beaten_by.label for p in front.points if p.beaten_by} == {
        "ar": "ctranslate2",
        "ctc": "ctranslate2",
    }
    assert (front.n_sentences, front.n_units) == (100, 9)
    assert front_sentences(summary, TASK) == [
        "On verse, nothing beats ctranslate2 in BLEU and time together. Beaten beyond doubt: ar and ctc by ctranslate2."
    ]


def test_five_repeats_make_no_front() -> None:
    made = contestants(ar=0.1, ctc=0.9)
    for label in ("ar", "ctc"):
        made.records += timed(label, [0.1] * 5).records
    assert summarise(made.run()).evidence.fronts == ()


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [(0.1, 2.0, "reproduced"), (-2.0, -0.1, "not reproduced"), (-1.0, 1.0, "undecided"), (None, None, "undecided")],
)
def test_a_claim_is_judged_by_its_interval(low: float | None, high: float | None, verdict: str) -> None:
    assert judged(low, high) == verdict


def test_bleu_that_rises_with_passes_is_reproduced_and_one_that_falls_is_not() -> None:
    up = literature(contestants(**{mask_predict(1): 0.8, mask_predict(4): 0.3, mask_predict(10): 0.1}))
    assert claim(up, "BLEU rises").judgement == "reproduced"
    down = literature(contestants(**{mask_predict(1): 0.1, mask_predict(10): 0.8}))
    assert claim(down, "BLEU rises").judgement == "not reproduced"
    same = literature(contestants(**{mask_predict(1): 0.1, mask_predict(10): 0.1}))
    assert claim(same, "BLEU rises").judgement == "undecided"


def test_repetition_that_falls_with_passes_is_reproduced() -> None:
    texts = [["the king king went out"] * 20, ["the king went out from"] * 20]
    made = together(*(scored(mask_predict(t), said) for t, said in zip((1, 10), texts, strict=True)))
    found = claim(literature(made), "repetition falls")
    assert found.judgement == "reproduced"
    assert found.value and found.value.value == pytest.approx(-20.0)


def test_a_length_beam_that_helps_and_then_hurts_is_reproduced() -> None:
    right = literature(contestants(**{mask_predict(4, b): share for b, share in BEAMS.items()}))
    assert claim(right, "length candidates").judgement == "reproduced"
    wrong = literature(contestants(**{mask_predict(4, 1): 0.1, mask_predict(4, 3): 0.5, mask_predict(4, 9): 0.8}))
    assert claim(wrong, "length candidates").judgement == "not reproduced"
    flat = literature(contestants(**{mask_predict(4, 1): 0.5, mask_predict(4, 3): 0.1, mask_predict(4, 9): 0.1}))
    assert claim(flat, "length candidates").judgement == "undecided"


def test_a_curve_that_is_best_between_its_ends_is_titled_by_that() -> None:
    def title(summary: Summary) -> str:
        (curve,) = curves(summary, TASK, "length_beam")
        return curve_title(curve, [(x, summary.quality(TASK, c.label)) for x, c in curve.points])

    turning = literature(contestants(**{mask_predict(4, b): share for b, share in BEAMS.items()}))
    bleu = {b: summary_bleu(turning, mask_predict(4, b)) for b in BEAMS}
    assert title(turning) == (
        f"mask_predict is best with 3 length candidates, {bleu[3]:.1f} BLEU: {bleu[3] - bleu[1]:.1f} above "
        f"1 length candidate and {bleu[3] - bleu[9]:.1f} above 9 length candidates"
    )
    rising = literature(contestants(**{mask_predict(4, b): share for b, share in {1: 0.5, 3: 0.3, 9: 0.1}.items()}))
    assert title(rising).startswith("mask_predict gains ")
    assert title(rising).endswith(" BLEU from 1 length candidate to 9 length candidates")


def summary_bleu(summary: Summary, label: str) -> float:
    quality = summary.quality(TASK, label)
    assert quality
    return quality.scores["bleu"].value


def test_distillation_is_judged_by_what_it_gives_the_parallel_model_beyond_the_other() -> None:
    labels = ("ar", "ar:weights=ar", "ctc:weights=ctc", "ctc:weights=ctc_raw")
    helps = literature(contestants(**dict(zip(labels, (0.1, 0.15, 0.1, 0.8), strict=True))))
    assert claim(helps, "distillation").judgement == "reproduced"
    both_alike = literature(contestants(**dict(zip(labels, (0.1, 0.8, 0.1, 0.15), strict=True))))
    assert claim(both_alike, "distillation").judgement == "not reproduced"


def test_without_models_on_the_original_text_distillation_is_undecided_and_says_why() -> None:
    found = claim(literature(contestants(**{"ar": 0.1, "ar:weights=ar": 0.1, "ctc": 0.1})), "distillation")
    assert (found.judgement, found.value) == ("undecided", None)
    assert found.because == "no parallel model trained on the original text took part: none is shipped"


def at_batches(seconds: dict[str, dict[int, float]]) -> Made:
    """Contestants timed in 9 repeats at each batch size, 10 tokens a row."""
    made = Made()
    for label, by_size in seconds.items():
        for size, each in by_size.items():
            for repeat in range(9):
                one = record(
                    label, mode="exact", length=10, repeat=repeat, latency_s=each * (1 + repeat / 100), kept=10
                )
                made.records.append(replace(one, key=f"{one.key}|{size}", batch_size=size, tokens_kept=(10,) * size))
    return made


def test_a_speedup_that_shrinks_with_batch_is_reproduced() -> None:
    shrinks = at_batches({"ar": {1: 0.4, 32: 0.8}, mask_predict(4): {1: 0.1, 32: 0.8}})
    found = claim(literature(shrinks), "shrinks with batch")
    assert found.judgement == "reproduced" and found.value and found.value.value == pytest.approx(0.25)
    grows = at_batches({"ar": {1: 0.4, 32: 8.0}, mask_predict(4): {1: 0.1, 32: 0.8}})
    assert claim(literature(grows), "shrinks with batch").judgement == "not reproduced"
    once = at_batches({"ar": {1: 0.4}, mask_predict(4): {1: 0.1}})
    assert claim(literature(once), "shrinks with batch").because == "they were not timed at two batch sizes"


@pytest.mark.parametrize(
    ("shallow_s", "share", "verdict"),
    [(0.15, 0.1, "reproduced"), (0.35, 0.1, "not reproduced"), (0.15, 0.9, "not reproduced")],
)
def test_a_shallow_decoder_must_close_half_the_gap_at_no_worse_bleu(
    shallow_s: float, share: float, verdict: str
) -> None:
    labels = ("ar", mask_predict(4), "ar:weights=ar_shallow")
    made = contestants(**dict(zip(labels, (0.1, 0.3, share), strict=True)))
    made.records += at_batches(dict(zip(labels, ({1: 0.4}, {1: 0.1}, {1: shallow_s}), strict=True))).records
    assert claim(literature(made), "shallow decoder").judgement == verdict


def test_where_mask_predict_is_slower_there_is_no_gap_to_close() -> None:
    made = at_batches({"ar": {1: 0.1}, mask_predict(4): {1: 0.2}, "ar:weights=ar_shallow": {1: 0.05}})
    assert "there is no gap" in claim(literature(made), "shallow decoder").because


def test_claims_of_time_are_of_the_mask_predict_that_was_timed_not_of_one_that_was_only_scored() -> None:
    """As the suite runs it: many were scored with 4 passes, and the one with 3 candidates was timed."""
    times = {"ar": {1: 0.4, 32: 0.8}, mask_predict(4): {1: 0.1, 32: 0.8}, "ar:weights=ar_shallow": {1: 0.15, 32: 0.5}}
    made = contestants(**{mask_predict(4, 1): 0.4, **dict.fromkeys(times, 0.1), mask_predict(4, 9): 0.4})
    made.records += at_batches(times).records
    shrinks, shallow = (claim(literature(made), words) for words in ("shrinks with batch", "shallow decoder"))
    assert shrinks.judgement == shallow.judgement == "reproduced"
    assert shrinks.value and shrinks.value.value == pytest.approx(0.25)
    assert shallow.value and shallow.value.value == pytest.approx((0.4 - 0.15) / (0.4 - 0.1))


def test_a_gap_that_was_not_measured_is_not_called_none() -> None:
    made = at_batches({"ar": {1: 0.4}, mask_predict(4): {1: 0.1}, "ar:weights=ar_shallow": {32: 0.5}})
    assert claim(literature(made), "shallow decoder").because == "they were not all timed at one batch size"
    made.records = [record for record in made.records if record.repeat < 3]
    for i, one in enumerate(made.records):
        made.records[i] = replace(one, batch_size=1, tokens_kept=(10,))
    assert claim(literature(made), "shallow decoder").because == "fewer than 6 repeats were timed"


def test_every_claim_is_listed_with_its_verdict_and_other_suites_make_none() -> None:
    summary = literature(contestants(**{"ar": 0.1, mask_predict(1): 0.8, mask_predict(10): 0.1}))
    sentences = literature_sentences(summary, TASK)
    assert len(sentences) == len(summary.evidence.claims) == 6
    assert sentences[0].startswith("Reproduced: BLEU rises with the number of passes (T = 10 minus T = 1, BLEU: ")
    assert sentences[-1].startswith("Undecided: ")
    assert summarise(contestants(ar=0.1).run()).evidence.claims == ()


def coupled_run() -> Made:
    made = Made()
    for label, passes in (("ar", 8), (mask_predict(1), 1), (mask_predict(8), 8)):
        made.records.append(batch(label))
        for row, source in enumerate("ABDHP" * 3):  # 0 to 4 of their pairs are independent
            add_output(made, made.records[-1].key, label, row, "x y", expected(source, passes))
            made.samples[-1] = replace(made.samples[-1], source=source)
    return made


def test_mixtures_stand_beside_theory_and_equal_sources_count_once() -> None:
    found = {m.label: m for m in summarise(coupled_run().run()).evidence.mixtures}
    one_shot = found[mask_predict(1)]
    assert (one_shot.share.value, one_shot.expected, one_shot.share.n) == (50.0, 50.0, 5)
    assert [found[label].share.value for label in ("ar", mask_predict(8))] == [0.0, 0.0]
    assert found["ar"].expected == 0.0


def test_total_correlation_is_estimated_from_the_first_model_of_each_kind() -> None:
    made = coupled_run()
    cost = {"ar": 2.0, mask_predict(1): 8.0}
    made.scores = [
        Score(task=s.task, label=s.label, row=s.row, statistics={**s.statistics, NATS: (cost[s.label], 8.0)})
        if s.label in cost
        else s
        for s in made.scores
    ]
    summary = summarise(made.run())
    (found,) = summary.evidence.correlations
    assert found.estimate.value == pytest.approx(0.75) and (found.one_shot, found.ar) == (mask_predict(1), "ar")
    assert found.known == pytest.approx(0.1683, abs=1e-4)  # half the pairs, H(0.4) / 2 tokens
    said = one_shot_sentences(summary, TASK)[0]
    assert "0.750 [0.750, 0.750] nats a token more than ar" in said and said.endswith("; the truth is 0.168.")
    assert not any("signatures unknown" in sentence for sentence in summary.missing)


def damaged(label: str, clean: str, texts: dict[str, str]) -> Made:
    made = together(scored(label, [clean] * 8))
    for task, text in texts.items():
        made.records.append(replace(batch(label), key=f"{label}{task}", task=task))
        for row in range(8):
            add_output(made, made.records[-1].key, label, row, "the king went out from there", text, task=task)
    return made


def test_damage_is_counted_behind_the_wrong_token_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    clean = "the king went out from there"  # six tokens: the wrong one is the fourth
    made = together(
        damaged("ar", clean, {"wrong": "the king went thing here now"}),
        damaged("mask_predict", clean, {"wrong": "thing king went out from here"}),
    )
    info = made.info
    settings = {**info.plan["settings"], "wrong_at": {"wrong": [TASK, 0.5]}}
    run = replace(made.run(), info=replace(info, plan={**info.plan, "settings": settings}))
    summary = summarise(run)
    ar, masked = summary.evidence.damages
    assert (ar.edits.value, ar.healed and ar.healed.value, ar.at) == (100.0, 0.0, 0.5)
    assert (masked.edits.value, masked.healed and masked.healed.value, masked.edits.n) == (50.0, 100.0, 8)
    assert one_shot_sentences(summary, "wrong") == [
        "A wrong token 50 % into the text changes of what follows: ar 100.0 % [100.0, 100.0] and mask_predict 50.0 % "
        "[50.0, 50.0]."
    ]


def test_damaged_tasks_show_damage_and_no_quality_and_the_lead_says_it() -> None:
    clean = "the king went out from there"
    late, early = "the king went thing here now", "the thing went out from here"
    made = together(
        damaged("ar", clean, {"early": early, "late": late}),
        damaged("mask_predict", clean, {"early": clean, "late": "thing king went out from here"}),
    )
    settings = {**made.info.plan["settings"], "wrong_at": {"early": [TASK, 0.2], "late": [TASK, 0.5]}}
    summary = summarise(replace(made.run(), info=replace(made.info, plan={**made.info.plan, "settings": settings})))
    assert {quality.task for quality in summary.qualities} == {TASK}
    said = (
        "One wrong token 50 % into the text changes 100.0 % of what ar writes behind it, and 50.0 % with mask_predict, "
        "which takes it back in 100 % of its outputs"
    )
    assert verdict(summary).lead == f"{said}."
    drawn = damage_drawing(summary)
    assert drawn and (drawn.title, drawn.panels, len(drawn.table.rows)) == (said, 2, 4)
    assert [figure.title for figure in figures(summary)].count(said) == 1
    assert damage_drawing(summarise(race(repeats=1, rows=3).run())) is None


def test_every_table_of_evidence_is_shown_and_none_is_empty() -> None:
    titles = [table.title for table in evidence_tables(summarise(race(repeats=7, rows=12).run()))]
    assert titles == ["The front on verse", "Against ar on verse"]
    assert evidence_tables(summarise(Made().run())) == []
