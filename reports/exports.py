"""Timings in the formats that other tools keep and compare: pytest-benchmark, github-action-benchmark and Bencher.

Pure functions from samples to text. Names are made unique by the caller; every sample is in seconds and above 0.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from metrics.latency import median_interval


@dataclass(frozen=True, slots=True)
class Timing:
    """One thing that was timed several times."""

    name: str  # what a tool's history is keyed by: keep it the same from run to run
    seconds: tuple[float, ...]  # one sample a repeat; not empty


@dataclass(frozen=True, slots=True)
class Origin:
    """Where timings come from, for the formats that ask."""

    commit: str | None
    dirty: bool | None
    measured_at: str  # ISO 8601, UTC
    machine: Mapping[str, Any]


def pytest_benchmark(timings: Sequence[Timing], origin: Origin) -> str:
    """JSON that `pytest-benchmark compare FILE` reads; seconds. Its own `Stats` computes every statistic."""
    from pytest_benchmark import __version__

    return _json(
        {
            "machine_info": {"node": "", "machine": "", "cpu": {"brand": str(origin.machine.get("cpu", ""))}},
            "commit_info": {"id": origin.commit or "unversioned", "dirty": bool(origin.dirty), "branch": ""},
            "benchmarks": [_pytest_entry(timing) for timing in timings],
            "datetime": origin.measured_at,
            "version": __version__,
        }
    )


def github_action_benchmark(timings: Sequence[Timing]) -> str:
    """JSON for github-action-benchmark's tool `customSmallerIsBetter`: median ms, its 95 % interval as the range."""
    return _json([_action_entry(timing) for timing in timings])


def bencher(timings: Sequence[Timing]) -> str:
    """Bencher Metric Format: median `latency` in ns, Bencher's unit for it, and its 95 % interval as bounds."""
    return _json({timing.name: {"latency": _bencher_entry(timing)} for timing in timings})


def _pytest_entry(timing: Timing) -> dict[str, Any]:
    from pytest_benchmark.stats import Stats

    stats = Stats()
    for seconds in timing.seconds:
        stats.update(seconds)
    return {
        "group": None,
        "name": timing.name,
        "fullname": timing.name,
        "params": None,
        "param": None,
        "extra_info": {},
        "options": {"timer": "perf_counter", "disable_gc": False, "warmup": True},
        "stats": {**stats.as_dict(), "data": list(timing.seconds), "iterations": 1},
    }


def _action_entry(timing: Timing) -> dict[str, Any]:
    value, low, high = median_interval(timing.seconds)
    entry = {"name": timing.name, "unit": "ms", "value": 1000 * value, "extra": f"median of {len(timing.seconds)}"}
    return entry if low is None or high is None else entry | {"range": f"{1000 * low:.4g} to {1000 * high:.4g}"}


def _bencher_entry(timing: Timing) -> dict[str, float]:
    value, low, high = median_interval(timing.seconds)
    bounds = {} if low is None or high is None else {"lower_value": 1e9 * low, "upper_value": 1e9 * high}
    return {"value": 1e9 * value, **bounds}


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=True, allow_nan=False, indent=1) + "\n"


TimingWriter = Callable[[Sequence[Timing], Origin], str]
TIMING_FORMATS: dict[str, TimingWriter] = {
    "pytest-benchmark": pytest_benchmark,
    "github-action-benchmark": lambda timings, origin: github_action_benchmark(timings),
    "bencher": lambda timings, origin: bencher(timings),
}
