"""The registry of a toy tree: strategies that take no time, but move the worker's clocks by what they claim to cost.

Copied into a repository of its own by `toys.py`; the numbers below are what a test changes there.
"""

from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from generators.base import Capability, FinishReason, Generation, Phase, Placement, Request, Stopwatch
from suites import gate_burden, gate_worker

COST = 1.0
FIXED_S = 0.002
WAITING_S = 0.0
PASSES_MORE = 0
RAISES = False
NAMES = ("ar", "mask_predict", "ctc")
STRATEGIES = {name: SimpleNamespace(weights=f"{name} weights") for name in NAMES}
UNSHIPPED = ()
WEIGHTS = Path(__file__).parent / "weights" / "toy.txt"


class Clock:
    cpu_ns = 1
    wall_ns = 1


gate_worker.process_time_ns = gate_burden.process_time_ns = lambda: Clock.cpu_ns
gate_worker.perf_counter_ns = lambda: Clock.wall_ns


@dataclass(frozen=True)
class Spec:
    label: str
    strategy: str
    knobs: dict[str, str]


@dataclass(frozen=True)
class Loaded:
    generator: "Toy"
    codec: "Words"
    cache: str = "none"


class Words:
    def encode(self, text: str) -> tuple[int, ...]:
        return tuple(range(1, len(text.split()) + 2))

    def encode_target(self, text: str) -> tuple[int, ...]:
        return self.encode(text)[:-1]


class Weight:
    """A product with it takes ten microseconds."""

    __array_ufunc__ = None

    def __getitem__(self, rows: slice) -> "Weight":
        return self

    @property
    def T(self) -> "Weight":
        return self

    def __rmatmul__(self, row: Any) -> None:
        Clock.cpu_ns += 10_000
        Clock.wall_ns += 10_000


class Module:
    """What of a torch module a hook needs."""

    def __init__(self) -> None:
        self.hooks: list[Any] = []

    def register_forward_pre_hook(self, hook: Any, with_kwargs: bool = False) -> Any:
        entry = (hook, with_kwargs)
        self.hooks.append(entry)
        return SimpleNamespace(remove=lambda: self.hooks.remove(entry))

    def __call__(self, states: Any) -> None:
        for hook, with_kwargs in self.hooks:
            hook(self, (states,), {}) if with_kwargs else hook(self, (states,))


class Toy:
    capabilities = frozenset({Capability.EXACT_LENGTH, Capability.COUNTS})

    def __init__(self, label: str) -> None:
        self.label, self.calls = label, 0
        self.encoder, self.decoder = Module(), Module()
        self.decoder.layers = [SimpleNamespace(fc1=SimpleNamespace(weight=Weight()))]
        self.model = SimpleNamespace(model=SimpleNamespace(encoder=self.encoder, decoder=self.decoder))

    def generate(self, request: Request, stopwatch: Stopwatch) -> Generation:
        if RAISES:
            raise RuntimeError("the toy is broken")
        n, self.calls = request.length.n, self.calls + 1
        spent_s = COST * (FIXED_S + 0.001 * n) * (1 + 0.01 * (self.calls % 3))
        Clock.cpu_ns += round(spent_s * 1e9)
        Clock.wall_ns += round((spent_s + WAITING_S) * 1e9)
        self.encoder(np.ones((1, 5, 2)))
        for _ in range(n + PASSES_MORE):  # a pass more than it owns up to
            self.decoder(np.ones((1, 1, 2)))
        stopwatch.lap(Phase.DECODE, calls=n, positions=n)
        return Generation(
            token_ids=((1,) * n,), tokens_raw=(n,), finish_reasons=(FinishReason.LENGTH,), steps=tuple(stopwatch.steps)
        )


def parse(text: str) -> Spec:
    if text not in STRATEGIES:
        raise ValueError(f"unknown strategy {text!r}; choose from: {', '.join(STRATEGIES)}")
    return Spec(text, text, {})


def build(spec: Spec, placement: Placement) -> Loaded:
    if not WEIGHTS.is_file() or STRATEGIES[spec.label].weights in UNSHIPPED:
        raise ValueError(f"no weights {WEIGHTS.name!r}")
    return Loaded(Toy(spec.label), Words())
