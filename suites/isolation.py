"""Contestants in processes of their own: what each holds, how its libraries behave and how it dies stay there.

The parent decides what comes next and writes the files; a child loads one contestant, calls and times it. They take
turns: while a call is timed the parent only waits, and while the parent writes the child only waits. So contestants are
interleaved here as they are in one process.
"""

import multiprocessing
import signal
from collections.abc import Sequence
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from types import ModuleType
from typing import TYPE_CHECKING

from generators.base import Capability, Generation, Placement, Request, Stopwatch, Unsupported
from suites import environment
from suites.contestants import Contestant, Registry, check_any, load_one
from suites.memory import measured
from suites.plan import Trial
from suites.process_memory import memory_limit
from suites.records import Record, Sample
from suites.refusal import Refusal
from suites.runner import Runner
from suites.tasks import Task
from suites.trial import MAX_WARMUPS, Failure

if TYPE_CHECKING:
    from generators.registry import Spec

GRACE_S = 10.0  # for a call that noticed its time limit to say so itself


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """All that a child needs to know; it goes over by pickling."""

    spec: "Spec"
    placement: Placement
    registry: Registry | None  # None: the real one
    tasks: tuple[Task, ...]
    start: int
    timeout_s: float
    memory_bytes: int | None  # that its calls may take beyond loading


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of one command."""

    made: tuple[tuple[Record, list[Sample]], ...]
    cost_s: float | None  # of a call of the trial's cell
    failure: Failure | None  # that stands for the cell from now on


@dataclass(slots=True)
class Elsewhere:
    """Stands in the parent for a generator that lives in a child."""

    capabilities: frozenset[Capability]

    def generate(self, request: Request, stopwatch: Stopwatch) -> Generation:
        raise Unsupported("it lives in a process of its own, where no traces are made")


def load_apart(
    specs: "Sequence[Spec]", placement: Placement, registry: Registry, timeout_s: float
) -> tuple[Contestant, ...]:
    """As `contestants.load`, each loaded in a process of its own that ends again. Refuses what that refuses."""
    jobs = [job_of(spec, placement, registry, (), 0, timeout_s, None) for spec in specs]
    contestants = []
    for job in jobs:
        child = Child(job)
        contestants.append(child.contestant)
        child.stop()
    return check_any(tuple(contestants))


def job_of(
    spec: "Spec", placement: Placement, registry: Registry, tasks: tuple[Task, ...], start: int, timeout_s: float,
    memory_bytes: int | None,
) -> Job:  # fmt: skip
    """A job whose registry goes over by its name where it is the real one, a module."""
    found = None if isinstance(registry, ModuleType) else registry
    return Job(
        spec=spec,
        placement=placement,
        registry=found,
        tasks=tasks,
        start=start,
        timeout_s=timeout_s,
        memory_bytes=memory_bytes,
    )


class Child:
    """A process with one contestant in it. Raises `Refusal` as loading it here would."""

    def __init__(self, job: Job) -> None:
        context = multiprocessing.get_context("spawn")
        self.timeout_s = job.timeout_s
        self.connection, other_end = context.Pipe()
        self.process: BaseProcess = context.Process(target=serve, args=(other_end, job), daemon=True)
        self.process.start()
        other_end.close()
        loaded = self._received(None)
        if isinstance(loaded, Refusal):
            self.stop()
            raise loaded
        self.contestant = loaded if isinstance(loaded, Contestant) else _lost(job.spec, loaded)

    def ask(self, command: str, trial: Trial, order: int = 0) -> Answer | Failure:
        """What came of `command`, or the failure that the child died of: it is then no more."""
        calls = MAX_WARMUPS if command == "warm_up" else 1
        try:
            self.connection.send((command, trial, order))
        except OSError:
            return self._death()
        answer = self._received(calls * self.timeout_s + GRACE_S)
        return answer if isinstance(answer, Answer | Failure) else Failure("error", f"no answer but {answer!r:.60}")

    def stop(self) -> None:
        """End the process, by its own will where it waits for a command."""
        self.connection.close()
        self.process.join(timeout=GRACE_S)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()

    def _received(self, limit_s: float | None) -> object:
        try:
            if self.connection.poll(limit_s):
                return self.connection.recv()
        except (EOFError, OSError):
            return self._death()
        self.process.kill()
        self._death()
        return Failure("timeout", f"took longer than {self.timeout_s:g} s; its process had to be killed")

    def _death(self) -> Failure:
        """Why the process is no more: SIGKILL, where we did not send it, is what the kernel does for want of memory."""
        self.process.join()
        code = self.process.exitcode or 0
        if code == -signal.SIGKILL:
            return Failure("oom", "its process was killed (SIGKILL), as the kernel does when memory runs out")
        name = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        return Failure("error", f"its process died ({name})")


def serve(connection: Connection, job: Job) -> None:
    """A child's life: load, say what was loaded, then one answer a command until the parent closes the connection."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches every process of a terminal; the parent decides
    environment.limit_threads(job.placement.threads)
    try:
        contestant = load_one(job.spec, job.placement, job.registry or _real_registry())
    except Refusal as refusal:
        connection.send(refusal)
        return
    connection.send(_told(contestant))
    made: list[tuple[Record, list[Sample]]] = []
    device = job.placement.device
    runner = Runner(
        contestants={contestant.label: contestant},
        tasks={task.name: task for task in job.tasks},
        sink=lambda record, samples: made.append((record, samples)),
        start=job.start,
        synchronize=environment.synchronizer(device),
        timeout_s=job.timeout_s,
    )
    with memory_limit(job.memory_bytes):
        while (command := _next(connection)) is not None:
            name, trial, order = command
            made.clear()
            _obey(runner, name, trial, order, device)
            connection.send(Answer(tuple(made), runner.costs.get(trial.cell), runner.failures.get(trial.cell)))


def _obey(runner: Runner, name: str, trial: Trial, order: int, device: str) -> None:
    match name:
        case "warm_up":
            runner.warm_up(trial)
        case "call":
            runner.call(trial)
        case "try_once":
            runner.try_once(trial)
        case "run_trial":
            runner.run_trial(trial, order)
        case "measure":
            measured(runner, trial, order, device)
        case _:
            raise ValueError(f"unknown command {name!r}")


def _next(connection: Connection) -> tuple[str, Trial, int] | None:
    try:
        command: tuple[str, Trial, int] = connection.recv()
    except EOFError:
        return None
    return command


def _real_registry() -> Registry:
    import generators.registry

    return generators.registry


def _told(contestant: Contestant) -> Contestant:
    """The contestant with a stand-in for its generator, which cannot leave its process."""
    loaded = contestant.loaded
    if loaded is None:
        return contestant
    return replace(contestant, loaded=replace(loaded, generator=Elsewhere(loaded.generator.capabilities)))


def _lost(spec: "Spec", failure: object) -> Contestant:
    why = failure if isinstance(failure, Failure) else Failure("error", f"no contestant but {failure!r:.60}")
    return Contestant(
        label=spec.label, strategy=spec.strategy, config=dict(spec.knobs), loaded=None, failure=why, load_s=0.0
    )
