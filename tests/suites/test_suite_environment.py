"""Claims about what a start says of where it happened."""

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from suites.environment import code_sha256, commit, differences, machine, versions
from suites.records import Start

START = Start(
    command="c",
    settings={},
    commit="1" * 40,
    dirty=False,
    machine={"cpu": "x"},
    threads=1,
    versions={"torch": "2"},
    weights={"ar": "aa"},
    corpora={"verse": "bb"},
    code_sha256="cc",
    started_at="2026-01-01T00:00:00+00:00",
)


def git(folder: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    subprocess.run(["git", "-C", str(folder), *identity, *arguments], check=True, capture_output=True)


def test_a_commit_is_told_and_whether_the_tree_differs_from_it(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / "a").write_text("1")
    git(tmp_path, "add", "a")
    git(tmp_path, "commit", "-qm", "Begin")
    head, dirty = commit(tmp_path)
    assert (len(head or ""), dirty) == (40, False)
    (tmp_path / "a").write_text("2")
    assert commit(tmp_path) == (head, True)


def test_no_repository_is_no_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert commit(tmp_path) == (None, None)


def test_the_code_hash_follows_the_sources_of_a_run_alone(tmp_path: Path) -> None:
    for name in ("generators/a.py", "generators/training/t.py", "metrics/b.py", "suites/c.py", "reports/d.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x = 1\n")
    before = code_sha256(tmp_path)
    for name in ("generators/training/t.py", "reports/d.py"):
        (tmp_path / name).write_text("x = 2\n")
    assert code_sha256(tmp_path) == before
    for name in ("generators/a.py", "metrics/b.py", "suites/c.py"):
        was = code_sha256(tmp_path)
        (tmp_path / name).write_text("x = 2\n")
        assert code_sha256(tmp_path) != was


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"threads": 2}, "threads 1 then, 2 now"),
        ({"code_sha256": "dd"}, "code cc (commit 1111111111111111111111111111111111111111) then, dd now"),
        ({"machine": {"cpu": "y"}}, "machine cpu: x then, y now"),
        ({"versions": {"torch": "3"}}, "versions torch: 2 then, 3 now"),
        ({"weights": {}}, "weights ar: aa then, None now"),
        ({"corpora": {"verse": "bb", "mine": "ee"}}, "corpora mine: None then, ee now"),
    ],
)
def test_each_difference_is_named(change: dict[str, object], words: str) -> None:
    assert differences(START, replace(START, **change)) == [words]  # type: ignore[arg-type]


def test_what_does_not_change_a_result_is_no_difference() -> None:
    later = replace(START, command="d", started_at="2027-01-01T00:00:00+00:00", dirty=True, load_s={"ar": 2.0})
    assert differences(START, later) == []


def test_machine_and_versions_are_known_without_importing_an_engine() -> None:
    found = machine("cpu")
    assert found["cpu"]
    assert found["cores"] >= 1
    assert found["memory_bytes"] > 1e8
    assert versions()["torch"][0].isdigit()
