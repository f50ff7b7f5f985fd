"""Which trials make a run, and in which order: decided before the first one, from the seed alone.

A plan is a list of rounds. In a round every contestant gets the same work, one contestant after the other in an order
drawn anew, so that drift hits all alike; and a run that is cut after any round has treated them equally.
"""

import functools
import hashlib
import json
import random
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, TypeVar

from suites.tasks import Task

TRACED = 3  # sentences a contestant and task that are generated again with their trace: those timed alone first
Mode = Literal["exact", "natural", "batched"]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Cell:
    """What is held fixed while repeating: trials of one cell are samples of one distribution."""

    task: str
    label: str
    mode: Mode
    length: int | None
    batch_size: int
    source_length: int | None = None  # tokens of the source, where a suite varies them

    @property
    def timed(self) -> bool:
        """Whether its latencies are samples; a batched quality pass is not warmed up and not one."""
        return self.mode != "batched"

    @property
    def of_sentences(self) -> bool:
        """Whether its trials are single sentences, each at its natural length."""
        return self.mode == "natural" and self.length is None and self.source_length is None and self.batch_size == 1


@dataclass(frozen=True)
class Trial:
    suite: str
    cell: Cell
    repeat: int
    rows: tuple[int, ...]  # of the task's test set; one a row of the batch

    @functools.cached_property
    def key(self) -> str:
        """16 hexadecimal digits that name this trial in every file and over every resume."""
        return digest([self.suite, *asdict(self.cell).values(), self.repeat, self.rows])[:16]


@dataclass(frozen=True, slots=True)
class Block:
    """Trials of one contestant in a row: one untimed call comes before them."""

    label: str
    trials: tuple[Trial, ...]


Round = tuple[Block, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Entrant:
    """A contestant as far as planning goes. One that failed to load is planned too: its trials become failures."""

    label: str
    exact: bool  # whether its length can be set; otherwise it emerges and natural runs stand in


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """What a suite plans from."""

    suite: str
    seed: int
    repeats: int
    lengths: tuple[int, ...]
    batch_sizes: tuple[int, ...]
    entrants: tuple[Entrant, ...]
    chosen: bool  # the user named the entrants: each takes part in everything
    tasks: tuple[Task, ...]
    reference_lengths: Callable[[Task], Sequence[int]]  # tokens of each row's reference
    source_lengths: Callable[[Task], Sequence[int]]  # tokens of each row's source, its EOS among them

    def among(self, labels: Sequence[str]) -> tuple[Entrant, ...]:
        """The entrants of one part of a suite: `labels`, or all when the user chose."""
        return self.entrants if self.chosen else tuple(e for e in self.entrants if e.label in labels)

    def shuffled(self, items: Iterable[T], *place: object) -> list[T]:
        """The items in an order that the seed and `place` fix."""
        order = list(items)
        random.Random(":".join(map(str, (self.seed, *place)))).shuffle(order)
        return order


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The rounds, and the settings that made them. Equal settings over equal tasks give an equal hash."""

    settings: dict[str, Any]
    rounds: tuple[Round, ...]
    minimum: int  # rounds that no budget cuts: the first of each part

    @property
    def trials(self) -> list[Trial]:
        return [trial for blocks in self.rounds for block in blocks for trial in block.trials]

    @property
    def hash(self) -> str:
        """Of the settings and every key in its place."""
        return digest([self.settings, [[t.key for b in blocks for t in b.trials] for blocks in self.rounds]])

    def cut(self, n_rounds: int) -> "Plan":
        """The plan of the first `n_rounds` rounds alone."""
        return replace(self, rounds=self.rounds[:n_rounds])

    def to_json(self) -> dict[str, Any]:
        """The plan as run.json keeps it: `settings`, `rounds` (keys) and `cells` (what is planned how often)."""
        planned = Counter(trial.cell for trial in self.trials)
        return {
            "settings": self.settings,
            "rounds": [[trial.key for block in blocks for trial in block.trials] for blocks in self.rounds],
            "cells": [{**asdict(cell), "planned": n} for cell, n in planned.items()],
        }


def make_plan(settings: dict[str, Any], parts: Sequence[Sequence[Round]]) -> Plan:
    """The plan whose rounds are those of all `parts`, interleaved."""
    parts = [part for part in parts if part]
    return Plan(settings=settings, rounds=interleave(*parts), minimum=len(parts))


def interleave(*parts: Sequence[Round]) -> tuple[Round, ...]:
    """The rounds of all parts, each spread evenly: cut anywhere, about the same share of every part is done.

    The first round of each part comes before any second one.
    """
    placed = [(i / len(part), which, blocks) for which, part in enumerate(parts) for i, blocks in enumerate(part)]
    return tuple(blocks for _, _, blocks in sorted(placed, key=lambda item: item[:2]))


def digest(value: Any) -> str:
    """sha256 of `value` written as canonical JSON."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
