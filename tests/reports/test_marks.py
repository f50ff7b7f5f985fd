"""Where a text repeats a word and where it differs from its reference."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reports.marks import marked


def of(text: str, reference: str, mark: str) -> list[str]:
    return [run.text for run in marked(text, reference) if run.mark == mark]


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
    assert of(text, text, "repeats") == found


@pytest.mark.parametrize(
    ("text", "differs", "missing"),
    [
        ("and the king went", [], []),
        ("And THE king, went.", [], []),
        ("and a queen went", ["a queen"], []),
        ("and went", [], ["2"]),
        ("king went", [], ["2"]),
        ("and the", [], ["2"]),
        ("and the old king went", ["old"], []),
        ("lo and the king went out", ["lo", "out"], []),
        ("", [], ["4"]),
    ],
)
def test_differences_to_the_reference_are_marked_word_by_word(
    text: str, differs: list[str], missing: list[str]
) -> None:
    assert of(text, "and the king went", "differs") == differs
    assert of(text, "and the king went", "missing") == missing


def test_a_repeated_word_bears_that_mark_alone() -> None:
    assert of("the thing thing", "the king", "repeats") == ["thing"]
    assert of("the thing thing", "the king", "differs") == ["thing"]


@given(st.text("ab \n", max_size=40), st.text("ab \n", max_size=40))
def test_marking_keeps_every_character(text: str, reference: str) -> None:
    assert "".join(run.text for run in marked(text, reference) if run.mark != "missing") == text
