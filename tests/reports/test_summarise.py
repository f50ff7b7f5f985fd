"""The numbers of a report, from runs whose numbers are known."""

from dataclasses import replace

import pytest

from reports.summarise import summarise
from suites.records import StepRecord
from tests.reports.parts import cell_of, scored, timed, together
from tests.reports.synthetic import TASK, Made, failed, race, record


def test_latency_is_the_median_with_its_order_statistics_and_n() -> None:
    latency = cell_of(summarise(timed("ar", [0.007, 0.001, 0.006, 0.002, 0.005, 0.003, 0.004]).run()), "ar").latency_s
    # of seven samples only the extremes enclose the median with 95 % confidence (1 - 2 / 2^7 = 98.4 %)
    assert (latency.value, latency.low, latency.high, latency.n) == (0.004, 0.001, 0.007, 7)


def test_five_samples_give_a_median_and_no_interval_and_the_page_says_why() -> None:
    summary = summarise(timed("ar", [0.001, 0.002, 0.003, 0.004, 0.005]).run())
    latency = cell_of(summary, "ar").latency_s
    assert (latency.value, latency.low, latency.high, latency.n) == (0.003, None, None, 5)
    assert any("it takes 6 samples" in sentence for sentence in summary.missing)


def test_rates_are_ratios_of_totals() -> None:
    cell = cell_of(summarise(timed("ar", [1.0, 3.0], kept=[10, 10]).run()), "ar")
    assert cell.tokens_per_s == 5.0  # 20 tokens in 4 s; the mean of the two rates would be 6.67
    assert cell.ms_per_token == 200.0


def test_a_batched_pass_is_no_latency_sample() -> None:
    summary = summarise(together(timed("ar", [0.001] * 6), scored("ar", ["the king"])).run())
    assert [cell.latency_s.n for cell in summary.cells] == [6]


def test_a_failed_trial_is_no_latency_sample() -> None:
    made = timed("ar", [0.001] * 6)
    made.records.append(
        replace(made.records[0], key="failed", repeat=6, status="oom", reason="no room", latency_s=None)
    )
    assert cell_of(summarise(made.run()), "ar").latency_s.n == 6


@pytest.mark.parametrize(("n", "shown"), [(28, False), (29, True)])
def test_p90_is_shown_from_29_samples(n: int, shown: bool) -> None:
    cell = cell_of(summarise(timed("ar", [0.001 * (i + 1) for i in range(n)]).run()), "ar")
    assert (cell.p90_s is not None) is shown


def test_calls_and_positions_are_means_a_trial() -> None:
    made = timed("ar", [0.001, 0.001])
    encode = StepRecord(phase="encode", seconds=0.1, calls=1, positions=12)
    decodes = [StepRecord(phase="decode", seconds=0.1, calls=n, positions=n) for n in (9, 11)]
    steps = [(encode, decode) for decode in decodes]
    made.records = [replace(r, steps=s) for r, s in zip(made.records, steps, strict=True)]
    cell = cell_of(summarise(made.run()), "ar")
    assert (cell.calls, cell.positions) == (11.0, 22.0)


def test_an_engine_nobody_can_look_into_has_no_calls() -> None:
    cell = cell_of(summarise(timed("ctranslate2", [0.001] * 6).run()), "ctranslate2")
    assert (cell.calls, cell.positions) == (None, None)


def test_like_for_like_is_the_ratio_of_medians_at_one_exact_length() -> None:
    ar, ours = timed("ar", [0.02] * 7), timed("mask_predict", [0.01, 0.01, 0.01, 0.005, 0.01, 0.01, 0.01])
    speedup = cell_of(summarise(together(ar, ours).run()), "mask_predict").like_for_like
    assert speedup is not None
    assert (speedup.ratio.value, speedup.ratio.n, speedup.against) == (2.0, 7, "ar")


def test_an_output_that_is_half_as_long_is_no_faster_for_it() -> None:
    ar, ours = timed("ar", [0.02] * 7, kept=10), timed("ctc", [0.01] * 7, kept=5, mode="natural")
    speedup = cell_of(summarise(together(ar, ours).run()), "ctc").like_for_like
    assert speedup is not None
    assert speedup.ratio.value == 1.0


def test_drift_that_hits_both_in_the_same_repeats_leaves_the_interval_narrow() -> None:
    drift = [1.0, 2.0, 1.0, 2.0, 1.0, 2.0, 1.0, 2.0, 1.0]
    ar, ours = timed("ar", [0.02 * d for d in drift]), timed("ctc", [0.01 * d for d in drift])
    speedup = cell_of(summarise(together(ar, ours).run()), "ctc").like_for_like
    assert speedup is not None
    assert (speedup.ratio.low, speedup.ratio.high) == (2.0, 2.0)


def test_only_repeats_that_both_ran_are_compared() -> None:
    ar, ours = timed("ar", [0.02] * 7 + [9.0] * 20), timed("mask_predict", [0.01] * 7)
    speedup = cell_of(summarise(together(ar, ours).run()), "mask_predict").like_for_like
    assert speedup is not None
    assert (speedup.ratio.value, speedup.ratio.n) == (2.0, 7)


