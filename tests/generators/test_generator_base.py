"""A request that cannot be meant is refused where it is written; a stopwatch charges every step its own time."""

import math
from typing import Any

import pytest

from generators.base import (
    Capability,
    Exact,
    Natural,
    Phase,
    Placement,
    Prompt,
    Request,
    Sampling,
    Stopwatch,
    Unsupported,
    require,
)

ONE = Prompt(prefix_ids=(5, 0))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Natural(-1), "max_new_tokens must be 0 or more, got -1"),
        (lambda: Exact(0), "an exact length must be 1 or more, got 0"),
        (lambda: Prompt(prefix_ids=()), "a prompt needs at least one token"),
        (lambda: Sampling(temperature=-0.1), "temperature"),
        (lambda: Sampling(temperature=math.nan), "temperature"),
        (lambda: Sampling(temperature=math.inf), "temperature"),
        (lambda: Sampling(top_k=-1), "top_k"),
        (lambda: Sampling(top_p=1.01), "top_p"),
        (lambda: Sampling(top_p=-0.01), "top_p"),
        (lambda: Sampling(top_p=math.nan), "top_p"),
        (lambda: Request(prompts=(), length=Exact(1)), "at least one prompt"),
        (lambda: Request(prompts=(ONE,), length=Exact(1), stop_strings=("a", "")), "empty stop string"),
        (
            lambda: Request(prompts=(ONE, ONE), length=Exact(1), sampling=Sampling(temperature=1.0, seeds=(1,))),
            "one seed a row: 2 rows, 1 seeds",
        ),
        (lambda: Placement(dtype="float8"), "unknown dtype 'float8'; choose from: float32"),
        (lambda: Placement(threads=0), "threads must be 1 or more"),
    ],
)
def test_what_cannot_be_meant_is_refused(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


def test_zero_tokens_and_greedy_rows_without_seeds_can_be_meant() -> None:
    assert Natural(0).max_new_tokens == 0
    assert Request(prompts=(ONE, ONE), length=Natural(0)).sampling.greedy


def test_what_is_not_declared_is_named() -> None:
    request = Request(prompts=(ONE, ONE), length=Exact(2), stop_strings=("x",))
    with pytest.raises(Unsupported, match="batch, exact_length, stop_strings$"):
        require(frozenset({Capability.NATURAL_LENGTH}), request)
    require(frozenset({Capability.EXACT_LENGTH, Capability.BATCH, Capability.STOP_STRINGS}), request)


def test_each_step_is_charged_the_time_since_the_last() -> None:
    clock = iter([0, 1_000_000_000, 1_000_000_500, 3_000_000_500])
    synchronized: list[None] = []
    stopwatch = Stopwatch(lambda: synchronized.append(None), lambda: next(clock))
    stopwatch.start()
    stopwatch.lap(Phase.ENCODE, calls=1, positions=7)
    stopwatch.lap(Phase.DECODE, calls=2, positions=9, drafted=4, accepted=3)
    first, second = stopwatch.steps
    assert (first.seconds, first.calls, first.positions) == (pytest.approx(500e-9), 1, 7)
    assert (second.seconds, second.calls, second.positions) == (pytest.approx(2.0), 2, 9)
    assert (second.drafted, second.accepted) == (4, 3)
    assert len(synchronized) == 3  # before every reading of the clock


def test_starting_again_forgets_earlier_steps() -> None:
    stopwatch = Stopwatch()
    stopwatch.lap(Phase.HOST)
    stopwatch.start()
    assert stopwatch.steps == []
