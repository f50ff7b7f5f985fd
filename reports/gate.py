"""The latency gate's judgement: pairs in, verdict out. No clock, no file and no process, so that it can be proved.

A *round* is one timed unit of every side on one cell (a strategy at a length), a *block* all rounds of one strategy in
one set of fresh processes: one of the head, two of the base. Within a block a ratio is a median over rounds, then a
mean over lengths; blocks are the sample, because memory layout and allocators differ from process to process and not
from call to call.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np

from metrics.bounds import Bounds, mean_bounds

Clock = Literal["cpu_s", "wall_s"]
BASE, HEAD, AGAIN = "base", "head", "again"  # `again` is the base's code in processes of its own: the control

TOLERATED = math.log(1.05)  # a slowdown this small is not refused
CELL_LIMIT = math.log(1.15)  # of one length alone
WALL_LIMIT = math.log(1.25)  # of wall time: CPU time is blind to sleeps and to lost parallelism
CONTROL_LIMIT = math.log(1.05)  # the control must be known to lie within this of no difference …
CONTROL_ALPHA = 0.025  # … by its 95 % interval
PARTS_ALPHA = 0.025  # slope and intercept only explain, so their intervals are plain 95 % ones
POWER_ALPHA = 0.05
MIN_BLOCKS = 5


class Reading(NamedTuple):
    """What one timed unit took."""

    cpu_s: float
    wall_s: float


@dataclass(frozen=True, slots=True)
class Round:
    """One unit of every side on one length, by side and in the order in which they were called."""

    length: int
    readings: Mapping[str, Reading]


@dataclass(frozen=True)
class Block:
    """All rounds of one strategy in one set of fresh processes."""

    rounds: tuple[Round, ...]

    @cached_property
    def head(self) -> dict[str, dict[int, float]]:
        """log(head / base) by clock and length, medians over rounds; the base is the mean of its two processes."""
        return {clock: self._ratios(HEAD, (BASE, AGAIN), at) for at, clock in enumerate(Reading._fields)}

    @cached_property
    def control(self) -> dict[str, dict[int, float]]:
        """log(again / base) likewise: two processes of the same code, and independent of `head`."""
        return {clock: self._ratios(AGAIN, (BASE,), at) for at, clock in enumerate(Reading._fields)}

    @cached_property
    def parts(self) -> dict[str, tuple[float, float] | None]:
        """Relative change of slope, and of intercept to the base's shortest time, by clock; None without a line."""
        return {clock: _parts_of(self, clock) for clock in Reading._fields}

    def seconds(self, side: str, clock: str) -> dict[int, float]:
        """The median seconds of a side by length."""
        at = Reading._fields.index(clock)
        return self._medians(lambda one: one.readings[side][at])

    def _ratios(self, side: str, others: Sequence[str], at: int) -> dict[int, float]:
        return self._medians(
            lambda one: _log(one.readings[side][at]) - sum(_log(one.readings[o][at]) for o in others) / len(others)
        )

    def _medians(self, value: Callable[[Round], float]) -> dict[int, float]:
        found: dict[int, list[float]] = {}
        for one in self.rounds:
            found.setdefault(one.length, []).append(value(one))
        return {length: float(np.median(values)) for length, values in sorted(found.items())}


