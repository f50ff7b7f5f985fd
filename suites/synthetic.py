"""Contestants that are known before they are measured: how long they take for any length and batch, what they write.

They bear the names of the strategies they stand in for, since a report knows its baseline by name.
"""

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

import numpy as np

from generators.base import (
    Capability,
    Exact,
    FinishReason,
    Generation,
    Phase,
    Placement,
    Request,
    Stopwatch,
    TokenRow,
    require,
)
from generators.registry import Loaded, Spec
from suites.clock import REAL, Clock
from suites.overhead import Letters

ANY_LENGTH = frozenset({Capability.EXACT_LENGTH, Capability.NATURAL_LENGTH, Capability.BATCH})
EMERGENT = ANY_LENGTH - {Capability.EXACT_LENGTH}
EOS, LETTER = 0, ord("a")
ROWS_A_LENGTH = 8
SOURCE_IS_LONGER_BY = 6  # letters than the reference
EMERGENT_WRITES_LESS_BY = 2  # letters than the reference
PAST_THE_END = 3  # ids an emergent contestant still emits behind its end
COLD = (4.0, 2.0)  # how many times as long the first calls of a shape take …
SWITCHED = 2.0  # … and the first call after another contestant's


@dataclass(frozen=True, slots=True)
class Law:
    """Seconds of a request of B rows, the longest of L tokens: a + b·L·(1 + c·(B − 1)); and its model calls."""

    a_s: float
    b_s: float
    c: float
    one_shot: bool
    emergent: bool = False

    def slope_s(self, rows: int) -> float:
        return self.b_s * (1 + self.c * (rows - 1))

    def seconds(self, tokens: int, rows: int) -> float:
        return self.a_s + self.slope_s(rows) * tokens

    def calls(self, tokens: int) -> int:
        return 1 if self.one_shot else tokens


# Calls of 1 to 3 ms: long beside the microseconds of the harness, short beside a busy machine's slices of time.
LAWS = {
    "ar": Law(1000e-6, 8e-6, 0.05, one_shot=False),
    "mask_predict": Law(1480e-6, 2e-6, 0.6, one_shot=True),
    "ctc": Law(1200e-6, 2.5e-6, 0.3, one_shot=True, emergent=True),
}


class Machine(Protocol):
    """What calls run on."""

    clock: Clock

    def work(self, began_ns: int, seconds: float) -> None:
        """Return when `seconds` have passed since `began_ns`."""
        ...


@dataclass
class BusyMachine:
    """This machine: a call waits on the processor until its time is over, or later where it was taken away."""

    clock: Clock = REAL
    calls: int = 0
    late: int = 0  # calls that ended more than 1 % after their time

    def work(self, began_ns: int, seconds: float) -> None:
        until_ns = began_ns + round(seconds * 1e9)
        while (now_ns := time.perf_counter_ns()) < until_ns:
            pass
        self.calls += 1
        self.late += now_ns - until_ns > 0.01 * seconds * 1e9


@dataclass
class VirtualMachine:
    """A machine whose time passes only by calls: each takes what it should times a factor with the median 1.

    The factor is drawn from the seed: a drift that some calls in a row share, such as those of one repeat, times a
    noise of heavy tails (Student's t with three degrees of freedom). Both are shares of a call's time; 0 for none.
    """

    seed: int = 0
    drift: float = 0.0
    noise: float = 0.0
    now_ns: int = 0
    clock: Clock = field(init=False)

    def __post_init__(self) -> None:
        self.clock = Clock(wall_ns=lambda: self.now_ns, cpu_ns=lambda: self.now_ns)
        self._random = np.random.default_rng(self.seed)
        self._slow = 0.0

    def work(self, began_ns: int, seconds: float) -> None:
        stays = 0.8  # of a drift from one call to the next: of one repeat little is left in the next one
        self._slow = stays * self._slow + math.sqrt(1 - stays**2) * self.drift * self._random.standard_normal()
        factor = math.exp(self._slow + self.noise * self._random.standard_t(3))
        self.now_ns = began_ns + round(seconds * factor * 1e9)


