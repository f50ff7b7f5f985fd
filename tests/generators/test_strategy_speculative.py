"""Speculation writes what the target writes, token for token; what a draft is worth is counted by the definitions."""

from collections import Counter
from collections.abc import Sequence

import pytest
import torch

from generators.base import Generation, Natural, Phase, Request, Sampling, Stopwatch, TokenRow
from generators.models.heads import CtcMarian
from generators.models.marian import Marian, Memory, causal_mask
from generators.models.text import MarianCodec
from generators.strategies.ar import Autoregressive
from generators.strategies.ctc import Ctc
from generators.strategies.drafting import (
    Copying,
    Drafter,
    Drafts,
    OneShotDrafter,
    ShallowDrafter,
    SourceDrafter,
    followed,
)
from generators.strategies.speculative import Speculative, SpeculativeConfig
from tests.generators.asking import ask, random_sources
from tests.generators.tiny import tiny_model

SOURCES = random_sources(200)
LONGEST = Natural(14)


@pytest.fixture(scope="module")
def target() -> Marian:
    model = tiny_model(eos_bias=5.0)
    model.pack()
    return model


def drafter(kind: str, codec: MarianCodec, target: Marian) -> Drafter:
    """A drafter of each kind; `twin` is the target itself, so that whole drafts are accepted."""
    if kind == "copy":
        return SourceDrafter()
    if kind == "twin":
        return ShallowDrafter(target)
    if kind == "shallow":
        return ShallowDrafter(tiny_model("ar_draft", seed=3, eos_bias=4.0, encoder_layers=1, decoder_layers=1))
    model = tiny_model("ctc", eos_bias=3.0)
    assert isinstance(model, CtcMarian)
    return OneShotDrafter(Ctc(model, codec))


class Given:
    """Drafts that are the same wherever a row stands: the text given, from the row's own length on."""

    def __init__(self, text: Sequence[int]) -> None:
        self.text = text

    def begin(self, request: Request, stopwatch: Stopwatch) -> Drafts:
        return self

    def propose(self, rows: Sequence[Sequence[int]], n: int, stopwatch: Stopwatch) -> list[list[int]]:
        return [list(self.text[len(row) : len(row) + n]) for row in rows]


def outcome(got: Generation) -> tuple[object, ...]:
    return got.token_ids, got.tokens_raw, got.finish_reasons


@pytest.fixture(scope="module")
def written(codec: MarianCodec, target: Marian) -> tuple[object, ...]:
    """What `ar` writes for the 200 sources."""
    return outcome(ask(Autoregressive(target, codec), SOURCES, LONGEST))


@pytest.mark.parametrize("k", range(1, 9))
@pytest.mark.parametrize("kind", ["copy", "twin", "shallow", "ctc"])
def test_greedy_output_is_that_of_ar(
    codec: MarianCodec, target: Marian, written: tuple[object, ...], kind: str, k: int
) -> None:
    strategy = Speculative(target, codec, SpeculativeConfig(draft_length=k), drafter(kind, codec, target))
    got = ask(strategy, SOURCES, LONGEST)
    assert outcome(got) == written
    assert sum(step.accepted for step in got.steps) > 0  # blocks did go through, not only single tokens


@pytest.mark.parametrize("k", [1, 3, 8])
@pytest.mark.parametrize("kind", ["copy", "twin", "shallow"])
def test_a_seed_draws_the_tokens_that_ar_draws(codec: MarianCodec, target: Marian, kind: str, k: int) -> None:
    strategy = Speculative(target, codec, SpeculativeConfig(draft_length=k), drafter(kind, codec, target))
    for more in ({}, {"top_k": 3}, {"top_p": 0.5}):
        sampling = Sampling(temperature=0.8, seeds=tuple(range(30)), **more)  # type: ignore[arg-type]
        got = ask(strategy, SOURCES[:30], LONGEST, sampling=sampling)
        assert outcome(got) == outcome(ask(Autoregressive(target, codec), SOURCES[:30], LONGEST, sampling=sampling))


