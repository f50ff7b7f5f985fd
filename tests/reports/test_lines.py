"""Lines and crossings of a run: what is fitted, what is left out, and the words and marks that follow."""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from math import inf
from pathlib import Path

import pytest

from metrics.crossovers import Crossover
from metrics.fits import Curvature
from reports import line_figure
from reports.__main__ import main
from reports.line_table import line_table
from reports.line_words import answer, bounds, line_sentence, phrase
from reports.plots import Series
from reports.summarise import summarise
from reports.summary import Crossing, Line, Summary
from reports.verdict import verdict
from suites.records import Record
from tests.reports.synthetic import Made, record

LENGTHS = (8, 16, 32, 64, 128)
Law = Callable[[int], float]  # tokens -> ms


def straight(a_ms: float, b_ms: float) -> Law:
    return lambda tokens: a_ms + b_ms * tokens


AR, NAR = straight(2, 1.0), straight(10, 0.45)  # they cross at 8 / 0.55 = 14.545 tokens


def timed(label: str, law: Law, repeats: int = 9, mode: str = "exact", less: int = 0) -> list[Record]:
    """A run whose machine is up to twice as slow from repeat to repeat, alike for all; `less`: tokens not written."""
    return [
        record(
            label,
            mode=mode,
            length=length,
            repeat=repeat,
            latency_s=law(length - less) * (1 + repeat / (repeats - 1)) / 1000,
            kept=length - less,
        )
        for repeat in range(repeats)
        for length in LENGTHS
    ]


def summary_of(*records: Sequence[Record]) -> Summary:
    return summarise(Made(records=[one for some in records for one in some]).run())


def line_of(summary: Summary, label: str) -> Line:
    (found,) = [line for line in summary.lines if line.label == label]
    return found


def test_intercept_slope_and_crossing_are_those_of_the_laws() -> None:
    line = line_of(summary_of(timed("ar", AR), timed("mask_predict", NAR)), "mask_predict")
    assert line.a_ms and line.b_ms and line.relative_b and line.with_baseline
    assert (line.a_ms.value, line.b_ms.value) == pytest.approx((15, 0.675))  # the middle repeat is 1.5 times as slow
    assert (line.b_ms.low or 0) < 0.675 < (line.b_ms.high or 0)
    assert line.b_ms.n == 9
    # what slows both alike moves neither the ratio of slopes nor the crossing
    assert (line.relative_b.value, line.relative_b.low, line.relative_b.high) == pytest.approx((0.45, 0.45, 0.45))
    found = line.with_baseline.found
    assert (found.answer, found.crossing, found.low, found.high) == ("from", *[pytest.approx(8 / 0.55)] * 3)
    assert line.with_baseline.grid == (8, 128)


def test_a_length_that_emerges_is_fitted_against_what_was_kept() -> None:
    summary = summary_of(timed("ar", AR), timed("ctc", straight(4, 0.5), mode="natural", less=3))
    line = line_of(summary, "ctc")
    assert line.tokens == (5, 13, 29, 61, 125)
    assert line.a_ms and line.a_ms.value == pytest.approx(6)  # 4 ms at 1.5 times; against 8 to 128 it would be 3.75
    assert line.with_baseline and line.with_baseline.grid == (8, 125)


def test_what_is_no_timed_decoding_at_a_length_has_no_line() -> None:
    batched = [replace(r, mode="batched") for r in timed("ar:weights=ar", AR)]
    varied = [replace(r, source_length=16, key=f"{r.key}s") for r in timed("hf_generate", AR)]
    failed = [replace(r, status="oom", reason="full", latency_s=None) for r in timed("ctranslate2", AR)]
    summary = summary_of(timed("ar", AR), timed("copy", AR), batched, varied, failed)
    assert [line.label for line in summary.lines] == ["ar"]


def test_two_lengths_make_no_line() -> None:
    assert summary_of([r for r in timed("ar", AR) if r.length in (8, 128)]).lines == ()


