"""The contract has teeth: strategies that cheat in the ways this field has seen each fail it."""

from dataclasses import replace

import pytest
import torch

from generators.base import (
    Exact,
    Frame,
    Generation,
    Natural,
    Phase,
    Request,
    SlotState,
    Stopwatch,
    TokenRow,
)
from generators.models.inputs import encode, forbidden, start_tokens
from generators.models.marian import Memory, causal_mask
from generators.registry import Loaded
from generators.stopping import limit
from generators.strategies.ar import Autoregressive
from generators.strategies.mask_predict import MaskPredict
from tests.contract.conftest import Contestant
from tests.contract.contract import check_batch, check_cached_steps, check_counts, check_exact, check_trace
from tests.contract.test_contract import EXACT_WORK, assert_work
from tests.generators.tiny import SOURCES


class ExtraPass(Autoregressive):
    """Warms the decoder up with a pass it does not count."""

    def one_by_one(self, memory: Memory, request: Request, stopwatch: Stopwatch) -> list[list[int]]:
        self.model.model.decoder(self.model.embed(start_tokens(self.model, len(request.prompts))), memory)
        return super().one_by_one(memory, request, stopwatch)


class ExtraPassCounted(ExtraPass):
    """The same, and says so: its counts are true, and still not those of the algorithm."""

    def one_by_one(self, memory: Memory, request: Request, stopwatch: Stopwatch) -> list[list[int]]:
        stopwatch.lap(Phase.DECODE, calls=1, positions=len(request.prompts))
        return super().one_by_one(memory, request, stopwatch)


class EncodesTwice(Autoregressive):
    def one_by_one(self, memory: Memory, request: Request, stopwatch: Stopwatch) -> list[list[int]]:
        return super().one_by_one(encode(self.model, request, Stopwatch()), request, stopwatch)


class Padder(Autoregressive):
    """Decodes two tokens too few and repeats the last one to reach the length."""

    def generate(self, request: Request, stopwatch: Stopwatch) -> Generation:
        shorter = replace(request, length=Exact(limit(request.length) - 2))
        got = super().generate(shorter, stopwatch)
        return replace(got, token_ids=tuple((*row, row[-1], row[-1]) for row in got.token_ids))


class Recomputer(Autoregressive):
    """Computes every position again and counts only the new one."""

    honest = False

    def one_by_one(self, memory: Memory, request: Request, stopwatch: Stopwatch) -> list[list[int]]:
        token_ids = start_tokens(self.model, len(request.prompts))
        banned = forbidden(self.model, request.length)
        for _ in range(limit(request.length)):
            x = self.model.embed(token_ids)
            hidden = self.model.model.decoder(x, memory, mask=causal_mask(x))[:, -1]
            best = self.model.logits(hidden).index_fill_(1, banned, float("-inf")).argmax(-1)
            stopwatch.lap(Phase.DECODE, calls=1, positions=token_ids.numel() if self.honest else len(token_ids))
            token_ids = torch.cat([token_ids, best[:, None]], 1)
        return [[int(token_id) for token_id in row[1:]] for row in token_ids]


class HonestRecomputer(Recomputer):
    honest = True


class Neighbourly(Autoregressive):
    """Charges every row with what was emitted until the last one ended."""

    def generate(self, request: Request, stopwatch: Stopwatch) -> Generation:
        got = super().generate(request, stopwatch)
        return replace(got, tokens_raw=(max(got.tokens_raw),) * len(got.tokens_raw))


