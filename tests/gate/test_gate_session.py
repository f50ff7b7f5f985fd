"""How the gate measures: units of a sensible length, and only the code that was meant."""

import math
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import generators
from reports.gate import AGAIN, BASE, HEAD, Block, Reading, Round, standard_error
from reports.gate_session import PRECISE, SWEEPS, Session, Unit, choose_unit
from reports.gate_workers import ROOT, Worker
from suites.gate_worker import prove
from suites.refusal import Refusal


@pytest.mark.parametrize(
    ("call_s", "unit"),
    [
        (0.000005, Unit(2000, 10)),  # what takes no time is called often enough to be measured
        (0.004, Unit(3, 10)),
        (0.02, Unit(1, 10)),
        (0.1, Unit(1, 3)),
        (0.4, Unit(1, 3)),
        (0.41, Unit(1, 0)),  # too long to be paired
    ],
)
def test_a_unit_lasts_ten_to_four_hundred_milliseconds(call_s: float, unit: Unit) -> None:
    assert choose_unit(call_s) == unit
    assert not unit.rounds or 0.0099 <= unit.calls * call_s <= 0.4


def test_lengths_that_take_too_long_are_left_out_and_said_but_never_all() -> None:
    session = Session(sides=[], lengths=(16, 128), device="cpu", seed=0)
    session.units = {
        ("ar", 16): Unit(1, 3),
        ("ar", 128): Unit(1, 0),
        ("slow", 16): Unit(1, 0),
        ("slow", 128): Unit(1, 0),
    }
    for name in ("ar", "slow"):
        session._leave_out(name)
    assert session.left_out == [
        "ar at 128 tokens takes more than 0.4 s a call and is not timed",
        "slow at 128 tokens takes more than 0.4 s a call and is not timed",
    ]
    assert session.units["slow", 16] == Unit(1, 3)


def test_a_block_is_expected_to_take_what_its_own_strategies_took() -> None:
    session = Session(sides=[], lengths=(16,), device="cpu", seed=0)
    assert session.expected_s(["ar"]) == 0
    unit = Round(16, {side: Reading(cpu_s=0.1, wall_s=0.2) for side in ("base", "head", "again")})
    session._learn({"ar": [unit] * 10, "ctc": [unit] * 5}, took_s=14.0)
    assert session.expected_s(["ar", "ctc"]) == pytest.approx(14)
    assert session.expected_s(["ctc"]) == pytest.approx(5 + 3)
    session._learn({"ctc": [unit] * 4}, took_s=8.0)
    assert session.expected_s(["ctc"]) == pytest.approx(5.6 + 3)


def rounds(draw: np.random.Generator, scatter: float, effect: float = 0.0) -> list[Round]:
    """A sweep of four lengths on a machine whose own speed changes from round to round by a fifth."""
    found = []
    for length, n in {16: 7, 32: 4, 64: 3, 128: 3}.items():
        for shared in draw.normal(math.log(length), 0.2, n):
            own = draw.normal(0, scatter, 3) + (0, effect, 0)
            seconds = np.exp(shared + own).tolist()
            found.append(
                Round(length, {s: Reading(t, 2 * t) for s, t in zip((BASE, HEAD, AGAIN), seconds, strict=True)})
            )
    return found


def test_a_standard_error_is_how_a_block_scatters() -> None:
    draw = np.random.default_rng(0)
    sweeps = [rounds(draw, 0.1) for _ in range(400)]
    scatter = np.std([np.mean(list(Block(tuple(one)).head["cpu_s"].values())) for one in sweeps])
    assert np.median([standard_error(one, "cpu_s") for one in sweeps]) == pytest.approx(scatter, rel=0.2)


def test_a_standard_error_knows_neither_the_effect_nor_the_order_of_the_sides() -> None:
    same, slower = (rounds(np.random.default_rng(1), 0.1, effect) for effect in (0.0, 0.5))
    turned = [replace(one, readings=dict(reversed(one.readings.items()))) for one in slower]
    assert standard_error(same, "cpu_s") == pytest.approx(standard_error(turned, "wall_s"))
    assert Block(tuple(slower)).head["cpu_s"][16] == pytest.approx(Block(tuple(same)).head["cpu_s"][16] + 0.5)


def test_one_round_of_a_cell_says_nothing_of_its_scatter() -> None:
    sides = {side: Reading(1.0, 1.0) for side in (BASE, HEAD, AGAIN)}
    assert standard_error([], "cpu_s") == standard_error([Round(16, sides), Round(32, sides)], "cpu_s") == math.inf


def test_a_block_measures_longer_what_scatters_and_only_that(monkeypatch: pytest.MonkeyPatch) -> None:
    scatter, draw = {"calm": 0.01, "noisy": 0.08, "wild": 0.5}, np.random.default_rng(2)
    session = Session(sides=[], lengths=(16, 32), device="cpu", seed=0)
    cells = [(name, length) for name in scatter for length in (16, 32)]
    session.units = {key: Unit(1, 7 if key[1] == 16 else 4) for key in cells}

    def unit(worker: Worker, index: int, key: tuple[str, int]) -> Reading:
        return Reading(float(np.exp(draw.normal(0, scatter[key[0]]))), 1.0)

    monkeypatch.setattr(session, "_unit", unit)
    asked: dict[str, Any] = dict.fromkeys((BASE, HEAD, AGAIN))
    found = session._rounds(asked, cells, random.Random(0))
    assert len(found["calm"]) == 7 + 4
    assert 7 + 4 < len(found["noisy"]) < SWEEPS * (7 + 4)
    assert standard_error(found["noisy"], "cpu_s") <= PRECISE < standard_error(found["wild"], "cpu_s")
    assert len(found["wild"]) == SWEEPS * (7 + 4)
    assert [one.length for one in found["wild"]].count(32) == SWEEPS * 4


def test_a_worker_proves_whose_strategies_it_holds(tmp_path: Path) -> None:
    assert generators.__file__ is not None
    assert list(prove(ROOT)) == [Path(generators.__file__).resolve()]
    with pytest.raises(Refusal, match=r"generators.* was loaded from .*, which is not in .*: the wrong code"):
        list(prove(tmp_path))
