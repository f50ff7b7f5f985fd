"""What a reference costs a model, checked against sums made the slow way."""

import pytest
import torch

from generators.base import Exact, Prompt
from generators.likelihood import nats
from generators.models.heads import CmlmMarian
from generators.models.inputs import forbidden
from generators.models.text import MarianCodec
from generators.strategies.ar import Autoregressive
from generators.strategies.copy import Copy
from generators.strategies.mask_predict import MaskPredict
from tests.generators.asking import random_sources
from tests.generators.tiny import tiny_model

SOURCES = random_sources(20, seed=5)
PROMPTS = [Prompt(prefix_ids=source) for source in SOURCES]
TARGETS = [source[:-1] for source in random_sources(20, seed=6)]


@torch.inference_mode()
def test_ar_pays_for_each_token_given_the_true_ones_before_it(codec: MarianCodec) -> None:
    model = tiny_model("ar")
    found = nats(Autoregressive(model, codec), PROMPTS, TARGETS)
    assert found is not None
    for source, target, cost in zip(SOURCES, TARGETS, found, strict=True):
        total = 0.0
        for end, token_id in enumerate(target):
            prefix = torch.tensor([[model.config.decoder_start_token_id, *target[:end]]])
            logits = model(torch.tensor([source]), prefix)[0, -1].index_fill(0, forbidden(model, Exact(1)), -torch.inf)
            total -= float(logits.log_softmax(0)[token_id])
        assert cost == pytest.approx(total)


@torch.inference_mode()
def test_mask_predict_pays_for_each_token_alone(codec: MarianCodec) -> None:
    model = tiny_model("cmlm")
    assert isinstance(model, CmlmMarian)
    found = nats(MaskPredict(model, codec), PROMPTS, TARGETS)
    assert found is not None
    for source, target, cost in zip(SOURCES, TARGETS, found, strict=True):
        if target:
            masks = torch.full((1, len(target)), model.mask_token_id)
            banned = torch.cat([forbidden(model, Exact(1)), torch.tensor([model.mask_token_id])])
            logits = model.fill(masks, model.encode(torch.tensor([source])), None)[0].index_fill(1, banned, -torch.inf)
            total = -float(logits.log_softmax(1)[range(len(target)), list(target)].sum())
            assert cost == pytest.approx(total)


def test_no_token_costs_nothing_and_other_strategies_cannot_tell(codec: MarianCodec) -> None:
    assert nats(Autoregressive(tiny_model("ar"), codec), PROMPTS[:1], [()]) == [0.0]
    assert nats(Copy(0, codec), PROMPTS, TARGETS) is None
