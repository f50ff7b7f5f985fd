"""Every strategy keeps the contract: what it declares works, the rest is refused, and its counts are true."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from generators.base import Capability, Exact, Generator, Natural, TokenRow, Unsupported
from generators.registry import STRATEGIES, Loaded
from tests.contract.conftest import Contestant
from tests.contract.contract import (
    WARM,
    Work,
    ask,
    check_batch,
    check_cached_steps,
    check_counts,
    check_counts_are_not_claimed,
    check_exact,
    check_natural,
    check_nothing,
    check_refused,
    check_sampling,
    check_shape,
    check_stop_strings,
    check_trace,
    check_traced_batch,
    eight_tokens,
)
from tests.generators.tiny import SOURCES

KNOBBED = (
    "ar:beam_size=3",
    "mask_predict:n_iterations=1:length_beam=1",
    "mask_predict:n_iterations=10:length_beam=5",
    "ctc:beam_size=3",
    "mask_predict:scorer=ar_student",
    "ctc:engine=onnx",
    "ctc:engine=onnx_int8",
    "mask_predict:engine=onnx",
    "mask_predict:engine=onnx_int8",
    "nat:length_beam=1",
    "nat:scorer=ar_student",
    "semi_ar:block_length=1",
    "semi_ar:block_length=8",
    "speculative:drafter=ar_draft",
    "speculative:drafter=ctc:draft_length=8",
    "speculative:drafter=nat:draft_length=1",
    "hf_generate:beam_size=2",
    "ctranslate2:beam_size=2",
    "ctranslate2:compute_type=int8",
)
LABELS = (*STRATEGIES, *KNOBBED)

EXACT, NATURAL, SAMPLING, STOPS, BATCH, COUNTS, ORDER, TRACE = (
    Capability.EXACT_LENGTH,
    Capability.NATURAL_LENGTH,
    Capability.SAMPLING,
    Capability.STOP_STRINGS,
    Capability.BATCH,
    Capability.COUNTS,
    Capability.COMMIT_ORDER,
    Capability.TRACE,
)
OURS = {
    "ar": {EXACT, NATURAL, SAMPLING, STOPS, BATCH, COUNTS, ORDER, TRACE},
    "ar:beam_size=3": {EXACT, NATURAL, STOPS, BATCH, COUNTS, ORDER, TRACE},
    "ar_uncached": {EXACT, NATURAL, BATCH, COUNTS, ORDER, TRACE},
    "ctc": {NATURAL, STOPS, BATCH, COUNTS, ORDER, TRACE},
    "mask_predict": {EXACT, NATURAL, STOPS, BATCH, COUNTS, ORDER, TRACE},
    "ctc:engine=onnx": {NATURAL, STOPS, BATCH, COUNTS, ORDER, TRACE},
    "mask_predict:engine=onnx": {EXACT, NATURAL, STOPS, BATCH, COUNTS, ORDER, TRACE},
    "nat": {EXACT, NATURAL, STOPS, BATCH, COUNTS, ORDER, TRACE},
    "semi_ar": {EXACT, NATURAL, SAMPLING, STOPS, BATCH, COUNTS, ORDER, TRACE},
    "speculative": {NATURAL, SAMPLING, STOPS, BATCH, COUNTS, ORDER, TRACE},
    "copy": {NATURAL, STOPS, BATCH, COUNTS, ORDER, TRACE},
    "teacher_forcing": {EXACT, BATCH, COUNTS},
    "hf_generate": {EXACT, NATURAL, BATCH},
    "ctranslate2": {EXACT, NATURAL, BATCH},
}
# Decoder calls and positions for n tokens of B rows with sources of S, worked out by hand from each paper's loop.
EXACT_WORK: dict[str, Callable[[int, int], tuple[int, int]]] = {
    "ar": lambda n, b: (n, n * b),
    "ar:beam_size=3": lambda n, b: (n, n * b * 3),
    "ar_uncached": lambda n, b: (n, b * n * (n + 1) // 2),
    "mask_predict": lambda n, b: (4, 4 * b * n),
    "teacher_forcing": lambda n, b: (1, b * n),
    "mask_predict:n_iterations=1:length_beam=1": lambda n, b: (1, b * n),
    "mask_predict:n_iterations=10:length_beam=5": lambda n, b: (10, 10 * b * n),
    "mask_predict:engine=onnx": lambda n, b: (4, 4 * b * n),
    "mask_predict:engine=onnx_int8": lambda n, b: (4, 4 * b * n),
    "nat": lambda n, b: (1, b * n),
    "nat:scorer=ar_student": lambda n, b: (1, b * n),  # one length: nothing to choose among
    "semi_ar": lambda n, b: (-(-n // 2), b * 2 * -(-n // 2)),
    "semi_ar:block_length=1": lambda n, b: (n, n * b),
    "semi_ar:block_length=8": lambda n, b: (-(-n // 8), b * 8 * -(-n // 8)),
}


@pytest.fixture(params=LABELS)
def loaded(request: pytest.FixtureRequest, contestant: Contestant) -> Loaded:
    return contestant(request.param)


@pytest.fixture
def generator(loaded: Loaded) -> Generator:
    return loaded.generator


@pytest.fixture
def prompts(loaded: Loaded) -> list[TokenRow]:
    return [loaded.codec.encode(source) for source in SOURCES[:3]]


def test_every_strategy_is_pinned() -> None:
    assert {label for label in OURS if ":" not in label} == set(STRATEGIES)


@pytest.mark.parametrize("label", OURS)
def test_capabilities_are_the_pinned_ones(contestant: Contestant, label: str) -> None:
    assert contestant(label).generator.capabilities == OURS[label]


def test_an_exact_length_is_met_or_refused(loaded: Loaded, prompts: list[TokenRow]) -> None:
    for n in (1, 2, 7):
        if EXACT in loaded.generator.capabilities:
            check_exact(loaded.generator, loaded.codec, prompts, n)
        else:
            check_refused(loaded.generator, EXACT, lambda n=n: ask(loaded.generator, prompts, Exact(n)))


def test_a_natural_length_is_kept_or_refused(loaded: Loaded, prompts: list[TokenRow]) -> None:
    for max_new_tokens in (1, 2, 20):
        if NATURAL in loaded.generator.capabilities:
            check_natural(loaded.generator, loaded.codec, prompts, max_new_tokens)
        else:
            length = Natural(max_new_tokens)
            check_refused(loaded.generator, NATURAL, lambda length=length: ask(loaded.generator, prompts, length))


def test_an_empty_source_is_answered_or_refused(loaded: Loaded) -> None:
    if NATURAL not in loaded.generator.capabilities:
        with pytest.raises(Unsupported, match="an empty source has no tokens"):
            ask(loaded.generator, [loaded.codec.encode("")], Exact(5))
        return
    check_shape(loaded.generator, loaded.codec, [loaded.codec.encode("")], Natural(5))


def test_no_token_wanted_costs_no_pass(generator: Generator, prompts: list[TokenRow]) -> None:
    if NATURAL in generator.capabilities:
        check_nothing(generator, prompts)
    else:
        check_refused(generator, NATURAL, lambda: ask(generator, prompts, Natural(0)))


@pytest.mark.parametrize("exact", [False, True], ids=["natural", "exact"])
def test_a_batch_is_what_its_rows_are_alone(generator: Generator, loaded: Loaded, exact: bool) -> None:
    assert BATCH in generator.capabilities
    sources = SOURCES[:3] if exact else SOURCES
    if (EXACT if exact else NATURAL) in generator.capabilities:
        prompts = [loaded.codec.encode(source) for source in sources]
        check_batch(generator, prompts, Exact(9) if exact else Natural(20))


def test_sampling_keeps_to_its_seeds_or_is_refused(generator: Generator, prompts: list[TokenRow]) -> None:
    if SAMPLING in generator.capabilities:
        check_sampling(generator, prompts)
    else:
        sampling = replace(WARM, seeds=(1, 2, 3))
        check_refused(generator, SAMPLING, lambda: ask(generator, prompts, Natural(5), sampling=sampling))


def test_stop_strings_end_a_row_or_are_refused(loaded: Loaded, prompts: list[TokenRow]) -> None:
    generator = loaded.generator
    if STOPS in generator.capabilities:
        check_stop_strings(generator, loaded.codec, prompts)
    else:
        check_refused(generator, STOPS, lambda: ask(generator, prompts, Natural(5), stop_strings=("x",)))


@pytest.mark.parametrize("length", [Natural(20), Natural(0), Exact(6)], ids=["natural", "nothing", "exact"])
def test_a_trace_tells_the_commitments_or_is_refused(
    generator: Generator, loaded: Loaded, length: Natural | Exact
) -> None:
    prompts = [loaded.codec.encode(source) for source in SOURCES]
    if (EXACT if isinstance(length, Exact) else NATURAL) not in generator.capabilities:
        return None
    if TRACE not in generator.capabilities:
        return check_refused(generator, TRACE, lambda: ask(generator, prompts, length, trace=True))
    check_trace(generator, prompts, length)
    check_traced_batch(generator, prompts, length)
    return None


def test_a_trace_shows_what_a_stop_string_took_back(generator: Generator, loaded: Loaded) -> None:
    if {TRACE, STOPS} <= generator.capabilities:
        (ids,) = ask(generator, [loaded.codec.encode(SOURCES[0])], Natural(12)).token_ids
        stop = loaded.codec.decode(ids[len(ids) // 2 :]).strip()[:3]
        check_trace(generator, [loaded.codec.encode(SOURCES[0])], Natural(12), stop_strings=(stop,))


def test_a_sampled_trace_draws_the_same_tokens(generator: Generator, prompts: list[TokenRow]) -> None:
    if {TRACE, SAMPLING} <= generator.capabilities:
        check_trace(generator, prompts, eight_tokens(generator), sampling=replace(WARM, seeds=(1, 2, 3)))


@pytest.mark.parametrize("length", [Natural(20), Exact(6)], ids=["natural", "exact"])
def test_counts_are_what_the_hooks_see(generator: Generator, prompts: list[TokenRow], length: Natural | Exact) -> None:
    wanted = EXACT if isinstance(length, Exact) else NATURAL
    if wanted not in generator.capabilities:
        return check_refused(generator, wanted, lambda: ask(generator, prompts, length))
    if COUNTS in generator.capabilities:
        check_counts(generator, prompts, length)
    else:
        check_counts_are_not_claimed(generator, prompts, length)
    return None


@pytest.mark.parametrize("label", EXACT_WORK)
@pytest.mark.parametrize("n", [1, 6])
def test_the_work_for_n_tokens_is_the_papers(contestant: Contestant, label: str, n: int) -> None:
    loaded = contestant(label)
    prompts = [loaded.codec.encode(source) for source in SOURCES[:3]]
    assert_work(check_counts(loaded.generator, prompts, Exact(n)), prompts, EXACT_WORK[label](n, len(prompts)))


def assert_work(work: Work, prompts: list[TokenRow], decoder: tuple[int, int]) -> None:
    longest = max(map(len, prompts))
    assert work.totals == (1, len(prompts) * longest, *decoder)


def test_ctc_makes_one_pass_over_its_canvas(contestant: Contestant) -> None:
    loaded = contestant("ctc")
    prompts = [loaded.codec.encode(source) for source in SOURCES]
    canvas = 2 * max(map(len, prompts))  # the shipped upsampling
    assert_work(check_counts(loaded.generator, prompts, Natural(20)), prompts, (1, len(prompts) * canvas))
    got = ask(loaded.generator, prompts, Natural(20))
    assert got.canvas_positions == tuple(2 * len(ids) for ids in prompts)


def test_mask_predict_is_charged_for_every_length_it_tries(contestant: Contestant) -> None:
    loaded = contestant("mask_predict")
    prompts = [loaded.codec.encode(source) for source in SOURCES]
    got = ask(loaded.generator, prompts, Natural(20))
    assert got.canvas_positions is not None
    canvas = max(got.canvas_positions)
    assert_work(check_counts(loaded.generator, prompts, Natural(20)), prompts, (4, 4 * len(prompts) * 3 * canvas))


def test_ar_stops_with_the_last_row_that_runs(contestant: Contestant) -> None:
    loaded = contestant("ar")
    prompts = [loaded.codec.encode(source) for source in SOURCES]
    got = ask(loaded.generator, prompts, Natural(20))
    steps = [len(row) + (reason == "eos") for row, reason in zip(got.token_ids, got.finish_reasons, strict=True)]
    assert got.tokens_raw == tuple(steps)
    assert len(set(steps)) > 1  # the rows do end at different steps
    work = check_counts(loaded.generator, prompts, Natural(20))
    assert_work(work, prompts, (max(steps), max(steps) * len(prompts)))


def test_copying_costs_no_pass(contestant: Contestant) -> None:
    loaded = contestant("copy")
    prompts = [loaded.codec.encode(source) for source in SOURCES]
    got = ask(loaded.generator, prompts, Natural(99))
    assert sum(step.calls + step.positions for step in got.steps) == 0
    assert got.token_ids == tuple(ids[:-1] for ids in prompts)


def test_an_exact_cache_computes_only_new_positions(generator: Generator, loaded: Loaded) -> None:
    prompts = [loaded.codec.encode(source) for source in SOURCES[:2]]
    if loaded.cache == "exact" and COUNTS in generator.capabilities:
        check_cached_steps(generator, prompts, 6)


def test_what_the_positions_do_not_reach_is_refused(loaded: Loaded) -> None:
    if not hasattr(loaded.generator, "model") and not hasattr(loaded.generator, "translator"):
        return  # copying needs no positions
    longest = loaded.codec.max_source_tokens
    fits, eos = (*[5] * (longest - 1), loaded.codec.eos_token_id), loaded.codec.eos_token_id
    kinds = [kind for kind, can in ((Natural, NATURAL), (Exact, EXACT)) if can in loaded.generator.capabilities]
    ask(loaded.generator, [fits], kinds[0](1))
    with pytest.raises(ValueError, match=f"source has {longest + 1} tokens"):
        ask(loaded.generator, [(5, *fits)], kinds[0](1))
    for kind in kinds:
        with pytest.raises(ValueError, match=f"asked for {longest + 1} tokens"):
            ask(loaded.generator, [(5, eos)], kind(longest + 1))
    if EXACT in loaded.generator.capabilities:
        check_exact(loaded.generator, loaded.codec, [(5, eos)], longest)


def test_an_id_beyond_the_vocabulary_is_refused(loaded: Loaded) -> None:
    if hasattr(loaded.generator, "model") or hasattr(loaded.generator, "translator"):
        length = Natural(3) if NATURAL in loaded.generator.capabilities else Exact(3)
        with pytest.raises(ValueError, match="the id 99;"):
            ask(loaded.generator, [(99, loaded.codec.eos_token_id)], length)
