"""A plan's rounds in their order, as far as the budget reaches."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable
from typing import Protocol

from suites.plan import Block, Cell, Plan, Round, Trial
from suites.runner import cost, doomed
from suites.trial import AGREEING, Failure


class Runs(Protocol):
    """What runs blocks: `Runner` in this process, `Isolated` in a process a contestant."""

    costs: dict[Cell, float]
    failures: dict[Cell, Failure]

    def warm_up(self, trial: Trial) -> None: ...

    def run_block(self, block: Block, order: int) -> None: ...


def run_rounds(
    plan: Plan,
    done: Collection[str],
    runner: Runs,
    seconds_left: Callable[[], float],
    advance: Callable[[int, float], None],
) -> int:
    """The number of rounds, from the first, that stand whole when this returns: all, or as many as the budget allows.

    `done` holds keys of whole rounds that need no work. A cell is warmed up before the first round it takes part in.
    `advance` is told, between blocks, how many trials were done and how many seconds the rest may take.
    """
    todo = [(place, blocks) for place, blocks in enumerate(plan.rounds) if trials_of(blocks)[0].key not in done]
    rest = sum((_cells(blocks) for _, blocks in todo), Counter[Cell]())
    warm: set[Cell] = set()
    for place, blocks in todo:
        cold = cold_trials(blocks, warm)
        needed = _cells(blocks) + Counter({trial.cell: AGREEING for trial in cold})
        if place >= plan.minimum and _cost(runner, needed) > seconds_left():
            return place
        for trial in cold:
            runner.warm_up(trial)
            warm.add(trial.cell)
            advance(0, 0.0)
        order = 0
        for block in blocks:
            runner.run_block(block, order)
            order += len(block.trials)
            rest.subtract(trial.cell for trial in block.trials)
            advance(len(block.trials), min(_cost(runner, rest), max(0.0, seconds_left())))
    return len(plan.rounds)


def cold_trials(blocks: Round, warm: Collection[Cell]) -> list[Trial]:
    """One trial of each timed cell of the round that is not in `warm`, those of a contestant in a row."""
    first: dict[Cell, Trial] = {}
    for trial in trials_of(blocks):
        if trial.cell.timed and trial.cell not in warm:
            first.setdefault(trial.cell, trial)
    return sorted(first.values(), key=lambda trial: trial.cell.label)


def trials_of(blocks: Iterable[Block]) -> list[Trial]:
    return [trial for block in blocks for trial in block.trials]


def _cost(runner: Runs, trials: Counter[Cell]) -> float:
    """What so many trials of each cell will take; one that has failed, or will, takes nothing."""
    failures = runner.failures
    return cost(runner.costs, {c: n for c, n in trials.items() if c not in failures and not doomed(c, failures)})


def _cells(blocks: Iterable[Block]) -> Counter[Cell]:
    return Counter(trial.cell for trial in trials_of(blocks))
