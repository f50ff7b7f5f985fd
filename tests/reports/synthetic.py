"""Runs made up on the spot, written in the files of a run: what a report reads, with every number known beforehand."""

import itertools
import json
import random
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from metrics.base import Output
from metrics.registry import METRICS
from suites.records import SCHEMA_VERSION, Record, Run, RunInfo, Sample, Score, Start, StepRecord

TASK = "verse"
SENTENCE = "and the word of the king came to all his people in that day so they went out from there"
WORDS = SENTENCE.split()

# label: (seconds before the first token, seconds a token, mode, share of words changed, share of words doubled)
RACE: dict[str, tuple[float, float, str, float, float]] = {
    "ar": (0.002, 0.0010, "exact", 0.10, 0.0),
    "ar:weights=ar_shallow": (0.003, 0.0006, "exact", 0.11, 0.0),
    "hf_generate": (0.004, 0.0029, "exact", 0.10, 0.0),
    "ctranslate2": (0.002, 0.0004, "exact", 0.10, 0.0),
    "ctranslate2:compute_type=int8": (0.001, 0.00025, "exact", 0.12, 0.0),
    "ctc": (0.004, 0.00012, "natural", 0.16, 0.01),
    "mask_predict:n_iterations=1": (0.004, 0.00011, "exact", 0.6, 0.15),
    "mask_predict": (0.010, 0.00045, "exact", 0.3, 0.03),
    "mask_predict:n_iterations=10": (0.022, 0.0011, "exact", 0.2, 0.01),
    "copy": (0.00001, 1e-7, "natural", 0.35, 0.0),
}


@dataclass
class Made:
    """A run under construction: change the lists, then `write` or `run`."""

    records: list[Record] = field(default_factory=list)
    samples: list[Sample] = field(default_factory=list)
    scores: list[Score] = field(default_factory=list)
    traced: list[Sample] = field(default_factory=list)
    untraced: dict[str, str] = field(default_factory=dict)
    reduced: str | None = None
    dirty: bool = False
    unrecorded: dict[tuple[str, str], int] = field(default_factory=dict)  # planned, never run
    command: str = "python -m suites run quick"
    suite: str = "quick"

    @property
    def info(self) -> RunInfo:
        keys = [record.key for record in self.records]
        absent = [f"absent-{i}" for i in range(sum(self.unrecorded.values()))]
        cells: dict[tuple[Any, ...], int] = {}
        for r in self.records:
            cell = (r.task, r.label, r.mode, r.length, r.batch_size)
            cells[cell] = cells.get(cell, 0) + 1
        for (task, label), planned in self.unrecorded.items():
            cells[task, label, "exact", 8, 1] = cells.get((task, label, "exact", 8, 1), 0) + planned
        names = ("task", "label", "mode", "length", "batch_size", "planned")
        plan = {
            "settings": {"seed": 7},
            "rounds": [keys, absent],
            "cells": [dict(zip(names, (*cell, n), strict=True)) for cell, n in cells.items()],
        }
        return RunInfo(
            schema_version=SCHEMA_VERSION,
            suite=self.suite,
            plan=plan,
            plan_hash="ab" * 32,
            expected=len(keys) + len(absent),
            reduced=self.reduced,
            starts=(self._start(),),
        )

    def _start(self) -> Start:
        labels = sorted({record.label for record in self.records})
        return Start(
            command=self.command,
            settings={"seed": 7, "threads": 1},
            commit="1f0c2a9e8b7d6c5f4e3a2b1c0d9e8f7a6b5c4d3e",
            dirty=self.dirty,
            machine={"cpu": "An Example CPU", "cores": 2, "memory_bytes": 8_000_000_000, "platform": "Linux"},
            threads=1,
            versions={"python": "3.12.1", "torch": "2.13.0"},
            weights=dict.fromkeys(labels, "cd" * 32),
            corpora={TASK: "ef" * 32},
            code_sha256="01" * 32,
            started_at="2026-01-02T03:04:05Z",
            ended_at="2026-01-02T03:08:05Z",
            load_s=dict.fromkeys(labels, 0.25),
            untraced=self.untraced,
        )

    def run(self) -> Run:
        return Run(
            info=self.info,
            records=tuple(self.records),
            samples=tuple(self.samples),
            scores=tuple(self.scores),
            notes=(),
            traced=tuple(self.traced),
        )

    def write(self, folder: Path) -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "run.json").write_text(json.dumps(asdict(self.info)), encoding="utf-8")
        files = {"records": self.records, "samples": [*self.samples, *self.traced], "scores": self.scores}
        for name, values in files.items():
            lines = [json.dumps(asdict(line)) + "\n" for line in values]  # type: ignore[call-overload]
            (folder / f"{name}.jsonl").write_text("".join(lines), encoding="utf-8")
        return folder


