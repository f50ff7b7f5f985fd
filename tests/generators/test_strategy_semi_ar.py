"""Blocks left to right: of one token they are plain autoregressive decoding, and cached ones are the whole pass."""

from dataclasses import replace

import pytest
import torch

from generators.base import Exact, FinishReason, Natural, Sampling
from generators.models.heads import SemiMarian
from generators.models.text import MarianCodec
from generators.strategies.ar import Autoregressive
from generators.strategies.semi_ar import SemiArConfig, SemiAutoregressive
from tests.generators.asking import ask, random_sources
from tests.generators.tiny import POSITIONS, tiny_model


def semi_model(eos_bias: float = 2.5) -> SemiMarian:
    model = tiny_model("semi_ar", eos_bias=eos_bias)
    assert isinstance(model, SemiMarian)
    return model


def by(k: int, codec: MarianCodec, eos_bias: float = 2.5) -> SemiAutoregressive:
    return SemiAutoregressive(semi_model(eos_bias), codec, SemiArConfig(block_length=k))


def test_blocks_of_one_token_are_autoregressive_decoding(codec: MarianCodec) -> None:
    strategy, sources = by(1, codec), random_sources(100)
    ar = Autoregressive(strategy.model, codec)
    for length in (Natural(14), Exact(9)):
        one, other = ask(strategy, sources, length), ask(ar, sources, length)
        assert (one.token_ids, one.tokens_raw, one.finish_reasons) == (
            other.token_ids, other.tokens_raw, other.finish_reasons,
        )  # fmt: skip
    warm = Sampling(temperature=1.0, seeds=tuple(range(20)))
    drawn = [ask(s, sources[:20], Natural(14), sampling=warm).token_ids for s in (strategy, ar)]
    assert drawn[0] == drawn[1]
    assert len({len(row) for row in drawn[0]}) > 3


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("k", [2, 4, 8])
def test_cached_blocks_are_the_best_tokens_of_one_whole_pass(codec: MarianCodec, k: int, packed: bool) -> None:
    """The answer, read again as training reads it, is what the model finds best at every place."""
    strategy = by(k, codec)
    if packed:
        strategy.model.pack()
    model = strategy.model
    for source in random_sources(5, seed=1):
        (row,) = ask(strategy, [source], Exact(16)).token_ids
        decoder_ids = torch.tensor([[*[model.config.decoder_start_token_id] * k, *row]])[:, :16]
        with torch.no_grad():
            logits = model.teach(model.encode(torch.tensor([source])), decoder_ids, k)[0]
        logits[:, [model.config.pad_token_id, model.config.eos_token_id]] = float("-inf")
        assert tuple(logits.argmax(-1).tolist()) == row


def test_a_place_sees_its_own_block_and_those_before() -> None:
    model = semi_model()
    source = model.encode(torch.tensor([[5, 9, 0]]))
    ids = [1, 2, 3, 4, 5, 6]
    with torch.no_grad():
        for changed in range(6):
            other = [*ids[:changed], 30, *ids[changed + 1 :]]
            one, two = (model.teach(source, torch.tensor([row]), 2)[0] for row in (ids, other))
            same = [torch.equal(a, b) for a, b in zip(one, two, strict=True)]
            assert same == [place // 2 < changed // 2 for place in range(6)]


def test_an_answer_ends_inside_a_block_and_what_follows_is_charged_but_not_kept(codec: MarianCodec) -> None:
    got = ask(by(4, codec), random_sources(40), Natural(14))
    ended = [i for i, reason in enumerate(got.finish_reasons) if reason is FinishReason.EOS]
    assert any(len(got.token_ids[i]) % 4 not in (0, 3) for i in ended)
    assert all(got.tokens_raw[i] == (len(got.token_ids[i]) // 4 + 1) * 4 for i in ended)


@pytest.mark.parametrize("k", [2, 4, 8])
def test_ten_tokens_by_blocks_begin_the_twelve(codec: MarianCodec, k: int) -> None:
    strategy, sources = by(k, codec), random_sources(6, seed=2)
    ten, twelve = (ask(strategy, sources, Exact(n)) for n in (10, 12))
    assert [row[:10] for row in twelve.token_ids] == list(ten.token_ids)
    assert ten.tokens_raw == (-(-10 // k) * k,) * 6


def test_the_last_positions_there_are_can_be_written(codec: MarianCodec) -> None:
    strategy = SemiAutoregressive(semi_model(-100.0), codec, SemiArConfig(block_length=8))
    strategy.model.config = replace(strategy.model.config, max_position_embeddings=POSITIONS - 1)
    got = ask(strategy, [(5, 9, 0)], Exact(POSITIONS - 1))
    assert got.tokens_raw == (POSITIONS - 1,)


def test_the_block_length_changes_what_is_written(codec: MarianCodec) -> None:
    rows = {ask(by(k, codec), [(5, 9, 14, 0)], Exact(8)).token_ids for k in (1, 2, 4, 8)}
    assert len(rows) == 4


def test_a_block_length_the_model_was_not_trained_for_is_refused(codec: MarianCodec) -> None:
    with pytest.raises(ValueError, match="knows no block_length 3; choose from: 1, 2, 4, 8"):
        by(3, codec)
