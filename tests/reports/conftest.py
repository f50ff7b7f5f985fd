"""Runs that several test files read."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.reports.hostile import HOSTILE
from tests.reports.synthetic import Made, race


def hostile_race() -> Made:
    """A race whose names, tasks, commands, reasons and texts are hostile."""
    made = race(labels=["ar", "ctranslate2", "ctc", "mask_predict", "copy"], repeats=7, rows=len(HOSTILE))
    task = f"task {HOSTILE[1]}"

    def label(old: str) -> str:
        return {"ctc": f"ctc:weights={HOSTILE[0]}", "mask_predict": f"mask_predict:{HOSTILE[6][:9]}{HOSTILE[4]}"}.get(
            old, old
        )

    made.records = [
        replace(r, task=task, label=label(r.label), strategy="<ctc>" if r.label == "ctc" else r.strategy)
        for r in made.records
    ]
    last = made.records[-1]
    made.records.append(
        replace(last, key="failed", repeat=99, status="error", reason=HOSTILE[0] + HOSTILE[2], latency_s=None, steps=())
    )
    made.samples = [
        replace(
            s,
            task=task,
            label=label(s.label),
            text=HOSTILE[s.row],
            source=HOSTILE[s.row],
            reference=HOSTILE[-1 - s.row],
        )
        for s in made.samples
    ]
    made.scores = [replace(s, task=task, label=label(s.label)) for s in made.scores]
    made.command, made.suite, made.reduced, made.dirty = " ".join(HOSTILE), HOSTILE[0], HOSTILE[1], True
    return made


@pytest.fixture(scope="session")
def hostile_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return hostile_race().write(tmp_path_factory.mktemp("runs") / "hostile")


@pytest.fixture(scope="session")
def small_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = race(labels=["ar", "ctc", "copy"], lengths=(8, 32), repeats=2, rows=3)
    return made.write(tmp_path_factory.mktemp("runs") / "small")


@pytest.fixture(scope="session")
def race_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return race(repeats=7, rows=24).write(tmp_path_factory.mktemp("runs") / "race")
