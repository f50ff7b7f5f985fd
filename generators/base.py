"""The values that flow between a suite and a strategy, and the one method a strategy must have.

Nothing here imports torch: a request, its answer and the account of its cost are plain Python values, so that
the harness, the metrics and the report never touch a tensor.
"""

import enum
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

TokenRow = tuple[int, ...]
DTYPES = ("float32", "float64", "bfloat16", "float16")


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """One row of a request: for a sequence-to-sequence model, the source, with its EOS if the model expects one."""

    prefix_ids: TokenRow

    def __post_init__(self) -> None:
        if not self.prefix_ids:
            raise ValueError("a prompt needs at least one token; an empty source is its EOS alone")


@dataclass(frozen=True, slots=True)
class Natural:
    """Stop where the strategy would: EOS, a stop string, or after `max_new_tokens` kept tokens (0 and up)."""

    max_new_tokens: int

    def __post_init__(self) -> None:
        if self.max_new_tokens < 0:
            raise ValueError(f"max_new_tokens must be 0 or more, got {self.max_new_tokens}")


@dataclass(frozen=True, slots=True)
class Exact:
    """Emit exactly `n` tokens: EOS is suppressed in the logits. Padding or cutting to reach `n` is forbidden."""

    n: int

    def __post_init__(self) -> None:
        if self.n < 1:
            raise ValueError(f"an exact length must be 1 or more, got {self.n}")


Length = Natural | Exact


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """How a token is drawn from logits. Temperature 0 is greedy and draws nothing."""

    temperature: float = 0.0
    top_k: int = 0  # 0: off
    top_p: float = 1.0  # 1: off
    seeds: tuple[int, ...] = ()  # one a row; required when temperature > 0

    def __post_init__(self) -> None:
        if not 0.0 <= self.temperature < float("inf"):  # also refuses NaN
            raise ValueError(f"temperature must be finite and 0 or more, got {self.temperature}")
        if self.top_k < 0:
            raise ValueError(f"top_k must be 0 (off) or more, got {self.top_k}")
        if not 0.0 <= self.top_p <= 1.0:
            raise ValueError(f"top_p must lie in [0, 1], got {self.top_p}")

    @property
    def greedy(self) -> bool:
        return self.temperature == 0.0