@pytest.mark.parametrize("k", [1, 4, 8])
def test_an_end_inside_a_block_ends_the_row_there(codec: MarianCodec, target: Marian, k: int) -> None:
    """EOS and stop strings at every place of a block whose every token would have been accepted."""
    ar = Autoregressive(target, codec)
    strategy = Speculative(target, codec, SpeculativeConfig(draft_length=k), ShallowDrafter(target))
    n_ends = 0
    for source in SOURCES[:10]:
        (ids,) = ask(ar, [source], LONGEST).token_ids
        text = codec.decode(ids)
        for place in range(len(text)):
            if not (stop := text[place : place + 2]).strip():
                continue
            wanted = ask(ar, [source], LONGEST, stop_strings=(stop,))
            got = ask(strategy, [source], LONGEST, stop_strings=(stop,))
            assert outcome(got) == outcome(wanted)
            n_ends += 1
    assert n_ends > 50


def whole_text(codec: MarianCodec) -> tuple[Marian, TokenRow, TokenRow]:
    """A target that never ends by itself, a source, and the ten tokens that it writes for it."""
    model, source = tiny_model(eos_bias=-100.0), SOURCES[0]
    (text,) = ask(Autoregressive(model, codec), [source], Natural(10)).token_ids
    return model, source, text


def test_ten_tokens_by_four_drafted_take_two_passes_where_all_drafts_are_right(codec: MarianCodec) -> None:
    model, source, text = whole_text(codec)
    got = ask(Speculative(model, codec, drafter=Given(text)), [source], Natural(10))
    passes = [step for step in got.steps if step.phase is Phase.DECODE]
    assert got.token_ids == (text,)
    assert [(step.positions, step.drafted, step.accepted) for step in passes] == [(5, 4, 4), (5, 4, 4)]
    assert sum(got.tokens_raw) / len(passes) == 5.0  # acceptance length, the pass's own token included


def test_drafts_that_are_always_wrong_leave_one_token_a_pass(codec: MarianCodec) -> None:
    model, source, text = whole_text(codec)
    wrong = [token_id % 50 + 1 for token_id in text]
    assert not set(zip(wrong, text, strict=True)) & {(token_id, token_id) for token_id in text}
    got = ask(Speculative(model, codec, drafter=Given(wrong)), [source], Natural(10))
    passes = [step for step in got.steps if step.phase is Phase.DECODE]
    assert got.token_ids == (text,)
    assert [step.drafted for step in passes] == [4, 4, 4, 4, 4, 4, 3, 2, 1, 0]
    assert sum(step.accepted for step in passes) == 0
    assert sum(got.tokens_raw) / len(passes) == 1.0


def test_the_end_of_a_sentence_inside_a_draft_stops_the_counters_too(codec: MarianCodec) -> None:
    """The target says a b EOS; the draft a b EOS c: three of four accepted, and no pass after it."""
    model = tiny_model(eos_bias=5.0)
    ar = Autoregressive(model, codec)
    source = next(one for one in SOURCES if len(ask(ar, [one], LONGEST).token_ids[0]) == 2)
    (kept,) = ask(ar, [source], LONGEST).token_ids
    got = ask(Speculative(model, codec, drafter=Given((*kept, 0, 7, 7))), [source], LONGEST)
    (verified,) = [step for step in got.steps if step.phase is Phase.DECODE]
    assert (got.token_ids, got.tokens_raw) == ((kept,), (3,))
    assert (verified.calls, verified.positions, verified.drafted, verified.accepted) == (1, 5, 4, 3)


def test_a_row_that_ended_is_drafted_for_no_more(codec: MarianCodec) -> None:
    model = tiny_model(eos_bias=5.0)
    ar = Autoregressive(model, codec)
    raw = {source: ask(ar, [source], LONGEST).tokens_raw[0] for source in SOURCES}
    early, late = min(SOURCES, key=lambda one: raw[one]), max(SOURCES, key=lambda one: raw[one])
    strategy = Speculative(model, codec, drafter=SourceDrafter())
    drafted = [sum(step.drafted for step in ask(strategy, [one], LONGEST).steps) for one in (early, late)]
    both = ask(strategy, [early, late], LONGEST)
    assert sum(step.drafted for step in both.steps) == sum(drafted)