def test_a_failed_trial_costs_its_contestant_one_sample_and_nobody_else_anything() -> None:
    whole = summary_of(timed("ar", AR), timed("mask_predict", NAR))
    torn = [
        replace(r, status="timeout", reason="slow", latency_s=None) if (r.repeat, r.length) == (0, 64) else r
        for r in timed("mask_predict", NAR)
    ]
    summary = summary_of(timed("ar", AR), torn)
    assert line_of(summary, "ar") == line_of(whole, "ar")
    line = line_of(summary, "mask_predict")
    assert line.a_ms and line.a_ms.n == 9
    assert line.tokens == LENGTHS


def test_a_bend_is_said_and_its_medians_are_joined() -> None:
    # 2 + L and 10 + 0.02 L^2: ahead from 9.1 on, behind again from 40.9 on
    summary = summary_of(timed("ar", straight(2, 1)), timed("mask_predict", lambda tokens: 10 + 0.02 * tokens**2))
    line = line_of(summary, "mask_predict")
    assert line.bends
    assert line.with_baseline and not line.with_baseline.of_lines
    assert "Its medians lie on no line; joined to one another, they say that it" in line_sentence(summary, line)
    table = line_table(summary, "verse")
    assert table and [entry.text for entry in table.rows[1][2:5]] == ["no line"] * 3
    cell = next(cell for cell in summary.cells if cell.label == "mask_predict")
    plain = Series("m", 0, None, ())  # type: ignore[arg-type]
    assert line_figure.with_line(summary, summary.contestant("mask_predict"), cell, plain) is plain
    assert "No line fits mask_predict: medians are joined." in line_figure.how_drawn(summary, "verse", 1)


def test_the_figure_draws_the_line_and_a_ring_where_a_parallel_strategy_crosses() -> None:
    summary = summary_of(timed("ar", AR), timed("hf_generate", straight(1, 1.2)), timed("mask_predict", NAR))
    plain = Series("m", 0, None, ())  # type: ignore[arg-type]
    rings = {}
    for contestant in summary.contestants:
        cell = next(cell for cell in summary.cells if cell.label == contestant.label)
        series = line_figure.with_line(summary, contestant, cell, plain)
        assert [series.fit[0].x, series.fit[-1].x] == pytest.approx([8, 128])
        assert series.fit[0].low and series.fit[0].low < series.fit[0].y
        rings[contestant.label] = series.crossings
    (ring,) = rings.pop("mask_predict")
    assert (ring.x, ring.y) == pytest.approx((8 / 0.55, 1.5 * (10 + 0.45 * 8 / 0.55)))
    assert set(rings.values()) == {()}  # AR engines cross too, but that is not what the race is about


def test_the_strongest_engine_has_a_crossing_of_its_own() -> None:
    summary = summary_of(timed("ar", AR), timed("ctranslate2", straight(1, 0.6)), timed("mask_predict", NAR))
    line = line_of(summary, "mask_predict")
    assert line.with_strongest and line.with_strongest.against == "ctranslate2"
    assert line.with_strongest.found.crossing == pytest.approx(9 / 0.15)
    said = line_sentence(summary, line)
    assert re.search(r"it overtakes ar from 14\.5 tokens \[14\.5, 14\.5\] and overtakes ctranslate2 from 60", said)
    assert said.startswith("By its line, 15.0 ms [") and "a token" in said


def test_a_lead_over_all_that_was_measured_is_no_crossing() -> None:
    summary = summary_of(timed("ar", AR), timed("mask_predict", straight(1, 0.45)))
    said = line_sentence(summary, line_of(summary, "mask_predict"))
    assert re.fullmatch(r"Its line is 1\.50 ms \[.+\] \+ 0\.675 ms \[.+\] a token\.", said)


def test_the_verdict_says_from_which_length_a_strategy_overtakes() -> None:
    speed = dict(verdict(summary_of(timed("ar", AR), timed("mask_predict", NAR))).findings)["Speed"]
    assert "a token, it overtakes ar from 14.5 tokens [14.5, 14.5]." in speed[0]


def test_under_six_repeats_nothing_is_sure() -> None:
    summary = summary_of(timed("ar", AR, repeats=3), timed("mask_predict", NAR, repeats=3))
    said = line_sentence(summary, line_of(summary, "mask_predict"))
    assert "it overtakes ar from 14.5 tokens." in said and "[" not in said


