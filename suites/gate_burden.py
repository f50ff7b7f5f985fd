"""Slowing a strategy down on purpose, by real work in its decoder: what the gate's own evidence is made with.

The work is a product of some of the decoder's own weights with one of its own inputs; a burden says how many are added.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import process_time_ns
from typing import Any

from generators.base import Generator

ROWS = 64  # of the weights: they stay in a core's cache, so that the first product of a pass costs what the others do


@contextmanager
def carrying(generator: Generator, burden: dict[str, float] | None) -> Iterator[Callable[[], float]]:
    """Let the strategy's model carry `burden` inside the block; gives the CPU seconds that its products took so far.

    `per_step`: products added to each decoder pass, fractions carried over; `per_call`: products added once a call;
    `sleep_s`: seconds slept once a call. Raises ValueError for a strategy without a model of ours.
    """
    if burden is None:
        yield lambda: 0.0
        return
    backbone = getattr(getattr(generator, "model", None), "model", None)
    if backbone is None:
        raise ValueError("only a strategy that runs on a model of ours can be slowed down")
    weight = backbone.decoder.layers[0].fc1.weight
    a_call = _Work(weight, burden.get("per_call", 0.0), burden.get("sleep_s", 0.0))
    a_step = _Work(weight, burden.get("per_step", 0.0), 0.0)
    hooks = [
        backbone.encoder.register_forward_pre_hook(a_call),
        backbone.decoder.register_forward_pre_hook(a_step),
    ]
    try:
        yield lambda: (a_call.spent_ns + a_step.spent_ns) * 1e-9
    finally:
        for hook in hooks:
            hook.remove()


class _Work:
    def __init__(self, weight: Any, products: float, sleep_s: float) -> None:
        self.weight, self.products, self.sleep_s = weight, products, sleep_s
        self.owed = 0.0
        self.spent_ns = 0

    def __call__(self, module: Any, inputs: tuple[Any, ...]) -> None:
        self.owed += self.products
        row, weight = inputs[0][0, :1], self.weight[:ROWS].T  # [1, D], [D, ROWS]
        began_ns = process_time_ns()
        for _ in range(int(self.owed)):
            row @ weight
        self.spent_ns += process_time_ns() - began_ns
        self.owed -= int(self.owed)
        if self.sleep_s:
            time.sleep(self.sleep_s)
