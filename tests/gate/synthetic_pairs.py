"""Blocks of made-up pairs whose truth is known."""

from collections.abc import Callable, Mapping

import numpy as np

from reports.gate import AGAIN, BASE, HEAD, Block, Reading, Round

LENGTHS = (16, 32, 64, 128)
Cost = Callable[[int], float]


def plain(length: int) -> float:
    return 0.004 + 0.001 * length


def block(
    seed: int,
    head: Cost = plain,
    *,
    between: float = 0.01,
    within: float = 0.03,
    waiting_s: float = 0.0,
    drift: float = 0.0,
    control: float = 1.0,
    rounds: int = 7,
) -> Block:
    """A block in which the head costs `head(length)` seconds and the base `plain(length)`.

    `between`, `within`: standard deviations of log time, a process and a call; `drift`: what slows a whole round down;
    `waiting_s`: wall time without work in the head; `control`: how many times slower the control is than the base.
    """
    draw = np.random.default_rng(seed)
    costs: Mapping[str, Cost] = {BASE: plain, HEAD: head, AGAIN: lambda n: control * plain(n)}
    process = {side: draw.normal(0, between) for side in costs}
    made = []
    for _ in range(rounds):
        for length in LENGTHS:
            slow = draw.normal(0, drift) if drift else 0.0
            readings = {}
            for side, cost in costs.items():
                cpu_s = cost(length) * float(np.exp(process[side] + slow + draw.normal(0, within)))
                readings[side] = Reading(cpu_s, cpu_s + (waiting_s if side == HEAD else 0.0))
            made.append(Round(length, readings))
    return Block(tuple(made))


def times(factor: float) -> Cost:
    return lambda length: factor * plain(length)
