"""What the harness itself costs: trials of a generator that does nothing, through all that a real trial passes."""

import statistics
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from generators.base import Capability, FinishReason, Generation, Request, Stopwatch
from suites import store
from suites.contestants import Contestant
from suites.plan import Cell, Trial
from suites.records import SCHEMA_VERSION, Record, RunInfo, Sample
from suites.runner import Runner, Sink
from suites.tasks import Row, Task

TRIALS = 1000


class Nothing:
    """A generator that answers at once."""

    capabilities = frozenset({Capability.EXACT_LENGTH, Capability.NATURAL_LENGTH})

    def generate(self, request: Request, stopwatch: Stopwatch) -> Generation:
        return Generation(token_ids=((1,),), tokens_raw=(1,), finish_reasons=(FinishReason.LENGTH,), steps=())


class Letters:
    """A codec of one token a character."""

    max_source_tokens = 500
    eos_token_id = 0

    def encode(self, text: str) -> tuple[int, ...]:
        return tuple(map(ord, text))

    encode_target = encode

    def decode(self, ids: Sequence[int]) -> str:
        return "".join(map(chr, ids))

    def piece(self, token_id: int) -> str:
        return chr(token_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class Overhead:
    """Medians over the trials, in microseconds."""

    trials: int
    in_sample_us: float  # what a sample holds although nothing was generated
    whole_trial_us: float  # from one trial's begin to the next: request, clock, record, the line on disk


def overhead(trials: int = TRIALS) -> Overhead:
    """The harness's own cost on this machine, now."""
    samples: list[float] = []
    walls: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        files = store.create(Path(folder) / "run", _info())

        def sink(record: Record, texts: list[Sample]) -> None:
            samples.append(record.latency_s or 0.0)
            files.add(record, texts)

        runner = _runner(sink)
        for repeat in range(trials):
            trial = Trial("overhead", Cell("letters", "nothing", "natural", None, 1), repeat, (0,))
            began_ns = time.perf_counter_ns()
            runner.run_trial(trial, 0)
            walls.append((time.perf_counter_ns() - began_ns) * 1e-9)
        files.close()
    return Overhead(
        trials=trials,
        in_sample_us=statistics.median(samples) * 1e6,
        whole_trial_us=statistics.median(walls) * 1e6,
    )


def _runner(sink: Sink) -> Runner:
    from generators.registry import Loaded

    loaded = Loaded(generator=Nothing(), codec=Letters(), config={}, weights_sha256="", cache="none")
    nothing = Contestant(label="nothing", strategy="nothing", config={}, loaded=loaded, failure=None, load_s=0.0)
    task = Task("letters", (Row("a b c", "a b c", "1"),), "")
    return Runner(
        contestants={"nothing": nothing}, tasks={"letters": task}, sink=sink, start=0, synchronize=lambda: None
    )


def _info() -> RunInfo:
    return RunInfo(
        schema_version=SCHEMA_VERSION,
        suite="overhead",
        plan={"rounds": []},
        plan_hash="",
        expected=0,
        reduced=None,
        starts=(),
    )
