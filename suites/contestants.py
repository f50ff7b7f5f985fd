"""The contestants of a race, loaded outside every timed region; one whose engine is not there stays in as a failure."""

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

from generators.base import Capability, Placement, Unsupported
from suites.refusal import Refusal
from suites.trial import Failure, failure_of

if TYPE_CHECKING:
    from generators.registry import Loaded, Spec


class Registry(Protocol):
    """What a race needs of `generators.registry`, the module itself being one."""

    def parse(self, text: str) -> "Spec": ...

    def build(self, spec: "Spec", placement: Placement) -> "Loaded": ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Contestant:
    label: str
    strategy: str
    config: dict[str, Any]  # resolved knobs; what the user wrote where it failed to load
    loaded: "Loaded | None"
    failure: Failure | None  # why `loaded` is None
    load_s: float

    @property
    def exact(self) -> bool:
        """Whether its length can be set. One that failed to load is planned as if it could."""
        return self.loaded is None or Capability.EXACT_LENGTH in self.loaded.generator.capabilities

    @property
    def cache(self) -> Literal["none", "exact", "approximate"]:
        return "none" if self.loaded is None else self.loaded.cache


def parse_labels(labels: Iterable[str], registry: Registry) -> "list[Spec]":
    """What each label means. Refuses an unknown strategy or knob, and a label given twice."""
    try:
        specs = [registry.parse(label) for label in labels]
    except ValueError as wrong:
        raise Refusal(str(wrong)) from None
    seen: set[str] = set()
    for spec in specs:
        if spec.label in seen:
            raise Refusal(f"{spec.label!r} is named twice")
        seen.add(spec.label)
    return specs


def load(specs: "Sequence[Spec]", placement: Placement, registry: Registry) -> tuple[Contestant, ...]:
    """The contestants, loaded in order.

    One whose engine is not installed, or which does not fit into memory, stays as a failure: the race goes on and says
    so. Refuses one whose knobs are misspelt or whose weights are missing or broken, and a race of nobody.
    """
    return check_any(tuple(load_one(spec, placement, registry) for spec in specs))


def check_any(contestants: tuple[Contestant, ...]) -> tuple[Contestant, ...]:
    """The contestants, one of whom at least was loaded. Refuses a race of nobody."""
    if all(c.loaded is None for c in contestants):
        first = contestants[0].failure
        raise Refusal(f"no contestant could be loaded; {contestants[0].label}: {first.reason if first else ''}")
    return contestants


def load_one(spec: "Spec", placement: Placement, registry: Registry) -> Contestant:
    """One of them."""
    began = time.perf_counter()
    loaded, failure = None, None
    try:
        loaded = registry.build(spec, placement)
    except (ImportError, MemoryError, OSError, RuntimeError, Unsupported, ValueError) as wrong:
        failure = failure_of(wrong)
        if failure.status == "error":
            raise Refusal(f"{spec.label}: {wrong}") from wrong
    return Contestant(
        label=spec.label,
        strategy=spec.strategy,
        config=dict(spec.knobs) if loaded is None else loaded.config,
        loaded=loaded,
        failure=failure,
        load_s=time.perf_counter() - began,
    )