class OneTooMany(MaskPredict):
    """`n_iterations` passes, and one more at the end."""

    def refine(
        self,
        memory: Memory,
        lengths: torch.Tensor,
        stopwatch: Stopwatch,
        canvases: list[torch.Tensor] | None = None,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        super().refine(memory, lengths, Stopwatch())
        return super().refine(memory, lengths, stopwatch, canvases)


class LooksTwiceWhenTraced(Autoregressive):
    """Makes a pass for the trace that a timed request does not make."""

    def one_by_one(self, memory: Memory, request: Request, stopwatch: Stopwatch) -> list[list[int]]:
        if request.trace:
            super().one_by_one(memory, request, Stopwatch())
        return super().one_by_one(memory, request, stopwatch)


class AlwaysTraces(Autoregressive):
    """Makes frames inside timed requests too."""

    def generate(self, request: Request, stopwatch: Stopwatch) -> Generation:
        return super().generate(replace(request, trace=True), stopwatch)


class Hindsight(Autoregressive):
    """Tells a trace in which every token stood from the first step on."""

    def generate(self, request: Request, stopwatch: Stopwatch) -> Generation:
        got = super().generate(request, stopwatch)
        if got.trace is None:
            return got
        trace = tuple(tuple(frame._replace(slots=row[-1].slots) for frame in row) for row in got.trace)
        return replace(got, trace=trace)


class OutOfOrder(Autoregressive):
    """Says that the last token was committed first."""

    def generate(self, request: Request, stopwatch: Stopwatch) -> Generation:
        got = super().generate(request, stopwatch)
        return replace(got, committed_at=got.committed_at and tuple(row[::-1] for row in got.committed_at))


class NeverInDoubt(MaskPredict):
    """Calls FINAL what it masks again later."""

    def generate(self, request: Request, stopwatch: Stopwatch) -> Generation:
        got = super().generate(request, stopwatch)
        return replace(got, trace=got.trace and tuple(tuple(map(self.sure, row)) for row in got.trace))

    def sure(self, frame: Frame) -> Frame:
        masked = self.model.mask_token_id
        sure = [slot if slot.token_id == masked else slot._replace(state=SlotState.FINAL) for slot in frame.slots]
        return frame._replace(slots=tuple(sure))


@pytest.fixture
def ar(contestant: Contestant) -> Loaded:
    return contestant("ar")


@pytest.fixture
def prompts(ar: Loaded) -> list[TokenRow]:
    return [ar.codec.encode(source) for source in SOURCES[:3]]


def mutate(loaded: Loaded, kind: type[Autoregressive] | type[MaskPredict]) -> Autoregressive | MaskPredict:
    own = loaded.generator
    return kind(own.model, loaded.codec, own.config)  # type: ignore[attr-defined]


def test_the_real_thing_passes(ar: Loaded, prompts: list[TokenRow]) -> None:
    check_exact(ar.generator, ar.codec, prompts, 6)
    check_cached_steps(ar.generator, prompts, 6)
    assert_work(check_counts(ar.generator, prompts, Exact(6)), prompts, EXACT_WORK["ar"](6, 3))


@pytest.mark.parametrize("kind", [ExtraPass, EncodesTwice, Recomputer])
def test_work_that_is_not_counted_is_found(ar: Loaded, prompts: list[TokenRow], kind: type[Autoregressive]) -> None:
    with pytest.raises(AssertionError):
        check_counts(mutate(ar, kind), prompts, Exact(6))


@pytest.mark.parametrize("kind", [ExtraPassCounted, HonestRecomputer])
def test_work_that_is_counted_but_needless_is_found(
    ar: Loaded, prompts: list[TokenRow], kind: type[Autoregressive]
) -> None:
    work = check_counts(mutate(ar, kind), prompts, Exact(6))
    with pytest.raises(AssertionError):
        assert_work(work, prompts, EXACT_WORK["ar"](6, 3))
    with pytest.raises(AssertionError):
        check_cached_steps(mutate(ar, kind), prompts, 6)


@pytest.mark.parametrize("kind", [LooksTwiceWhenTraced, AlwaysTraces, Hindsight, OutOfOrder])
def test_a_trace_that_costs_or_makes_up_something_is_found(
    ar: Loaded, prompts: list[TokenRow], kind: type[Autoregressive]
) -> None:
    check_trace(ar.generator, prompts, Exact(6))
    with pytest.raises(AssertionError):
        check_trace(mutate(ar, kind), prompts, Exact(6))


def test_a_trace_that_calls_final_what_is_revised_is_found(contestant: Contestant) -> None:
    loaded = contestant("mask_predict")
    prompts = [loaded.codec.encode(source) for source in SOURCES[:3]]
    check_trace(loaded.generator, prompts, Exact(9))
    with pytest.raises(AssertionError):
        check_trace(mutate(loaded, NeverInDoubt), prompts, Exact(9))


def test_padding_to_the_length_is_found(ar: Loaded, prompts: list[TokenRow]) -> None:
    with pytest.raises(AssertionError, match="fewer positions"):
        check_exact(mutate(ar, Padder), ar.codec, prompts, 6)


def test_a_row_that_grows_with_its_neighbours_is_found(ar: Loaded) -> None:
    prompts = [ar.codec.encode(source) for source in SOURCES]
    check_batch(ar.generator, prompts, Natural(20))
    with pytest.raises(AssertionError):
        check_batch(mutate(ar, Neighbourly), prompts, Natural(20))


def test_one_pass_more_than_the_iterations_is_found(contestant: Contestant) -> None:
    loaded = contestant("mask_predict")
    prompts = [loaded.codec.encode(source) for source in SOURCES[:3]]
    with pytest.raises(AssertionError):
        check_counts(mutate(loaded, OneTooMany), prompts, Exact(6))
