"""Ways to measure wrongly, each of which has been published: a self-check that passes one of them checks nothing."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

from suites.plan import Block, Trial
from suites.runner import Runner
from suites.synthetic import LAWS, Machine, World


@dataclass(frozen=True, slots=True)
class Lie:
    """What a mutant changes: the contestants, or methods of the runner."""

    world: dict[str, Any] = field(default_factory=dict)  # fields of `World`
    runner: dict[str, Any] = field(default_factory=dict)  # methods of `Runner`


HONEST = Lie()


def _no_warm_up(runner: Runner, trial: Trial) -> None:
    """Warm-up left out."""


def _no_call_after_switch(runner: Runner, block: Block, order: int) -> None:
    """The timed trials at once, without the untimed call that brings a contestant's caches back."""
    for place, trial in enumerate(block.trials, start=order):
        runner.run_trial(trial, place)


SWAPPED = {"ar": "mask_predict", "mask_predict": "ar", "ctc": "ctc"}
MUTANTS = {
    "counting the prompt": Lie(world={"keeps": "prompt"}),
    "counting past the end": Lie(world={"keeps": "past the end"}),
    "one extra pass": Lie(world={"extra_calls": 1}),
    "swapped labels": Lie(world={"laws": {name: LAWS[other] for name, other in SWAPPED.items()}}),
    "no warm-up": Lie(runner={"warm_up": _no_warm_up}),
    "no untimed call after a switch": Lie(runner={"run_block": _no_call_after_switch}),
}


@contextmanager
def lying(lie: Lie, machine: Machine) -> Iterator[World]:
    """The contestants of a world in which something is measured wrongly."""
    with ExitStack() as patches:
        for name, method in lie.runner.items():
            patches.enter_context(patch.object(Runner, name, method))
        yield World(machine, **lie.world)
