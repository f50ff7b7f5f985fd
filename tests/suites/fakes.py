"""Contestants of known cost on a clock of their own, so that a test can say what must have been measured."""

import time
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from generators.base import (
    Capability,
    Exact,
    FinishReason,
    Generation,
    Phase,
    Placement,
    Request,
    Stopwatch,
    Unsupported,
    require,
)
from generators.registry import Loaded, Spec
from suites import trial
from suites.clock import Clock

if TYPE_CHECKING:
    import pytest  # not at run time: a fake race is started many times over, and need not wait for it

EOS = 0
FULL = frozenset({Capability.EXACT_LENGTH, Capability.NATURAL_LENGTH, Capability.BATCH})
NATURAL_ONLY = FULL - {Capability.EXACT_LENGTH}


class VirtualClock:
    """Stands still unless a fake moves it; stands in for both clocks that a trial reads."""

    def __init__(self, monkeypatch: "pytest.MonkeyPatch") -> None:
        self.now_ns = 0
        clock = Clock(wall_ns=lambda: self.now_ns, cpu_ns=lambda: self.now_ns // 2)
        monkeypatch.setattr(trial, "CURRENT", ContextVar("clock", default=clock))

    def sleep(self, seconds: float) -> None:
        self.now_ns += round(seconds * 1e9)


class Words:
    """A codec of one token a word."""

    max_source_tokens = 500
    eos_token_id = EOS

    def __init__(self) -> None:
        self.ids: dict[str, int] = {"</s>": EOS}

    def encode(self, text: str) -> tuple[int, ...]:
        return (*self.encode_target(text), EOS)

    def encode_target(self, text: str) -> tuple[int, ...]:
        return tuple(self.ids.setdefault(word, len(self.ids)) for word in text.split())

    def decode(self, ids: Sequence[int]) -> str:
        words = list(self.ids)
        return " ".join(words[i] for i in ids)

    def piece(self, token_id: int) -> str:
        return f" {list(self.ids)[token_id]}"


@dataclass
class Echo:
    """Gives its source back, or exactly n tokens, one call a token, and takes `seconds_a_token` by `sleep`."""

    sleep: Callable[[float], None]
    seconds_a_token: float = 0.001
    capabilities: frozenset[Capability] = FULL
    before: Callable[[int, Request], None] = lambda nth, request: None  # may raise or sleep; nth counts calls from 0
    requests: list[Request] = field(default_factory=list)

    def generate(self, request: Request, stopwatch: Stopwatch) -> Generation:
        require(self.capabilities, request)
        self.requests.append(request)
        self.before(len(self.requests) - 1, request)
        rows = tuple(self._row(prompt.prefix_ids, request) for prompt in request.prompts)
        for _ in range(max(map(len, rows))):
            self.sleep(self.seconds_a_token)
            stopwatch.lap(Phase.DECODE, calls=1, positions=len(rows))
        exact = isinstance(request.length, Exact)
        return Generation(
            token_ids=rows,
            tokens_raw=tuple(len(row) + (not exact) for row in rows),
            finish_reasons=tuple(FinishReason.LENGTH if exact else FinishReason.EOS for _ in rows),
            steps=tuple(stopwatch.steps),
        )

    def _row(self, source: Sequence[int], request: Request) -> tuple[int, ...]:
        if isinstance(request.length, Exact):
            return (1,) * request.length.n
        return tuple(source[:-1])[: request.length.max_new_tokens]


@dataclass
class Fakes:
    """A registry of whatever generators a test puts in. `name:knob=value` is `name` under another label."""

    generators: dict[str, Any]
    codec: Words = field(default_factory=Words)
    weights_sha256: str = "00" * 32

    def parse(self, text: str) -> Spec:
        name, *knobs = text.split(":")
        if name not in self.generators:
            raise ValueError(f"unknown strategy {name!r}; choose from: {', '.join(self.generators)}")
        return Spec(label=text, strategy=name, knobs=dict(knob.split("=") for knob in knobs))

    def build(self, spec: Spec, placement: Placement) -> Loaded:
        found = self.generators[spec.strategy]
        if isinstance(found, (Exception, Unsupported)):
            raise found
        return Loaded(
            generator=found, codec=self.codec, config=dict(spec.knobs), weights_sha256=self.weights_sha256, cache="none"
        )


def busy_wait(seconds: float) -> None:
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        pass


def write_task(path: Path, rows: int = 6, words: int = 5) -> Path:
    """A test set of `rows` pairs; row i has `words` + i words."""
    lines = [f"{'a ' * (words + i)}end{i}\t{'b ' * (words + i - 1)}end{i}\n" for i in range(rows)]
    path.write_text("".join(lines), encoding="utf-8")
    return path
