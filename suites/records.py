"""The files of a run: raw measurements, one JSON line each, written as they are made and never edited.

Statistics are computed when read. Nothing here imports torch or the strategies, so a report needs neither.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeVar

from suites import strict_json
from suites.trace import Change as Change
from suites.trace import Trace as Trace
from suites.trace import TracedSlot as TracedSlot

SCHEMA_VERSION = 1
RUN_FILE, RECORDS_FILE, SAMPLES_FILE, SCORES_FILE = "run.json", "records.jsonl", "samples.jsonl", "scores.jsonl"

Status = Literal["ok", "oom", "timeout", "unsupported", "error"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StepRecord:
    phase: str
    seconds: float
    calls: int
    positions: int
    drafted: int = 0
    accepted: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One timed generation. Every planned key ends as one record with a status."""

    key: str  # hash of suite, task, label, config, length, batch, prompt set and repeat
    start: int  # which start (or resume) of the run made it: index into RunInfo.starts
    suite: str
    task: str  # "verse", "passage", or a user's task
    label: str  # the contestant as the user spells it: "mask_predict:n_iterations=10"
    strategy: str  # its registry name: "mask_predict"
    config: dict[str, Any]  # the strategy's resolved knobs, "weights" among them
    mode: Literal[
        "exact", "natural", "batched"
    ]  # how the length came about; "batched": quality pass, not a latency sample
    length: int | None  # exact: n; natural: the reference length (tokens) the prompts were chosen for; else None
    batch_size: int
    repeat: int
    order: int  # place inside its interleaved repeat
    prompt_rows: tuple[int, ...]  # rows of the task's test set
    status: Status
    reason: str | None = None
    latency_s: float | None = None
    cpu_s: float | None = None
    steps: tuple[StepRecord, ...] = ()
    tokens_kept: tuple[int, ...] = ()
    tokens_raw: tuple[int, ...] = ()
    canvas_positions: tuple[int, ...] | None = None
    finish_reasons: tuple[str, ...] = ()
    warmup_s: tuple[float, ...] = ()  # on the first record of its cell in a start
    cache: Literal["none", "exact", "approximate"] = "none"
    source_length: int | None = None  # the source length (tokens) the prompts were chosen for, where that is varied
    memory: dict[str, int] | None = None  # untimed trials of a process of its own: bytes, see suites.memory


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One output of the quality pass (`mode` batched), or one of a timed trial made once more with its trace."""

    key: str  # the record it came with
    task: str
    label: str
    row: int
    source: str
    reference: str
    reference_ids: tuple[int, ...]
    token_ids: tuple[int, ...]
    text: str
    finish_reason: str
    trace: Trace | None = None  # how it was written: such an output was not timed, and is not scored


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """One output's sufficient statistics by metric signature; a corpus score is a function of their sum."""

    task: str
    label: str
    row: int
    statistics: dict[str, tuple[float, ...]]  # metric signature -> statistics (see metrics.base.Metric)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bandwidth:
    working_set_bytes: int
    bytes_per_s: float  # read from a buffer of that size, again and again


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineSpeed:
    """What the machine did at the start of the run, with its threads, device and dtype, on plain kernels."""

    bandwidths: tuple[Bandwidth, ...]  # by rising working set
    flop_per_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """One start or resume of a run, with all that could explain a difference."""

    command: str
    settings: dict[str, Any]
    commit: str | None
    dirty: bool | None
    machine: dict[str, Any]  # cpu, cores, memory_bytes, platform
    threads: int
    versions: dict[str, str]
    weights: dict[str, str]  # label -> sha256
    corpora: dict[str, str]  # task -> sha256
    code_sha256: str  # of the sources of generators, metrics and suites: tells two dirty trees apart
    started_at: str  # ISO 8601, UTC
    ended_at: str | None = None
    load_s: dict[str, float] = field(default_factory=dict)  # label -> seconds to load, outside every latency
    untraced: dict[str, str] = field(default_factory=dict)  # label -> why none of its outputs was traced
    models: dict[str, dict[str, int]] = field(default_factory=dict)  # label -> shape of the model: see metrics.roofline
    speed: MachineSpeed | None = None  # None where no contestant has a model whose shape is known


@dataclass(frozen=True, slots=True, kw_only=True)
class RunInfo:
    """run.json"""

    schema_version: int
    suite: str
    plan: dict[str, Any]  # settings; rounds: the keys of each interleaved round; cells: what each key belongs to
    plan_hash: str  # of the whole plan, before a budget cut it
    expected: int  # number of planned keys
    reduced: str | None  # why there are fewer trials than by default ("budget 3m", "--repeats 2"), else None
    starts: tuple[Start, ...]


