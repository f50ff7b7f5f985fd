"""Which tokens are kept and why a row ended, on words and bytes instead of a vocabulary."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generators.base import Exact, FinishReason, Natural, Prompt, Request
from generators.stopping import finish, nothing, until

EOS = 0
PIECES = ["", "E", "ND", "END", "ENDS", "a", "b", " "]


def decode(token_ids: Sequence[int]) -> str:
    return "".join(PIECES[token_id] for token_id in token_ids)


def request(length: Natural | Exact, *stops: str) -> Request:
    return Request(prompts=(Prompt(prefix_ids=(5, EOS)),), length=length, stop_strings=stops)


def end(token_ids: Sequence[int], length: Natural | Exact, *stops: str) -> tuple[tuple[int, ...], FinishReason | None]:
    return finish(token_ids, request(length, *stops), EOS, decode)


A, B, E, ND, END, ENDS, SPACE = 5, 6, 1, 2, 3, 4, 7


@pytest.mark.parametrize(
    ("emitted", "length", "kept", "reason"),
    [
        ((A, B), Natural(5), (A, B), None),
        ((A, B, EOS, A, B), Natural(5), (A, B), FinishReason.EOS),
        ((EOS,), Natural(5), (), FinishReason.EOS),
        ((A, B), Natural(2), (A, B), FinishReason.LENGTH),
        ((A, B, A), Natural(2), (A, B), FinishReason.LENGTH),
        ((A, B, EOS), Natural(2), (A, B), FinishReason.EOS),  # the end right behind the last that may be kept
        ((A, B, A, EOS), Natural(2), (A, B), FinishReason.LENGTH),
        ((A,), Natural(0), (), FinishReason.LENGTH),
        ((A, B, A), Exact(3), (A, B, A), FinishReason.LENGTH),
        ((), Natural(3), (), None),
    ],
)
def test_a_row_ends_at_eos_or_its_length(
    emitted: tuple[int, ...], length: Natural | Exact, kept: tuple[int, ...], reason: FinishReason | None
) -> None:
    assert end(emitted, length) == (kept, reason)


@pytest.mark.parametrize(
    ("emitted", "stops", "kept"),
    [
        ((A, END, B), ("END",), (A,)),
        ((A, E, ND, B), ("END",), (A,)),  # across tokens
        ((A, ENDS, B), ("END",), (A,)),  # inside a token: what the token says before it goes with it
        ((A, E, ND, B), ("ENDS", "END"), (A,)),  # one a prefix of another
        ((A, ENDS), ("ENDS", "END"), (A,)),
        ((A, B, E, ND), ("END", "b"), (A,)),  # the earliest in the text, not the first in the list
        ((END, A), ("END",), ()),
        ((A, SPACE, B), (" b",), (A,)),
    ],
)
def test_a_stop_string_ends_the_row_before_it(
    emitted: tuple[int, ...], stops: tuple[str, ...], kept: tuple[int, ...]
) -> None:
    assert end(emitted, Natural(9), *stops) == (kept, FinishReason.STOP_STRING)


def test_half_a_stop_string_stops_nothing() -> None:
    assert end((A, E), Natural(9), "END") == ((A, E), None)
    assert end((A, E, B, ND), Natural(9), "END") == ((A, E, B, ND), None)


def test_a_stop_string_behind_the_end_or_the_length_is_not_seen() -> None:
    assert end((A, EOS, END), Natural(9), "END") == ((A,), FinishReason.EOS)
    assert end((A, E, ND), Natural(2), "END") == ((A, E), FinishReason.LENGTH)


def test_a_character_split_over_tokens_matches_whole() -> None:
    text = "aé日b"
    tokens = tuple(text.encode())

    def decode_bytes(token_ids: Sequence[int]) -> str:
        return bytes(token_ids).decode("utf-8", errors="replace")

    for stop, kept in (("日", "aé"), ("é", "a"), ("é日", "a"), ("b", "aé日")):
        found = finish(tokens, request(Natural(99), stop), EOS, decode_bytes)
        assert found == (tuple(kept.encode()), FinishReason.STOP_STRING)
    for n in range(1, len(tokens)):  # no half character is taken for one that stops
        assert finish(tokens[:n], request(Natural(99), "ë", "月"), EOS, decode_bytes)[1] is None


@given(st.lists(st.integers(1, len(PIECES) - 1), max_size=12))
def test_token_by_token_or_at_once_the_same_is_kept(emitted: list[int]) -> None:
    at_once = end(emitted, Natural(99), "END", "ba")
    for n in range(len(emitted) + 1):
        step = end(emitted[:n], Natural(99), "END", "ba")
        if step[1] is not None:
            assert step == at_once
            return
    assert at_once == (tuple(emitted), None)


@given(st.lists(st.integers(1, len(PIECES) - 1), max_size=12))
def test_as_much_as_fits_before_the_stop_is_kept(emitted: list[int]) -> None:
    kept, reason = end(emitted, Natural(99), "END")
    text = decode(emitted)
    if reason is FinishReason.STOP_STRING:
        assert len(decode(kept)) <= text.index("END") < len(decode(emitted[: len(kept) + 1]))
    else:
        assert "END" not in text


def test_where_nothing_may_be_kept_every_row_ends_by_length() -> None:
    rows = Request(prompts=(Prompt(prefix_ids=(1,)), Prompt(prefix_ids=(2,))), length=Natural(0))
    got = nothing(rows)
    assert (got.token_ids, got.tokens_raw, got.steps) == (((), ()), (0, 0), ())
    assert got.finish_reasons == (FinishReason.LENGTH, FinishReason.LENGTH)


def test_what_was_emitted_ends_with_eos() -> None:
    assert until([A, EOS, B, EOS], EOS) == [A, EOS]
    assert until([A, B], EOS) == [A, B]
