"""Which outputs are shown, and what is said beside them."""

from dataclasses import replace

import pytest

from reports.samples import APART, BUDGET_BYTES, MAX_CHARS, REPETITIVE, ROWS, repeated_ids, shown
from reports.summarise import summarise
from tests.reports.synthetic import TASK, Made, race, record


@pytest.mark.parametrize(("ids", "count"), [((), 0), ((1,), 0), ((1, 1), 1), ((1, 1, 1, 2, 2), 3), ((1, 2, 1), 0)])
def test_repeated_ids_are_counted_where_adjacent(ids: tuple[int, ...], count: int) -> None:
    assert repeated_ids(ids) == count


def test_two_hundred_rows_by_the_stated_shares() -> None:
    found = shown(summarise(race(labels=["ar", "mask_predict:n_iterations=1"], repeats=1, rows=700).run()))
    rows = {why: [s.row for s in found if s.why == why] for why in {s.why for s in found}}
    even = rows["at equal steps"]
    assert len(found) == len({s.row for s in found}) == ROWS
    assert {why: len(of) for why, of in rows.items()} == {
        "at equal steps": ROWS - REPETITIVE - APART,
        "most repeated tokens": REPETITIVE,
        "widest gap in chrF": APART,
    }
    assert (even[0], even[-1]) == (0, 699) and {b - a for a, b in zip(even, even[1:], strict=False)} <= {5, 6}
    assert [s.row for s in found] == sorted(s.row for s in found)


def test_no_row_left_out_repeats_more_than_one_shown_for_that() -> None:
    made = race(labels=["ar", "mask_predict:n_iterations=1"], repeats=1, rows=700)
    found = shown(summarise(made.run()))
    least = min(s.repeats for s in found if s.why == "most repeated tokens")
    totals = dict.fromkeys(range(700), 0)
    for sample in made.samples:
        totals[sample.row] += repeated_ids(sample.token_ids)
    assert least > 0
    assert all(totals[row] <= least for row in set(totals) - {s.row for s in found})


def test_the_even_rows_do_not_depend_on_what_was_written() -> None:
    def rows(label: str) -> list[int]:
        found = shown(summarise(race(labels=[label], repeats=1, rows=300).run()))
        return [s.row for s in found if s.why == "at equal steps"]

    assert rows("ar") == rows("mask_predict:n_iterations=1")


def test_a_small_run_shows_every_row_once() -> None:
    found = shown(summarise(race(labels=["ar", "ctc"], repeats=1, rows=5).run()))
    assert [(s.row, s.why) for s in found] == [(row, "") for row in range(5)]
    assert all([c.label for output in s.outputs for c, _ in output.writers] == ["ar", "ctc"] for s in found)


def test_a_text_that_several_wrote_stands_once_with_all_their_names() -> None:
    made = race(labels=["ar", "ctc", "copy"], repeats=1, rows=1)
    made.samples = [replace(s, text="the very same") if s.label != "ctc" else s for s in made.samples]
    (found,) = shown(summarise(made.run()))
    assert [[c.label for c, _ in output.writers] for output in found.outputs] == [["ar", "copy"], ["ctc"]]


def one(text: str) -> Made:
    made = race(labels=["ar"], repeats=1, rows=1)
    made.samples = [replace(made.samples[0], text=text)]
    return made


def test_a_very_long_output_is_cut_with_a_mark() -> None:
    (found,) = shown(summarise(one("x" * 10_000).run()))
    text = "".join(run.text for run in found.outputs[0].runs)
    assert len(text) == MAX_CHARS and text.endswith("…")


def test_long_texts_make_fewer_rows_not_a_heavier_page() -> None:
    made = race(labels=["ar", "ctc"], repeats=1, rows=300)
    made.samples = [replace(s, text="<& " * 400, source="<" * 1200) for s in made.samples]
    found = shown(summarise(made.run()))
    assert 20 < len(found) < ROWS
    assert sum(len(s.source) * 4 for s in found) < BUDGET_BYTES


def test_beside_an_output_stands_what_is_known_of_it_alone() -> None:
    made = race(labels=["ar", "ctc"], repeats=1, rows=3)
    for repeat, seconds in enumerate((0.010, 0.030, 0.020)):
        timed = record("ctc", mode="natural", length=None, repeat=repeat, latency_s=seconds, kept=12)
        made.records.append(replace(timed, key=f"alone-{repeat}", task=TASK, prompt_rows=(1,)))
    (_, row, _) = shown(summarise(made.run()))
    facts = {c.label: said for output in row.outputs for c, said in output.writers}
    assert "chrF" in facts["ar"] and "ms" not in facts["ar"]
    assert facts["ctc"].endswith("20.0 ms · 1.00 calls")  # the median of three; a call a request


def test_the_gap_is_best_chrf_minus_worst_and_copying_takes_no_part() -> None:
    made = race(labels=["ar", "ctc", "copy"], repeats=1, rows=2)
    reference = made.samples[0].reference
    made.samples = [replace(s, text=reference) for s in made.samples]
    summary = summarise(made.run())
    (first, _) = shown(summary)
    chrf = {label: summary.rows[TASK, label, 0].chrf or 0.0 for label in ("ar", "ctc")}
    assert first.gap == pytest.approx(abs(chrf["ar"] - chrf["ctc"]))
