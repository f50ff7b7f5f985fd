"""The latency gate's judgement: pairs in, verdict out. No clock, no file and no process, so that it can be proved.

A *round* is one timed unit of every side on one cell (a strategy at a length), a *block* all rounds of one strategy in
one set of fresh processes. Within a block a ratio is a median over rounds, then a mean over lengths; blocks are the
sample, because memory layout and allocators differ from process to process and not from call to call.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np

from metrics.bounds import Bounds, mean_bounds

Clock = Literal["cpu", "wall"]
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
        """log(head / base) by clock and length: medians over rounds."""
        return {clock: self._ratios(HEAD, index) for index, clock in enumerate(("cpu", "wall"))}

    @cached_property
    def control(self) -> dict[str, dict[int, float]]:
        """log(again / base), likewise."""
        return {clock: self._ratios(AGAIN, index) for index, clock in enumerate(("cpu", "wall"))}

    def _ratios(self, side: str, clock: int) -> dict[int, float]:
        logs: dict[int, list[float]] = {}
        for one in self.rounds:
            logs.setdefault(one.length, []).append(_log_ratio(one, side, clock))
        return {length: float(np.median(values)) for length, values in sorted(logs.items())}

    @cached_property
    def parts(self) -> dict[str, tuple[float, float] | None]:
        """Relative change of slope, and of intercept to the base's shortest time, by clock; None without a line."""
        return {"cpu": _parts_of(self, "cpu"), "wall": _parts_of(self, "wall")}

    def seconds(self, side: str, clock: Clock) -> dict[int, float]:
        """The median seconds of a side by length."""
        samples: dict[int, list[float]] = {}
        for one in self.rounds:
            samples.setdefault(one.length, []).append(one.readings[side][clock == "wall"])
        return {length: float(np.median(values)) for length, values in sorted(samples.items())}


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What the blocks so far say. Bounds are of log ratios; `slower` and `fine` are final, `open` asks for more."""

    outcome: Literal["slower", "fine", "open"]
    reason: str
    blocks: int
    effect: Bounds  # head over base, mean over the lengths
    wall: Bounds
    control: Bounds
    cells: Mapping[int, Bounds]
    findable: float  # the log ratio that so many blocks of such noise would have found 95 times in 100
    per_token: Bounds | None  # relative change of the slope; None where there is no line
    fixed: Bounds | None  # change of the intercept relative to the base's time at the shortest length


def judge(blocks: Sequence[Block], alpha: float, clock: Clock = "cpu") -> Judgement:
    """The judgement on one strategy; each bound that decides misses with probability `alpha`.

    Raises ValueError for no blocks, for blocks of different lengths, and for a time that is not above 0.
    """
    lengths = _lengths(blocks)
    effect = mean_bounds([_mean(block.head[clock]) for block in blocks], alpha)
    wall = mean_bounds([_mean(block.head["wall"]) for block in blocks], alpha)
    control = mean_bounds([_mean(block.control[clock]) for block in blocks], CONTROL_ALPHA)
    cells = {n: mean_bounds([block.head[clock][n] for block in blocks], alpha / len(lengths)) for n in lengths}
    outcome, reason = _decide(len(blocks), effect, wall, control, cells)
    per_token, fixed = _parts(blocks, clock)
    return Judgement(
        outcome=outcome, reason=reason, blocks=len(blocks), effect=effect, wall=wall, control=control, cells=cells,
        findable=_findable([_mean(block.head[clock]) for block in blocks], effect),
        per_token=per_token, fixed=fixed,
    )  # fmt: skip


def _decide(
    n_blocks: int, effect: Bounds, wall: Bounds, control: Bounds, cells: Mapping[int, Bounds]
) -> tuple[Literal["slower", "fine", "open"], str]:
    if n_blocks < MIN_BLOCKS:
        return "open", f"{n_blocks} of at least {MIN_BLOCKS} sets of processes measured"
    if control.lower < -CONTROL_LIMIT or control.upper > CONTROL_LIMIT:
        return "open", "the machine is unfit: base against base strays beyond ±5 %"
    if effect.lower > TOLERATED:
        return "slower", "slower by more than 5 %"
    if bad := [length for length, bounds in cells.items() if bounds.lower > CELL_LIMIT]:
        return "slower", f"at {bad[0]} tokens alone slower by more than 15 %"
    if wall.lower > WALL_LIMIT:
        return "slower", "wall time grew by more than 25 %: waiting, not work"
    if effect.upper < TOLERATED:
        return "fine", "not slower by more than 5 %"
    return "open", "the interval holds both less and more than 5 %"


def _parts(blocks: Sequence[Block], clock: Clock) -> tuple[Bounds | None, Bounds | None]:
    """Relative changes of slope and intercept, over blocks: they say what regressed and trigger nothing."""
    changes = [found for block in blocks if (found := block.parts[clock]) is not None]
    if len(changes) < len(blocks):
        return None, None
    per_token, fixed = (mean_bounds(values, PARTS_ALPHA) for values in zip(*changes, strict=True))
    return per_token, fixed


def _parts_of(block: Block, clock: Clock) -> tuple[float, float] | None:
    base, head = block.seconds(BASE, clock), block.seconds(HEAD, clock)
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
    found = {tuple(block.head["cpu"]) for block in blocks}
    if len(found) != 1 or found == {()}:
        raise ValueError(f"a judgement needs blocks of the same lengths, got {sorted(found)}")
    return list(found.pop())


def _log_ratio(one: Round, side: str, clock: int) -> float:
    above, below = one.readings[side][clock], one.readings[BASE][clock]
    if not (above > 0 and below > 0 and math.isfinite(above) and math.isfinite(below)):
        raise ValueError(f"a timed unit must take more than 0 s, got {above} and {below}")
    return math.log(above / below)


def _mean(values: Mapping[int, float]) -> float:
    return sum(values.values()) / len(values)
