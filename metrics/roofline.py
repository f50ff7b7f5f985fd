"""What a pass of an encoder–decoder transformer must compute and move, and what then holds it up.

The roofline of Williams, Waterman & Patterson 2009, https://doi.org/10.1145/1498765.1498785: a kernel takes at least
its operations over the machine's FLOP/s and its bytes over the machine's bandwidth. Counted is the least that an
implementation can do: each weight read once a pass, each product's input read and output written once, each key and
value read once a pass. A multiplication with its addition is two operations. Biases, norms, softmax and the look-up of
embeddings are left out.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log
from typing import Literal

Bound = Literal["memory-bound", "compute-bound", "dispatch-bound"]
EXPLAINED = 0.5  # of the time; ours: less than that, and neither roof is what holds the pass up


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """A model's sizes, and the bytes of one weight and of one activation."""

    d_model: int
    encoder_layers: int
    decoder_layers: int
    encoder_ffn_dim: int
    decoder_ffn_dim: int
    vocab_size: int
    weight_bytes: int
    value_bytes: int


@dataclass(frozen=True, slots=True)
class Work:
    flop: float
    bytes: float

    def __add__(self, other: "Work") -> "Work":
        return Work(self.flop + other.flop, self.bytes + other.bytes)

    @property
    def flop_per_byte(self) -> float:
        """The arithmetic intensity."""
        return self.flop / self.bytes


@dataclass(frozen=True, slots=True)
class Roof:
    """How near a pass came to the machine's two ceilings; a share above 1: the ceiling was measured too low."""

    bandwidth_share: float
    flop_share: float
    bound: Bound


def encoder_pass(shape: Shape, rows: int, source: int) -> Work:
    """Reading `rows` sources of `source` positions, with the keys and values that the decoder's layers will read."""
    d, n, ffn = shape.d_model, rows * source, shape.encoder_ffn_dim
    layer = _products(shape, n, 4 * d * d + 2 * d * ffn, 8 * d + 2 * ffn)
    attention = _attention(shape, rows, source, source)
    crossed = _products(shape, n, 2 * d * d, 3 * d)
    return _times(shape.encoder_layers, layer + attention) + _times(shape.decoder_layers, crossed)


def decoder_pass(shape: Shape, rows: int, positions: int, context: int, source: int) -> Work:
    """Computing `positions` new positions of each of `rows` rows, each looking at `context` target positions.

    A cached step has 1 position and a context that grows; a parallel pass has all positions at once. Its logits are
    written, and read by whatever chooses a token.
    """
    d, n, ffn = shape.d_model, rows * positions, shape.decoder_ffn_dim
    layer = _products(shape, n, 6 * d * d + 2 * d * ffn, 12 * d + 2 * ffn)
    looking = _attention(shape, rows, positions, context) + _attention(shape, rows, positions, source)
    output = _products(shape, n, d * shape.vocab_size, d + 2 * shape.vocab_size)
    return _times(shape.decoder_layers, layer + looking) + output


def bandwidth_at(curve: Sequence[tuple[float, float]], working_set_bytes: float) -> float:
    """Bytes a second at a working set, between the measured ones by the logarithm of the size; at the ends the end's.

    `curve` is (working set, bytes a second) by rising working set, one or more.
    """
    below = [point for point in curve if point[0] <= working_set_bytes] or [curve[0]]
    above = [point for point in curve if point[0] >= working_set_bytes] or [curve[-1]]
    (x0, y0), (x1, y1) = below[-1], above[0]
    return y0 if x0 == x1 else y0 + (y1 - y0) * log(working_set_bytes / x0) / log(x1 / x0)


def roof(work: Work, seconds: float, bytes_per_s: float, flop_per_s: float) -> Roof:
    """What held `work` up that took `seconds`: the higher of the two roofs where it explains half of the time.

    Else neither, and what is left is the cost of starting many small operations, and of kernels far from both roofs.
    """
    if min(seconds, bytes_per_s, flop_per_s) <= 0:
        raise ValueError(f"seconds and ceilings must be above 0, got {seconds}, {bytes_per_s} and {flop_per_s}")
    moving, computing = work.bytes / bytes_per_s / seconds, work.flop / flop_per_s / seconds
    if max(moving, computing) < EXPLAINED:
        return Roof(moving, computing, "dispatch-bound")
    return Roof(moving, computing, "memory-bound" if moving >= computing else "compute-bound")


def _products(shape: Shape, n: int, weights: int, values: int) -> Work:
    """Products of `n` positions with so many weights, that read and write so many values a position."""
    return Work(2.0 * n * weights, float(weights * shape.weight_bytes + n * values * shape.value_bytes))


def _attention(shape: Shape, rows: int, positions: int, context: int) -> Work:
    """Scores and weighted sums of `positions` over `context` keys and values; scores stay where they are computed."""
    d = shape.d_model
    return Work(4.0 * rows * positions * context * d, 2.0 * rows * context * d * shape.value_bytes)


def _times(n: int, work: Work) -> Work:
    return Work(n * work.flop, n * work.bytes)
