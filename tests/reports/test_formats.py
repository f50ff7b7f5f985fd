"""Numbers as text."""

import pytest

from reports import formats
from reports.summary import Estimate


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (0.00123456, "0.00123"),
        (0.0999999, "0.100"),
        (1, "1.00"),
        (9.999, "10.0"),
        (27.65, "27.6"),
        (572.4, "572"),
        (1234.6, "1,230"),
        (-2.5, "−2.50"),
        (None, "–"),
        (float("nan"), "–"),
    ],
)
def test_three_significant_digits(value: float | None, text: str) -> None:
    assert formats.number(value) == text


@pytest.mark.parametrize(("value", "text"), [(1.25, "1.2"), (-1.25, "−1.2"), (-0.01, "0.0"), (0, "0.0"), (None, "–")])
def test_fixed_decimals_and_no_minus_zero(value: float | None, text: str) -> None:
    assert formats.fixed(value) == text


@pytest.mark.parametrize(("value", "text"), [(1.31, "+1.3"), (-1.31, "−1.3"), (0, "0.0"), (0.01, "0.0")])
def test_differences_carry_their_sign(value: float, text: str) -> None:
    assert formats.signed(value) == text


def test_an_estimate_without_interval_has_no_brackets() -> None:
    assert formats.with_interval(Estimate(0.0241, None, None, 5), 1000, unit=" ms") == "24.1 ms"
    assert formats.with_interval(Estimate(0.0241, 0.0239, 0.0244, 9), 1000, unit=" ms") == "24.1 ms [23.9, 24.4]"


@pytest.mark.parametrize(("p", "text"), [(0.001, "p < 0.01"), (0.01, "p = 0.01"), (0.5, "p = 0.50"), (1.0, "p = 1.00")])
def test_p_values_claim_no_more_than_a_thousand_resamples_can(p: float, text: str) -> None:
    assert formats.p_value(p) == text


@pytest.mark.parametrize(
    ("words", "text"), [([], ""), (["a"], "a"), (["a", "b"], "a and b"), (list("abc"), "a, b and c")]
)
def test_lists_in_words(words: list[str], text: str) -> None:
    assert formats.listed(words) == text
