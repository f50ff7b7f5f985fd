"""How the gate measures: units of a sensible length, and only the code that was meant."""

from pathlib import Path

import pytest

import generators
from reports.gate import Reading, Round
from reports.gate_session import Session, Unit, choose_unit
from reports.gate_workers import ROOT
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


def test_a_worker_proves_whose_strategies_it_holds(tmp_path: Path) -> None:
    assert generators.__file__ is not None
    assert list(prove(ROOT)) == [Path(generators.__file__).resolve()]
    with pytest.raises(Refusal, match=r"generators.* was loaded from .*, which is not in .*: the wrong code"):
        list(prove(tmp_path))
