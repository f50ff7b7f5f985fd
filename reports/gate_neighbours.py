"""Bursty neighbours for the gate's own evidence: processes that work and rest for random times, until told to end.

`python -m reports.gate_neighbours SEED` is one of them; it ends when its input does.
"""

import random
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from reports.gate_workers import ROOT

LOADS = {"quiet": 0, "bursty": 2}  # neighbours
BURST_S = 0.7  # mean of a burst and of a rest, both exponential
SIDE = 512  # of the matrices multiplied: they fill a core and push its caches out


@contextmanager
def neighbours(load: str) -> Iterator[None]:
    """As many neighbours as `load` has, inside the block."""
    command = [sys.executable, "-m", "reports.gate_neighbours"]
    started = [
        subprocess.Popen([*command, str(seed)], stdin=subprocess.PIPE, cwd=ROOT, start_new_session=True)
        for seed in range(LOADS[load])
    ]
    try:
        yield
    finally:
        for process in started:
            process.kill()
            process.wait()
            if process.stdin is not None:
                process.stdin.close()


def disturb(seed: int) -> None:
    """Work and rest in turn until standard input is closed."""
    draw, matrix = random.Random(seed), np.random.default_rng(seed).random((SIDE, SIDE))
    while True:
        until = time.monotonic() + draw.expovariate(1 / BURST_S)
        while time.monotonic() < until:
            matrix @ matrix
        if select.select([sys.stdin], [], [], draw.expovariate(1 / BURST_S))[0]:
            return


if __name__ == "__main__":
    disturb(int(sys.argv[1]))
