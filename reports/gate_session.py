"""Measuring for the gate: fresh processes, interleaved calls, a budget of time."""

import math
import random
import time
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import permutations
from typing import Any

from reports.gate import HEAD, Block, Clock, Reading, Round, standard_error
from reports.gate_workers import Side, Worker, WorkerFailed, workers

DEFAULT = ("ar", "mask_predict", "ctc")  # what is timed in every gate: one by one, in rounds, at once
SHORTEST_UNIT_S = 0.010  # shorter calls are timed several in a row …
LONGEST_UNIT_S = 0.400  # … and longer ones not at all: the machine changes under them
CELL_S = 0.2  # how long each side works on a cell in a block
ROUNDS = (3, 10)  # at least, at most, in a sweep over the cells
PRECISE = 0.025  # of a strategy's log ratio in a block: a standard error that leaves nine blocks room for a verdict …
SWEEPS = 5  # … is what further sweeps are for, up to so many

Key = tuple[str, int]  # strategy, length
Burden = dict[str, float]


@dataclass(frozen=True, slots=True)
class Unit:
    """How a cell is timed: calls in one timed unit, and rounds in one sweep over the cells."""

    calls: int
    rounds: int


@dataclass(kw_only=True)
class Session:
    """Measures blocks until its time is up. The units are chosen in the first block and kept."""

    sides: Sequence[Side]
    lengths: Sequence[int]
    device: str
    seed: int
    ends_at: float = math.inf  # of the monotonic clock; what must be measured is measured even then
    say: Callable[[str], None] = lambda line: None
    untimed_calls: int = 0  # before each unit, where one process runs several strategies and their caches
    burdens: Mapping[str, Mapping[Key, Burden]] = field(default_factory=dict)  # by side: what slows it down on purpose
    units: dict[Key, Unit] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)
    n_blocks: int = 0
    around_s: float = 0.0  # the longest that a block took beside its units: processes that start and warm up
    longest_s: dict[str, float] = field(default_factory=dict)  # the longest that a strategy's units took

    def measure(self, strategies: Sequence[str], needed: bool) -> Mapping[str, Block] | None:
        """A block of each strategy from fresh processes, or None when it would not end in time."""
        began = time.monotonic()
        if not needed and began + self.expected_s(strategies) > self.ends_at:
            return None
        draw = random.Random(f"{self.seed}:{self.n_blocks}")
        with workers(self.sides, strategies, self.lengths, self.device) as started:
            asked = {side: worker for side, (worker, _) in started.items()}
            cells = _same_cells({side: said for side, (_, said) in started.items()})
            self._warm_up(asked, cells)
            rounds = self._rounds(asked, cells, draw)
        self.n_blocks += 1
        took_s = time.monotonic() - began
        self._learn(rounds, took_s)
        self.say(f"block {self.n_blocks}: {', '.join(strategies)} ({took_s:.0f} s)")
        return {name: Block(tuple(rounds[name])) for name in strategies}

    def expected_s(self, strategies: Sequence[str]) -> float:
        """How long a block of these will take at most, by those before: a strategy that is decided costs no more."""
        return self.around_s + sum(self.longest_s.get(name, 0.0) for name in strategies)

    def _learn(self, rounds: Mapping[str, Sequence[Round]], took_s: float) -> None:
        units_s = {name: sum(r.wall_s for one in mine for r in one.readings.values()) for name, mine in rounds.items()}
        self.around_s = max(self.around_s, took_s - sum(units_s.values()))
        for name, seconds in units_s.items():
            self.longest_s[name] = max(self.longest_s.get(name, 0.0), seconds)

    def _warm_up(self, asked: Mapping[str, Worker], cells: Sequence[Key]) -> None:
        """One call of every cell on every side at once; the first time, also choose the units from it."""
        for index, key in enumerate(cells):
            if key in self.units and not self.units[key].rounds:
                continue
            for worker in asked.values():
                worker.send({"do": "time", "cell": index, "calls": 1})
            readings = [reading(worker, worker.receive(), key) for worker in asked.values()]
            if key not in self.units:
                self.units[key] = choose_unit(min(one[self.device != "cpu"] for one in readings))
        for strategy in {strategy for strategy, _ in cells}:
            self._leave_out(strategy)

    def _leave_out(self, strategy: str) -> None:
        """Leave out the lengths that take too long, but never all of a strategy."""
        mine = {key: unit for key, unit in self.units.items() if key[0] == strategy}
        if not any(unit.rounds for unit in mine.values()):
            shortest = min(mine, key=lambda key: key[1])
            self.units[shortest] = Unit(1, ROUNDS[0])
        for key in mine:
            note = f"{strategy} at {key[1]} tokens takes more than {LONGEST_UNIT_S:g} s a call and is not timed"
            if not self.units[key].rounds and note not in self.left_out:
                self.left_out.append(note)

    def _rounds(self, asked: Mapping[str, Worker], cells: Sequence[Key], draw: random.Random) -> dict[str, list[Round]]:
        """All rounds of a block by strategy: another sweep of what is not known precisely yet."""
        clock: Clock = "cpu_s" if self.device == "cpu" else "wall_s"
        found: dict[str, list[Round]] = {strategy: [] for strategy, _ in cells}
        for _ in range(SWEEPS):
            unsure = {name for name, rounds in found.items() if standard_error(rounds, clock) > PRECISE}
            for index, one in self._sweep(asked, cells, unsure, draw):
                found[cells[index][0]].append(one)
        return found

    def _sweep(
        self, asked: Mapping[str, Worker], cells: Sequence[Key], strategies: Container[str], draw: random.Random
    ) -> Iterator[tuple[int, Round]]:
        """The rounds of every cell of `strategies`; cells in a new order each time, sides in every order in turn."""
        orders = list(permutations(asked))
        draw.shuffle(orders)
        for nth in range(ROUNDS[1]):
            due = [i for i, key in enumerate(cells) if key[0] in strategies and nth < self.units[key].rounds]
            draw.shuffle(due)
            for index in due:
                key, order = cells[index], orders[(nth + index) % len(orders)]
                yield index, Round(key[1], {side: self._unit(asked[side], index, key) for side in order})

    def _unit(self, worker: Worker, index: int, key: Key) -> Reading:
        command = {"do": "time", "cell": index, "calls": self.units[key].calls, "untimed": self.untimed_calls}
        if burden := self.burdens.get(worker.side.name, {}).get(key):
            command["burden"] = burden
        return reading(worker, worker.ask(command), key)