def test_each_at_its_best_divides_by_the_fastest_ar_engine_and_names_it() -> None:
    engines = [
        timed("ar", [0.02] * 7),
        timed("ctranslate2", [0.008] * 7),
        timed("ctranslate2:compute_type=int8", [0.005] * 7),
    ]
    summary = summarise(together(*engines, timed("mask_predict", [0.01] * 7)).run())
    speedup = cell_of(summary, "mask_predict").each_at_best
    assert speedup is not None
    assert (speedup.ratio.value, speedup.against) == (0.5, "ctranslate2:compute_type=int8")


def test_a_fast_engine_whose_bleu_is_significantly_lower_is_no_denominator() -> None:
    good, bad = ["the king went out from there"] * 12, ["a thing of no use whatever here"] * 12
    made = together(
        timed("ar", [0.02] * 7),
        timed("ctranslate2:compute_type=int8", [0.005] * 7),
        timed("mask_predict", [0.01] * 7),
        scored("ar", good),
        scored("ctranslate2:compute_type=int8", bad),
        scored("mask_predict", good),
    )
    speedup = cell_of(summarise(made.run()), "mask_predict").each_at_best
    assert speedup is not None
    assert speedup.against == "ar"


def test_the_baseline_is_greedy_ar_and_never_its_beam() -> None:
    made = together(timed("ar:beam_size=4", [0.03] * 6), timed("ctc", [0.01] * 6))
    summary = summarise(made.run())
    assert summary.baseline is None
    assert cell_of(summary, "ctc").like_for_like is None
    assert any("no greedy ar contestant" in sentence for sentence in summary.missing)


def test_without_ctranslate2_the_page_says_that_speedups_flatter() -> None:
    summary = summarise(together(timed("ar", [0.02] * 6), timed("ctc", [0.01] * 6)).run())
    assert any(sentence.startswith("ctranslate2") and "flatter" in sentence for sentence in summary.missing)


def test_copying_decodes_nothing_and_has_no_speedup() -> None:
    summary = summarise(together(timed("ar", [0.02] * 6), timed("copy", [0.00001] * 6)).run())
    assert cell_of(summary, "copy").like_for_like is None
    assert cell_of(summary, "copy").each_at_best is None


def test_failures_are_counted_by_kind_and_reason_against_the_plan() -> None:
    made = failed(timed("ctc", [0.01] * 3), "oom", "no room")
    made.records.append(record("ctc", mode="exact", length=10, repeat=9, latency_s=0.01, kept=10))
    made.unrecorded[TASK, "ctc"] = 2
    coverage = summarise(made.run()).coverage[0]
    assert (coverage.ok, coverage.planned, coverage.failures) == (1, 6, (("oom", "no room", 3),))


def test_a_contestant_that_was_planned_and_never_ran_is_not_silent() -> None:
    made = timed("ar", [0.01] * 6)
    made.unrecorded[TASK, "ctc"] = 6
    summary = summarise(made.run())
    assert [(c.label, c.ok, c.planned) for c in summary.coverage] == [("ar", 6, 6), ("ctc", 0, 6)]
    assert any("6 of 12 planned trials have no record" in warning for warning in summary.warnings)


def test_dirty_and_reduced_runs_carry_a_warning_and_clean_whole_ones_none() -> None:
    made = timed("ar", [0.01] * 6)
    assert summarise(made.run()).warnings == ()
    made.dirty, made.reduced = True, "budget 3m"
    warnings = " ".join(summarise(made.run()).warnings)
    assert "Dirty" in warnings and "budget 3m" in warnings


def test_where_everything_failed_the_summary_says_what_happened_most() -> None:
    summary = summarise(failed(race(labels=["ar", "ctc"], rows=3), "error", "weights are missing").run())
    assert summary.cells == () and summary.qualities == ()
    assert "all 56 trials failed, 56 of them with error: weights are missing" in summary.missing[0]


def test_an_empty_run_says_so() -> None:
    assert summarise(Made().run()).missing == ("Nothing was measured: the run has no records yet.",)


@pytest.mark.parametrize(("lengths", "nearest"), [((8, 32), 32), ((8, 120, 192), 120), ((64, 192), 64), ((192,), 192)])
def test_the_headline_is_the_natural_length_where_timed_and_else_the_nearest_to_128(
    lengths: tuple[int, ...], nearest: int
) -> None:
    made = race(labels=["ar"], lengths=lengths, repeats=6, rows=2)
    assert summarise(made.run()).headline_workload(TASK) == (nearest, 1)
    made.records.append(record("ar", mode="natural", length=None, repeat=0, latency_s=0.01, kept=9))
    assert summarise(made.run()).headline_workload(TASK) == (None, 1)


def test_where_no_ar_engine_writes_as_well_the_page_says_so() -> None:
    good, bad = ["the king went out from there"] * 12, ["a thing of no use whatever here"] * 12
    made = together(timed("ar", [0.02] * 7), timed("ctc", [0.01] * 7), scored("ar", bad), scored("ctc", good))
    summary = summarise(made.run())
    assert cell_of(summary, "ctc").each_at_best is None
    assert any(sentence.startswith("No each-at-its-best speedup of ctc on verse") for sentence in summary.missing)


def test_wasted_positions_are_those_of_the_canvas_that_kept_no_token() -> None:
    made = together(timed("ctc", [0.01] * 2, kept=[10, 13]), timed("ar", [0.02] * 2))
    made.records = [replace(r, canvas_positions=(30,)) if r.label == "ctc" else r for r in made.records]
    summary = summarise(made.run())
    assert cell_of(summary, "ctc").wasted == 18.5  # 20 and 17
    assert cell_of(summary, "ar").wasted is None
