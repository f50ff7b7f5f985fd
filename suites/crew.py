"""What runs a plan's blocks where each contestant has a process of its own."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from suites.contestants import Contestant
from suites.exchange import record_of
from suites.isolation import Answer, Child, Job
from suites.plan import Block, Cell, Trial
from suites.runner import Sink, cost, doomed
from suites.trial import AGREEING, Failure


@dataclass(slots=True, kw_only=True)
class Crew:
    """A child a contestant, begun when it is first needed, and again after it died; a `runner.Runner` in one place.

    The cell of the call that a child died in has failed for this start; what comes after it goes on in a new child.
    """

    jobs: Mapping[str, Job]  # by label
    contestants: Mapping[str, Contestant]
    sink: Sink
    children: dict[str, Child] = field(default_factory=dict)
    warm: dict[str, set[Cell]] = field(default_factory=dict)  # of each child now alive
    costs: dict[Cell, float] = field(default_factory=dict)
    failures: dict[Cell, Failure] = field(default_factory=dict)
    warmups_each: int = AGREEING

    def foreseen_s(self, trials: Mapping[Cell, int]) -> float:
        """As `rounds.Runs`."""
        return cost(self.costs, trials)

    def try_once(self, trial: Trial) -> None:
        """As `rounds.Runs`."""
        self._ask("try_once", trial)

    def warm_up(self, trial: Trial) -> None:
        """As `Runner.warm_up`."""
        if failure := doomed(trial.cell, self.failures):
            self.failures[trial.cell] = failure
            return
        self._ask("warm_up", trial)
        self.warm.setdefault(trial.cell.label, set()).add(trial.cell)

    def run_block(self, block: Block, order: int) -> None:
        """As `Runner.run_block`: one untimed call, then the trials."""
        timed = [t for t in block.trials if t.cell.timed and t.cell not in self.failures]
        if timed:
            self._ask("call", min(timed, key=lambda trial: self.costs.get(trial.cell, 0.0)))
        for place, trial in enumerate(block.trials, start=order):
            self._run_trial(trial, place)

    def stop(self) -> None:
        for child in self.children.values():
            child.stop()
        self.children.clear()

    def _run_trial(self, trial: Trial, order: int) -> None:
        label, cell = trial.cell.label, trial.cell
        if cell.timed and cell not in self.failures and cell not in self.warm.get(label, ()):
            self.warm_up(trial)  # its child died since it was warmed up
        made = self._ask("run_trial", trial, order) if cell not in self.failures else []
        for record, samples in made:
            self.sink(record, samples)
        if not made:
            job = self.jobs[label]
            self.sink(record_of(trial, self.contestants[label], job.start, order, self.failures[cell], ()), [])

    def _ask(self, command: str, trial: Trial, order: int = 0) -> list:  # type: ignore[type-arg]
        """The records that `command` made; none where its child died or never came to be."""
        label, cell = trial.cell.label, trial.cell
        child = self.children.get(label) or self._begun(label)
        failure = child.contestant.failure
        answer: Answer | Failure = failure if failure is not None else child.ask(command, trial, order)
        if isinstance(answer, Failure):
            self.failures[cell] = answer
            if failure is None:
                self._forget(label)
            return []
        if answer.cost_s is not None:
            self.costs[cell] = answer.cost_s
        if answer.failure is not None:
            self.failures[cell] = answer.failure
        return list(answer.made)

    def _begun(self, label: str) -> Child:
        self.children[label] = Child(self.jobs[label])
        return self.children[label]

    def _forget(self, label: str) -> None:
        self.children.pop(label).stop()
        self.warm.pop(label, None)


@dataclass(slots=True, kw_only=True)
class FreshCrew:
    """A new child for every trial, which measures its memory and ends: nothing is warmed up, nothing is timed."""

    jobs: Mapping[str, Job]
    contestants: Mapping[str, Contestant]
    sink: Sink
    clock: Callable[[], float] = time.monotonic
    costs: dict[Cell, float] = field(default_factory=dict)  # seconds of a whole process
    failures: dict[Cell, Failure] = field(default_factory=dict)  # of cells tried for an estimate
    warmups_each: int = 0

    def foreseen_s(self, trials: Mapping[Cell, int]) -> float:
        """As `rounds.Runs`. Starting and loading take most of it: a shape not tried yet costs what another one did."""
        by_label = {cell.label: seconds for cell, seconds in self.costs.items()}
        return sum(n * self.costs.get(cell, by_label.get(cell.label, 0.0)) for cell, n in trials.items())

    def try_once(self, trial: Trial) -> None:
        """As `rounds.Runs`."""
        answer = self._measured(trial, 0)
        failed = [record for record, _ in answer.made if record.status != "ok"] if isinstance(answer, Answer) else []
        if isinstance(answer, Failure):
            self.failures[trial.cell] = answer
        for record in failed:
            self.failures[trial.cell] = Failure(record.status, record.reason or "")

    def warm_up(self, trial: Trial) -> None:
        """Nothing: a process that had run before would not be fresh."""

    def run_block(self, block: Block, order: int) -> None:
        """One process a trial."""
        for place, trial in enumerate(block.trials, start=order):
            self._keep(trial, place, self._measured(trial, place))

    def stop(self) -> None:
        """Nothing is alive between two blocks."""

    def _measured(self, trial: Trial, order: int) -> Answer | Failure:
        began_s = self.clock()
        child = Child(self.jobs[trial.cell.label])
        failure = child.contestant.failure
        answer = failure if failure is not None else child.ask("measure", trial, order)
        child.stop()
        self.costs[trial.cell] = self.clock() - began_s
        return answer

    def _keep(self, trial: Trial, order: int, answer: Answer | Failure) -> None:
        if isinstance(answer, Answer):
            for record, samples in answer.made:
                self.sink(record, samples)
            return
        contestant, start = self.contestants[trial.cell.label], self.jobs[trial.cell.label].start
        self.sink(record_of(trial, contestant, start, order, answer, ()), [])