@dataclass
class Synthetic:
    """A contestant that takes what its law says, but longer in a shape's first calls and after a switch."""

    law: Law
    world: "World"
    calls: dict[tuple[int, int], int] = field(default_factory=dict)  # of each shape so far
    capabilities: frozenset[Capability] = ANY_LENGTH

    def __post_init__(self) -> None:
        if self.law.emergent:
            self.capabilities = EMERGENT

    def generate(self, request: Request, stopwatch: Stopwatch) -> Generation:
        machine = self.world.machine
        began_ns = machine.clock.wall_ns()
        require(self.capabilities, request)
        exact = isinstance(request.length, Exact)
        rows = tuple(self._row(prompt.prefix_ids, request) for prompt in request.prompts)
        kept = tuple(self._kept(row, p.prefix_ids) for row, p in zip(rows, request.prompts, strict=True))
        raw = tuple(len(row) + (0 if exact else 1 + PAST_THE_END) for row in rows)
        reasons = (FinishReason.LENGTH if exact else FinishReason.EOS,) * len(rows)
        tokens = max(map(len, rows))
        machine.work(began_ns, self._seconds(tokens, len(rows)) * self._cold(tokens, len(rows)))
        calls = self.law.calls(tokens) + self.world.extra_calls
        stopwatch.lap(Phase.DECODE, calls=calls, positions=tokens * len(rows))
        steps = tuple(stopwatch.steps)
        return Generation(token_ids=kept, tokens_raw=raw, finish_reasons=reasons, steps=steps)

    def _seconds(self, tokens: int, rows: int) -> float:
        pass_s = self.law.slope_s(rows) * (tokens if self.law.one_shot else 1)
        return self.law.seconds(tokens, rows) + self.world.extra_calls * pass_s

    def _row(self, source: TokenRow, request: Request) -> TokenRow:
        if isinstance(request.length, Exact):
            return (LETTER,) * request.length.n
        return source[: len(source) - SOURCE_IS_LONGER_BY - EMERGENT_WRITES_LESS_BY]

    def _kept(self, row: TokenRow, source: TokenRow) -> TokenRow:
        if not self.law.emergent or self.world.keeps == "output":
            return row
        return source + row if self.world.keeps == "prompt" else row + (EOS,) * (1 + PAST_THE_END)

    def _cold(self, tokens: int, rows: int) -> float:
        place = self.calls.get((tokens, rows), 0)
        self.calls[tokens, rows] = place + 1
        switched, self.world.last = self.world.last is not self, self
        return (COLD[place] if place < len(COLD) else 1.0) * (SWITCHED if switched else 1.0)


@dataclass
class World:
    """A registry of synthetic contestants on one machine. Its other fields make it lie; see `suites.mutants`."""

    machine: Machine
    laws: Mapping[str, Law] = field(default_factory=lambda: LAWS)
    keeps: Literal["output", "prompt", "past the end"] = "output"
    extra_calls: int = 0
    last: Synthetic | None = None  # who was called last

    def parse(self, text: str) -> Spec:
        name, *knobs = text.split(":")
        return Spec(label=text, strategy=name, knobs=dict(knob.split("=") for knob in knobs))

    def build(self, spec: Spec, placement: Placement) -> Loaded:
        generator = Synthetic(self.laws[spec.strategy], self)
        return Loaded(generator=generator, codec=Letters(), config=dict(spec.knobs), weights_sha256="", cache="none")


def write_task(path: Path, lengths: tuple[int, ...]) -> Path:
    """A test set with eight rows whose reference has each of the lengths, in letters."""
    rows = [f"{'a' * (n + SOURCE_IS_LONGER_BY)}\t{'a' * n}\n" for n in lengths for _ in range(ROWS_A_LENGTH)]
    path.write_text("".join(rows), encoding="utf-8")
    return path
