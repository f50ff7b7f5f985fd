"""The gate's processes: one a side, fresh for every block, asked line by line, and never left behind.

Each runs in a session of its own, so that Ctrl-C reaches the gate alone; and each ends when its input is closed, so
that even a gate that is killed leaves none.
"""

import json
import os
import select
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

ROOT = Path(__file__).resolve().parent.parent
LONGEST_ANSWER_S = 300.0
LONGEST_END_S = 5.0
INTERRUPTS = (signal.SIGINT, signal.SIGTERM)


class WorkerFailed(Exception):
    """A process that did not start or died; the message is one line."""

    def __init__(self, side: str, reason: str) -> None:
        super().__init__(f"{side}: {reason}")
        self.side, self.reason = side, reason


@dataclass(frozen=True, slots=True)
class Side:
    name: str
    tree: Path  # where its `generators` lie; the worker's own code is always that of ROOT


@dataclass(frozen=True, slots=True)
class Worker:
    side: Side
    process: subprocess.Popen[bytes]
    errors: IO[bytes]

    def send(self, command: Mapping[str, Any]) -> None:
        """Give a command; `receive` has its answer."""
        try:
            _pipe(self.process.stdin).write(json.dumps(command).encode() + b"\n")
        except OSError:
            raise WorkerFailed(self.side.name, self._last_words()) from None

    def receive(self) -> dict[str, Any]:
        """The next answer. Raises WorkerFailed when the process is gone or silent for too long."""
        pipe = _pipe(self.process.stdout)
        if not select.select([pipe], [], [], LONGEST_ANSWER_S)[0]:
            raise WorkerFailed(self.side.name, f"no answer within {LONGEST_ANSWER_S:g} s")
        line = pipe.readline()
        if not line.endswith(b"\n"):
            raise WorkerFailed(self.side.name, self._last_words())
        answer: dict[str, Any] = json.loads(line)
        return answer

    def ask(self, command: Mapping[str, Any]) -> dict[str, Any]:
        self.send(command)
        return self.receive()

    def end(self) -> None:
        """Close its input and wait; kill it when that does not help."""
        _pipe(self.process.stdin).close()
        try:
            self.process.wait(LONGEST_END_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        _pipe(self.process.stdout).close()
        self.errors.close()

    def _last_words(self) -> str:
        self.process.wait(LONGEST_END_S)
        self.errors.seek(0)
        lines = self.errors.read().decode("utf-8", "replace").split("\n")
        said = [line.strip() for line in lines if line.strip()]
        return (said[-1] if said else f"died with exit code {self.process.returncode}").removeprefix("suites: ")


@contextmanager
def workers(
    sides: Sequence[Side], strategies: Sequence[str], lengths: Sequence[int], device: str
) -> Iterator[dict[str, tuple[Worker, dict[str, Any]]]]:
    """A running worker and its greeting for each side, started side by side; no strategies stand for all there are.

    Raises WorkerFailed when one does not start or holds `generators` of another tree.
    """
    started: list[Worker] = []
    whole = False
    try:
        for side in sides:
            with undisturbed():  # an interrupt while it starts would leave a process that nobody knows
                started.append(_start(side, strategies, lengths, device))
        yield {worker.side.name: (worker, _greeting(worker)) for worker in started}
        whole = True
    finally:
        with undisturbed():
            for worker in started:
                if not whole:  # it may be in a long call, whose answer nobody waits for any more
                    worker.process.kill()
                worker.end()


@contextmanager
def undisturbed() -> Iterator[None]:
    """Let an interrupt wait until the block is done; then it is raised as KeyboardInterrupt."""
    caught: list[int] = []
    before = {one: signal.signal(one, lambda number, frame: caught.append(number)) for one in INTERRUPTS}
    try:
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)
    if caught:
        raise KeyboardInterrupt


def _start(side: Side, strategies: Sequence[str], lengths: Sequence[int], device: str) -> Worker:
    command = [sys.executable, "-P", "-m", "suites", "gate-worker", f"--tree={side.tree}", f"--device={device}"]
    command += [f"--lengths={','.join(map(str, lengths))}"]
    command += [f"--strategies={','.join(strategies)}"] if strategies else []
    paths = [side.tree, ROOT, os.environ.get("PYTHONPATH", "")]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(str(path) for path in paths if str(path))}
    errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the worker
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, env=environment, bufsize=0,
        cwd=tempfile.gettempdir(), start_new_session=True,
    )  # fmt: skip
    return Worker(side, process, errors)


def _greeting(worker: Worker) -> dict[str, Any]:
    """What the worker says first. It refuses by itself to run the wrong code, and is not trusted in that."""
    said = worker.receive()
    found = said.get("generators") or ["nowhere"]
    if not all(Path(path).is_relative_to(worker.side.tree.resolve()) for path in found):
        raise WorkerFailed(worker.side.name, f"runs {found[0]} and not the code in {worker.side.tree}")
    return said


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    if pipe is None:
        raise ValueError("a worker is talked to through pipes")
    return pipe
