"""The backbone against transformers' own MarianMTModel, and its inference paths against each other."""

from pathlib import Path

import pytest
import torch

from generators.models.cache import Cache, RaggedCache
from generators.models.files import load_model
from generators.models.layers import Dropout
from generators.models.marian import Marian, causal_mask
from tests.generators.tiny import POSITIONS, VOCAB_SIZE, tiny_model, write_opus_model

PAD = VOCAB_SIZE - 1


@pytest.mark.parametrize("options", [{}, {"activation_function": "gelu"}, {"scale_embedding": False}], ids=str)
@pytest.mark.parametrize(("dtype", "tolerance"), [("float32", 1e-5), ("float64", 1e-12)])
def test_logits_are_those_of_transformers(
    tmp_path: Path, vocabulary: Path, options: dict[str, object], dtype: str, tolerance: float
) -> None:
    theirs = write_opus_model(tmp_path, vocabulary, **options).to(getattr(torch, dtype))
    ours = load_model(tmp_path, Marian, dtype=dtype)
    sources = torch.tensor([[5, 9, 13, 2, 0], [7, 3, 0, PAD, PAD]])
    decoder_ids = torch.tensor([[PAD, 4, 8, 15], [PAD, 6, 2, 2]])
    with torch.inference_mode():
        wanted = theirs(input_ids=sources, attention_mask=(sources != PAD).long(), decoder_input_ids=decoder_ids).logits
        found = ours(sources, decoder_ids)
    assert wanted.std() > 0.1  # not two flat distributions
    torch.testing.assert_close(found, wanted, rtol=0, atol=tolerance)


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("activation", ["relu", "swish"])
def test_a_cached_step_is_the_uncached_one(packed: bool, activation: str) -> None:
    model = tiny_model(activation_function=activation)
    model.final_logits_bias.normal_()
    sources = torch.tensor([[5, 9, 0], [7, 0, PAD]])
    decoder_ids = torch.tensor([[PAD, 4, 8, 15, 3], [PAD, 6, 2, 2, 40]])
    with torch.inference_mode():
        wanted = model(sources, decoder_ids)
        if packed:
            model.pack()
        memory = model.encode(sources)
        cache = Cache(model.config, 2, 5, memory.states)
        steps = [model.embed(decoder_ids[:, step : step + 1], step) for step in range(5)]
        found = torch.cat([model.logits(model.model.decoder(x, memory, cache=cache)) for x in steps], 1)
    torch.testing.assert_close(found, wanted, rtol=0, atol=1e-12)
    assert cache.length == 5


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("sources", [((5, 9, 0),), ((5, 9, 0), (7, 0, PAD), (3, 4, 0))], ids=["one row", "three"])
def test_several_cached_positions_are_the_uncached_ones_wherever_a_row_stands(
    packed: bool, sources: tuple[tuple[int, ...], ...]
) -> None:
    """Rows at different lengths, wound back and written over: each position's logits are those of a whole pass."""
    model, source_ids = tiny_model(), torch.tensor(sources)
    decoder_ids = torch.tensor([[PAD, 4, 8, 15, 3, 9, 2, 11], [PAD, 6, 2, 2, 40, 8, 1, 5], [PAD, 7, 7, 1, 3, 3, 2, 9]])
    decoder_ids = decoder_ids[: len(sources)]
    with torch.inference_mode():
        wanted = model(source_ids, decoder_ids)
        if packed:
            model.pack()
        memory = model.encode(source_ids)
        cache = RaggedCache(model.config, len(sources), 9, memory.states)
        for starts in ([0, 0, 0], [3, 1, 2], [1, 2, 4], [5, 4, 5]):  # within what has been computed, or just behind
            cache.lengths = starts[: len(sources)]
            places, mask = cache.place(3)
            x = model.embed_at(decoder_ids.gather(1, places), places)
            found = model.logits(model.model.decoder(x, memory, mask=mask, cache=cache))
            expected = wanted[torch.arange(len(sources))[:, None], places]
            torch.testing.assert_close(found, expected, rtol=0, atol=1e-12)
    assert cache.lengths == [start + 3 for start in starts[: len(sources)]]


def test_attention_in_training_is_that_of_inference() -> None:
    model = tiny_model()
    sources, decoder_ids = torch.tensor([[5, 9, 0], [7, 0, PAD]]), torch.tensor([[PAD, 4, 8], [PAD, 6, 2]])
    with torch.no_grad():
        trained, inferred = model.train()(sources, decoder_ids), model.eval()(sources, decoder_ids)
    torch.testing.assert_close(trained, inferred, rtol=0, atol=1e-10)


def test_padding_on_the_right_changes_nothing() -> None:
    model = tiny_model()
    with torch.inference_mode():
        alone = model.encode(torch.tensor([[7, 3, 0]]))
        padded = model.encode(torch.tensor([[7, 3, 0, PAD, PAD], [5, 5, 5, 5, 0]]))
    assert alone.mask is None
    torch.testing.assert_close(padded.states[:1, :3], alone.states, rtol=0, atol=1e-12)


def test_the_past_cannot_see_the_future() -> None:
    model = tiny_model()
    source = torch.tensor([[5, 9, 0]])
    with torch.inference_mode():
        one, other = (model(source, torch.tensor([[PAD, 4, last]])) for last in (8, 30))
    assert torch.equal(one[:, :2], other[:, :2])
    assert not torch.equal(one[:, 2], other[:, 2])
    assert causal_mask(one).tolist() == [[True, False, False], [True, True, False], [True, True, True]]


def test_positions_are_sines_then_cosines() -> None:
    table = tiny_model().positions
    assert table.shape == (POSITIONS, 16)
    assert table[0].tolist() == [0.0] * 8 + [1.0] * 8
    assert table[3, 0].item() == pytest.approx(0.1411200, abs=1e-6)  # sin 3
    assert table[3, 8].item() == pytest.approx(-0.9899925, abs=1e-6)  # cos 3


def test_dropout_keeps_the_mean_and_rests_at_inference() -> None:
    torch.manual_seed(0)
    dropout, ones = Dropout(0.25), torch.ones(1003, 16)
    out = dropout.train()(ones)
    assert out.unique().tolist() == [0.0, pytest.approx(4 / 3)]
    assert (out == 0).float().mean().item() == pytest.approx(0.25, abs=0.02)
    assert dropout.eval()(ones) is ones
    assert Dropout(0.0).train()(ones) is ones


def test_the_cache_follows_its_beams() -> None:
    model = tiny_model()
    cache = Cache(model.config, 3, 4, torch.zeros(1, dtype=torch.float64))
    key = torch.tensor([0.0, 0.1, 1.0, 1.1, 2.0, 2.1], dtype=torch.float64)[:, None, None].expand(6, 1, 8)
    new = torch.stack((key, -key))
    for layer in range(2):
        cache.append(layer, new)
    cache.length = 1
    cache.reorder(torch.tensor([2, 0, 0]))
    keys, values = cache.append(1, new)
    assert keys[:, :, 7].tolist() == [[2.0, 0.0], [2.1, 0.1], [0.0, 1.0], [0.1, 1.1], [0.0, 2.0], [0.1, 2.1]]
    assert torch.equal(values, -keys)
