"""Writing the files of a run: created whole, one writer at a time, every line written before the next trial begins.

A line survives the death of the process (kill -9), not a power cut: nothing is forced to the disk.
"""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from suites import strict_json
from suites.records import RECORDS_FILE, RUN_FILE, SAMPLES_FILE, SCORES_FILE, Record, RunInfo, Sample, Score
from suites.refusal import Refusal


@dataclass(frozen=True, slots=True)
class RunFolder:
    """A run's folder, locked against other writers until it is closed or this process ends, however it ends."""

    path: Path
    lock: int  # descriptor of the folder itself: it keeps its lock when the folder is renamed
    records: int
    samples: int

    def add(self, record: Record, samples: Iterable[Sample]) -> None:
        """Append a trial: its samples first, so that a record never stands without them."""
        text = "".join(strict_json.dumps(sample) + "\n" for sample in samples)
        if text:
            _write_all(self.path / SAMPLES_FILE, self.samples, text)
        _write_all(self.path / RECORDS_FILE, self.records, strict_json.dumps(record) + "\n")

    def add_traced(self, sample: Sample) -> None:
        """Append an output of a trial that has its record already."""
        _write_all(self.path / SAMPLES_FILE, self.samples, strict_json.dumps(sample) + "\n")

    def write_info(self, info: RunInfo) -> None:
        _replace(self.path / RUN_FILE, [info])

    def write_scores(self, scores: Iterable[Score]) -> None:
        write_scores(self.path, scores)

    def close(self) -> None:
        for descriptor in (self.records, self.samples, self.lock):
            os.close(descriptor)


def check_free(path: Path, force: bool, go_on: str = "the same command with --resume") -> None:
    """Refuse a path that no new run can have; to be asked before anything slow is done.

    `go_on` is the command that goes on with a run that is there.
    """
    if path.is_symlink() or (path.exists() and not path.is_dir()):
        raise Refusal(f"{path} is not a folder; choose another --out")
    if not path.is_dir() or not any(path.iterdir()):
        return
    if not (path / RUN_FILE).is_file():
        raise Refusal(f"{path} holds other files than a run's; choose another --out")
    if not force:
        raise Refusal(
            f"{path} already holds a run; to go on with it: {go_on} (make: RESUME=1); "
            "to replace it: --force (make: FORCE=1); to keep it: another --out (make: OUT=folder)"
        )


def create(path: Path, info: RunInfo, *, force: bool = False) -> RunFolder:
    """A new run's folder at `path`, which appears with its run.json in it or not at all.

    Refuses a path that holds anything, unless `force` is given and what it holds is a run nobody writes to.
    """
    check_free(path, force)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh = Path(tempfile.mkdtemp(prefix=f".{path.name}.", dir=path.parent))
    except OSError as failure:
        raise Refusal(f"cannot create {path}: {failure.strerror}") from None
    fresh.chmod(0o755)
    lock = lock_folder(fresh)
    try:
        _replace(fresh / RUN_FILE, [info])
        _move_in(fresh, path, force)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)  # it is gone already when it was moved in
    return _opened(path, lock)


def lock_folder(path: Path) -> int:
    """The lock on an existing folder, to be taken before it is read. Refuses when another process holds it."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as failure:
        raise Refusal(f"cannot open {path}: {failure.strerror}") from None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise Refusal(f"another process is writing to {path}") from None
    return descriptor


def reopen(path: Path, lock: int, records: Sequence[Record], samples: Sequence[Sample]) -> RunFolder:
    """The folder of an interrupted run, holding `records` and `samples` and nothing else: torn ends are gone."""
    _replace(path / RECORDS_FILE, records)
    _replace(path / SAMPLES_FILE, samples)
    return _opened(path, lock)


def write_scores(path: Path, scores: Iterable[Score]) -> None:
    """Put `scores` in the place of those of the run at `path`, whole or not at all; its lock must be held."""
    _replace(path / SCORES_FILE, scores)


def point_latest(path: Path) -> None:
    """Let `latest` beside a folder in `runs/` point to it; do nothing elsewhere, or where a file has that name."""
    link = path.parent / "latest"
    if path.parent.name != "runs" or (link.exists() and not link.is_symlink()):
        return
    fresh = path.parent / f".latest.{os.getpid()}"
    with suppress(OSError):  # a file system without links is no reason to lose a run
        fresh.symlink_to(path.name)
        fresh.replace(link)


def _move_in(fresh: Path, path: Path, force: bool) -> None:
    old = fresh.with_name(fresh.name + ".old")
    try:
        if force and path.is_dir():
            old_lock = lock_folder(path)
            path.rename(old)
            os.close(old_lock)
        fresh.rename(path)
    except OSError as failure:
        raise Refusal(f"cannot create {path}: {failure.strerror}") from None
    shutil.rmtree(old, ignore_errors=True)


def _opened(path: Path, lock: int) -> RunFolder:
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
    try:
        records, samples = (os.open(path / name, flags, 0o644) for name in (RECORDS_FILE, SAMPLES_FILE))
    except OSError as failure:
        raise Refusal(f"cannot write to {path}: {failure.strerror}") from None
    return RunFolder(path, lock, records, samples)


def _write_all(path: Path, descriptor: int, text: str) -> None:
    rest = memoryview(text.encode("ascii"))
    try:
        while rest:
            rest = rest[os.write(descriptor, rest) :]
    except OSError as failure:
        raise Refusal(f"cannot write {path}: {failure.strerror}; all before it is kept, --resume goes on") from None


def _replace(path: Path, values: Iterable[Any]) -> None:
    fresh = path.with_name(f".{path.name}.new")
    try:
        with fresh.open("w", encoding="ascii", newline="\n") as file:
            file.writelines(strict_json.dumps(value) + "\n" for value in values)
        fresh.replace(path)
    except OSError as failure:
        raise Refusal(f"cannot write {path}: {failure.strerror}") from None
