"""Claims about processes that die: whatever is left can be gone on with, and each key is there exactly once."""

import os
import random
import resource
import shlex
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from suites.records import IncompatibleRun, Run, read_run
from tests.suites.fakes import write_task

ROOT = Path(__file__).parents[2]


def command(folder: Path, *more: str) -> list[str]:
    task = folder.parent / "tiny.tsv"
    if not task.exists():
        write_task(task)
    suite = ["run", "smoke", "--lengths", "4,6,9", "--repeats", "60", "--task", str(task), "--strategies", "one,two"]
    return [sys.executable, "-m", "tests.suites.fake_race", *suite, "--out", str(folder), *more]


def finish(folder: Path) -> Run:
    done = subprocess.run(command(folder, "--resume"), cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    run = read_run(folder)
    assert Counter(r.key for r in run.records) == dict.fromkeys(run.expected_keys, 1)
    assert run.info.expected == len(run.records)
    assert run.notes == ()
    due = {(r.label, row) for r in run.records if r.mode == "batched" for row in r.prompt_rows}
    assert Counter((s.label, s.row) for s in run.samples) == dict.fromkeys(due, 1)
    assert Counter((s.label, s.row) for s in run.scores) == dict.fromkeys(due, 1)
    return run


def test_twenty_kills_at_random_moments_lose_and_double_nothing(tmp_path: Path) -> None:
    folder, moments = tmp_path / "run", random.Random(20)
    environment = {**os.environ, "SECONDS_A_TOKEN": "0.001"}
    for _ in range(20):
        process = subprocess.Popen(
            command(folder, "--resume"), cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        wait_for_growth(folder / "records.jsonl", process)
        time.sleep(moments.uniform(0.0, 0.15))
        process.kill()
        process.wait()
        read_run(folder)  # readable as it lies there
    assert len(finish(folder).info.starts) >= 20


def wait_for_growth(path: Path, process: "subprocess.Popen[bytes] | subprocess.Popen[str]") -> None:
    """Until the process has written a record of its own, so that what follows falls into the race."""
    before, own, until = inode_and_size(path), None, time.monotonic() + 60
    while process.poll() is None and time.monotonic() < until:
        now = inode_and_size(path)
        if own is not None and now[1] > own[1]:
            return
        if own is None and now[0] != before[0]:  # the process has made the file, or made it anew
            own = now
        time.sleep(0.002)


def inode_and_size(path: Path) -> tuple[int, int]:
    try:
        found = path.stat()
    except FileNotFoundError:
        return 0, 0
    return found.st_ino, found.st_size


@pytest.mark.parametrize("nth", [1, 7, 8], ids=["the first record", "the first samples", "the record after samples"])
def test_death_in_the_middle_of_a_write_loses_one_round_at_most(tmp_path: Path, nth: int) -> None:
    folder = tmp_path / "run"
    environment = {**os.environ, "DIE_AT_WRITE": str(nth)}
    died = subprocess.run(command(folder), cwd=ROOT, env=environment, capture_output=True, check=False)
    assert died.returncode == -signal.SIGKILL
    notes = read_run(folder).notes
    assert any("a torn last line was left out" in note for note in notes)
    finish(folder)


def test_death_before_the_folder_is_there_leaves_nothing(tmp_path: Path) -> None:
    process = subprocess.Popen(command(tmp_path / "run"), cwd=ROOT, stderr=subprocess.DEVNULL)
    process.kill()
    process.wait()
    with pytest.raises(IncompatibleRun):
        read_run(tmp_path / "run")
    finish(tmp_path / "run")


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_exits_130_with_one_line_and_everything_kept(tmp_path: Path, how: signal.Signals) -> None:
    folder = tmp_path / "run"
    process = subprocess.Popen(
        command(folder), cwd=ROOT, env={**os.environ, "SECONDS_A_TOKEN": "0.005"}, stderr=subprocess.PIPE, text=True
    )
    wait_for_growth(folder / "records.jsonl", process)
    process.send_signal(how)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in errors
    last = errors.splitlines()[-1]
    assert last.startswith("suites: interrupted; everything measured so far is kept; to go on: ")
    assert shlex.split(last.partition("to go on: ")[2])[1:] == ["-m", "suites", *command(folder, "--resume")[3:]]
    kept = read_run(folder)
    assert len(kept.records) > 0
    assert kept.info.starts[0].ended_at is not None
    run = finish(folder)
    whole = [record for record in run.records if record.start == 0]
    assert list(kept.records[: len(whole)]) == whole


def test_a_second_writer_is_refused_and_disturbs_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    first = subprocess.Popen(command(folder), cwd=ROOT, stderr=subprocess.DEVNULL)
    wait_for_growth(folder / "records.jsonl", first)
    for flag in ("--resume", "--force"):
        second = subprocess.run(command(folder, flag), cwd=ROOT, capture_output=True, text=True, check=False)
        assert second.returncode == 2
        assert second.stderr.splitlines()[-1] == f"suites: another process is writing to {folder}"
    first.wait()
    assert first.returncode == 0
    finish(folder)


def limit_files_to_60_kB() -> None:
    """As near to a full disk as a test may come: a file cannot grow any more."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000))


def test_a_full_disk_is_one_line_and_exit_2_and_loses_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    done = subprocess.run(
        command(folder), cwd=ROOT, capture_output=True, text=True, check=False, preexec_fn=limit_files_to_60_kB
    )
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    assert done.stderr.splitlines()[-1].startswith(f"suites: cannot write {folder}/records.jsonl: File too large")
    assert len(read_run(folder).records) > 0
    finish(folder)
