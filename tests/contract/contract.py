"""What every strategy promises, as functions that fail with AssertionError. They hold for a mutant as for our own.

Work is counted by hooks on the model's encoder and decoder; what a strategy says of itself is only compared with that.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
import torch

from generators.base import (
    Capability,
    Exact,
    FinishReason,
    Frame,
    Generation,
    Generator,
    Length,
    Natural,
    Phase,
    Prompt,
    Request,
    Sampling,
    SlotState,
    Step,
    Stopwatch,
    TokenRow,
    Unsupported,
)
from generators.models.marian import Marian
from generators.models.text import Codec

WARM = Sampling(temperature=1.0)


@dataclass
class Work:
    """The positions of every pass through a module, as its hooks saw them."""

    encoder: list[int] = field(default_factory=list)
    decoder: list[int] = field(default_factory=list)
    helpers: list[int] = field(default_factory=list)  # through the other models that a strategy holds: drafter, scorer

    @property
    def totals(self) -> tuple[int, int, int, int]:
        """Encoder calls and positions, decoder calls and positions, of the strategy's own model."""
        return len(self.encoder), sum(self.encoder), len(self.decoder), sum(self.decoder)


@contextmanager
def watched(generator: Generator) -> Iterator[Work]:
    """The work done inside the block; none where a strategy has no model of ours."""
    work, own = Work(), getattr(generator, "model", None)
    with ExitStack() as hooks:
        for model in models_of(generator):
            passes = (work.encoder, work.decoder) if model is own else (work.helpers, work.helpers)
            for module, seen in zip((model.model.encoder, model.model.decoder), passes, strict=True):
                hooks.callback(module.register_forward_pre_hook(note_into(seen)).remove)
        yield work


def models_of(holder: object) -> Iterator[Marian]:
    """Every model of ours that an object holds, itself or through parts that are ours too."""
    for part in vars(holder).values() if hasattr(holder, "__dict__") else ():
        if isinstance(part, Marian):
            yield part
        elif type(part).__module__.startswith("generators.strategies"):
            yield from models_of(part)


def note_into(passes: list[int]) -> Callable[[torch.nn.Module, tuple[Any, ...]], None]:
    return lambda _, inputs: passes.append(inputs[0].shape[0] * inputs[0].shape[1])


def ask(generator: Generator, prompts: Sequence[TokenRow], length: Length, **more: Any) -> Generation:
    request = Request(prompts=tuple(Prompt(prefix_ids=ids) for ids in prompts), length=length, **more)
    return generator.generate(request, Stopwatch())


def check_shape(generator: Generator, codec: Codec, prompts: Sequence[TokenRow], length: Length) -> Generation:
    """One entry a row in every field, plain ints, nothing special among the kept tokens, and the same again."""
    got = ask(generator, prompts, length)
    rows = (got.token_ids, got.tokens_raw, got.finish_reasons)
    assert [len(row) for row in rows] == [len(prompts)] * 3
    assert got.canvas_positions is None or len(got.canvas_positions) == len(prompts)
    assert all(type(token_id) is int for row in got.token_ids for token_id in row)
    assert not any({codec.eos_token_id, *special_ids(codec)} & set(row) for row in got.token_ids)
    assert all(len(kept) <= raw for kept, raw in zip(got.token_ids, got.tokens_raw, strict=True))
    assert all(step.seconds >= 0 for step in got.steps)
    again = ask(generator, prompts, length)
    assert (again.token_ids, again.finish_reasons) == (got.token_ids, got.finish_reasons)
    return got


def special_ids(codec: Codec) -> set[int]:
    vocabulary: dict[str, int] = codec.tokenizer.get_vocab()  # type: ignore[attr-defined]
    return {vocabulary["<pad>"], vocabulary["<mask>"]}


def check_exact(generator: Generator, codec: Codec, prompts: Sequence[TokenRow], n: int) -> None:
    """Exactly n tokens a row, each from a position that was computed: no padding, no cutting."""
    with watched(generator) as work:
        got = ask(generator, prompts, Exact(n))
    assert [len(row) for row in got.token_ids] == [n] * len(prompts)
    assert set(got.finish_reasons) == {FinishReason.LENGTH}
    assert not any({codec.eos_token_id, *special_ids(codec)} & set(row) for row in got.token_ids)
    if Capability.COUNTS in generator.capabilities:
        assert sum(work.decoder) >= n * len(prompts), "fewer positions were computed than tokens came back"