def race(
    labels: Sequence[str] = tuple(RACE), lengths: Sequence[int] = (8, 32, 128), repeats: int = 9, rows: int = 20
) -> Made:
    """Latency against length and a scored quality pass of contestants of `RACE`, with a little noise on its lines."""
    made = Made()
    for label in labels:
        add_latency(made, label, RACE[label], lengths, repeats)
        add_quality(made, label, RACE[label], rows)
    return made


def add_latency(
    made: Made, label: str, shape: tuple[float, float, str, float, float], lengths: Sequence[int], repeats: int
) -> None:
    start_s, per_token_s, mode, _, _ = shape
    draw = random.Random(label)
    for repeat, length in itertools.product(range(repeats), lengths):
        latency = (start_s + per_token_s * length) * (1 + 0.05 * draw.random())
        made.records.append(record(label, mode=mode, length=length, repeat=repeat, latency_s=latency, kept=length))


def add_quality(made: Made, label: str, shape: tuple[float, float, str, float, float], rows: int) -> None:
    made.records.append(
        replace(
            record(label, mode="batched", length=None, repeat=0, latency_s=0.5, kept=12), prompt_rows=tuple(range(rows))
        )
    )
    key = made.records[-1].key
    for row in range(rows):
        reference = [WORDS[(row * 3 + i) % len(WORDS)] for i in range(12 + row % 5)]
        add_output(made, key, label, row, " ".join(reference), " ".join(_spoilt(reference, shape, f"{label}{row}")))


def add_output(made: Made, key: str, label: str, row: int, reference: str, text: str, task: str = TASK) -> None:
    """A sample and its score."""
    ids, reference_ids = token_ids(text), token_ids(reference)
    sample = Sample(
        key=key,
        task=task,
        label=label,
        row=row,
        source=f"verily {reference}",
        reference=reference,
        reference_ids=reference_ids,
        token_ids=ids,
        text=text,
        finish_reason="eos",
    )
    output = Output(token_ids=ids, text=text, source=sample.source, reference=reference, reference_ids=reference_ids)
    statistics = {m.signature: tuple(map(float, m.statistics(output))) for m in METRICS.values()}
    made.samples.append(sample)
    made.scores.append(Score(task=task, label=label, row=row, statistics=statistics))


def record(label: str, *, mode: Any, length: int | None, repeat: int, latency_s: float, kept: int) -> Record:
    strategy, *knobs = label.split(":")
    config: dict[str, Any] = {"weights": "ar_student"} if strategy in ("ar", "hf_generate", "ctranslate2") else {}
    if strategy == "mask_predict":
        config |= {"n_iterations": 4, "length_beam": 3}
    config |= dict(knob.split("=", 1) for knob in knobs if "=" in knob)
    phase = "engine" if strategy in ("ctranslate2", "hf_generate") else "decode"
    return Record(
        key=f"{label}|{mode}|{length}|{repeat}",
        start=0,
        suite="quick",
        task=TASK,
        label=label,
        strategy=strategy,
        config=config,
        mode=mode,
        length=length,
        batch_size=1,
        repeat=repeat,
        order=0,
        prompt_rows=(repeat,),
        status="ok",
        latency_s=latency_s,
        cpu_s=latency_s,
        steps=(StepRecord(phase=phase, seconds=latency_s, calls=1, positions=kept),),
        tokens_kept=(kept,),
        tokens_raw=(kept + 1,),
        finish_reasons=("eos",),
        warmup_s=(0.01, 0.01) if repeat == 0 else (),
    )


def two_tasks(labels: Sequence[str], natural: bool = False) -> Made:
    """Latency against length on `mixed`, which is not scored; quality on `verse`, timed there if `natural`."""
    made = race(labels, repeats=7, rows=25)
    made.records = [r if r.mode == "batched" else replace(r, task="mixed") for r in made.records]
    for label, repeat in itertools.product(labels if natural else (), range(7)):
        start_s, per_token_s, *_ = RACE[label]
        latency_s = start_s + 20 * per_token_s
        made.records.append(record(label, mode="natural", length=None, repeat=repeat, latency_s=latency_s, kept=20))
    return made


def failed(made: Made, status: Any, reason: str) -> Made:
    """The same run with every trial a failure."""
    made.records = [
        replace(r, status=status, reason=reason, latency_s=None, cpu_s=None, steps=(), tokens_kept=(), tokens_raw=())
        for r in made.records
    ]
    made.samples, made.scores = [], []
    return made


def token_ids(text: str) -> tuple[int, ...]:
    """One id a word: enough for repetition and length."""
    return tuple(sum(word.encode()) for word in text.split())


def _spoilt(words: Sequence[str], shape: tuple[float, float, str, float, float], seed: str) -> list[str]:
    draw, (_, _, _, changed, doubled) = random.Random(seed), shape
    out = []
    for word in words:
        out.append("thing" if draw.random() < changed else word)
        out += out[-1:] if draw.random() < doubled else []
    return out
