"""The gate through its own door, on toy strategies whose clocks are virtual: what it says and with which exit code."""

import json
import re
import shutil
import signal
from pathlib import Path
from typing import Any

import pytest

from reports.gate_tree import base_tree
from tests.gate.toys import Repo

AR = ("--strategies", "ar")


def state(repo: Repo) -> tuple[Any, ...]:
    return (
        repo.git("status", "--porcelain"),
        (repo.path / ".git" / "config").read_bytes(),
        repo.git("rev-parse", "HEAD"),
    )


def test_equal_code_passes_and_nothing_is_left_behind(repo: Repo) -> None:
    before = state(repo)
    code, out, error = repo.gate("--base", "HEAD")
    assert code == 0, error
    assert out[0] == "exact: 12 cells compute what they did: PASS"
    lines = [line for line in out if ": PASS" in line][1:]
    assert [line.partition(":")[0] for line in lines] == ["ar", "mask_predict", "ctc"]
    assert any("base and head hold the same strategies" in line for line in error)
    assert state(repo) == before
    assert repo.traces() == []
    written = {path.name for path in (repo.path / "runs" / "gate").iterdir()}
    tools = {"pytest-benchmark.json", "github-action-benchmark.json", "bencher.json"}
    assert written == {"gate.json", "gate.md", "junit.xml"} | tools


def test_a_head_that_is_ten_percent_slower_is_a_regression_found_twice(repo: Repo) -> None:
    repo.change(COST=1.1)
    code, out, _ = repo.gate("--base", "HEAD", *AR)
    assert code == 1
    assert "ar: +10.0 % [+10.0, +10.0], per-token cost up, fixed cost unchanged: REGRESSION" in out
    (verdict,) = json.loads((repo.path / "runs/gate/gate.json").read_text())["strategies"].values()
    assert (len(verdict["blocks"]), len(verdict["confirming_blocks"])) == (5, 5)


def test_a_base_that_burns_thirty_percent_more_is_noticed(repo: Repo) -> None:
    repo.change(COST=1.3).commit()
    repo.change(COST=1.0)
    code, out, _ = repo.gate("--base", "HEAD", *AR)
    assert code == 0
    assert any(line.startswith("ar: −23.1 % [−23.1, −23.1], per-token cost down") for line in out)


def test_a_base_that_raises_is_noticed(repo: Repo) -> None:
    repo.change(RAISES=True).commit()
    repo.change(RAISES=False)
    code, out, error = repo.gate("--base", "HEAD")
    assert (code, out) == (4, [])
    assert error[-1] == "gate: the base cannot run ar@16: RuntimeError: the toy is broken"


def test_time_spent_waiting_is_found_though_the_processor_is_idle(repo: Repo) -> None:
    repo.change(WAITING_S=0.05)
    code, out, _ = repo.gate("--base", "HEAD", *AR)
    assert code == 1
    assert any(line.endswith("REGRESSION (wall time grew by more than 25 %: waiting, not work)") for line in out)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"PASSES_MORE": 1}, "exact: ar@16: seen_decoder_calls 16 committed, 17 here: CHANGED"),
        ({"RAISES": True}, "exact: ar@16: fails: RuntimeError: the toy is broken: CHANGED"),
        ({"NAMES": ("ar", "mask_predict", "ctc2")}, "exact: ctc@16: this cell is gone: CHANGED"),
        ({"NAMES": ("ar", "mask_predict")}, "exact: ctc@64: this cell is gone: CHANGED"),
        ({"NAMES": ("ar", "mask_predict", "ctc", "new")}, "exact: new@16: this cell is new: CHANGED"),
    ],
)
@pytest.mark.parametrize("what", [("--exact",), ("--base", "HEAD")])
def test_a_counter_that_changed_is_said_and_no_clock_is_asked(
    repo: Repo, change: dict[str, Any], complaint: str, what: tuple[str, ...]
) -> None:
    repo.change(**change)
    code, out, _ = repo.gate(*what)
    assert code == 3
    assert out.count(complaint) == 1
    assert not any("at the base" in line for line in out)
    assert not any("PASS" in line or "block" in line for line in out)
    assert repo.traces() == []


