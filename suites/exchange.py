"""What goes into a strategy and what comes out of it: trial to request, generation to record and samples. All pure."""

from typing import TYPE_CHECKING

from generators.base import Exact, Generation, Natural, Prompt, Request
from suites.contestants import Contestant
from suites.plan import Trial
from suites.records import Record, Sample, StepRecord
from suites.tasks import Task
from suites.trial import Failure, Timing

if TYPE_CHECKING:
    from generators.models.text import Codec

MAX_NEW_TOKENS = 256  # where natural runs are cut; well above the longest reference


def request_for(trial: Trial, task: Task, codec: "Codec") -> Request:
    """The request that `trial` makes: its rows' sources, and its length exactly or up to 256 tokens."""
    prompts = tuple(Prompt(prefix_ids=tuple(codec.encode(task.rows[row].source))) for row in trial.rows)
    if trial.cell.mode == "exact" and trial.cell.length is not None:
        return Request(prompts=prompts, length=Exact(trial.cell.length))
    return Request(prompts=prompts, length=Natural(min(MAX_NEW_TOKENS, codec.max_source_tokens)))


def samples_of(trial: Trial, task: Task, codec: "Codec", generation: Generation) -> list[Sample]:
    """One sample a row of a batched trial, with its text."""
    return [
        Sample(
            key=trial.key,
            task=task.name,
            label=trial.cell.label,
            row=row,
            source=task.rows[row].source,
            reference=task.rows[row].reference,
            reference_ids=tuple(codec.encode_target(task.rows[row].reference)),
            token_ids=generation.token_ids[i],
            text=codec.decode(generation.token_ids[i]),
            finish_reason=str(generation.finish_reasons[i]),
        )
        for i, row in enumerate(trial.rows)
    ]


def record_of(
    trial: Trial, contestant: Contestant, start: int, order: int, outcome: Timing | Failure, warmup_s: tuple[float, ...]
) -> Record:
    """The record of `trial`, whether it was timed or failed."""
    got = outcome.generation if isinstance(outcome, Timing) else None
    return Record(
        key=trial.key,
        start=start,
        suite=trial.suite,
        task=trial.cell.task,
        label=trial.cell.label,
        strategy=contestant.strategy,
        config=contestant.config,
        mode=trial.cell.mode,
        length=trial.cell.length,
        batch_size=trial.cell.batch_size,
        repeat=trial.repeat,
        order=order,
        prompt_rows=trial.rows,
        status=outcome.status if isinstance(outcome, Failure) else "ok",
        reason=outcome.reason if isinstance(outcome, Failure) else None,
        latency_s=outcome.latency_s if isinstance(outcome, Timing) else None,
        cpu_s=outcome.cpu_s if isinstance(outcome, Timing) else None,
        steps=_steps(got),
        tokens_kept=tuple(len(ids) for ids in got.token_ids) if got else (),
        tokens_raw=got.tokens_raw if got else (),
        canvas_positions=got.canvas_positions if got else None,
        finish_reasons=tuple(map(str, got.finish_reasons)) if got else (),
        warmup_s=warmup_s,
        cache=contestant.cache,
        source_length=trial.cell.source_length,
    )


def _steps(generation: Generation | None) -> tuple[StepRecord, ...]:
    return tuple(
        StepRecord(
            phase=str(step.phase),
            seconds=round(step.seconds, 9),  # the clock ticks in nanoseconds
            calls=step.calls,
            positions=step.positions,
            drafted=step.drafted,
            accepted=step.accepted,
        )
        for step in (generation.steps if generation else ())
    )
