"""Claims about comparing two runs of one plan: counts to the letter, times as far as noise allows."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from suites.__main__ import main
from suites.records import Run
from suites.refusal import Refusal
from suites.same import lines, sameness
from tests.suites.conftest import RunIt
from tests.suites.fakes import Fakes

PLAN = ("latency", "--lengths", "4,6", "--repeats", "7")


def slower(run: Run, label: str, factor: float) -> Run:
    """The same run in which one contestant took `factor` times as long."""
    return replace(
        run,
        records=tuple(
            replace(r, latency_s=(r.latency_s or 0.0) * factor) if r.label == label else r for r in run.records
        ),
    )


def test_a_run_is_the_same_as_itself(fakes: Fakes, run_it: RunIt) -> None:
    run = run_it(fakes, *PLAN)
    found = sameness(run, run, "one")
    assert (found.trials, found.differences) == (2 * 2 * 7, ())
    assert [(p.label, p.workload[1], p.first.value, p.alike) for p in found.pairs] == [
        ("two", 4, pytest.approx(2.0), True), ("two", 6, pytest.approx(2.0), True),
    ]  # fmt: skip
    assert list(lines(found))[-2:] == [
        "times: 2 of 2 alike (95 % intervals overlap)",
        "counts: 0 differences in 28 trials",
    ]


def test_a_machine_that_was_slower_throughout_tells_the_same_story(fakes: Fakes, run_it: RunIt) -> None:
    run = run_it(fakes, *PLAN)
    other = slower(slower(run, "one", 3.0), "two", 3.0)
    assert all(pair.alike for pair in sameness(run, other, "one").pairs)


def test_one_contestant_that_was_slower_does_not(fakes: Fakes, run_it: RunIt) -> None:
    run = run_it(fakes, *PLAN)
    found = sameness(run, slower(run, "two", 1.5), "one")
    assert [(pair.first.value, pair.second.value, pair.alike) for pair in found.pairs] == [
        (pytest.approx(2.0), pytest.approx(3.0), False)
    ] * 2
    assert "NOT ALIKE" in "\n".join(lines(found))
    assert found.differences == ()


def test_one_pass_more_is_a_difference_by_name(fakes: Fakes, run_it: RunIt) -> None:
    run = run_it(fakes, *PLAN)
    first = run.records[0]
    more = replace(run, records=(replace(first, steps=(*first.steps, first.steps[0])), *run.records[1:]))
    (difference,) = sameness(run, more, "one").differences
    assert difference.startswith(f"{first.label}, tiny, length {first.length}, batch 1, repeat 0: steps ")


def test_the_command_answers_and_its_exit_code_tells_counts_apart(
    fakes: Fakes, run_it: RunIt, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run_it(fakes, *PLAN)
    run, other = tmp_path / "run", tmp_path / "other"
    run.rename(other)
    run_it(fakes, *PLAN)
    capsys.readouterr()
    assert main(["same", str(run), str(other), "--against", "one", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["trials"] == 28
    records = other / "records.jsonl"
    records.write_text(records.read_text().replace('"tokens_kept":[4]', '"tokens_kept":[5]', 1))
    assert main(["same", str(run), str(other), "--against", "one"]) == 3
    assert "1 counts differ, the first: " in capsys.readouterr().err
    assert main(["same", str(run), str(tmp_path)]) == 4


def test_runs_with_nothing_in_common_are_refused(fakes: Fakes, run_it: RunIt) -> None:
    run = run_it(fakes, *PLAN)
    with pytest.raises(Refusal, match="share no trial"):
        sameness(run, replace(run, records=()), "one")
    with pytest.raises(Refusal, match="name another contestant with --against"):
        sameness(run, run, "ar")
