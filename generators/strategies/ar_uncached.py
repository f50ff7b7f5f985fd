"""Autoregressive decoding without a key-value cache: every step computes all positions again.

The denominator of many published speedups, here only to show what it hides: see `ar.py` for the real baseline.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Self

import torch

from generators.base import Capability, Generation, Phase, Placement, Request, Stopwatch, require
from generators.models.files import load_model
from generators.models.inputs import encode, forbidden, start_tokens
from generators.models.marian import Marian, causal_mask
from generators.models.text import Codec, load_codec
from generators.stopping import answer, limit, nothing, until
from generators.tracing import grown


@dataclass(frozen=True, slots=True, kw_only=True)
class ArUncachedConfig:
    """Nothing to choose: it decodes greedily."""


class UncachedAutoregressive:
    """See the module's docstring."""

    config_type = ArUncachedConfig
    capabilities = frozenset(
        {
            Capability.EXACT_LENGTH,
            Capability.NATURAL_LENGTH,
            Capability.BATCH,
            Capability.COUNTS,
            Capability.COMMIT_ORDER,
            Capability.TRACE,
        }
    )

    def __init__(self, model: Marian, codec: Codec, config: ArUncachedConfig = ArUncachedConfig()) -> None:
        self.model, self.codec, self.config = model, codec, config

    @classmethod
    def load(cls, folder: Path, config: ArUncachedConfig, placement: Placement) -> tuple[Self, Codec]:
        model = load_model(folder, Marian, device=placement.device, dtype=placement.dtype)
        codec = load_codec(folder)
        return cls(model, codec, config), codec

    @torch.inference_mode()
    def generate(self, request: Request, stopwatch: Stopwatch) -> Generation:
        require(self.capabilities, request)
        stopwatch.start()
        if limit(request.length) == 0:
            return nothing(request)
        model, eos_token_id = self.model, self.model.config.eos_token_id
        memory = encode(model, request, stopwatch)
        banned, first_step = forbidden(model, request.length), len(stopwatch.steps)
        token_ids = start_tokens(model, len(request.prompts))
        for _ in range(limit(request.length)):
            x = model.embed(token_ids)
            hidden = model.model.decoder(x, memory, mask=causal_mask(x))[:, -1]
            best = model.logits(hidden).index_fill_(1, banned, float("-inf")).argmax(-1)
            stopwatch.lap(Phase.DECODE, calls=1, positions=token_ids.numel())
            token_ids = torch.cat([token_ids, best[:, None]], dim=1)
            if bool((token_ids[:, 1:] == eos_token_id).any(1).all()):  # the start token of some models is EOS
                break
        rows = [until(row, eos_token_id) for row in token_ids[:, 1:].tolist()]
        frames = [grown(row, first_step) for row in rows] if request.trace else None
        return answer(rows, request, stopwatch, eos_token_id, self.codec.decode, frames=frames)
