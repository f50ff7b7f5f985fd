"""One wrong token put into a decode loop: where it lands, what it costs in confidence, and who cannot take it."""

import pytest
import torch

from generators import slips
from generators.base import Exact, Natural, Unsupported
from generators.models.heads import CmlmMarian
from generators.models.text import MarianCodec
from generators.slips import Slip, exchange, slipping
from generators.strategies.ar import ArConfig, Autoregressive
from generators.strategies.copy import Copy
from generators.strategies.mask_predict import MaskPredict, MaskPredictConfig
from tests.generators.asking import ask, random_sources
from tests.generators.tiny import tiny_model

SOURCES = random_sources(3, seed=2)
WRONG = 7


@pytest.fixture
def ar(codec: MarianCodec) -> Autoregressive:
    return Autoregressive(tiny_model("ar"), codec)


def mask_predict(codec: MarianCodec, n_iterations: int, length_beam: int = 1) -> MaskPredict:
    model = tiny_model("cmlm", eos_bias=-9.0)
    assert isinstance(model, CmlmMarian)
    return MaskPredict(model, codec, MaskPredictConfig(n_iterations=n_iterations, length_beam=length_beam))


def test_ar_writes_the_wrong_token_at_its_place_and_its_own_before(ar: Autoregressive) -> None:
    clean = ask(ar, SOURCES, Exact(6)).token_ids
    with slipping(ar, [Slip(2, WRONG), Slip(0, WRONG), Slip(9, WRONG)]):
        damaged = ask(ar, SOURCES, Exact(6)).token_ids
    assert damaged[0][:3] == (*clean[0][:2], WRONG)
    assert damaged[1][0] == WRONG
    assert damaged[2] == clean[2]  # too short to slip


def test_ar_goes_on_as_if_it_had_been_given_the_wrong_prefix(ar: Autoregressive) -> None:
    with slipping(ar, [Slip(2, WRONG)]):
        (damaged,) = ask(ar, SOURCES[:1], Exact(6)).token_ids
    model, source = ar.model, torch.tensor([SOURCES[0]])
    for end in range(3, 6):
        prefix = torch.tensor([[model.config.decoder_start_token_id, *damaged[:end]]])
        logits = model(source, prefix)[0, -1].clone()
        logits[[model.config.pad_token_id, model.config.eos_token_id]] = float("-inf")
        assert int(logits.argmax()) == damaged[end]


def test_when_the_block_ends_the_model_is_itself_again(ar: Autoregressive) -> None:
    clean = ask(ar, SOURCES, Exact(6)).token_ids
    with pytest.raises(ValueError, match="tokens"), slipping(ar, [Slip(0, WRONG)] * 3):
        ask(ar, SOURCES, Exact(10_000))
    assert ask(ar, SOURCES, Exact(6)).token_ids == clean


def test_one_shot_keeps_the_wrong_token_and_changes_nothing_else(codec: MarianCodec) -> None:
    one_shot = mask_predict(codec, 1)
    clean = ask(one_shot, SOURCES, Exact(6)).token_ids
    with slipping(one_shot, [Slip(place, WRONG) for place in (0, 3, 9)]):
        damaged = ask(one_shot, SOURCES, Exact(6)).token_ids
    assert damaged[0] == (WRONG, *clean[0][1:])
    assert damaged[1] == (*clean[1][:3], WRONG, *clean[1][4:])
    assert damaged[2] == clean[2]


def test_an_iterative_strategy_slips_in_its_first_pass_alone(
    codec: MarianCodec, monkeypatch: pytest.MonkeyPatch
) -> None:
    strategy, slipped = mask_predict(codec, 6), []
    monkeypatch.setattr(slips, "exchange", lambda logits, row, *rest: slipped.append((row, *rest)))
    with slipping(strategy, [Slip(3, WRONG), Slip(6, WRONG)]):
        got = ask(strategy, SOURCES[:2], Exact(6))
    assert sum(step.calls for step in got.steps if step.phase == "decode") == 6
    assert slipped == [(0, 2, 3, WRONG)]  # row, of two rows, place, token


def test_all_lengths_tried_for_a_row_slip_and_no_other_row(codec: MarianCodec) -> None:
    strategy = mask_predict(codec, 1, length_beam=3)
    clean = ask(strategy, SOURCES, Natural(20)).token_ids
    with slipping(strategy, [Slip(0, WRONG), Slip(30, WRONG), Slip(0, WRONG)]):
        damaged = ask(strategy, SOURCES, Natural(20)).token_ids
    assert (damaged[0][0], damaged[2][0]) == (WRONG, WRONG)
    assert damaged[1] == clean[1]


def test_the_wrong_token_is_as_sure_as_the_right_one_was() -> None:
    logits = torch.tensor([[[0.0, 3.0, 1.0]], [[5.0, 3.0, 1.0]]])
    exchange(logits, row=0, n_rows=2, place=0, token_id=2)
    assert logits.tolist() == [[[0.0, 1.0, 3.0]], [[5.0, 3.0, 1.0]]]


def test_a_strategy_whose_places_are_not_decided_one_by_one_refuses(codec: MarianCodec, ar: Autoregressive) -> None:
    beam = Autoregressive(ar.model, codec, ArConfig(beam_size=2))
    for strategy in (beam, Copy(0, codec)):
        with pytest.raises(Unsupported, match="a wrong token at a given place"), slipping(strategy, [Slip(0, WRONG)]):
            pass


def test_slips_live_in_one_model_only(ar: Autoregressive, codec: MarianCodec) -> None:
    other = Autoregressive(tiny_model("ar"), codec)
    clean = ask(other, SOURCES, Exact(4)).token_ids
    with slipping(ar, [Slip(0, WRONG)] * 3):
        assert ask(other, SOURCES, Exact(4)).token_ids == clean
