"""The decoder passes of a trial as work: how many rows and positions each computed and looked at, from its record."""

import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

from metrics.roofline import Shape, Work, decoder_pass, encoder_pass
from suites.records import Record

DECODER = ("decode", "score")
passed = functools.cache(decoder_pass)


@dataclass(frozen=True, slots=True)
class Passes:
    n: int
    work: Work
    seconds: float
    whole: bool  # the request's whole time, with the work of its encoder in it


def shape_of(sizes: Mapping[str, int]) -> Shape:
    """A model's shape as run.json keeps it. Raises ValueError for anything else."""
    try:
        return Shape(**sizes)
    except TypeError as wrong:
        raise ValueError(f"run.json: 'models' holds no shape of a model: {wrong}") from None


def passes_of(trial: Record, shape: Shape, source: int, steps_are_timed: bool) -> Passes | None:
    """The decoder passes of `trial`, whose sources have `source` positions; None where it made none.

    An engine that cannot be looked into is taken to make one cached step a token. Where passes have no time of their
    own, the whole request's time and work stand for them.
    """
    engine = any(step.phase == "engine" for step in trial.steps)
    works = list(_of_engine(trial, shape, source) if engine else _of_steps(trial, shape, source))
    if not works:
        return None
    work = sum(works[1:], works[0])
    if engine or not steps_are_timed:
        work += encoder_pass(shape, trial.batch_size, source)
        return Passes(len(works), work, trial.latency_s or 0.0, True)
    seconds = sum(step.seconds for step in trial.steps if step.phase in DECODER and step.calls)
    return Passes(len(works), work, seconds, False) if seconds > 0 else None


def _of_steps(trial: Record, shape: Shape, source: int) -> Iterator[Work]:
    """One work a pass. With a cache, a pass sees what earlier ones computed; without, its own positions alone."""
    positions = [step.positions for step in trial.steps if step.phase in DECODER and step.calls]
    if trial.cache == "exact":
        rows = trial.batch_size * _beam(trial)
        seen = [0]
        for n in positions:
            seen.append(seen[-1] + max(1, n // rows))
        yield from (passed(shape, rows, after - before, after, source) for before, after in pairwise(seen))
        return
    for n in positions:
        canvas = max(trial.canvas_positions) if trial.canvas_positions else n // trial.batch_size
        yield passed(shape, max(1, n // max(canvas, 1)), canvas, canvas, source)


def _of_engine(trial: Record, shape: Shape, source: int) -> Iterator[Work]:
    rows = trial.batch_size * _beam(trial)
    return (passed(shape, rows, 1, place + 1, source) for place in range(max(trial.tokens_raw, default=0)))


def _beam(trial: Record) -> int:
    beam = str(trial.config.get("beam_size", 1))
    return int(beam) if beam.isdecimal() else 1