def test_a_change_that_the_committed_counters_tell_of_is_noted_and_timed(repo: Repo) -> None:
    repo.change(PASSES_MORE=1)
    assert repo.gate("--write-baseline")[0] == 0
    code, out, _ = repo.gate("--base", "HEAD", *AR)
    assert code == 0
    assert any(
        line.startswith("note: meant, as the committed counters say: ar@16: seen_decoder_calls 16") for line in out
    )


def test_a_vanished_strategy_stays_an_error_after_a_new_baseline_unless_it_is_allowed(repo: Repo) -> None:
    repo.change(NAMES=("ar", "ctc"))
    assert repo.gate("--write-baseline")[0] == 0
    assert repo.gate("--base", "HEAD", *AR)[0] == 3
    assert repo.gate("--base", "HEAD", *AR, "--allow-changes")[0] == 0


def test_a_dirty_tree_is_judged_as_it_stands_and_said_so(repo: Repo) -> None:
    repo.change(COST=0.9)
    code, _, error = repo.gate("--base", "HEAD", *AR)
    assert code == 0
    assert "note: the head is the working tree with 1 uncommitted changes" in error
    assert json.loads((repo.path / "runs/gate/gate.json").read_text())["dirty"] is True


def test_other_weights_than_the_bases_are_said(repo: Repo) -> None:
    (repo.path / "generators/weights/toy.txt").write_text("others\n")
    _, out, _ = repo.gate("--base", "HEAD", *AR)
    assert any("both sides run the head's, so code alone is judged" in line for line in out)


def test_the_base_is_where_the_branches_parted(repo: Repo) -> None:
    repo.git("switch", "--quiet", "--create", "later")
    repo.change(COST=0.5).commit()
    repo.git("switch", "--quiet", "main")
    repo.commit()
    code, out, _ = repo.gate("--base", "later", *AR)
    assert code == 0
    assert any(line.startswith("ar: 0.0 %") for line in out), out


def test_without_git_there_is_no_base(repo: Repo, tmp_path: Path) -> None:
    empty = tmp_path / "nothing"
    empty.mkdir()
    code, _, error = repo.gate("--base", "HEAD", PATH=str(empty))
    assert (code, error) == (
        4,
        ["gate: git is not installed, so there is no base to compare with; the exact line alone: --exact"],
    )
    shutil.rmtree(repo.path / ".git")
    code, _, error = repo.gate("--base", "HEAD")
    assert code == 4
    assert len(error) == 1 and "is no git checkout" in error[0]
    assert repo.gate("--exact")[0] == 0


def test_a_shallow_clone_says_what_to_fetch(repo: Repo, tmp_path: Path) -> None:
    repo.commit()
    repo.git("clone", "--quiet", "--depth=1", f"file://{repo.path}", str(tmp_path / "shallow"))
    code, _, error = Repo(tmp_path / "shallow").gate("--base", "HEAD~1")
    assert code == 4
    assert error == [
        "gate: no commit 'HEAD~1' here: this is a shallow clone; git fetch --unshallow (in a workflow: fetch-depth: 0)"
    ]


def test_a_commit_without_code_is_no_base(repo: Repo) -> None:
    repo.git("switch", "--quiet", "--orphan", "empty")
    repo.git("commit", "--quiet", "--allow-empty", "--message", "Begin")
    repo.git("switch", "--quiet", "--create", "first")
    repo.git("checkout", "--quiet", "main", "--", ".")
    repo.commit()
    code, _, error = repo.gate("--base", "empty")
    assert code == 4
    assert re.fullmatch(r"gate: commit \w{12} has no generators/registry.py: nothing .* --exact", error[0])


def test_missing_weights_and_unknown_strategies_are_bad_input(repo: Repo) -> None:
    code, _, error = repo.gate("--base", "HEAD", "--strategies", "cmlm")
    assert code == 2
    assert error[-1] == "gate: the head: unknown strategy 'cmlm'; choose from: ar, mask_predict, ctc"
    (repo.path / "generators/weights/toy.txt").unlink()
    for what in (("--exact",), ("--base", "HEAD")):
        code, _, error = repo.gate(*what)
        assert (code, error[-1]) == (2, "gate: the head: ar: ValueError: no weights 'toy.txt'")