class BadRun(ValueError):
    """A file of a run holds what no run writes. The message names file and line."""


class IncompatibleRun(BadRun):
    """There is no run here, or another schema version wrote it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """All a folder holds, checked."""

    info: RunInfo
    records: tuple[Record, ...]
    samples: tuple[Sample, ...]
    scores: tuple[Score, ...]
    notes: tuple[str, ...]  # what was left out of broken ends, in words
    traced: tuple[Sample, ...] = ()  # outputs with a trace; `samples` holds the others

    @property
    def expected_keys(self) -> frozenset[str]:
        """The keys that the plan, as far as a budget left it, promises a record for."""
        return frozenset(key for keys in self.info.plan["rounds"] for key in keys)


@strict_json.uncollected()
def read_run(folder: Path, *, scored: bool = True) -> Run:
    """The run in `folder`; without a look at its scores unless `scored`.

    A torn last line is left out and noted, and so are samples whose record was never written. Raises
    `IncompatibleRun` without a readable run of this schema version, `BadRun` with file and line on anything else.
    """
    info = read_info(folder)
    notes: list[str] = []
    records = tuple(_read(Record, folder / RECORDS_FILE, notes))
    samples = tuple(_read(Sample, folder / SAMPLES_FILE, notes))
    scores = tuple(_read(Score, folder / SCORES_FILE, notes)) if scored else ()
    run = Run(info=info, records=records, samples=samples, scores=scores, notes=())
    keys = _unique_keys(folder / RECORDS_FILE, run)
    kept = tuple(sample for sample in samples if sample.key in keys)
    if orphans := len(samples) - len(kept):
        notes.append(f"{folder / SAMPLES_FILE}: {orphans} samples without a record were left out")
    plain, traced = (tuple(s for s in kept if (s.trace is None) is untraced) for untraced in (True, False))
    return Run(info=info, records=records, samples=plain, scores=scores, notes=tuple(notes), traced=traced)


def read_info(folder: Path) -> RunInfo:
    """What run.json says. Raises `IncompatibleRun` when there is none or it has another schema version."""
    path = folder / RUN_FILE
    try:
        text = path.read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError):
        raise IncompatibleRun(f"no run in {folder}: {RUN_FILE} is missing") from None
    except (OSError, UnicodeDecodeError) as failure:
        raise IncompatibleRun(f"{path}: cannot be read: {failure}") from None
    try:
        version = json.loads(text).get("schema_version")
        if version != SCHEMA_VERSION:
            raise IncompatibleRun(f"{path}:1: schema version {version!r}, this program reads {SCHEMA_VERSION}")
        info = strict_json.loads(RunInfo, text)
        _check_plan(info.plan)
    except IncompatibleRun:
        raise
    except (ValueError, AttributeError, RecursionError) as wrong:
        raise BadRun(f"{path}:1: {wrong}") from None
    return info


T = TypeVar("T", Record, Sample, Score)


def _read(cls: type[T], path: Path, notes: list[str]) -> Iterator[T]:
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return
    except OSError as failure:
        raise BadRun(f"{path}: cannot be read: {failure.strerror}") from None
    *lines, torn = data.split(b"\n")
    if torn:
        notes.append(f"{path}:{len(lines) + 1}: a torn last line was left out")
    for number, line in enumerate(lines, start=1):
        try:
            yield strict_json.loads(cls, line.decode("utf-8"))
        except ValueError as wrong:
            raise BadRun(f"{path}:{number}: {wrong}") from None


def _unique_keys(path: Path, run: Run) -> set[str]:
    expected, seen = run.expected_keys, set[str]()
    for number, record in enumerate(run.records, start=1):
        if record.key not in expected:
            raise BadRun(f"{path}:{number}: key {record.key!r} is not in this run's plan: are two runs mixed?")
        if record.key in seen:
            raise BadRun(f"{path}:{number}: key {record.key!r} stands here twice")
        seen.add(record.key)
    return seen


def _check_plan(plan: dict[str, Any]) -> None:
    rounds = plan.get("rounds")
    if not isinstance(rounds, list) or not all(isinstance(keys, list) for keys in rounds):
        raise ValueError("field 'plan': 'rounds' must be a list of lists of keys")
