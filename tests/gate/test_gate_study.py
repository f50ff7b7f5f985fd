"""The gate's own evidence: collecting it, going on with it, and what is made of it."""

import json
import math
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from reports.gate import AGAIN, BASE
from reports.gate_evidence import evaluate, page, render, smallest_found, whole_gates
from reports.gate_replay import SCENARIOS, Study, effects, in_order, pool, read_study, shares
from reports.gate_rivals import RULES, alarms
from reports.gate_study import DESIGN, SIDES
from tests.gate.synthetic_pairs import block, plain
from tests.gate.toys import QUIET, Repo

FACTORS = {BASE: 1.0, AGAIN: 1.0, "third": 1.0, "plus5": 1.05, "plus10": 1.1, "plus20": 1.2, "fixed": 1.1, "sleep": 1.0}
SETUP = {"kind": "setup", "at": "2026-11-30T00:00:00+00:00", "commit": "0" * 40, "machine": "made up", "cells": []}


def lines(n: int, load: str = "quiet", names: tuple[str, ...] = ("ar", "ctc")) -> list[dict[str, Any]]:
    """Blocks of a made-up study, as its file holds them."""
    found = []
    for nth in range(n):
        rounds = {}
        for which, name in enumerate(names):
            made = {
                side: block(10_000 * nth + 100 * which + at, lambda length, f=factor: f * plain(length), rounds=5)  # type: ignore[misc]
                for at, (side, factor) in enumerate(FACTORS.items())
            }
            rounds[name] = [
                [
                    one.length,
                    {side: [round(1e6 * s) for s in made[side].rounds[i].readings["head"]] for side in FACTORS},
                ]
                for i, one in enumerate(made[BASE].rounds)
            ]
        found.append({"kind": "block", "load": load, "at": "now", "rounds": rounds})
    return found


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in [SETUP, *rows]))
    return path


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    return read_study(write(tmp_path_factory.mktemp("study") / "s.jsonl", lines(14)))


def test_every_side_of_the_study_has_a_made_up_cost() -> None:
    assert tuple(FACTORS) == SIDES


def test_a_scenario_weighs_what_its_side_was_burdened_with(study: Study) -> None:
    for scenario, side in SCENARIOS.items():
        found = effects(pool(study.blocks["quiet"], scenario))
        assert list(found) == ["ar", "ctc"]
        assert list(found.values()) == pytest.approx([math.log(FACTORS[side])] * 2, abs=0.02)


def test_the_replayed_gate_tells_equal_code_from_a_tenth_more(study: Study) -> None:
    same, slower = (shares(pool(study.blocks["quiet"], s), seed=1, resamples=4, gates=6) for s in ("aa", "plus20"))
    assert same.alarms.value == 0
    assert same.passed.value > 0.9
    assert slower.found.value > 0.9
    assert slower.found.lower <= slower.found.value <= slower.found.upper
    for found in (same, slower):
        assert found.found.value + found.inconclusive.value + found.passed.value == pytest.approx(1)


def test_gates_in_order_use_no_block_twice(study: Study) -> None:
    blocks = pool(study.blocks["quiet"], "aa")
    alarms_seen, gates = in_order(blocks)
    assert alarms_seen == 0
    assert gates in (1, 2)  # 14 blocks, 5 to 12 a gate, the last one kept back


@pytest.mark.parametrize("rule", RULES)
def test_every_other_rule_finds_what_is_twice_as_slow_and_is_bounded(rule: str) -> None:
    rows = lines(6)
    for row in rows:
        for rounds in row["rounds"].values():
            for _, sides in rounds:
                sides["plus20"] = [2 * t for t in sides["plus20"]]
    blocks = study_of(rows).blocks["quiet"]
    slower, found = alarms(blocks, "plus20", rule), alarms(blocks, "aa", rule)
    assert slower is not None and found is not None
    assert slower.value == 1
    assert 0 <= found.lower <= found.value <= found.upper <= 1


def study_of(rows: list[dict[str, Any]]) -> Study:
    with tempfile.TemporaryDirectory() as folder:
        return read_study(write(Path(folder) / "s.jsonl", rows))


def test_a_torn_line_is_counted_and_left_out(tmp_path: Path) -> None:
    path = write(tmp_path / "s.jsonl", lines(2))
    with path.open("a") as file:
        file.write('{"kind":"block","lo')
    found = read_study(path)
    assert (len(found.blocks["quiet"]), found.torn) == (2, 1)


@pytest.mark.parametrize("text", ["", "[]\n", '{"kind":"block"}\n', "nonsense\n"])
def test_a_file_without_a_set_up_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "s.jsonl"
    path.write_text(text)
    with pytest.raises(ValueError, match="set-up"):
        read_study(path)


def test_one_block_is_no_study_yet(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="fewer than two blocks"):
        render(write(tmp_path / "s.jsonl", lines(1)))


def test_results_say_what_holds_and_what_was_not_reached(study: Study) -> None:
    results = evaluate(study, resamples=2, gates=3)
    said = page(results, "s")
    assert "## quiet: 14 blocks" in said and "`s.jsonl`" in said and "(s.svg)" in said
    assert "≤ 1.5 %" in said and "≥ 95.0 %" in said
    assert set(results["loads"]["quiet"]["rivals"]) == set(RULES)
    json.dumps(results, allow_nan=False)
    results["loads"]["quiet"]["scenarios"]["plus10"]["found"][0] = 0.5
    assert "**not reached**" in page(results, "s")
    proved = results["loads"]["quiet"]["scenarios"]["aa"]["false_alarms"]
    assert "≤ 1.5 %: holds" in page(results, "s")
    proved["at_most"] = 0.016
    assert "≤ 1.5 %: **not reached**" in page(results, "s") and "at most 1.60 % of gates" in page(results, "s")


