"""From settings to a plan: the suite, the tasks, the loaded contestants. Nothing is timed or written here."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from generators.base import Placement
from suites import environment
from suites.contestants import Contestant, Registry, load, parse_labels
from suites.isolation import load_apart
from suites.line_up import LineUp
from suites.plan import TRACED, Entrant, Plan, Setup, make_plan
from suites.process_memory import free_bytes
from suites.refusal import Refusal
from suites.registry import Suite, suite_named
from suites.settings import Settings, parse_budget, parse_memory
from suites.tasks import Row, Task, load_task

if TYPE_CHECKING:
    from generators.models.text import Codec
    from generators.registry import Spec


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """All that a start knows before its first trial."""

    settings: Settings
    contestants: tuple[Contestant, ...]
    tasks: tuple[Task, ...]
    plan: Plan
    budget: str | None
    fewer_repeats: str | None  # "--repeats 2" where that is fewer than the suite's default
    synchronize: Callable[[], None]
    specs: "tuple[Spec, ...]"  # of the contestants, for loading them again in processes of their own
    placement: Placement
    registry: Registry
    suite: Suite

    @property
    def budget_s(self) -> float:
        return parse_budget(self.budget)

    @property
    def memory_bytes(self) -> int | None:
        """What calls may take beyond loading: what the user set, or all that is free in a suite that goes that far."""
        given = parse_memory(self.settings.memory_limit)
        grows = self.suite.until_memory and self.settings.device == "cpu"
        return free_bytes() if given is None and grows else given


def prepare(settings: Settings, registry: Registry, say: Callable[[str], None]) -> Prepared:
    """The loaded contestants and the plan for `settings`. Refuses whatever in them cannot be had."""
    suite = suite_named(settings.suite)
    _check_meaning(settings, suite)
    line_up = suite.line_up(_asked(settings, suite, say))
    specs, tasks = parse_labels(line_up.labels, registry), line_up.tasks
    synchronize = environment.synchronizer(settings.device)
    placement = Placement(device=settings.device, dtype=settings.dtype, threads=settings.threads)
    apart = settings.isolate or suite.of_memory
    contestants = (
        load_apart(specs, placement, registry, settings.timeout_s) if apart else load(specs, placement, registry)
    )
    for contestant in contestants:
        if contestant.failure is not None:
            say(f"{contestant.label} takes no part: {contestant.failure.reason}")
    return Prepared(
        settings=settings,
        contestants=contestants,
        tasks=tasks,
        plan=_plan(settings, suite, contestants, tasks),
        budget=settings.budget or suite.budget,
        fewer_repeats=f"--repeats {settings.repeats}" if (settings.repeats or suite.repeats) < suite.repeats else None,
        synchronize=synchronize,
        specs=tuple(specs),
        placement=placement,
        registry=registry,
        suite=suite,
    )


def _asked(settings: Settings, suite: Suite, say: Callable[[str], None]) -> LineUp:
    return LineUp(
        labels=settings.strategies or suite.contestants,
        tasks=tuple(load_task(name) for name in ([settings.task] if settings.task else suite.tasks)),
        chosen=settings.strategies is not None,
        seed=settings.seed,
        say=say,
    )


def _plan(settings: Settings, suite: Suite, contestants: Sequence[Contestant], tasks: tuple[Task, ...]) -> Plan:
    setup = Setup(
        suite=settings.suite,
        seed=settings.seed,
        repeats=settings.repeats or suite.repeats,
        lengths=settings.lengths or suite.lengths,
        batch_sizes=settings.batch_sizes or suite.batch_sizes,
        entrants=tuple(Entrant(label=c.label, exact=c.exact) for c in contestants),
        chosen=settings.strategies is not None,
        tasks=tasks,
        reference_lengths=_ruler(contestants, lambda codec, row: len(codec.encode_target(row.reference))),
        source_lengths=_ruler(contestants, lambda codec, row: len(codec.encode(row.source))),
    )
    if suite.uses_lengths:
        _check_lengths(setup.lengths, contestants)
    return make_plan(_plan_settings(settings, setup), suite.plan(setup))


def _plan_settings(settings: Settings, setup: Setup) -> dict[str, Any]:
    return {
        "suite": setup.suite,
        "tasks": [task.name for task in setup.tasks],
        "strategies": [entrant.label for entrant in setup.entrants],
        "lengths": list(setup.lengths),
        "batch_sizes": list(setup.batch_sizes),
        "repeats": setup.repeats,
        "traces": TRACED,
        "seed": setup.seed,
        "device": settings.device,
        "dtype": settings.dtype,
        "isolate": settings.isolate,
        "wrong_at": {task.name: list(task.wrong_at) for task in setup.tasks if task.wrong_at},
    }


def _check_meaning(settings: Settings, suite: Suite) -> None:
    for name in ("lengths", "batch_sizes"):
        if getattr(settings, name) is not None and not suite.uses_lengths:
            raise Refusal(f"--{name.replace('_', '-')} means nothing to the suite {settings.suite!r}; leave it out")


def _check_lengths(lengths: Sequence[int], contestants: Sequence[Contestant]) -> None:
    for contestant in contestants:
        if contestant.loaded and max(lengths) > (most := contestant.loaded.codec.max_source_tokens):
            raise Refusal(f"length {max(lengths)} lies beyond the {most} positions of {contestant.label!r}")


def _ruler(
    contestants: Sequence[Contestant], measure: "Callable[[Codec, Row], int]"
) -> Callable[[Task], Sequence[int]]:
    """Lengths of a task's rows in tokens of the first contestant that loaded: one ruler for all."""
    codec = next(c.loaded.codec for c in contestants if c.loaded is not None)
    known: dict[str, list[int]] = {}

    def lengths(task: Task) -> Sequence[int]:
        if task.name not in known:
            known[task.name] = [measure(codec, row) for row in task.rows]
        return known[task.name]

    return lengths