def choose_unit(call_s: float) -> Unit:
    """How to time a call of `call_s` seconds; no rounds where it is too long."""
    if call_s > LONGEST_UNIT_S:
        return Unit(1, 0)
    calls = max(1, math.ceil(SHORTEST_UNIT_S / call_s))
    least, most = ROUNDS
    return Unit(calls, min(most, max(least, round(CELL_S / (calls * call_s)))))


def reading(worker: Worker, answer: Mapping[str, Any], key: Key) -> Reading:
    """The reading in a worker's answer. Raises WorkerFailed for a call that failed."""
    if "error" in answer:
        raise WorkerFailed(worker.side.name, f"{key[0]}@{key[1]} fails: {answer['error']}")
    return Reading(answer["cpu_s"], answer["wall_s"])


def _same_cells(greetings: Mapping[str, Mapping[str, Any]]) -> list[Key]:
    """The cells that every side has. Raises WorkerFailed for a side that cannot run one of the strategies."""
    found = {}
    for side, said in sorted(greetings.items(), key=lambda item: item[0] != HEAD):  # the head's own mistakes first
        for failure in said["failures"].values():
            raise WorkerFailed(side, failure["reason"])
        found[side] = [(cell["strategy"], cell["length"]) for cell in said["cells"]]
    return next(iter(found.values()))
