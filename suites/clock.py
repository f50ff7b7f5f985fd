"""The clock that trials are timed by: this machine's, or a made one on which it is known what must be measured."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from time import perf_counter_ns, process_time_ns


@dataclass(frozen=True, slots=True)
class Clock:
    """Two readings, in nanoseconds: the wall's, and this process's CPU time."""

    wall_ns: Callable[[], int] = perf_counter_ns
    cpu_ns: Callable[[], int] = process_time_ns


REAL = Clock()
CURRENT: ContextVar[Clock] = ContextVar("clock", default=REAL)


@contextmanager
def timed_by(clock: Clock) -> Iterator[None]:
    """Let `clock` time every trial of the body, and the steps in it."""
    token = CURRENT.set(clock)
    try:
        yield
    finally:
        CURRENT.reset(token)
