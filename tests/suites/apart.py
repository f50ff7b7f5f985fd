"""`python -m tests.suites.apart run …`: the command line with contestants that want too much memory or time, or die.

All of them can be pickled, so that each can live in a process of its own.
"""

import os
import signal
import sys
import time
from dataclasses import dataclass

from generators.base import Capability, Generation, Request, Stopwatch, require
from suites.__main__ import main
from tests.suites.fakes import FULL, NATURAL_ONLY, Echo, Fakes

MB = 2**20


def quiet(nth: int, request: Request) -> None:
    """Nothing happens before a call."""


def no_time(seconds: float) -> None:
    """Takes none of it."""


def echo(**changes: object) -> Echo:
    return Echo(no_time, before=quiet, **changes)  # type: ignore[arg-type]


@dataclass
class Wants:
    """An echo that first takes memory or time for every row, or dies of `signal_number` from `from_rows` rows on."""

    bytes_a_row: int = 0
    seconds_a_row: float = 0.0
    deaf: bool = False  # to its alarm, as an engine is that does not come back to Python
    of_torch: bool = False
    signal_number: int = 0
    from_rows: int = 1
    capabilities: frozenset[Capability] = FULL

    def generate(self, request: Request, stopwatch: Stopwatch) -> Generation:
        require(self.capabilities, request)
        rows = len(request.prompts)
        if self.signal_number and rows >= self.from_rows:
            os.kill(os.getpid(), self.signal_number)
        held = self._take(self.bytes_a_row * rows)
        if self.deaf:
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM})
        time.sleep(self.seconds_a_row * rows)
        del held
        return echo().generate(request, stopwatch)

    def _take(self, n_bytes: int) -> object:
        if not self.of_torch:
            return bytearray(n_bytes)
        import torch

        return torch.zeros(n_bytes // 4)


@dataclass
class Tells:
    """Fails, and says in which process."""

    capabilities: frozenset[Capability] = FULL

    def generate(self, request: Request, stopwatch: Stopwatch) -> Generation:
        raise RuntimeError(f"process {os.getpid()}")


def contestants() -> Fakes:
    """The registry of this file's command line."""
    return Fakes(
        {
            "light": echo(),
            "late": echo(capabilities=NATURAL_ONLY),
            "hog": Wants(bytes_a_row=100 * MB),
            "torch_hog": Wants(bytes_a_row=100 * MB, of_torch=True),
            "holder": Wants(bytes_a_row=60 * MB),
            "sleeper": Wants(seconds_a_row=0.15),
            "stuck": Wants(seconds_a_row=60.0, deaf=True),
            "tells": Tells(),
            "killed": Wants(signal_number=signal.SIGKILL, from_rows=2),
            "crashed": Wants(signal_number=signal.SIGSEGV, from_rows=2),
            "absent": ModuleNotFoundError("No module named 'engine'"),
            "corrupt": ValueError("corrupt weights"),
        }
    )


if __name__ == "__main__":
    if any("torch_hog" in word for word in sys.argv):
        import torch  # noqa: F401 - before the race, as loading a real contestant does: its libraries are no call's
    sys.exit(main(registry=contestants()))