def test_a_strategy_whose_weights_are_not_shipped_yet_is_left_out_and_said_so(repo: Repo) -> None:
    before = (repo.path / "reports/baselines/exact.json").read_text()
    repo.change(UNSHIPPED=("ctc weights",))
    code, out, error = repo.gate("--exact")
    assert code == 0, error
    assert out == [
        "exact: 8 cells compute what they did: PASS",
        "note: ctc is not counted here: ValueError: no weights 'toy.txt'",
    ]
    assert repo.gate("--write-baseline")[0] == 0
    assert json.loads((repo.path / "reports/baselines/exact.json").read_text()) == json.loads(before)


@pytest.mark.parametrize("harm", ["", "{", '{"schema": 9, "cells": {}}', '{"schema": 1, "cells": []}', "[]"])
def test_a_missing_or_broken_baseline_has_its_own_code(repo: Repo, harm: str) -> None:
    path = repo.path / "reports/baselines/exact.json"
    path.write_text(harm) if harm else path.unlink()
    code, _, error = repo.gate("--exact")
    assert code == 4
    assert len(error) == 1 and error[0].endswith("make baseline")


def test_what_was_not_measured_is_inconclusive_and_only_strictness_minds(repo: Repo) -> None:
    code, out, _ = repo.gate("--base", "HEAD", *AR, "--budget", "0.001s")
    assert code == 0
    assert "note: ar was not measured: no time left" in out
    assert repo.gate("--base", "HEAD", *AR, "--budget", "0.001s", "--strict")[0] == 5


@pytest.mark.parametrize("budget", ["", "5", "0s", "-3m", "infs", "nan"])
def test_a_budget_that_is_none_is_bad_input(repo: Repo, budget: str) -> None:
    code, _, error = repo.gate("--base", "HEAD", f"--budget={budget}")
    assert code == 2
    assert len(error) == 1 and "--budget must be a time above zero" in error[0]


@pytest.mark.parametrize("signal_number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_leaves_no_process_and_no_worktree(repo: Repo, signal_number: int) -> None:
    before = state(repo)
    process = repo.start("--base", "HEAD")
    assert process.stderr is not None
    said = []
    while not any("block 1" in line for line in said):
        said.append(process.stderr.readline())
        assert said[-1], said
    process.send_signal(signal_number)
    _, error = process.communicate()
    assert process.returncode == 130
    assert error.splitlines()[-1] == "gate: interrupted; nothing more is judged, and no process or worktree is left"
    assert "Traceback" not in error
    assert repo.traces() == []
    assert state(repo) == before


def test_what_a_killed_gate_left_is_gone_after_the_next_one(repo: Repo) -> None:
    process = repo.start("--base", "HEAD")
    assert process.stderr is not None
    while not any("arnar-gate-" in path for path in repo.traces()):
        assert process.poll() is None
    process.kill()
    process.communicate()
    left = repo.traces()
    assert left
    assert repo.gate("--base", "HEAD", *AR)[0] == 0
    assert repo.traces() == []


def test_a_gate_leaves_the_worktree_of_another_that_runs(repo: Repo) -> None:
    with base_tree("HEAD", repo.path) as first, base_tree("HEAD", repo.path) as second:
        assert first.tree != second.tree
        assert (first.tree / "generators" / "registry.py").is_file()
    assert repo.traces() == []


def test_a_mistake_of_ours_is_no_regression_and_leaves_nothing(repo: Repo) -> None:
    words = repo.path / "reports" / "gate_words.py"
    words.write_text(words.read_text() + "\n\ndef line(*given):\n    return 1 / 0\n")
    code, out, error = repo.gate("--base", "HEAD", *AR)
    assert (code, out) == (70, [])
    assert "ZeroDivisionError" in error[-1]
    assert repo.traces() == []


def test_a_folder_that_cannot_be_written_is_bad_input_before_anything_is_timed(repo: Repo) -> None:
    (repo.path / "taken").write_text("a file\n")
    code, out, error = repo.gate("--base", "HEAD", *AR, "--out", "taken/gate")
    assert (code, out) == (2, [])
    assert not any("block" in line for line in error)
    assert "taken/gate" in error[-1]
