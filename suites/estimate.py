"""What a run would do and how long it would take: every cell that is not long is tried once, nothing is written."""

import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from suites.plan import Cell, Plan, Trial
from suites.prepare import Prepared
from suites.rounds import cold_trials, trials_of
from suites.runner import Runner, cost, doomed
from suites.trial import AGREEING, Failure

LONG_S = 20.0  # a call foreseen to take longer, from the same work in a smaller batch, is not made


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
    runner = Runner(
        contestants={c.label: c for c in ready.contestants},
        tasks={task.name: task for task in ready.tasks},
        sink=lambda record, samples: None,
        start=0,
        synchronize=ready.synchronize,
        timeout_s=ready.settings.timeout_s,
    )
    loading_s = time.monotonic() - began_s
    _try_each(runner, ready.plan)
    planned = Counter(trial.cell for trial in ready.plan.trials)
    costs = {cell: 0.0 if cell in runner.failures else cost(runner.costs, {cell: 1}) for cell in planned}
    n_rounds, seconds = _rounds_within(ready.plan, costs, ready.budget_s - loading_s)
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
    return "\n".join([*lines, f"{total} trials in {rounds}, about {found.seconds:.0f} s with loading and warm-up"])


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


def _try_each(runner: Runner, plan: Plan) -> None:
    first: dict[Cell, Trial] = {}
    for trial in plan.trials:
        first.setdefault(trial.cell, trial)
    for cell, trial in first.items():
        outcome = doomed(cell, runner.failures)
        if outcome is None and cost(runner.costs, {cell: 1}) <= LONG_S:
            called = runner.call(trial)
            outcome = called if isinstance(called, Failure) else None
        if outcome is not None:
            runner.failures[cell] = outcome


def _rounds_within(plan: Plan, costs: Mapping[Cell, float], seconds: float) -> tuple[int, float]:
    """How many rounds fit, and what they take with their warm-ups."""
    spent, warm = 0.0, set[Cell]()
    for place, blocks in enumerate(plan.rounds):
        cold = [trial.cell for trial in cold_trials(blocks, warm)]
        needed = sum(costs[t.cell] for t in trials_of(blocks)) + AGREEING * sum(costs[cell] for cell in cold)
        if place >= plan.minimum and spent + needed > seconds:
            return place, spent
        spent += needed
        warm.update(cold)
    return len(plan.rounds), spent
