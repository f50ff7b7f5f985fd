"""Which outputs are shown, and where words repeat."""

import pytest

from reports.samples import EVEN, MAX_CHARS, REPETITIVE, marked, repeated_ids, shown
from reports.summarise import summarise
from tests.reports.synthetic import race


def repeats(text: str) -> list[str]:
    return [word for word, repeated in marked(text) if repeated]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("and the the king", ["the"]),
        ("The the, THE.", ["the,", "THE."]),
        ("and the and the", []),
        ("very  very\tvery good", ["very", "very"]),
        ("- - a", ["-"]),
        ("", []),
        ("   ", []),
        ("一 一", ["一"]),
    ],
)
def test_a_word_that_repeats_the_last_one_is_marked(text: str, found: list[str]) -> None:
    assert repeats(text) == found


def test_marking_keeps_every_character() -> None:
    text = "  the the\n\nking,  king "
    assert "".join(piece for piece, _ in marked(text)) == text


@pytest.mark.parametrize(("ids", "count"), [((), 0), ((1,), 0), ((1, 1), 1), ((1, 1, 1, 2, 2), 3), ((1, 2, 1), 0)])
def test_repeated_ids_are_counted_where_adjacent(ids: tuple[int, ...], count: int) -> None:
    assert repeated_ids(ids) == count


def test_rows_are_evenly_spaced_with_both_ends_and_then_the_most_repetitive() -> None:
    found = shown(summarise(race(labels=["ar", "mask_predict:n_iterations=1"], repeats=1, rows=90).run()))
    even = [s.row for s in found if s.why == "evenly spaced"]
    worst = [sum(o.repeats for o in s.outputs) for s in found if s.why == "most repeated tokens"]
    assert (len(even), even[0], even[-1]) == (EVEN, 0, 89)
    assert {b - a for a, b in zip(even, even[1:], strict=False)} <= {5, 6}
    assert len(worst) == REPETITIVE and worst == sorted(worst, reverse=True) and worst[-1] > 0


def test_the_even_rows_do_not_depend_on_what_was_written() -> None:
    def rows(label: str) -> list[int]:
        found = shown(summarise(race(labels=[label], repeats=1, rows=90).run()))
        return [s.row for s in found if s.why == "evenly spaced"]

    assert rows("ar") == rows("mask_predict:n_iterations=1")


def test_a_small_run_shows_every_row_once() -> None:
    found = shown(summarise(race(labels=["ar", "ctc"], repeats=1, rows=5).run()))
    assert [s.row for s in found] == [0, 1, 2, 3, 4]
    assert all(len(s.outputs) == 2 for s in found)


def test_a_very_long_output_is_cut_with_a_mark() -> None:
    made = race(labels=["ar"], repeats=1, rows=1)
    (sample,) = made.samples
    object.__setattr__(sample, "text", "x" * 10_000)
    (found,) = shown(summarise(made.run()))
    text = "".join(piece for piece, _ in found.outputs[0].words)
    assert len(text) == MAX_CHARS and text.endswith("…")
