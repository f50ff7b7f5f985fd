"""The self-check finds what is wrong and passes what is right. Its clock is virtual here: no machine can fail it."""

import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from suites import selfcheck, truths
from suites.__main__ import main
from suites.clock import CURRENT, REAL, Clock, timed_by
from suites.mutants import MUTANTS, Lie
from suites.records import Run, read_run
from suites.runner import Runner
from suites.selfcheck import LENGTHS, Check, raced
from suites.synthetic import LAWS, VirtualMachine, write_task


@pytest.fixture(scope="module")
def task(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_task(tmp_path_factory.mktemp("task") / "known.tsv", LENGTHS)


@pytest.fixture
def small(tmp_path: Path, task: Path) -> Any:
    """A run of two repeats and two batch sizes, honest or not."""

    def run(lie: Lie | None = None) -> Run:
        lies = {} if lie is None else {"lie": lie}
        return read_run(raced(tmp_path / "run", task, VirtualMachine(), repeats=2, batches=(1, 4), **lies))

    return run


def test_an_honest_run_has_no_problem(small: Any) -> None:
    run = small()
    assert len(run.records) == 4 * len(LENGTHS) * 2 * 2
    assert truths.problems(run) == []


@pytest.mark.parametrize("name", MUTANTS)
def test_a_mutant_is_found_out(small: Any, name: str) -> None:
    wrong = truths.problems(small(MUTANTS[name]))
    assert wrong


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("counting the prompt", "tokens kept"),
        ("counting past the end", "tokens kept"),
        ("one extra pass", "calls counted"),
        ("no warm-up", "ms measured"),
        ("no untimed call after a switch", "ms measured"),
    ],
)
def test_a_mutant_is_found_out_for_what_it_does(small: Any, name: str, words: str) -> None:
    assert all(words in wrong for wrong in truths.problems(small(MUTANTS[name])))


def test_a_failed_trial_is_a_problem(small: Any) -> None:
    run = small()
    records = tuple(dataclasses.replace(r, status="oom", reason="full", latency_s=None) for r in run.records)
    wrong = truths.problems(dataclasses.replace(run, records=records))
    assert len(wrong) == len(records) and all("oom: full" in line for line in wrong)


def test_mutants_leave_the_harness_as_it_was(small: Any) -> None:
    before = Runner.warm_up, Runner.run_block
    small(MUTANTS["no warm-up"])
    assert (Runner.warm_up, Runner.run_block) == before
    assert CURRENT.get() is REAL


def test_a_clock_is_put_back_whatever_happens() -> None:
    clock = Clock(wall_ns=lambda: 5)
    with pytest.raises(ZeroDivisionError), timed_by(clock):
        assert CURRENT.get() is clock
        1 / 0  # noqa: B018
    assert CURRENT.get() is REAL


class Slow(VirtualMachine):
    """Takes 5 % longer than it should."""

    def work(self, began_ns: int, seconds: float) -> None:
        super().work(began_ns, 1.05 * seconds)


@pytest.mark.parametrize(("machine", "passes"), [(VirtualMachine, True), (Slow, False)])
def test_the_check_of_this_machine_passes_the_truth_and_not_five_per_cent_more(
    tmp_path: Path, task: Path, machine: type[VirtualMachine], passes: bool
) -> None:
    checks = list(selfcheck._real(raced(tmp_path / "run", task, machine(), repeats=6, batches=(1, 4))))
    assert len(checks) == 2 * 4 * 2 + 2
    timed = [check for check in checks if check.name.startswith(("t at", "b:"))]
    assert len(timed) == 16
    assert {check.passed for check in timed} == {passes}
    # alike for all, it moves neither what is divided nor where lines cross
    assert all(check.passed for check in checks if check not in timed)


def test_the_check_of_a_known_clock_passes(tmp_path: Path, task: Path) -> None:
    checks = list(selfcheck.exact(tmp_path, task))
    assert [check.name for check in checks if not check.passed] == []
    assert len(checks) == 5


def test_intervals_are_checked_over_all_runs(tmp_path: Path, task: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selfcheck, "CHUNK", 2)
    monkeypatch.setattr(selfcheck, "REPEATS", 8)
    checks = list(selfcheck.intervals(tmp_path, task, 3))
    assert len(checks) == 6  # a and b of two contestants, their crossing, and ar beside itself
    assert all(check.got in ("0.00 %", "33.33 %", "66.67 %", "100.00 %") for check in checks)
    assert not any(check.passed for check in checks if check.got == "100.00 %")  # never wrong is as wrong as too often


