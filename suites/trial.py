"""One timed call: what lies between the two readings of the clock, and what does not.

Between them: `generate` and the device catching up. Outside: building the request, turning ids into text, scoring,
writing, and the garbage collector, which is off.
"""

import gc
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import TypeVar

from generators.base import Exact, Generation, Generator, Request, Stopwatch, Unsupported
from suites.clock import CURRENT
from suites.records import Status

T = TypeVar("T")

MAX_WARMUPS = 10
AGREEING = 3  # this many successive calls …
AGREEMENT = 0.10  # … within this share of the fastest of them end the warm-up
TIMEOUT_S = 300.0

# What a strategy or an engine may raise: everything but interrupts and exits. Its failure is a result, not the end.
FAILURES = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    ImportError,
    LookupError,
    MemoryError,
    OSError,
    RuntimeError,
    TypeError,
    Unsupported,
    ValueError,
)
OUT_OF_MEMORY = ("can't allocate memory", "out of memory", "bad_alloc")  # of torch and CTranslate2


@dataclass(frozen=True, slots=True)
class Timing:
    generation: Generation
    latency_s: float
    cpu_s: float


@dataclass(frozen=True, slots=True)
class Failure:
    status: Status  # never "ok"
    reason: str


class TookTooLong(BaseException):
    """Raised inside a call by its time limit; no `except Exception` of an engine may swallow it."""


def timed_call(generator: Generator, request: Request, synchronize: Callable[[], None]) -> Timing:
    """The generation for `request` with the wall and the process's CPU seconds it took."""
    clock = CURRENT.get()
    stopwatch = Stopwatch(clock_ns=clock.wall_ns)
    collecting = gc.isenabled()
    gc.disable()
    try:
        synchronize()
        cpu_ns = clock.cpu_ns()
        began_ns = clock.wall_ns()
        generation = generator.generate(request, stopwatch)
        synchronize()
        ended_ns = clock.wall_ns()
        cpu_ns = clock.cpu_ns() - cpu_ns
    finally:
        if collecting:
            gc.enable()
    return Timing(generation, (ended_ns - began_ns) * 1e-9, cpu_ns * 1e-9)


def attempt(call: Callable[[], T], timeout_s: float = TIMEOUT_S) -> T | Failure:
    """What `call` returns, or the failure it ended in."""
    try:
        with time_limit(timeout_s):
            return call()
    except TookTooLong:
        return Failure("timeout", f"took longer than {timeout_s:g} s")
    except FAILURES as failure:
        return failure_of(failure)


def failure_of(exception: BaseException) -> Failure:
    """The status and the one-line reason that stand for `exception` in a record."""
    text = " ".join(str(exception).split())[:300]
    name = type(exception).__name__
    if isinstance(exception, Unsupported):
        return Failure("unsupported", text)
    if isinstance(exception, ImportError):
        absent = isinstance(exception, ModuleNotFoundError)
        return Failure("unsupported", f"{'not installed' if absent else 'installed, but broken'}: {text}")
    lost = isinstance(exception, MemoryError) or name == "OutOfMemoryError" or any(w in text for w in OUT_OF_MEMORY)
    return Failure("oom" if lost else "error", f"{name}: {text}")


def check_shape(request: Request, generation: Generation) -> Failure | None:
    """The failure of a generation that is not what was asked for: rows missing, or not the exact length."""
    rows = [len(ids) for ids in generation.token_ids]
    if len(rows) != len(request.prompts):
        return Failure("error", f"asked for {len(request.prompts)} rows, got {len(rows)}")
    if isinstance(request.length, Exact) and (wrong := [n for n in rows if n != request.length.n]):
        return Failure("error", f"asked for exactly {request.length.n} tokens, got {wrong[0]}")
    return None


def warm_up(call: Callable[[], Timing | Failure]) -> tuple[tuple[float, ...], Failure | None]:
    """The latencies of calls made until three in a row agree within 10 %, or ten were made; or the first failure."""
    seconds: list[float] = []
    while len(seconds) < MAX_WARMUPS and not _agree(seconds[-AGREEING:]):
        timing = call()
        if isinstance(timing, Failure):
            return tuple(seconds), timing
        seconds.append(timing.latency_s)
    return tuple(seconds), None


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise `TookTooLong` in the body after `seconds`, as soon as it runs Python again. Does nothing outside the main
    thread, where there are no signals."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGALRM, _raise_too_long)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _raise_too_long(signum: int, frame: FrameType | None) -> None:
    raise TookTooLong


def _agree(seconds: list[float]) -> bool:
    return len(seconds) == AGREEING and max(seconds) <= min(seconds) * (1 + AGREEMENT)
