"""Laws of token-by-token decoding, in float64: cached is uncached is transformers' generate; rows are independent."""

from pathlib import Path

import pytest
import torch
from transformers import MarianMTModel

from generators.base import Exact, FinishReason, Natural, Placement, Sampling
from generators.models.marian import Marian
from generators.models.text import MarianCodec
from generators.registry import build, parse
from generators.strategies.ar import ArConfig, Autoregressive
from generators.strategies.ar_uncached import UncachedAutoregressive
from generators.strategies.hf_generate import HfConfig, HfGenerate
from tests.generators.asking import ask, random_sources
from tests.generators.tiny import VOCAB_SIZE, tiny_model, write_opus_model

DOUBLE = Placement(dtype="float64")


@pytest.fixture(scope="module")
def model() -> Marian:
    return tiny_model(eos_bias=5.0)


def test_cached_is_uncached(model: Marian, codec: MarianCodec) -> None:
    sources = random_sources(200)
    for start in range(0, 200, 50):
        batch = sources[start : start + 50]
        for length in (Natural(14), Exact(9)):
            cached = ask(Autoregressive(model, codec), batch, length)
            uncached = ask(UncachedAutoregressive(model, codec), batch, length)
            assert cached.token_ids == uncached.token_ids
            assert (cached.tokens_raw, cached.finish_reasons) == (uncached.tokens_raw, uncached.finish_reasons)


def test_an_opus_folder_races_as_transformers_generates(tmp_path: Path, vocabulary: Path) -> None:
    write_opus_model(tmp_path, vocabulary)
    sources = random_sources(50, seed=1)
    theirs = MarianMTModel.from_pretrained(tmp_path, dtype=torch.float64).eval()
    pad, longest = VOCAB_SIZE - 1, max(map(len, sources))
    input_ids = torch.tensor([[*row, *[pad] * (longest - len(row))] for row in sources])
    raw = theirs.generate(
        input_ids, attention_mask=(input_ids != pad).long(), num_beams=1, do_sample=False, max_new_tokens=14,
        forced_eos_token_id=None,
    )  # fmt: skip
    wanted = [tuple(row[: row.index(0)] if 0 in row else row[:14]) for row in raw[:, 1:].tolist()]
    assert len({len(row) for row in wanted}) > 3  # ends of many kinds

    for strategy in ("ar", "hf_generate"):
        loaded = build(parse(f"{strategy}:weights={tmp_path}"), DOUBLE)
        assert list(ask(loaded.generator, sources, Natural(14)).token_ids) == wanted


def test_an_exact_length_is_the_same_by_either_loop(tmp_path: Path, vocabulary: Path) -> None:
    write_opus_model(tmp_path, vocabulary)
    sources = random_sources(20, seed=2)
    rows = [
        ask(build(parse(f"{name}:weights={tmp_path}"), DOUBLE).generator, sources, Exact(11)).token_ids
        for name in ("ar", "hf_generate")
    ]
    assert rows[0] == rows[1]


@pytest.mark.parametrize("pad_is_eos", [False, True], ids=["pad", "pad is EOS"])
def test_a_batch_is_its_rows(codec: MarianCodec, pad_is_eos: bool) -> None:
    same = {"pad_token_id": 0, "decoder_start_token_id": 0} if pad_is_eos else {}
    ar = Autoregressive(tiny_model(eos_bias=4.5 if pad_is_eos else 6.0, **same), codec)
    uncached = UncachedAutoregressive(ar.model, codec)
    sources = random_sources(12, seed=4)
    alone = [ask(ar, [source], Natural(14)).token_ids[0] for source in sources]
    assert len({len(row) for row in alone}) > 2
    for order in (1, -1):
        assert list(ask(ar, sources[::order], Natural(14)).token_ids) == alone[::order]
    assert list(ask(uncached, sources, Natural(14)).token_ids) == alone


