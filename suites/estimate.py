"""What a run would do and how long it would take: every cell that is not long is tried once, nothing is written."""

import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from suites.plan import Cell, Plan, Trial
from suites.prepare import Prepared
from suites.process_memory import memory_limit
from suites.rounds import Runs, calls_of, cold_trials
from suites.runner import Runner, doomed
from suites.runs import runner_for
from suites.trial import Failure

LONG_S = 2.0  # a call foreseen to take longer, from the same work in a smaller batch, is not made


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One cell of the plan."""

    cell: Cell
    planned: int
    in_budget: int
    seconds_each: float
    failure: Failure | None

    def to_json(self) -> dict[str, object]:
        flat = {name: getattr(self, name) for name in ("planned", "in_budget", "seconds_each")}
        return {**asdict(self.cell), **flat, "failure": None if self.failure is None else asdict(self.failure)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    rows: tuple[Row, ...]
    seconds: float  # loading so far, warm-up, and the trials that the budget allows
    rounds: int
    rounds_in_budget: int


def estimate(ready: Prepared, began_s: float) -> Estimate:
    """The plan's cells with what one call of each took now, and the sum of it all."""
    runner = runner_for(ready, lambda record, samples: None, 0)
    loading_s = time.monotonic() - began_s
    try:
        with memory_limit(ready.memory_bytes if isinstance(runner, Runner) else None):
            _try_each(runner, ready.plan)
    finally:
        if not isinstance(runner, Runner):
            runner.stop()
    planned = Counter(trial.cell for trial in ready.plan.trials)
    costs = {cell: 0.0 if cell in runner.failures else runner.foreseen_s({cell: 1}) for cell in planned}
    n_rounds, seconds = _rounds_within(ready.plan, costs, runner.warmups_each, ready.budget_s - loading_s)
    kept = Counter(trial.cell for trial in ready.plan.cut(n_rounds).trials)
    return Estimate(
        rows=tuple(
            Row(
                cell=cell,
                planned=n,
                in_budget=kept[cell],
                seconds_each=costs[cell],
                failure=runner.failures.get(cell),
            )
            for cell, n in sorted(planned.items(), key=lambda item: _place(item[0]))
        ),
        seconds=loading_s + seconds,
        rounds=len(ready.plan.rounds),
        rounds_in_budget=n_rounds,
    )


def table(found: Estimate) -> str:
    """The estimate for a person to read, a line a cell."""
    lines = [f"{'trials':>7} {'s each':>8}  {'task':8} {'mode':8} {'length':>6} {'batch':>5}  contestant"]
    lines += [_line(row) for row in found.rows]
    rounds = f"{found.rounds_in_budget} of {found.rounds} rounds"
    total = sum(row.in_budget for row in found.rows)
    took = f"about {found.seconds:.0f} s with loading and warm-up; traces and scoring come after it"
    return "\n".join([*lines, f"{total} trials in {rounds}, {took}"])


def _place(cell: Cell) -> tuple[str, str, int, int, str]:
    return cell.task, cell.mode, cell.length or 0, cell.batch_size, cell.label


def _line(row: Row) -> str:
    cell = row.cell
    length = "" if cell.length is None else cell.length
    note = "" if row.failure is None else f"  ({row.failure.status}: {row.failure.reason})"
    return (
        f"{row.in_budget:>7} {row.seconds_each:>8.4f}  {cell.task:8} {cell.mode:8} {length:>6} {cell.batch_size:>5}"
        f"  {cell.label}{note}"
    )


def _try_each(runner: Runs, plan: Plan) -> None:
    first: dict[Cell, Trial] = {}
    for trial in plan.trials:
        first.setdefault(trial.cell, trial)
    for cell, trial in first.items():
        if failure := doomed(cell, runner.failures):
            runner.failures[cell] = failure
        elif runner.foreseen_s({cell: 1}) <= LONG_S:
            runner.try_once(trial)


def _rounds_within(plan: Plan, costs: Mapping[Cell, float], warmups_each: int, seconds: float) -> tuple[int, float]:
    """How many rounds fit, and what they take with their warm-ups."""
    spent, warm = 0.0, set[Cell]()
    for place, blocks in enumerate(plan.rounds):
        cold = [trial.cell for trial in cold_trials(blocks, warm)]
        calls = calls_of(blocks, switching=warmups_each > 0)
        needed = sum(n * costs[cell] for cell, n in calls.items()) + warmups_each * sum(costs[cell] for cell in cold)
        if place >= plan.minimum and spent + needed > seconds:
            return place, spent
        spent += needed
        warm.update(cold)
    return len(plan.rounds), spent