def check_natural(generator: Generator, codec: Codec, prompts: Sequence[TokenRow], max_new_tokens: int) -> None:
    """At most that many tokens a row, and a reason that fits."""
    got = check_shape(generator, codec, prompts, Natural(max_new_tokens))
    for row, reason in zip(got.token_ids, got.finish_reasons, strict=True):
        assert len(row) <= max_new_tokens
        assert (reason is FinishReason.LENGTH) <= (len(row) == max_new_tokens)


def check_nothing(generator: Generator, prompts: Sequence[TokenRow]) -> None:
    """Where no token may be kept, no pass is made."""
    with watched(generator) as work:
        got = ask(generator, prompts, Natural(0))
    assert work.totals == (0, 0, 0, 0)
    assert [(step.calls, step.positions) for step in got.steps if step.calls] == []
    assert got.token_ids == ((),) * len(prompts)
    assert got.tokens_raw == (0,) * len(prompts)
    assert got.finish_reasons == (FinishReason.LENGTH,) * len(prompts)


def check_counts(generator: Generator, prompts: Sequence[TokenRow], length: Length) -> Work:
    """The steps tell the very calls and positions that the hooks see, of the own model and of its helpers."""
    with watched(generator) as work:
        got = ask(generator, prompts, length)
    told = [step for step in got.steps if step.calls or step.positions]
    aside = (Phase.DRAFT, Phase.SCORE) if work.helpers else ()  # without a helper, a scoring pass is the model's own
    own = [step for step in told if step.phase not in aside]
    assert [s.positions for s in own if s.phase is Phase.ENCODE] == work.encoder
    assert [s.positions for s in own if s.phase in (Phase.DECODE, Phase.SCORE)] == work.decoder
    assert all(step.calls == 1 and step.phase in (Phase.ENCODE, Phase.DECODE, Phase.SCORE) for step in own)
    helped = [(step.calls, step.positions) for step in told if step.phase in aside]
    assert sum(calls for calls, _ in helped) == len(work.helpers)
    assert sum(positions for _, positions in helped) == sum(work.helpers)
    return work


def check_counts_are_not_claimed(generator: Generator, prompts: Sequence[TokenRow], length: Length) -> None:
    """An engine that cannot be looked into says nothing of calls."""
    assert [s for s in ask(generator, prompts, length).steps if s.calls or s.positions] == []


def check_cached_steps(generator: Generator, prompts: Sequence[TokenRow], n: int) -> None:
    """With an exact cache, every decoder pass computes new positions only, never an old one: no more than the first."""
    exact = Capability.EXACT_LENGTH in generator.capabilities
    with watched(generator) as work:
        ask(generator, prompts, Exact(n) if exact else Natural(n))
    a_pass = work.decoder[0] // len(prompts)  # positions of a row, or of all of a row's beams
    assert len(work.decoder) <= n
    assert max(work.decoder) <= a_pass * len(prompts)
    if exact:  # no row ends early, and none is drafted in vain
        assert set(work.decoder) == {a_pass * len(prompts)}
        assert n <= len(work.decoder) * a_pass


def check_batch(generator: Generator, prompts: Sequence[TokenRow], length: Length) -> None:
    """A row's tokens, raw count, reason and canvas do not depend on its neighbours, in either order."""
    alone = [outcome(ask(generator, [prompt], length))[0] for prompt in prompts]
    assert outcome(ask(generator, prompts, length)) == alone
    assert outcome(ask(generator, prompts[::-1], length)) == alone[::-1]


def check_trace(generator: Generator, prompts: Sequence[TokenRow], length: Length, **more: Any) -> Generation:
    """A traced request costs and gives the same, and its frames tell how every kept token came to stand."""
    plain = ask(generator, prompts, length, **more)
    assert (plain.trace, plain.committed_at) == (None, None)
    with watched(generator) as work:
        got = ask(generator, prompts, length, trace=True, **more)
    assert outcome(got) == outcome(plain)
    assert [cost(step) for step in got.steps] == [cost(step) for step in plain.steps]
    assert sum(s.calls for s in got.steps) == len(work.encoder) + len(work.decoder) + len(work.helpers)
    assert got.trace is not None and got.committed_at is not None
    assert len(got.trace) == len(got.committed_at) == len(prompts)
    for kept, committed, frames in zip(got.token_ids, got.committed_at, got.trace, strict=True):
        check_frames(frames, kept, committed, got.steps)
    return got


