"""Runs of fake contestants, made through the command line's own door."""

from collections.abc import Callable
from pathlib import Path

import pytest

from suites.__main__ import main
from suites.records import Run, read_run
from tests.suites.fakes import Echo, Fakes, VirtualClock, write_task

RunIt = Callable[..., Run]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> VirtualClock:
    return VirtualClock(monkeypatch)


@pytest.fixture
def fakes(clock: VirtualClock) -> Fakes:
    return Fakes({"one": Echo(clock.sleep), "two": Echo(clock.sleep, 0.002)})


@pytest.fixture
def task(tmp_path: Path) -> Path:
    return write_task(tmp_path / "tiny.tsv")


@pytest.fixture
def run_it(tmp_path: Path, task: Path) -> RunIt:
    """Runs a suite on the tiny task and reads what it left; `code` is the exit code it must have."""

    def run(fakes: Fakes, suite: str, *more: str, strategies: str = "one,two", code: int = 0) -> Run:
        out = tmp_path / "run"
        given = ["run", suite, "--task", str(task), "--strategies", strategies, "--out", str(out), *more]
        assert main(given, registry=fakes) == code
        return read_run(out)

    return run
