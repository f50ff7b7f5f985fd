"""A plan's rounds in their order, as far as the budget reaches."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Protocol

from suites.plan import Block, Cell, Plan, Round, Trial
from suites.runner import doomed
from suites.trial import Failure


class Runs(Protocol):
    """What runs blocks: `Runner` in this process, `Crew` in a process a contestant, `FreshCrew` in one a trial."""

    warmups_each: int  # calls that a cell's warm-up takes, at least
    failures: dict[Cell, Failure]

    def foreseen_s(self, trials: Mapping[Cell, int]) -> float:
        """The seconds that so many trials of each cell will take, as far as is known by now."""

    def try_once(self, trial: Trial) -> None:
        """Learn what a call of the trial's cell takes, or how it fails; nothing is recorded."""

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
    rest = sum((_calls(runner, blocks) for _, blocks in todo), Counter[Cell]())
    warm: set[Cell] = set()
    for place, blocks in todo:
        cold = cold_trials(blocks, warm)
        needed = _calls(runner, blocks) + Counter({trial.cell: runner.warmups_each for trial in cold})
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
            rest.subtract(_calls(runner, (block,)))
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
    return runner.foreseen_s({c: n for c, n in trials.items() if c not in failures and not doomed(c, failures)})


def _calls(runner: Runs, blocks: Iterable[Block]) -> Counter[Cell]:
    return calls_of(blocks, switching=runner.warmups_each > 0)


def calls_of(blocks: Iterable[Block], *, switching: bool) -> Counter[Cell]:
    """The calls that blocks make: their trials, and where `switching` costs one, the untimed call before each block.

    That one is taken to be of the block's smallest timed cell; which is the quickest shows only in the race.
    """
    calls = Counter(trial.cell for trial in trials_of(blocks))
    for block in blocks if switching else ():
        timed = [trial.cell for trial in block.trials if trial.cell.timed]
        calls.update([min(timed, key=lambda cell: (cell.batch_size, cell.length or 0))] if timed else [])
    return calls
