"""This process's memory: what it took, and how much more its calls may take.

With a limit, the call that wants too much is a record and not the end of the race.
"""

import resource
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

STATUS, MEMINFO, CGROUP = Path("/proc/self/status"), Path("/proc/meminfo"), Path("/sys/fs/cgroup")


@contextmanager
def memory_limit(extra_bytes: int | None) -> Iterator[None]:
    """Let this process map `extra_bytes` more than it does now; None: as much as it likes.

    Beyond that an allocation fails, which a trial's record calls `oom`. Does nothing where the system does not say how
    much is mapped.
    """
    mapped = virtual_bytes()
    if extra_bytes is None or not mapped:
        yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    wanted = mapped + extra_bytes
    resource.setrlimit(resource.RLIMIT_AS, (wanted if hard == resource.RLIM_INFINITY else min(wanted, hard), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def free_bytes() -> int | None:
    """What this machine, or the container this runs in, has left; None where the system does not say."""
    try:
        lines = MEMINFO.read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    free = next((int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")), None)
    left = [found for found in (free, _left_in_container()) if found is not None]
    return min(left, default=None)


def _left_in_container() -> int | None:
    try:
        most, used = ((CGROUP / name).read_text(encoding="ascii").strip() for name in ("memory.max", "memory.current"))
    except OSError:
        return None
    return None if most == "max" else max(0, int(most) - int(used))


def resident_bytes() -> int:
    """What of this process lies in memory now; its high-water mark where the system does not say."""
    return _status("VmRSS") or peak_bytes()


def peak_bytes() -> int:
    """The most of this process that ever lay in memory.

    From /proc where there is one: the mark that `getrusage` gives is inherited over fork and exec, and would be the
    parent's wherever the parent is larger.
    """
    marked = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return _status("VmHWM") or (marked if sys.platform == "darwin" else marked * 1024)


def virtual_bytes() -> int:
    """What this process has mapped, in memory or not; 0 where the system does not say."""
    return _status("VmSize")


def device_peak_bytes(device: str) -> int | None:
    """The most that torch ever allocated on an accelerator in this process; None on a CPU."""
    if device == "cpu":
        return None
    import torch

    return int(torch.cuda.max_memory_allocated(device))


def _status(name: str) -> int:
    """A line of /proc/self/status in bytes; 0 where there is none."""
    try:
        lines = STATUS.read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{name}:")), 0)
