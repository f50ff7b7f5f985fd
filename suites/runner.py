"""From trials to records: warm up, then round after round, every planned key ending as one record."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field

from suites.contestants import Contestant
from suites.exchange import record_of, request_for, samples_of
from suites.plan import Block, Cell, Plan, Trial
from suites.records import Record, Sample
from suites.tasks import Task
from suites.trial import Failure, Timing, attempt, check_shape, timed_call, warm_up

Sink = Callable[[Record, list[Sample]], None]


@dataclass(slots=True, kw_only=True)
class Runner:
    """Runs trials one at a time and remembers, for this start, what each cell's warm-up said and a trial costs."""

    contestants: Mapping[str, Contestant]
    tasks: Mapping[str, Task]
    sink: Sink
    start: int
    synchronize: Callable[[], None]
    costs: dict[Cell, float] = field(default_factory=dict)  # seconds of a trial, later ones counting more
    warmups: dict[Cell, tuple[float, ...]] = field(default_factory=dict)  # until the cell's first record takes them
    failures: dict[Cell, Failure] = field(default_factory=dict)  # cells whose warm-up failed

    def warm_up(self, trial: Trial) -> None:
        """Warm up the cell of `trial` on its very shape. A failure here stands for every trial of the cell."""
        seconds, failure = warm_up(lambda: self.call(trial))
        self.warmups[trial.cell] = seconds
        if failure is not None:
            self.failures[trial.cell] = failure

    def call(self, trial: Trial) -> Timing | Failure:
        """What `trial` gives; nothing of it is kept but its cost."""
        contestant = self.contestants[trial.cell.label]
        if contestant.loaded is None:
            return contestant.failure or Failure("error", "not loaded")
        generator, codec = contestant.loaded.generator, contestant.loaded.codec
        request = attempt(lambda: request_for(trial, self.tasks[trial.cell.task], codec))
        if isinstance(request, Failure):
            return request
        outcome = attempt(lambda: timed_call(generator, request, self.synchronize))
        if isinstance(outcome, Failure):
            return outcome
        self.costs[trial.cell] = (self.costs.get(trial.cell, outcome.latency_s) + outcome.latency_s) / 2
        return check_shape(request, outcome.generation) or outcome

    def run_block(self, block: Block, order: int) -> None:
        """One untimed call after the switch to this contestant, then its trials; `order` is the first one's place."""
        timed = [t for t in block.trials if t.cell.timed and t.cell not in self.failures]
        if timed:
            self.call(min(timed, key=lambda trial: self.costs.get(trial.cell, 0.0)))
        for place, trial in enumerate(block.trials, start=order):
            self.run_trial(trial, place)

    def run_trial(self, trial: Trial, order: int) -> None:
        """Run `trial` and hand on its record and samples."""
        outcome = self.failures.get(trial.cell) or self.call(trial)
        samples: list[Sample] | Failure = []
        if isinstance(outcome, Timing) and trial.cell.mode == "batched":
            samples = self._samples(trial, outcome)
        if isinstance(samples, Failure):
            outcome, samples = samples, []
        contestant = self.contestants[trial.cell.label]
        warmup_s = self.warmups.pop(trial.cell, ())
        self.sink(record_of(trial, contestant, self.start, order, outcome, warmup_s), samples)

    def cost(self, trials: Mapping[Cell, int]) -> float:
        """The seconds that so many trials of each cell will take, as far as cells have been seen."""
        return sum(self.costs.get(cell, 0.0) * n for cell, n in trials.items())

    def _samples(self, trial: Trial, timing: Timing) -> list[Sample] | Failure:
        loaded = self.contestants[trial.cell.label].loaded
        if loaded is None:
            return []
        codec, task = loaded.codec, self.tasks[trial.cell.task]
        return attempt(lambda: samples_of(trial, task, codec, timing.generation))


def run_rounds(
    plan: Plan,
    done: Collection[str],
    runner: Runner,
    seconds_left: Callable[[], float],
    advance: Callable[[int, float], None],
) -> int:
    """The number of rounds, from the first, that stand whole when this returns: all, or as many as the budget allows.

    `done` holds keys of whole rounds that need no work. `advance` is told, between blocks, how many trials were
    done and how many seconds the rest may take.
    """
    todo = [(place, blocks) for place, blocks in enumerate(plan.rounds) if _trials(blocks)[0].key not in done]
    _warm_up(runner, [trial for _, blocks in todo for trial in _trials(blocks)], advance)
    rest = sum((_cells(blocks) for _, blocks in todo), Counter[Cell]())
    for place, blocks in todo:
        if place >= plan.minimum and runner.cost(_cells(blocks)) > seconds_left():
            return place
        order = 0
        for block in blocks:
            runner.run_block(block, order)
            order += len(block.trials)
            rest.subtract(trial.cell for trial in block.trials)
            advance(len(block.trials), min(runner.cost(rest), max(0.0, seconds_left())))
    return len(plan.rounds)


def _warm_up(runner: Runner, trials: Iterable[Trial], advance: Callable[[int, float], None]) -> None:
    first: dict[Cell, Trial] = {}
    for trial in trials:
        if trial.cell.timed:
            first.setdefault(trial.cell, trial)
    for trial in sorted(first.values(), key=lambda trial: trial.cell.label):  # a contestant's cells in a row
        runner.warm_up(trial)
        advance(0, 0.0)


def _trials(blocks: Iterable[Block]) -> list[Trial]:
    return [trial for block in blocks for trial in block.trials]


def _cells(blocks: Iterable[Block]) -> Counter[Cell]:
    return Counter(trial.cell for trial in _trials(blocks))