def test_the_smallest_found_slowdown_lies_on_the_line_between_two_tried() -> None:
    rows = {"aa": (0.0, 0.0), "plus5": (0.05, 0.5), "plus10": (0.10, 0.9), "plus20": (0.20, 1.0)}
    scenarios = {n: {"found": [share], "log_effects": {"ar": math.log1p(e)}} for n, (e, share) in rows.items()}
    middle = math.expm1((math.log(1.1) + math.log(1.2)) / 2)
    assert smallest_found(scenarios) == pytest.approx(middle)
    scenarios["plus20"]["found"] = [0.94]
    assert smallest_found(scenarios) is None


def test_whole_gates_are_counted_by_load_scenario_and_strategies(study: Study) -> None:
    gate = {"load": "quiet", "scenario": "aa", "seconds": 70, "words": {"ar": "PASS", "ctc": "REGRESSION"}}
    calm = {**gate, "seconds": 90, "words": {"ar": "PASS", "ctc": "PASS"}}
    unclocked = {"load": "bursty", "scenario": "aa", "words": {"ctc": "INCONCLUSIVE"}}
    rows = whole_gates([gate, unclocked, calm, {**calm, "words": {"ctc": "PASS"}}])
    assert [(row["strategies"], row["gates"], row["alarms"]) for row in rows] == [
        ("ar, ctc", 2, 1), ("ctc", 1, 0), ("ctc", 1, 0),
    ]  # fmt: skip
    assert rows[0]["words"] == {"PASS": 3, "REGRESSION": 1}
    said = page({**evaluate(study, resamples=2, gates=3), "whole_gates": rows}, "s")
    assert "| quiet | the same code | ar, ctc | 2 | 1 | 3 PASS, 1 REGRESSION | 80 (70 to 90) |" in said
    assert "| bursty | the same code | ctc | 1 | 0 | 1 INCONCLUSIVE | – |" in said


def test_page_and_figure_are_the_same_bytes_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reports.gate_replay.RESAMPLES", 1)
    small = {"resamples": 1, "gates": 2}
    monkeypatch.setattr("reports.gate_evidence.evaluate", lambda study: evaluate(study, **small))
    path = write(tmp_path / "s.jsonl", [*lines(3), *lines(3, "bursty")])
    files = render(path)
    first = [file.read_bytes() for file in files]
    assert [file.name for file in files] == ["s.json", "s.md", "s.svg"]
    assert [file.read_bytes() for file in render(path)] == first
    assert first[2].startswith(b"<?xml") and b"this gate" in first[2]


def test_collecting_goes_on_where_it_stopped(repo: Repo) -> None:
    rows = []
    for _ in range(2):
        command = [
            sys.executable,
            "-m",
            "reports",
            "gate-study",
            "collect",
            "--blocks=1",
            "--strategies=ar",
            "--file=s.jsonl",
        ]
        done = subprocess.run(
            command, cwd=repo.path, env=os.environ | QUIET, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        rows.append([json.loads(line) for line in (repo.path / "s.jsonl").read_text().splitlines()])
    assert [row["kind"] for row in rows[1]] == ["setup", "block", "block"]
    assert rows[1][:2] == rows[0]
    sides = rows[1][2]["rounds"]["ar"][0][1]
    assert set(sides) == set(SIDES)
    assert repo.traces() == []


def test_a_study_whose_blocks_were_made_otherwise_is_not_gone_on_with(repo: Repo) -> None:
    (repo.path / "s.jsonl").write_text('{"kind": "setup", "cells": []}\n')
    command = [sys.executable, "-m", "reports", "gate-study", "collect", "--blocks=1", "--file=s.jsonl"]
    done = subprocess.run(command, cwd=repo.path, env=os.environ | QUIET, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "was begun when blocks were made otherwise" in done.stderr
    assert (repo.path / "s.jsonl").read_text().count("\n") == 1


def test_a_study_begun_on_another_processor_is_not_gone_on_with(repo: Repo) -> None:
    setup = {**SETUP, "design": DESIGN}
    (repo.path / "s.jsonl").write_text(json.dumps(setup) + "\n")
    command = [sys.executable, "-m", "reports", "gate-study", "collect", "--blocks=1", "--file=s.jsonl"]
    done = subprocess.run(command, cwd=repo.path, env=os.environ | QUIET, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "was begun on made up and this is" in done.stderr
    assert json.loads((repo.path / "s.jsonl").read_text()) == setup


def test_a_whole_gate_of_the_study_finds_the_work_that_was_added(repo: Repo) -> None:
    command = [sys.executable, "-m", "reports", "gate-study", "collect", "--gates=1", "--scenario=plus20"]
    command += ["--strategies=ar", "--file=s.jsonl"]
    done = subprocess.run(command, cwd=repo.path, env=os.environ | QUIET, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    setup, gate = (json.loads(line) for line in (repo.path / "s.jsonl").read_text().splitlines())
    assert (gate["kind"], gate["load"], gate["scenario"]) == ("gate", "quiet", "plus20")
    assert gate["words"] == {"ar": "REGRESSION"}
    (shortest, *_) = setup["cells"]
    assert shortest["passes"] == shortest["length"] == 16
    assert shortest["product_s"] == pytest.approx({"per_step": 16e-5, "per_call": 1e-5})  # 10 microseconds each
    assert shortest["call_s"] == pytest.approx(1.01 * 0.018, rel=0.02)  # without them
