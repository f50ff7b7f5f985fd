"""`python -m tests.suites.fake_race run …`: the command line with fake contestants, in a process that can be killed.

DIE_AT_WRITE=n kills the process in the middle of its n-th write to a file of lines, as `kill -9` may.
"""

import os
import signal
import sys

from suites.__main__ import main
from tests.suites.fakes import Echo, Fakes, busy_wait

SECONDS_A_TOKEN = float(os.environ.get("SECONDS_A_TOKEN", "0.0002"))


def die_at_write(nth: int) -> None:
    real, seen = os.write, [0]

    def write(descriptor: int, data: bytes) -> int:
        seen[0] += 1
        if seen[0] == nth:
            real(descriptor, data[: len(data) // 2])
            os.kill(os.getpid(), signal.SIGKILL)
        return real(descriptor, data)

    os.write = write


if __name__ == "__main__":
    if nth := int(os.environ.get("DIE_AT_WRITE", "0")):
        die_at_write(nth)
    contestants = {name: Echo(busy_wait, SECONDS_A_TOKEN) for name in ("one", "two")}
    sys.exit(main(registry=Fakes(contestants)))
