"""Claims about the work of a pass and what holds it up: values worked out by hand, and laws."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics.roofline import Shape, Work, bandwidth_at, decoder_pass, encoder_pass, roof

SHAPE = Shape(
    d_model=2, encoder_layers=1, decoder_layers=1, encoder_ffn_dim=3, decoder_ffn_dim=5, vocab_size=7,
    weight_bytes=4, value_bytes=4,
)  # fmt: skip
SIZES = st.integers(1, 20)


def test_an_encoder_pass_by_hand() -> None:
    # 3 positions; the layer's weights: 4 · 2² + 2 · 2 · 3 = 28; keys and values for the decoder: 2 · 2² = 8
    # values moved a position: 8 · 2 + 2 · 3 = 22 and 3 · 2 = 6; attention: 3 · 3 pairs of 2, keys, values 3 · 2 each
    work = encoder_pass(SHAPE, rows=1, source=3)
    assert work.flop == 2 * 3 * (28 + 8) + 4 * 3 * 3 * 2
    assert work.bytes == 4 * (28 + 3 * 22 + 8 + 3 * 6 + 2 * 3 * 2)


def test_a_cached_step_by_hand() -> None:
    # one row, one new position, 4 so far, 3 of the source; weights: 6 · 2² + 2 · 2 · 5 = 44, and 2 · 7 of the output
    # values: 12 · 2 + 2 · 5 = 34, and 2 + 2 · 7 = 16 of the output; keys and values: 2 · 4 · 2 and 2 · 3 · 2
    work = decoder_pass(SHAPE, rows=1, positions=1, context=4, source=3)
    assert work.flop == 2 * (44 + 14) + 4 * 4 * 2 + 4 * 3 * 2
    assert work.bytes == 4 * (44 + 34 + 14 + 16 + 16 + 12)
    assert work.flop_per_byte == work.flop / work.bytes


@given(SIZES, SIZES, SIZES, SIZES)
def test_more_rows_are_more_operations_and_no_more_weights(
    rows: int, positions: int, context: int, source: int
) -> None:
    one = decoder_pass(SHAPE, 1, positions, context, source)
    many = decoder_pass(SHAPE, rows, positions, context, source)
    assert many.flop == rows * one.flop
    weights = 4 * (44 + 14)
    assert many.bytes - weights == pytest.approx(rows * (one.bytes - weights))
    assert rows == 1 or many.flop_per_byte > one.flop_per_byte


@given(SIZES, SIZES, SIZES, SIZES)
def test_int8_weights_move_less_and_compute_the_same(rows: int, positions: int, context: int, source: int) -> None:
    shape = replace(SHAPE, weight_bytes=1)
    for plain, small in (
        (decoder_pass(SHAPE, rows, positions, context, source), decoder_pass(shape, rows, positions, context, source)),
        (encoder_pass(SHAPE, rows, source), encoder_pass(shape, rows, source)),
    ):
        assert small.flop == plain.flop
        assert small.bytes < plain.bytes


def test_bandwidth_lies_between_the_measured_sizes_by_their_logarithm() -> None:
    curve = [(1.0, 80.0), (4.0, 40.0), (16.0, 10.0)]
    assert [bandwidth_at(curve, size) for size in (0.1, 1, 2, 4, 8, 16, 99)] == pytest.approx(
        [80, 80, 60, 40, 25, 10, 10]
    )
    assert bandwidth_at([(1.0, 5.0)], 3.0) == 5.0


@pytest.mark.parametrize(
    ("seconds", "bound", "shares"),
    [
        (1.0, "memory-bound", (0.8, 0.2)),
        (1.7, "dispatch-bound", (0.8 / 1.7, 0.2 / 1.7)),
        (0.5, "memory-bound", (1.6, 0.4)),
    ],
)
def test_the_roof_that_explains_half_of_the_time_is_the_verdict(
    seconds: float, bound: str, shares: tuple[float, float]
) -> None:
    found = roof(Work(flop=2e9, bytes=8e9), seconds, bytes_per_s=1e10, flop_per_s=1e10)
    assert found.bound == bound
    assert (found.bandwidth_share, found.flop_share) == pytest.approx(shares)


def test_many_operations_a_byte_are_bound_by_computing() -> None:
    assert roof(Work(8e9, 1e9), 1.0, 1e10, 1e10).bound == "compute-bound"


@pytest.mark.parametrize("wrong", [(0.0, 1.0, 1.0), (1.0, 0.0, 1.0), (1.0, 1.0, -1.0)])
def test_no_time_and_no_ceiling_is_refused(wrong: tuple[float, float, float]) -> None:
    with pytest.raises(ValueError, match="must be above 0"):
        roof(Work(1.0, 1.0), *wrong)