def test_a_row_that_ended_stays_as_it_was(model: Marian, codec: MarianCodec) -> None:
    ar = Autoregressive(model, codec)
    sources = random_sources(30, seed=5)
    ends = {source: ask(ar, [source], Natural(20)) for source in sources}
    early = min(sources, key=lambda source: ends[source].tokens_raw[0])
    late = max(sources, key=lambda source: ends[source].tokens_raw[0])
    assert (ends[early].tokens_raw, ends[late].tokens_raw) == ((1,), (20,))
    both = ask(ar, [early, late], Natural(20))
    assert both.tokens_raw == (1, 20)
    assert both.finish_reasons == (FinishReason.EOS, FinishReason.LENGTH)
    assert both.token_ids == (ends[early].token_ids[0], ends[late].token_ids[0])


def test_a_longer_answer_begins_with_the_shorter(model: Marian, codec: MarianCodec) -> None:
    ar, sources = Autoregressive(model, codec), random_sources(5, seed=6)
    short, long = ask(ar, sources, Exact(5)).token_ids, ask(ar, sources, Exact(12)).token_ids
    assert [row[:5] for row in long] == list(short)


def test_sampled_rows_do_not_know_each_other(model: Marian, codec: MarianCodec) -> None:
    ar, sources = Autoregressive(model, codec), random_sources(4, seed=7)
    seeds = (3, 1, 4, 1)
    together = ask(ar, sources, Natural(10), sampling=Sampling(temperature=1.5, seeds=seeds)).token_ids
    alone = [
        ask(ar, [source], Natural(10), sampling=Sampling(temperature=1.5, seeds=(seed,))).token_ids[0]
        for source, seed in zip(sources, seeds, strict=True)
    ]
    assert list(together) == alone


def test_the_smallest_nucleus_and_the_coldest_draw_are_greedy(model: Marian, codec: MarianCodec) -> None:
    ar, sources = Autoregressive(model, codec), random_sources(4, seed=8)
    greedy = ask(ar, sources, Exact(8)).token_ids
    for sampling in (
        Sampling(temperature=1.0, top_k=1, seeds=(1, 2, 3, 4)),
        Sampling(temperature=1.0, top_p=0.0, seeds=(1, 2, 3, 4)),
        Sampling(temperature=1e-12, seeds=(1, 2, 3, 4)),
    ):
        assert ask(ar, sources, Exact(8), sampling=sampling).token_ids == greedy


def test_a_stop_string_ends_decoding_and_not_only_the_text(model: Marian, codec: MarianCodec) -> None:
    ar = Autoregressive(model, codec)
    source = max(random_sources(30, seed=5), key=lambda source: ask(ar, [source], Natural(20)).tokens_raw[0])
    free = ask(ar, [source], Natural(20))
    texts = [codec.decode(free.token_ids[0][:n]) for n in range(21)]
    stop = texts[20][len(texts[4]) - 1 : len(texts[4]) + 1].strip()
    got = ask(ar, [source], Natural(20), stop_strings=(stop,))
    first = next(n for n, text in enumerate(texts) if stop in text)
    assert got.finish_reasons == (FinishReason.STOP_STRING,)
    assert got.tokens_raw == (first,)  # no pass after the one that completed the match
    assert len(got.steps) == first + 1


def test_a_stop_string_in_the_source_does_not_fire(model: Marian, codec: MarianCodec) -> None:
    ar = Autoregressive(model, codec)
    source = codec.encode("the light")
    free = ask(ar, [source], Natural(9))
    assert "light" not in codec.decode(free.token_ids[0])
    assert ask(ar, [source], Natural(9), stop_strings=("light",)).token_ids == free.token_ids


@pytest.mark.parametrize("config", [ArConfig, HfConfig])
def test_a_beam_of_nothing_is_refused(config: type[ArConfig] | type[HfConfig]) -> None:
    with pytest.raises(ValueError, match="beam_size must be 1 or more, got 0"):
        config(beam_size=0)
    with pytest.raises(ValueError, match="length_penalty must be finite"):
        config(length_penalty=float("nan"))


def test_a_folders_own_generation_settings_do_not_change_the_race(tmp_path: Path, vocabulary: Path) -> None:
    write_opus_model(tmp_path, vocabulary)
    codec_config = (tmp_path / "generation_config.json").read_text()
    assert '"num_beams": 4' in codec_config and '"forced_eos_token_id": 0' in codec_config
    generator, _ = HfGenerate.load(tmp_path, HfConfig(), DOUBLE)
    settings = generator.model.generation_config
    assert (settings.num_beams, settings.forced_eos_token_id) == (1, None)
