"""One wrong token put into a decode loop from outside, to see what follows from it.

The error is the model's: the first time a place is decided, the wrong token and the likeliest one change their logits.
So the wrong token is chosen with the very confidence that its better had, and no strategy knows of it: an
autoregressive one must go on from it, an iterative one may come back to it.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count

from torch import Tensor

from generators.base import Generator, Unsupported
from generators.strategies.ar import Autoregressive
from generators.strategies.mask_predict import MaskPredict


@dataclass(frozen=True, slots=True)
class Slip:
    place: int  # of the output, counted from 0
    token_id: int


@contextmanager
def slipping(generator: Generator, slips: Sequence[Slip]) -> Iterator[None]:
    """Let `generator` slip once in every row of the one request it is given inside, row i as slips[i] says.

    A row that ends before its place does not slip. Raises `Unsupported` for a strategy whose places are not each
    decided in a known pass: an engine, a model whose length emerges, a beam whose hypotheses part before the place.
    """
    one_by_one = isinstance(generator, Autoregressive) and generator.config.beam_size == 1
    if not isinstance(generator, Autoregressive | MaskPredict) or not (
        one_by_one or isinstance(generator, MaskPredict)
    ):
        raise Unsupported("this strategy cannot do: a wrong token at a given place")
    model, passes = generator.model, count()
    truthful = model.logits

    def slipped(hidden: Tensor) -> Tensor:
        logits, nth = truthful(hidden), next(passes)
        for row, slip in enumerate(slips):
            # token by token, pass n decides place n; all at once, the first pass decides every place
            if slip.place == nth if one_by_one else nth == 0 and slip.place < logits.shape[1]:
                exchange(logits, row, len(slips), 0 if one_by_one else slip.place, slip.token_id)
        return logits

    model.logits = slipped  # type: ignore[method-assign]  # of this one model, until the block ends
    try:
        yield
    finally:
        del model.logits


def exchange(logits: Tensor, row: int, n_rows: int, place: int, token_id: int) -> None:
    """Swap the token's logit with the best one's, in all lengths that are tried for the row: [B * K, T, V]."""
    lengths_tried = logits.shape[0] // n_rows
    for i in range(row * lengths_tried, (row + 1) * lengths_tried):
        best = int(logits[i, place].argmax())
        logits[i, place, [best, token_id]] = logits[i, place, [token_id, best]]