GREEDY = Sampling()


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """The workload, the same for every strategy."""

    prompts: tuple[Prompt, ...]  # unpadded; one row a prompt
    length: Length
    stop_strings: tuple[str, ...] = ()  # text, matched across token borders; the match itself is not kept
    sampling: Sampling = GREEDY
    trace: bool = False  # ask for a frame a step; never in a timed trial

    def __post_init__(self) -> None:
        if not self.prompts:
            raise ValueError("a request needs at least one prompt")
        if "" in self.stop_strings:
            raise ValueError("an empty stop string would stop everything; leave it out")
        if not self.sampling.greedy and len(self.sampling.seeds) != len(self.prompts):
            raise ValueError(
                f"sampling needs one seed a row: {len(self.prompts)} rows, {len(self.sampling.seeds)} seeds"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """Where and how a strategy runs: torch's device and dtype names, and CPU threads."""

    device: str = "cpu"
    dtype: str = "float32"
    threads: int = 1

    def __post_init__(self) -> None:
        if self.dtype not in DTYPES:
            raise ValueError(f"unknown dtype {self.dtype!r}; choose from: {', '.join(DTYPES)}")
        if self.threads < 1:
            raise ValueError(f"threads must be 1 or more, got {self.threads}")


class Phase(enum.StrEnum):
    ENCODE = "encode"
    DECODE = "decode"
    DRAFT = "draft"
    SCORE = "score"
    ENGINE = "engine"  # an engine we cannot look into
    HOST = "host"  # search and book-keeping with no model call


@dataclass(frozen=True, slots=True)
class Step:
    """What one step of a decode loop cost. `positions` counts token positions computed, padding included."""

    phase: Phase
    seconds: float
    calls: int
    positions: int
    drafted: int = 0
    accepted: int = 0


class SlotState(enum.StrEnum):
    MASKED = "masked"  # a place without a token
    TENTATIVE = "tentative"  # a token that may still change or go: drafted, in a beam, revised later, cut off later
    FINAL = "final"  # a token that stands from this frame to the last


class Slot(NamedTuple):
    """One place of a row. Its `uid` stays its own while other slots are put in or taken out around it."""

    uid: int
    token_id: int
    state: SlotState


class Frame(NamedTuple):
    """What stood in a row after a step, from left to right. Slots never change places; they come, change and go."""

    step: int  # index into `Generation.steps`; several frames may show what happened inside one
    slots: tuple[Slot, ...]


class FinishReason(enum.StrEnum):
    EOS = "eos"
    STOP_STRING = "stop_string"
    LENGTH = "length"
    CANVAS_FULL = "canvas_full"  # a fixed canvas ended before the strategy wrote an end


@dataclass(frozen=True, slots=True, kw_only=True)
class Generation:
    """The answer to a request: one entry a row in every per-row field."""

    token_ids: tuple[TokenRow, ...]  # kept tokens: before the first EOS and before a stop string
    tokens_raw: tuple[int, ...]  # ids the strategy emitted, EOS and what follows it included
    finish_reasons: tuple[FinishReason, ...]
    steps: tuple[Step, ...]
    canvas_positions: tuple[int, ...] | None = None  # fixed-canvas strategies: the canvas's length
    committed_at: tuple[tuple[int, ...], ...] | None = None  # traced: the step from which each kept token stands
    trace: tuple[tuple[Frame, ...], ...] | None = None  # traced: a row's frames; the last holds its kept tokens


class Capability(enum.StrEnum):
    EXACT_LENGTH = "exact_length"
    NATURAL_LENGTH = "natural_length"
    SAMPLING = "sampling"
    STOP_STRINGS = "stop_strings"
    BATCH = "batch"
    COUNTS = "counts"  # calls and positions of its steps are its own and checked by hooks
    COMMIT_ORDER = "commit_order"  # a traced request is told when each token was committed
    TRACE = "trace"  # … and what stood in every slot after each step


class Unsupported(Exception):
    """A request beyond a strategy's declared capabilities. A suite records it as such; it is never silent."""


class Generator(Protocol):
    """A decoding strategy with its weights."""

    capabilities: frozenset[Capability]

    def generate(self, request: Request, stopwatch: "Stopwatch") -> Generation:
        """The generation for `request`; raises `Unsupported` beyond `capabilities`."""
        ...


def require(capabilities: frozenset[Capability], request: Request) -> None:
    """Raise `Unsupported`, naming what is missing, when `request` asks for more than `capabilities`."""
    wanted = {Capability.EXACT_LENGTH if isinstance(request.length, Exact) else Capability.NATURAL_LENGTH}
    if len(request.prompts) > 1:
        wanted.add(Capability.BATCH)
    if request.stop_strings:
        wanted.add(Capability.STOP_STRINGS)
    if not request.sampling.greedy:
        wanted.add(Capability.SAMPLING)
    if request.trace:
        wanted |= {Capability.COMMIT_ORDER, Capability.TRACE}
    if missing := sorted(wanted - capabilities):
        raise Unsupported(f"this strategy cannot do: {', '.join(missing)}")


@dataclass(slots=True)
class Stopwatch:
    """Turns a decode loop into steps: each `lap` closes the step that began at the last one.

    `synchronize` is called before every reading; on a CPU it is nothing, on CUDA it waits for the device, so that
    a step's seconds are its own. A timed trial on CUDA passes nothing here and the runner synchronises around it.
    """

    synchronize: Callable[[], None] | None = None
    clock_ns: Callable[[], int] = time.perf_counter_ns
    steps: list[Step] = field(default_factory=list)
    _last_ns: int = field(init=False)

    def __post_init__(self) -> None:
        self._last_ns = self.clock_ns()

    def start(self) -> None:
        """Forget earlier steps and begin the first one now."""
        self.steps.clear()
        self._last_ns = self._now()

    def lap(self, phase: Phase, *, calls: int = 0, positions: int = 0, drafted: int = 0, accepted: int = 0) -> None:
        """Close the current step as `phase`, charged with `calls` model calls over `positions` token positions."""
        now = self._now()
        self.steps.append(Step(phase, (now - self._last_ns) * 1e-9, calls, positions, drafted, accepted))
        self._last_ns = now

    def _now(self) -> int:
        if self.synchronize is not None:
            self.synchronize()
        return self.clock_ns()