def test_the_drafter_reads_only_what_it_has_not_read(codec: MarianCodec, target: Marian) -> None:
    """One token behind a rejected draft, two behind a draft that stood; then one a call."""
    model = tiny_model(eos_bias=-100.0)
    config = SpeculativeConfig(draft_length=3)
    seen: list[int] = []
    model.model.decoder.register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0].shape[1]))
    ask(Speculative(tiny_model(eos_bias=-100.0), codec, config, ShallowDrafter(model)), [SOURCES[0]], Natural(12))
    assert seen == [1, 1, 1, 2, 1, 1, 2, 1, 1]  # 12 tokens by 4


def test_sampled_tokens_keep_the_targets_distribution(codec: MarianCodec) -> None:
    """Chi-square over the first two tokens of a vocabulary of four, against the target's own probabilities."""
    shape = {"vocab_size": 6, "decoder_vocab_size": 6, "pad_token_id": 5, "decoder_start_token_id": 5}
    model, source, n, temperature = tiny_model(**shape), (1, 2, 0), 2000, 3.0  # ids 0 to 4 can be emitted, 0 being EOS
    with torch.no_grad():
        model.final_logits_bias[0, 4] = -1e9  # so 0 to 3
        memory = model.encode(torch.tensor([source]))
        first = behind(model, memory, [], temperature)
        second = [behind(model, memory, [one], temperature) for one in range(4)]
    wanted = {(0,): first[0]} | {(a, b): first[a] * second[a][b] for a in range(1, 4) for b in range(4)}
    strategy = Speculative(model, codec, drafter=Given((1, 2)))
    found: Counter[tuple[int, ...]] = Counter()
    for start in range(0, n, 500):
        sampling = Sampling(temperature=temperature, seeds=tuple(range(start, start + 500)))
        got = ask(strategy, [source] * 500, Natural(2), sampling=sampling)
        assert 0 < sum(step.accepted for step in got.steps) < sum(step.drafted for step in got.steps)
        for kept, raw in zip(got.token_ids, got.tokens_raw, strict=True):
            found[(*kept, 0) if raw > len(kept) else kept] += 1
    assert sum(found.values()) == n
    assert min(wanted.values()) * n > 5, "too rare for a chi-square"
    chi_square = sum((found[key] - p * n) ** 2 / (p * n) for key, p in wanted.items())
    assert len(wanted) == 13
    assert chi_square < 32.9  # the 99.9 % point of chi-square with 12 degrees of freedom; the seeds are fixed


def behind(model: Marian, memory: Memory, row: list[int], temperature: float) -> list[float]:
    """The probabilities of what the target may say next."""
    x = model.embed(torch.tensor([[model.config.decoder_start_token_id, *row]]))
    logits = model.logits(model.model.decoder(x, memory, mask=causal_mask(x)))[0, -1]
    logits[model.config.pad_token_id] = float("-inf")
    probabilities: list[float] = (logits / temperature).softmax(-1).tolist()
    return probabilities


@pytest.mark.parametrize(
    ("row", "place", "wanted"),
    [
        ("abc", 2, 3),  # as the text has it
        ("abx", 2, 3),  # another word in the text's place
        ("abe", 2, 5),  # two words of the text left out
        ("abcab", 3, 2),  # the text once more, from its beginning
        ("xyz", 0, 1),
        ("abcdefgx", 7, 7),  # beyond the text there is nothing to follow
    ],
)
def test_a_row_that_left_its_text_is_found_again(row: str, place: int, wanted: int) -> None:
    text = tuple(map(ord, "abcdefg"))
    assert followed(text, place, [ord(letter) for letter in row]) == wanted


def test_drafts_go_on_where_the_row_stands_in_the_text() -> None:
    drafts = Copying([(1, 2, 3, 4, 5, 0), (9, 0)])
    rows: list[list[int]] = [[], []]
    assert drafts.propose(rows, 2, Stopwatch()) == [[1, 2], [9, 0]]
    rows = [[1, 2, 7], [8]]
    assert drafts.propose(rows, 2, Stopwatch()) == [[4, 5], [0]]
    rows = [[1, 2, 7, 5], [8, 0]]
    assert drafts.propose(rows, 3, Stopwatch()) == [[0], []]


def test_no_draft_is_refused() -> None:
    with pytest.raises(ValueError, match="draft_length must be 1 or more, got 0"):
        SpeculativeConfig(draft_length=0)