def line(strategy: str, **more: Any) -> dict[str, Any]:
    known = {"strategy": strategy, "batch_size": 1, "b_over_baseline_interval": [0.9, 1.1]}
    law = LAWS[strategy.split(":")[0]]
    known |= {"a_ms_interval": [1000 * law.a_s, 9.0], "b_ms_per_token_interval": [0.0, 1000 * law.b_s]}
    return known | {"ahead": {"answer": "from", "tokens": 80.0, "interval": [None, 81.0]}} | more


def test_a_claim_holds_where_its_interval_has_the_truth_in_it() -> None:
    assert truths.claims([line("ar"), line("mask_predict"), line("ar:twin=1")]) == {
        "a of ar": [True],
        "b of ar": [True],
        "a of mask_predict": [True],
        "b of mask_predict": [True],
        "the crossover length": [True],
        "b over ar's, of ar itself": [True],
    }


@pytest.mark.parametrize(
    ("wrong", "claim"),
    [
        (line("ar", a_ms_interval=[1.001, 9.0]), "a of ar"),
        (line("ar", b_ms_per_token_interval=[0.0, 0.0079]), "b of ar"),
        (line("ar:twin=1", b_over_baseline_interval=[1.01, 1.1]), "b over ar's, of ar itself"),
        (
            line("mask_predict", ahead={"answer": "from", "tokens": 90.0, "interval": [81.0, None]}),
            "the crossover length",
        ),
        (
            line("mask_predict", ahead={"answer": "always", "tokens": None, "interval": [None, None]}),
            "the crossover length",
        ),
    ],
)
def test_a_claim_fails_where_it_has_not(wrong: dict[str, Any], claim: str) -> None:
    assert truths.claims([wrong])[claim] == [False]


def test_the_true_crossings_are_where_both_take_the_same_time() -> None:
    ar, other = LAWS["ar"], LAWS["mask_predict"]
    assert pytest.approx(80) == truths.CROSSING
    assert ar.a_s + ar.b_s * 80 == pytest.approx(other.a_s + other.b_s * 80)
    size = truths.batch_crossing(128)
    # ahead by 0.288 ms at batch 1, of which each further row costs 128 * (2 * 0.6 - 8 * 0.05) us
    assert size == pytest.approx(1 + 0.288 / 0.1024)
    times = [law.a_s + law.b_s * 128 * (1 + law.c * (size - 1)) for law in (ar, other)]
    assert times[0] == pytest.approx(times[1])


def of(*passed: bool) -> Any:
    def kind(*given: object) -> Iterator[Check]:
        yield from (Check(f"check {i}", "right", "right" if ok else "wrong", ok) for i, ok in enumerate(passed))

    return kind


@pytest.mark.parametrize(("last", "code"), [(True, 0), (False, 1)])
def test_the_command_tells_every_check_and_fails_where_one_fails(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], last: bool, code: int
) -> None:
    for name in ("exact", "mutants", "real"):
        monkeypatch.setattr(selfcheck, name, of(True))
    monkeypatch.setattr(selfcheck, "intervals", of(True, last))
    assert main(["selfcheck"]) == code
    out = capsys.readouterr().out.splitlines()
    assert len(out) == 6
    assert out[-1].startswith("5 checks in ") and out[-1].endswith(f", {1 - last:d} failed")
    assert sum(text.startswith("FAIL") for text in out) == 1 - last
    assert main(["selfcheck", "--json"]) == code
    told = json.loads(capsys.readouterr().out)
    assert told["passed"] is last
    assert [check["passed"] for check in told["checks"]] == [True, True, True, True, last]


def test_a_machine_that_was_busy_gets_another_try(tmp_path: Path, task: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tries = iter([[Check("t", "1", "2", False)], [Check("t", "1", "1", True)]])
    monkeypatch.setattr(selfcheck, "raced", lambda out, task, machine, **more: setattr(machine, "calls", 4) or out)
    monkeypatch.setattr(selfcheck, "_real", lambda out: next(tries))
    told, check = selfcheck.real(tmp_path, task)
    assert check.passed
    assert told.got == "0 % of calls ended late, in try 2 of 3"
