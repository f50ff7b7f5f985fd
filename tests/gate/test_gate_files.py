"""What a gate writes is read back by those it is written for."""

import json
import subprocess
import sys
from argparse import Namespace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from metrics.bounds import mean_bounds
from reports.gate import Block, Reading, Round, judge
from reports.gate_files import Outcome, files
from reports.gate_looks import ALPHA, LOOKS, Verdict, verdicts
from tests.gate.synthetic_pairs import block, plain, times

HEADS = {"ar": plain, "mask_predict": times(1.4), "ctc": times(1.05)}


def make() -> dict[str, Verdict]:
    seeds = iter(range(1, 10**6))
    return verdicts(list(HEADS), lambda names, needed: {name: block(next(seeds), HEADS[name]) for name in names})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("gate")
    outcome = Outcome(exact=("x|y@16: <b>gone</b>",), notes=(), cells=28, base="0" * 40, verdicts=make())
    write(out, outcome, "note: a | b <script>")
    return out


def write(out: Path, outcome: Outcome, said: str) -> None:
    for name, text in files(outcome, Namespace(device="cpu", seed=0, budget="5m"), [said]).items():
        (out / name).write_text(text)


def test_every_verdict_can_be_taken_again_from_the_file(folder: Path) -> None:
    kept = json.loads((folder / "gate.json").read_text())
    assert kept["rule"]["looks"] == list(LOOKS)
    for strategy in kept["strategies"].values():
        blocks = [
            Block(tuple(Round(r["length"], {s: Reading(*r[s]) for s in ("base", "head", "again")}) for r in rounds))
            for rounds in strategy["blocks"]
        ]
        again = judge(blocks, ALPHA / (len(LOOKS) * len(kept["strategies"])))
        assert [again.outcome, again.reason] == [strategy["judgement"]["outcome"], strategy["judgement"]["reason"]]
        assert list(again.effect) == pytest.approx(strategy["judgement"]["log_effect"])


def test_junit_counts_what_it_holds(folder: Path) -> None:
    root = ElementTree.parse(folder / "junit.xml").getroot()
    (suite,) = root
    assert (root.tag, suite.tag) == ("testsuites", "testsuite")
    assert {name: suite.get(name) for name in ("tests", "failures", "skipped", "errors")} == {
        "tests": "4", "failures": "2", "skipped": "1", "errors": "0",
    }  # fmt: skip
    told = {case.get("name"): [child.tag for child in case] for case in suite}
    assert told == {"exact": ["failure"], "ar": [], "mask_predict": ["failure"], "ctc": ["skipped"]}
    assert "REGRESSION" in (suite.find("testcase[@name='mask_predict']/failure").get("message") or "")  # type: ignore[union-attr]


def test_pytest_benchmark_compares_the_file(folder: Path, tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "pytest_benchmark",
        "compare",
        str(folder / "pytest-benchmark.json"),
        "--csv=t.csv",
    ]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "mask_predict@128" in (tmp_path / "t.csv").read_text()


def test_the_other_tools_find_the_fields_they_ask_for(folder: Path) -> None:
    entries = json.loads((folder / "github-action-benchmark.json").read_text())
    assert {entry["name"] for entry in entries} == {f"{name}@{n}" for name in HEADS for n in (16, 32, 64, 128)}
    assert all(entry["unit"] == "ms" and entry["value"] > 0 for entry in entries)
    metrics = json.loads((folder / "bencher.json").read_text())
    assert metrics["ar@128"]["latency"]["value"] == pytest.approx(
        1e6 * next(e["value"] for e in entries if e["name"] == "ar@128")
    )


def test_the_summary_is_a_table_that_no_name_can_break(folder: Path) -> None:
    text = (folder / "gate.md").read_text()
    rows = [line for line in text.splitlines() if line.startswith("| `")]
    assert [row.split("`")[1] for row in rows] == list(HEADS)
    assert all(row.replace("\\|", "").count("|") == 9 for row in rows)
    assert "<script>" not in text and "a \\| b" in text


def test_bounds_that_are_infinite_are_null_in_the_file(tmp_path: Path) -> None:
    short = verdicts(
        ["ar"],
        lambda names, needed: (
            {"ar": block(1)} if not (tmp_path / "x").exists() and (tmp_path / "x").touch() is None else None
        ),
    )
    assert mean_bounds([1.0], 0.1).upper == float("inf")
    write(tmp_path, Outcome(exact=(), notes=(), cells=1, verdicts=short), "")
    kept = json.loads((tmp_path / "gate.json").read_text())
    assert kept["strategies"]["ar"]["judgement"]["log_effect"][1:] == [None, None]
