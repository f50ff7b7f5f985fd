"""The sentences follow the records: change these, and those change."""

import functools
import re
from dataclasses import replace

from reports.summarise import summarise
from reports.verdict import Verdict, verdict
from tests.reports.synthetic import Made, failed, race

EXACT = {"ctc": "mask_predict", "mask_predict": "ctc"}


def of(made: Made) -> Verdict:
    return verdict(summarise(made.run()))


@functools.cache
def of_small_race() -> Verdict:
    return of(small_race())


def paragraphs(made: Made) -> list[str]:
    found = of(made)
    return sorted([found.lead, *(text for _, texts in found.findings for text in texts)])


def small_race() -> Made:
    return race(labels=["ar", "ctranslate2", "ctc", "mask_predict", "copy"], repeats=9, rows=25)


def swapped(made: Made) -> Made:
    """The run with the records of `ctc` and `mask_predict` under each other's name."""

    def label(old: str) -> str:
        return EXACT.get(old, old)

    records = [replace(r, label=label(r.label), strategy=label(r.strategy)) for r in made.records]
    samples = [replace(s, label=label(s.label)) for s in made.samples]
    scores = [replace(s, label=label(s.label)) for s in made.scores]
    return Made(records=records, samples=samples, scores=scores)


def with_names_swapped(text: str) -> str:
    return re.sub("ctc|mask_predict", lambda found: EXACT[found.group()], text)


def test_swapping_two_strategies_records_swaps_their_sentences() -> None:
    before, after = paragraphs(small_race()), paragraphs(swapped(small_race()))
    assert before != after
    assert sorted(map(with_names_swapped, before)) == after


def test_the_lead_names_both_denominators_and_the_price() -> None:
    lead = of_small_race().lead
    assert lead.startswith("On verse at 128 tokens, batch 1, ctc, the parallel contestant with the best BLEU, is ")
    assert "as fast as ar in the same runtime" in lead
    assert "as fast as ctranslate2, the strongest AR engine here at the run's threads" in lead
    assert re.search(r"at −\d+\.\d BLEU relative to ar\.$", lead)


def test_speed_does_not_buy_the_lead() -> None:
    made = small_race()
    made.records = [
        replace(r, latency_s=(r.latency_s or 0) * 60) if r.label == "ctc" and r.mode != "batched" else r
        for r in made.records
    ]
    assert ", ctc, the parallel contestant with the best BLEU, is 0.11× as fast as ar" in of(made).lead


def test_the_contestant_with_the_best_bleu_has_the_lead() -> None:
    made = small_race()
    made.scores = [replace(s, label=EXACT.get(s.label, s.label)) for s in made.scores]
    assert ", mask_predict, the parallel contestant with the best BLEU, is" in of(made).lead


def test_bleu_beside_an_exact_length_is_said_to_be_of_other_outputs() -> None:
    lead = of(race(labels=["ar", "mask_predict"], repeats=9, rows=25)).lead
    assert re.search(
        r"at −[\d.]+ BLEU relative to ar \(BLEU at natural lengths with 3 length candidates, where a given length "
        r"leaves one to time\)\.$",
        lead,
    )


def test_the_speed_paragraph_says_that_a_given_length_takes_one_candidate() -> None:
    speed = dict(of_small_race().findings)["Speed"]
    said = [paragraph for paragraph in speed if "tries one length candidate, since the length is given" in paragraph]
    assert len(said) == 1 and ", mask_predict takes" in said[0]


def test_the_engines_stand_at_the_runs_threads() -> None:
    assert "is the fastest AR engine at the run's threads" in dict(of_small_race().findings)["AR engines"][0]


def test_every_speed_sentence_has_a_median_an_interval_and_its_n() -> None:
    speed = dict(of_small_race().findings)["Speed"]
    assert len(speed) == 2
    for paragraph in speed:
        assert re.search(r"takes [\d.]+ ms \[[\d.]+, [\d.]+\] \(median of 9\)", paragraph)
        assert len(re.findall(r"[\d.]+× \[[\d.]+, [\d.]+\] as fast as", paragraph)) == 2