def check_frames(frames: Sequence[Frame], kept: TokenRow, committed: Sequence[int], steps: Sequence[Step]) -> None:
    """Slots keep their order and their own tokens once FINAL; the last frame is what was kept, and none is nothing."""
    if not frames:
        assert (kept, committed) == ((), ())
        return
    assert [slot.token_id for slot in frames[-1].slots] == list(kept)
    assert {slot.state for slot in frames[-1].slots} <= {SlotState.FINAL}
    assert all(0 <= frame.step < len(steps) for frame in frames)
    assert [frame.step for frame in frames] == sorted(frame.step for frame in frames)
    standing: dict[int, tuple[int, int]] = {}  # uid: its token, and the step since when it is FINAL
    for before, frame in zip(((), *(f.slots for f in frames)), frames, strict=False):
        uids = [slot.uid for slot in frame.slots]
        assert len(set(uids)) == len(uids)
        old = [slot.uid for slot in before]
        assert [uid for uid in uids if uid in old] == [uid for uid in old if uid in uids], "slots changed places"
        final = {slot.uid: slot.token_id for slot in frame.slots if slot.state is SlotState.FINAL}
        assert {uid: token_id for uid, (token_id, _) in standing.items()}.items() <= final.items()
        standing |= {uid: (token_id, frame.step) for uid, token_id in final.items() if uid not in standing}
    assert [standing[slot.uid][1] for slot in frames[-1].slots] == list(committed)
    if any(step.phase is Phase.DECODE for step in steps):  # nothing is written before it is drafted or decoded
        writing = (Phase.DRAFT, Phase.DECODE)
        written = [f.step for f in frames if any(slot.state is not SlotState.MASKED for slot in f.slots)]
        assert all(any(s.phase in writing for s in steps[: place + 1]) for place in written)


def cost(step: Step) -> tuple[Phase, int, int, int, int]:
    return step.phase, step.calls, step.positions, step.drafted, step.accepted


def check_traced_batch(generator: Generator, prompts: Sequence[TokenRow], length: Length) -> None:
    """A row's frames and order of commitment do not depend on its neighbours."""
    together = ask(generator, prompts, length, trace=True)
    alone = [ask(generator, [prompt], length, trace=True) for prompt in prompts]
    assert together.trace == tuple(one.trace[0] for one in alone if one.trace)
    assert together.committed_at == tuple(one.committed_at[0] for one in alone if one.committed_at)


def outcome(got: Generation) -> list[tuple[TokenRow, int, FinishReason, int | None]]:
    canvas = got.canvas_positions or (None,) * len(got.token_ids)
    return list(zip(got.token_ids, got.tokens_raw, got.finish_reasons, canvas, strict=True))


def check_sampling(generator: Generator, prompts: Sequence[TokenRow]) -> None:
    """The same seed gives the same text, another one another, and a row does not know its neighbours' seeds."""
    seeds, length = tuple(range(len(prompts))), eight_tokens(generator)
    first = ask(generator, prompts, length, sampling=replace(WARM, seeds=seeds))
    assert ask(generator, prompts, length, sampling=replace(WARM, seeds=seeds)).token_ids == first.token_ids
    other = ask(generator, prompts, length, sampling=replace(WARM, seeds=(0, *(seed + 9 for seed in seeds[1:]))))
    assert other.token_ids[0] == first.token_ids[0]
    assert all(a != b for a, b in zip(other.token_ids[1:], first.token_ids[1:], strict=True))


def eight_tokens(generator: Generator) -> Length:
    """Eight tokens, or no more than that where a strategy's length cannot be set."""
    return Exact(8) if Capability.EXACT_LENGTH in generator.capabilities else Natural(8)


def check_stop_strings(generator: Generator, codec: Codec, prompts: Sequence[TokenRow]) -> None:
    """A stop string that begins inside the text ends the row before it, across token borders too."""
    free = ask(generator, prompts, Natural(12))
    n_checked = 0
    for prompt, ids in zip(prompts, free.token_ids, strict=True):
        text = codec.decode(ids)
        stop = text[len(text) // 2 :][:4].strip()
        if not stop:
            continue
        got = ask(generator, [prompt], Natural(12), stop_strings=("no such text", stop))
        assert got.finish_reasons == (FinishReason.STOP_STRING,)
        before = text[: text.index(stop)]
        assert ids[: len(got.token_ids[0])] == got.token_ids[0]
        assert before.startswith(codec.decode(got.token_ids[0]))
        assert len(codec.decode(ids[: len(got.token_ids[0]) + 1])) > len(before)
        n_checked += 1
    assert n_checked, "no row was long enough to be stopped"


def check_refused(generator: Generator, capability: Capability, request: Callable[[], Generation]) -> None:
    """What is not declared is refused by name."""
    with pytest.raises(Unsupported, match=capability.value):
        request()
