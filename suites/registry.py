"""The suites by name. To add one: a file with its plan, a line here, a test."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from suites import (
    batch,
    error_accumulation,
    iterations,
    latency,
    literature,
    memory,
    multimodality,
    prompt,
    quality,
    quick,
    smoke,
    teacher_forcing,
    tune,
)
from suites.line_up import LineUp, as_it_is
from suites.plan import Round, Setup
from suites.refusal import Refusal


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    summary: str
    contestants: tuple[str, ...]
    tasks: tuple[str, ...]
    repeats: int
    repeats_are: str  # what --repeats counts here
    plan: Callable[[Setup], list[Sequence[Round]]]
    lengths: tuple[int, ...] = latency.LENGTHS
    batch_sizes: tuple[int, ...] = (1,)
    uses_lengths: bool = True  # whether --lengths and --batch-sizes mean anything to it
    budget: str | None = None
    until_memory: bool = False  # whether calls may take all free memory, and no more, where no limit is given
    line_up: Callable[[LineUp], LineUp] = as_it_is
    likelihoods: bool = False  # whether the models are asked what the references cost them, after the race
    of_memory: bool = False  # whether it measures memory, a process a block, and no time


SUITES = {
    "latency": Suite(
        summary="latency against length, 8 to 192 tokens, batch 1, interleaved repeats",
        contestants=(*latency.CONTESTANTS, latency.UNCACHED),
        tasks=("mixed",),
        repeats=30,
        repeats_are="timed calls at each length",
        plan=latency.plan,
    ),
    "quality": Suite(
        summary="the whole test set in batches, scored; latency at natural length",
        contestants=quality.CONTESTANTS,
        tasks=("verse",),
        repeats=100,
        repeats_are="sentences timed one by one",
        plan=quality.plan,
        likelihoods=True,
        uses_lengths=False,
    ),
    "iterations": Suite(
        summary="mask-predict: T = 1 to 10 at length beam 3, length beam 1 to 5 at T = 4",
        contestants=iterations.CONTESTANTS,
        tasks=("verse",),
        repeats=iterations.SENTENCES,
        repeats_are="sentences timed one by one",
        plan=iterations.plan,
        uses_lengths=False,
    ),
    "batch": Suite(
        summary="throughput and latency against batch size: 1, 2, 4, … until memory or the budget ends it",
        contestants=batch.CONTESTANTS,
        tasks=("mixed",),
        repeats=batch.REPEATS,
        repeats_are="timed calls at each batch size",
        plan=batch.plan,
        lengths=batch.LENGTHS,
        batch_sizes=batch.SIZES,
        budget=batch.BUDGET,
        until_memory=True,
    ),
    "prompt": Suite(
        summary="latency over source length and output length: where reading takes the time, where writing",
        contestants=prompt.CONTESTANTS,
        tasks=("mixed",),
        repeats=prompt.REPEATS,
        repeats_are="timed calls at each pair of lengths",
        plan=prompt.plan,
        lengths=prompt.LENGTHS,
    ),
    "teacher_forcing": Suite(
        summary="one parallel scoring pass against length, as the floor under the one-shot strategies",
        contestants=teacher_forcing.CONTESTANTS,
        tasks=("mixed",),
        repeats=30,
        repeats_are="timed calls at each length",
        plan=teacher_forcing.plan,
    ),
    "memory": Suite(
        summary="peak memory, never timed, each number of a process of its own",
        contestants=memory.CONTESTANTS,
        tasks=("mixed",),
        repeats=memory.REPEATS,
        repeats_are="processes at each shape",
        plan=memory.plan,
        lengths=memory.LENGTHS,
        batch_sizes=memory.SIZES,
        of_memory=True,
    ),
    "error_accumulation": Suite(
        summary="one wrong token put into every output: what it does to the text behind it",
        contestants=error_accumulation.CONTESTANTS,
        tasks=("verse",),
        repeats=error_accumulation.SENTENCES,
        repeats_are="sentences written at each place of the wrong token",
        plan=error_accumulation.plan,
        line_up=error_accumulation.line_up,
        uses_lengths=False,
    ),
    "multimodality": Suite(
        summary="coupled choices: tiny models trained on the spot, their invalid mixtures against theory",
        contestants=multimodality.CONTESTANTS,
        tasks=("coupled",),
        repeats=multimodality.SENTENCES,
        repeats_are="sentences written",
        plan=multimodality.plan,
        line_up=multimodality.line_up,
        likelihoods=True,
        uses_lengths=False,
    ),
    "literature": Suite(
        summary="the known shapes, each with a verdict: iterations, length beam, distillation, batch, shallow decoder",
        contestants=literature.CONTESTANTS,
        tasks=("mixed", "verse"),
        repeats=literature.REPEATS,
        repeats_are="timed calls at each batch size",
        plan=literature.plan,
        line_up=literature.line_up,
        likelihoods=True,
        lengths=literature.LENGTHS,
        batch_sizes=literature.BATCH_SIZES,
        budget=literature.BUDGET,
    ),
    "tune": Suite(
        summary="every strategy over data types, engines and threads, on validation verses",
        contestants=tune.CONTESTANTS,
        tasks=(tune.TASK,),
        repeats=tune.SENTENCES,
        repeats_are="sentences timed one by one",
        plan=tune.plan,
        uses_lengths=False,
    ),
    "quick": Suite(
        summary="a mix of the three that fits into a few minutes (make bench)",
        contestants=quick.CONTESTANTS,
        tasks=("mixed", "verse"),
        repeats=quick.REPEATS,
        repeats_are="timed calls at each length",
        plan=quick.plan,
        budget=quick.BUDGET,
    ),
    "smoke": Suite(
        summary="seconds: every kind of trial, to see that a race can be run",
        contestants=smoke.CONTESTANTS,
        tasks=("verse",),
        repeats=smoke.REPEATS,
        repeats_are="timed calls at each length",
        plan=smoke.plan,
        lengths=smoke.LENGTHS,
    ),
}


def suite_named(name: str) -> Suite:
    """The suite called `name`; refuses an unknown one with the names there are."""
    if name not in SUITES:
        raise Refusal(f"unknown suite {name!r}; choose from: {', '.join(SUITES)}")
    return SUITES[name]