class Found(NamedTuple):
    """A bound that lies beyond its limit."""

    what: Literal["effect", "cell", "wall"]
    limit: float
    length: int = 0  # of a cell


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What the blocks so far say. Bounds are of log ratios; `slower` and `fine` are final, `open` asks for more."""

    outcome: Literal["slower", "fine", "open"]
    reason: str
    found: Found | None  # what is slower, where something is
    blocks: int
    effect: Bounds  # head over base, mean over the lengths
    wall: Bounds
    control: Bounds
    cells: Mapping[int, Bounds]
    findable: float  # the log ratio that so many blocks of such noise would have found 95 times in 100
    per_token: Bounds | None  # relative change of the slope; None where there is no line
    fixed: Bounds | None  # change of the intercept relative to the base's time at the shortest length


def standard_error(rounds: Sequence[Round], clock: Clock) -> float:
    """Of a block's log ratio of one side to two others, by how its rounds scatter; infinite for too few to tell.

    Whether a side is slower moves it not at all: what a side has of its own in a cell is taken out first, and so is
    what the sides of a round share. So it may decide how many rounds a block gets without leaning to either verdict.
    """
    at = Reading._fields.index(clock)
    cells: dict[int, list[list[float]]] = {}
    for one in rounds:
        cells.setdefault(one.length, []).append([_log(one.readings[side][at]) for side in sorted(one.readings)])
    squares, freedom = 0.0, 0
    for cell in map(np.array, cells.values()):  # [rounds, sides]
        scatter = cell - cell.mean(axis=0) - cell.mean(axis=1, keepdims=True) + cell.mean()
        squares += float((scatter**2).sum())
        freedom += (cell.shape[0] - 1) * (cell.shape[1] - 1)
    if not freedom:
        return math.inf
    of_ratio = (1 + 1 / 2) * squares / freedom
    of_medians = sum(math.pi / 2 / len(cell) for cell in cells.values())  # of a mean it would be 1 / n
    return math.sqrt(of_ratio * of_medians) / len(cells)


def judge(blocks: Sequence[Block], alpha: float, clock: Clock = "cpu_s") -> Judgement:
    """The judgement on one strategy; each bound that decides misses with probability `alpha`.

    Raises ValueError for no blocks, for blocks of different lengths, and for a time that is not above 0.
    """
    lengths = _lengths(blocks)
    effect = mean_bounds([_mean(block.head[clock]) for block in blocks], alpha)
    wall = mean_bounds([_mean(block.head["wall_s"]) for block in blocks], alpha)
    control = mean_bounds([_mean(block.control[clock]) for block in blocks], CONTROL_ALPHA)
    cells = {n: mean_bounds([block.head[clock][n] for block in blocks], alpha / len(lengths)) for n in lengths}
    outcome, reason, found = _decide(len(blocks), effect, wall, control, cells)
    per_token, fixed = _parts(blocks, clock)
    return Judgement(
        outcome=outcome, reason=reason, found=found, blocks=len(blocks), effect=effect, wall=wall, control=control,
        cells=cells, findable=_findable([_mean(block.head[clock]) for block in blocks], effect),
        per_token=per_token, fixed=fixed,
    )  # fmt: skip


def confirms(found: Found, again: Judgement) -> bool:
    """Whether fresh blocks show what was found: as large, and surely more than nothing.

    They need not prove by themselves what the blocks before them did. An alarm takes both, so that a confirmation which
    goes along one time in twenty still makes false alarms twenty times as rare.
    """
    bounds = again.cells[found.length] if found.what == "cell" else getattr(again, found.what)
    return bool(bounds.value > found.limit and bounds.lower > 0)


def _decide(
    n_blocks: int, effect: Bounds, wall: Bounds, control: Bounds, cells: Mapping[int, Bounds]
) -> tuple[Literal["slower", "fine", "open"], str, Found | None]:
    if n_blocks < MIN_BLOCKS:
        return "open", f"{n_blocks} of at least {MIN_BLOCKS} sets of processes measured", None
    if control.lower < -CONTROL_LIMIT or control.upper > CONTROL_LIMIT:
        return "open", "the machine is unfit: base against base strays beyond ±5 %", None
    if effect.lower > TOLERATED:
        return "slower", "slower by more than 5 %", Found("effect", TOLERATED)
    if bad := [length for length, bounds in cells.items() if bounds.lower > CELL_LIMIT]:
        return "slower", f"at {bad[0]} tokens alone slower by more than 15 %", Found("cell", CELL_LIMIT, bad[0])
    if wall.lower > WALL_LIMIT:
        return "slower", "wall time grew by more than 25 %: waiting, not work", Found("wall", WALL_LIMIT)
    if effect.upper < TOLERATED:
        return "fine", "not slower by more than 5 %", None
    return "open", "the interval holds both less and more than 5 %", None


def _parts(blocks: Sequence[Block], clock: Clock) -> tuple[Bounds | None, Bounds | None]:
    """Relative changes of slope and intercept, over blocks: they say what regressed and trigger nothing."""
    changes = [found for block in blocks if (found := block.parts[clock]) is not None]
    if len(changes) < len(blocks):
        return None, None
    per_token, fixed = (mean_bounds(values, PARTS_ALPHA) for values in zip(*changes, strict=True))
    return per_token, fixed


def _parts_of(block: Block, clock: str) -> tuple[float, float] | None:
    first, second, head = (block.seconds(side, clock) for side in (BASE, AGAIN, HEAD))
    base = {length: math.sqrt(first[length] * second[length]) for length in first}
    if len(base) < 2:
        return None
    (a_base, b_base), (a_head, b_head) = _line(base), _line(head)
    return (b_head / b_base - 1, (a_head - a_base) / base[min(base)]) if b_base > 0 else None


def _line(seconds: Mapping[int, float]) -> tuple[float, float]:
    """Intercept and slope of seconds over tokens; every length weighs alike in relative error."""
    lengths, times = np.array(list(seconds)), np.array(list(seconds.values()))
    slope, intercept = np.polyfit(lengths, times, 1, w=1 / times)
    return float(intercept), float(slope)


def _findable(effects: Sequence[float], effect: Bounds) -> float:
    """The effect whose lower bound would pass the tolerance 95 times in 100, given how the blocks scatter."""
    power = mean_bounds(effects, POWER_ALPHA)
    return TOLERATED + (effect.upper - effect.value) + (power.upper - power.value)


def _lengths(blocks: Sequence[Block]) -> list[int]:
    found = {tuple(block.head["cpu_s"]) for block in blocks}
    if len(found) != 1 or found == {()}:
        raise ValueError(f"a judgement needs blocks of the same lengths, got {sorted(found)}")
    return list(found.pop())


def _log(seconds: float) -> float:
    if not (seconds > 0 and math.isfinite(seconds)):
        raise ValueError(f"a timed unit must take more than 0 s, got {seconds}")
    return math.log(seconds)


def _mean(values: Mapping[int, float]) -> float:
    return sum(values.values()) / len(values)
