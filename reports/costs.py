"""What a request's time and memory went into: the values behind the figures of batch, prompt, phases, roofline, memory.

Part of a `Summary`; empty where a run has nothing of the kind.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from metrics.roofline import Roof

if TYPE_CHECKING:
    from reports.summary import Estimate

PARTS = ("prefill", "steps", "engine", "overhead")


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Which trials a value is of."""

    task: str
    label: str
    mode: str
    length: int | None
    batch_size: int
    source_length: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """Where a request's time went. The shares are ratios of totals and add up to 1."""

    place: Place
    latency_s: "Estimate"  # median
    seconds: "dict[str, Estimate]"  # part -> its median seconds a request
    shares: dict[str, float]  # part -> its share of all the trials' time

    @property
    def n(self) -> int:
        return self.latency_s.n


@dataclass(frozen=True, slots=True, kw_only=True)
class Roofline:
    """A mean decoder pass of one cell against the machine's two roofs."""

    place: Place
    pass_s: "Estimate"  # median over trials of the seconds a pass took
    passes: float  # a trial
    flop: float  # a pass
    bytes: float  # a pass
    bytes_per_s: float  # the machine's, at a working set of that many bytes
    flop_per_s: float  # the machine's
    roof: Roof
    whole: bool  # the whole request's time and work stand for its passes, since they cannot be told apart

    @property
    def flop_per_byte(self) -> float:
        return self.flop / self.bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """The most memory that a process of one contestant took; the largest of `n` processes, and the smallest."""

    place: Place
    n: int
    loaded_bytes: int
    peak_bytes: int
    least_peak_bytes: int
    device_peak_bytes: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class OverFloor:
    """How many times as long a contestant took as one scoring pass over as many tokens, in the repeats both ran."""

    place: Place
    ratio: "Estimate"
    floor: str  # label of the scorer


@dataclass(frozen=True, slots=True, kw_only=True)
class Costs:
    parts: tuple[Parts, ...] = ()
    rooflines: tuple[Roofline, ...] = ()
    memories: tuple[Memory, ...] = ()
    over_floor: tuple[OverFloor, ...] = ()