def test_lengths_at_which_a_strategy_is_ahead_and_behind_are_told_apart() -> None:
    made = race(labels=["ar", "mask_predict"], lengths=(8, 32, 128), repeats=9, rows=2)
    # mask_predict: 10 ms + 0.45 ms a token; ar: 2 ms + 1 ms a token. They cross at 14.5 tokens.
    assert "It is faster than ar at 32 and 128 tokens but not at 8." in dict(of(made).findings)["Speed"][0]


def test_a_strategy_that_is_never_ahead_is_said_to_be_so() -> None:
    made = race(labels=["ar", "mask_predict:n_iterations=10"], lengths=(8, 32), repeats=9, rows=2)
    assert "It is faster than ar at no length from 8 to 32 tokens." in dict(of(made).findings)["Speed"][0]


def test_the_quality_sentence_has_n_interval_difference_share_and_the_references() -> None:
    quality = dict(of_small_race().findings)["Quality"]
    ctc = next(text for text in quality if ", ctc scores" in text)
    assert "(25 of 25 sentences)" in ctc
    assert re.search(r"−[\d.]+ \[[−+]?[\d.]+, [−+]?[\d.]+\] against ar, (not )?significant \(p [<=] [\d.]+\)", ctc)
    assert re.search(r"−?\d+ % \[−?\d+, −?\d+\] of AR's gain over copying", ctc)
    assert "(the references: 0.00 %)" in ctc


def test_the_iterations_sentence_takes_its_verbs_from_every_step() -> None:
    labels = ["ar", "mask_predict:n_iterations=1", "mask_predict", "mask_predict:n_iterations=10"]
    made = race(labels=labels, repeats=1, rows=25)
    (sentence,) = dict(of(made).findings)["Iterations"]
    assert "BLEU rises at every step" in sentence and "repetition falls at every step" in sentence
    turned = {"1": "10", "10": "1"}

    def label(old: str) -> str:
        return re.sub(r"(?<=n_iterations=)\d+", lambda found: turned[found.group()], old)

    made.scores = [replace(s, label=label(s.label)) for s in made.scores]
    (sentence,) = dict(of(made).findings)["Iterations"]
    assert "BLEU falls at every step" in sentence and "repetition rises at every step" in sentence


def test_what_is_missing_is_said_with_its_reason() -> None:
    made = race(labels=["ar", "ctc"], repeats=3, rows=2)
    made.samples, made.scores = [], []
    text = " ".join(of(made).missing)
    assert "ctranslate2" in text and "No quality" in text and "No interval" in text
    assert "does not say at what cost in quality" in of(made).lead


def test_where_everything_failed_the_lead_says_why() -> None:
    lead = of(failed(race(labels=["ar", "ctc"], rows=2), "oom", "no room")).lead
    assert lead.startswith("Nothing was measured") and "oom: no room" in lead


def test_a_run_of_ar_alone_decides_no_race() -> None:
    assert of(race(labels=["ar"], rows=2)).lead.startswith("No race to decide: no parallel strategy took part.")


def test_a_task_name_with_markup_stays_text_in_the_verdict() -> None:
    made = small_race()
    made.records = [replace(r, task="<b>") for r in made.records]
    assert of(made).lead.startswith("On <b> at 128 tokens")


def test_a_curve_that_dips_on_its_way_up_is_said_to_do_so() -> None:
    labels = ["ar", "mask_predict:n_iterations=1", "mask_predict", "mask_predict:n_iterations=10"]
    made = race(labels=labels, repeats=1, rows=25)
    turned = {labels[1]: labels[2], labels[2]: labels[1]}
    made.scores = [replace(s, label=turned.get(s.label, s.label)) for s in made.scores]
    (sentence,) = dict(of(made).findings)["Iterations"]
    assert "BLEU rises, though not at every step" in sentence
