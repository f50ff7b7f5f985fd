"""Whether an engine writes what torch writes on the same weights, and how close the call was where it does not.

Two correct float32 implementations may part where the two best tokens are as good as equal: kernels add in different
orders. So every divergence from our AR loop is shown with the gap between the two best logits at the first token that
differs.
A parallel strategy on another engine (`ctc:engine=onnx`) is compared with the same strategy on torch, without gaps.
"""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from generators.base import Generator, Natural, Placement, Prompt, Request, Stopwatch, TokenRow
from suites.exchange import MAX_NEW_TOKENS
from suites.tasks import Task

BATCH_SIZE = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Divergence:
    row: int  # of the task
    position: int  # of the first token that differs
    ours: int | None  # token ids there; None where that output had ended
    theirs: int | None
    gap: float | None  # between the two best logits of our AR model after the common prefix


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    task: str
    engine: str
    ours: str  # the label it is compared with
    dtype: str
    rows: int
    identical: int
    divergences: tuple[Divergence, ...]


def agreement(engine: str, task: Task, n_rows: int, placement: Placement) -> Agreement:
    """Greedy outputs of `engine` against its `counterpart`'s on the first `n_rows` of `task`, token by token."""
    from generators.registry import build, parse
    from generators.strategies.ar import Autoregressive

    theirs = build(parse(engine), placement)
    label = counterpart(engine, theirs.config)
    ours = build(parse(label), placement)
    prompts = [Prompt(prefix_ids=ours.codec.encode(row.source)) for row in task.rows[:n_rows]]
    found = []
    pairs = zip(outputs(ours.generator, prompts), outputs(theirs.generator, prompts), strict=True)
    for row, (one, other) in enumerate(pairs):
        if one != other:
            place = len(os.path.commonprefix([one, other]))
            own = ours.generator
            gap = own.gap_after(prompts[row], one[:place]) if isinstance(own, Autoregressive) else None
            found.append(Divergence(row=row, position=place, ours=at(one, place), theirs=at(other, place), gap=gap))
    return Agreement(
        task=task.name,
        engine=engine,
        ours=label,
        dtype=placement.dtype,
        rows=len(prompts),
        identical=len(prompts) - len(found),
        divergences=tuple(found),
    )


def counterpart(engine: str, config: Mapping[str, Any]) -> str:
    """The label of what `engine` should agree with: without its `engine` knob where it has one, else plain `ar`."""
    if "engine" not in config:
        return f"ar:weights={config['weights']}"
    return ":".join(part for part in engine.split(":") if not part.startswith("engine="))


def outputs(generator: Generator, prompts: list[Prompt]) -> list[TokenRow]:
    """The kept tokens of every prompt, generated in batches of similar length, in the prompts' order."""
    order = sorted(range(len(prompts)), key=lambda row: len(prompts[row].prefix_ids))
    rows: dict[int, TokenRow] = {}
    for start in range(0, len(order), BATCH_SIZE):
        batch = order[start : start + BATCH_SIZE]
        request = Request(prompts=tuple(prompts[row] for row in batch), length=Natural(MAX_NEW_TOKENS))
        rows.update(zip(batch, generator.generate(request, Stopwatch()).token_ids, strict=True))
    return [rows[row] for row in range(len(prompts))]


def at(token_ids: TokenRow, place: int) -> int | None:
    return token_ids[place] if place < len(token_ids) else None


def lines(found: Agreement) -> Iterator[str]:
    """The agreement for a person: one line, and one more for each divergence."""
    share = found.identical / found.rows
    ours = found.ours.partition(":weights=")[0]
    who = f"{found.engine} and {ours}, {found.dtype}, {found.task}"
    yield f"{who}: {found.identical} of {found.rows} outputs identical ({share:.2%})"
    for one in found.divergences:
        place = f"row {one.row}, token {one.position}"
        gap = "" if one.gap is None else f", top-two gap {one.gap:.2e}"
        yield f"{place}: {ours} {one.ours}, {found.engine} {one.theirs}{gap}"