@pytest.mark.parametrize(
    ("found", "words", "cell", "small"),
    [
        (Crossover("always", -inf, -inf, -inf), "is ahead of ar from 8 to 128 tokens", "always", ""),
        (Crossover("never", inf, inf, inf), "is nowhere ahead of ar from 8 to 128 tokens", "never", ""),
        (Crossover("from", 23.0, 19.2, 28.4), "overtakes ar from 23 tokens [19.2, 28.4]", "from 23", "[19.2, 28.4]"),
        (Crossover("until", 60.5, 50.0, inf), "is ahead of ar until 60.5 tokens [50, above 128]", "until 60.5", None),
        (Crossover("from", 20.0, -inf, inf), "may be ahead of ar or behind it anywhere", "undecided", None),
        (
            Crossover("from", -inf, -inf, 12.5),
            "seems ahead of ar from 8 to 128 tokens, but a crossing",
            "from below 8",
            None,
        ),
        (Crossover("from", inf, 100.0, inf), "seems behind ar from 8 to 128 tokens", "from above 128", None),
        (Crossover("from", 14.5, None, None), "overtakes ar from 14.5 tokens", "from 14.5", ""),
    ],
    ids=lambda value: value.answer if isinstance(value, Crossover) else "",
)
def test_every_answer_has_its_words(found: Crossover, words: str, cell: str, small: str | None) -> None:
    crossing = Crossing("ar", found, (8.0, 128.0), True, 9)
    assert phrase(summary_of(timed("ar", AR)), crossing).startswith(words)
    assert answer(crossing) == cell
    if small is not None:
        assert bounds(crossing) == small


def test_the_table_has_formula_units_n_interval_denominator_and_what_timing_leaves_out() -> None:
    table = line_table(summary_of(timed("ar", AR), timed("mask_predict", NAR)), "verse")
    assert table
    assert table.heads[2:6] == ("a, ms", "b, ms/token", "b, × ar's", "ahead of ar, tokens")
    for said in ("t(L) = a + bL", "95 % intervals by bootstrap over whole repeats", "Timing leaves out loading"):
        assert said in table.note
    slope = table.rows[1][3]
    assert slope.text == "0.675" and re.fullmatch(r"\[[\d.]+, [\d.]+\]", slope.detail[0]) and slope.detail[1] == "n = 9"


def test_a_line_through_negative_time_is_shown_as_it_came_out() -> None:
    line = line_of(summary_of(timed("ar", straight(-1, 1))), "ar")
    assert line.a_ms and line.a_ms.value == pytest.approx(-1.5)
    assert line.curvature == Curvature(pytest.approx(0, abs=1e-9), pytest.approx(0, abs=1e-9), False)


def test_lines_of_several_runs_are_printed_for_programs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folders = [
        Made(records=[*timed("ar", AR), *timed("mask_predict", straight(10, 0.1))]).write(tmp_path / name)
        for name in ("one", "two")
    ]
    assert main(["lines", *map(str, folders)]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [(row["run"], row["strategy"]) for row in rows] == [
        (str(folder), label) for folder in folders for label in ("ar", "mask_predict")
    ]
    assert rows[0]["ahead"] is None and rows[0]["b_over_baseline"] == 1
    assert rows[1]["ahead"] == {
        "answer": "from",
        "tokens": pytest.approx(8 / 0.9),
        "interval": [pytest.approx(8 / 0.9)] * 2,
        "of_lines": True,
    }
    assert rows[1]["a_ms"] == pytest.approx(15) and rows[1]["n"] == 9 and rows[1]["baseline"] == "ar"


def test_an_open_end_is_null_for_programs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Made(records=[*timed("ar", AR), *timed("mask_predict", straight(1, 0.1))]).write(tmp_path / "run")
    assert main(["lines", str(tmp_path / "run")]) == 0
    row = json.loads(capsys.readouterr().out)[1]
    assert row["ahead"] == {"answer": "always", "tokens": None, "interval": [None, None], "of_lines": True}


def test_lines_of_no_run_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lines", str(tmp_path)]) == 4
    assert len(capsys.readouterr().err.splitlines()) == 1
