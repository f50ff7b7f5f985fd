"""From trials to records: warm up, then time, every planned key ending as one record."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from suites.contestants import Contestant
from suites.exchange import record_of, request_for, samples_of
from suites.plan import Block, Cell, Trial
from suites.records import Record, Sample
from suites.slips import slips_of
from suites.tasks import Task
from suites.trial import AGREEING, TIMEOUT_S, Failure, Timing, attempt, check_shape, timed_call, warm_up

Sink = Callable[[Record, list[Sample]], None]


@dataclass(slots=True, kw_only=True)
class Runner:
    """Runs trials one at a time and remembers, for this start, what each cell's warm-up said and a trial costs."""

    contestants: Mapping[str, Contestant]
    tasks: Mapping[str, Task]
    sink: Sink
    start: int
    synchronize: Callable[[], None]
    timeout_s: float = TIMEOUT_S
    costs: dict[Cell, float] = field(default_factory=dict)  # seconds of a trial, later ones counting more
    warmups: dict[Cell, tuple[float, ...]] = field(default_factory=dict)  # until the cell's first record takes them
    failures: dict[Cell, Failure] = field(default_factory=dict)  # cells whose warm-up failed
    warmups_each: int = AGREEING

    def foreseen_s(self, trials: Mapping[Cell, int]) -> float:
        """As `rounds.Runs`."""
        return cost(self.costs, trials)

    def try_once(self, trial: Trial) -> None:
        """As `rounds.Runs`."""
        if isinstance(outcome := self.call(trial), Failure):
            self.failures[trial.cell] = outcome

    def warm_up(self, trial: Trial) -> None:
        """Warm up the cell of `trial` on its very shape. A failure here stands for every trial of the cell.

        A cell is not tried whose work, in a smaller batch, took too much memory or time already.
        """
        failure = doomed(trial.cell, self.failures)
        if failure is None:
            self.warmups[trial.cell], failure = warm_up(lambda: self.call(trial))
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
        with_slips = slips_of(trial, self.tasks[trial.cell.task], contestant.loaded)
        contestant.loaded.take_over()
        outcome = attempt(lambda: with_slips(timed_call)(generator, request, self.synchronize), self.timeout_s)
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

    def _samples(self, trial: Trial, timing: Timing) -> list[Sample] | Failure:
        loaded = self.contestants[trial.cell.label].loaded
        if loaded is None:
            return []
        codec, task = loaded.codec, self.tasks[trial.cell.task]
        return attempt(lambda: samples_of(trial, task, codec, timing.generation))


def doomed(cell: Cell, failures: Mapping[Cell, Failure]) -> Failure | None:
    """The failure for want of memory or time that the same work met in a smaller batch, the smallest one if several."""
    found = {
        other.batch_size: failure
        for other, failure in failures.items()
        if failure.status in ("oom", "timeout") and other.batch_size < cell.batch_size and same_work(other, cell)
    }
    if not found:
        return None
    size = min(found)
    return Failure(found[size].status, f"not tried after batch {size}: {found[size].reason}")


def same_work(one: Cell, other: Cell) -> bool:
    """Whether two cells differ in their batch size at most."""
    return replace(one, batch_size=other.batch_size) == other


def cost(costs: Mapping[Cell, float], trials: Mapping[Cell, int]) -> float:
    """The seconds that so many trials of each cell will take.

    A cell that was never called is taken to cost what the same work did in the next smaller batch, times the rows.
    """
    return sum(_cost_of(costs, cell) * n for cell, n in trials.items() if n)


def _cost_of(costs: Mapping[Cell, float], cell: Cell) -> float:
    if cell in costs:
        return costs[cell]
    smaller = [other for other in costs if other.batch_size < cell.batch_size and same_work(other, cell)]
    nearest = max(smaller, key=lambda other: other.batch_size, default=None)
    return costs[nearest] * cell.batch_size / nearest.batch_size if nearest else 0.0
