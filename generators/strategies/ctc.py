"""One-shot decoding with CTC: one decoder pass over a canvas longer than the answer, then merge and drop blanks.

Libovický & Helcl 2018, https://arxiv.org/abs/1811.04719; greedy collapse as in Graves et al. 2006.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import torch

from generators.base import Capability, FinishReason, Generation, Phase, Placement, Request, Stopwatch, require
from generators.models.files import load_model
from generators.models.heads import CtcMarian
from generators.models.inputs import encode, forbidden
from generators.models.text import Codec, load_codec
from generators.stopping import answer, limit, nothing


@dataclass(frozen=True, slots=True, kw_only=True)
class CtcConfig:
    """Nothing to choose: the canvas is part of the model."""


class Ctc:
    """See the module's docstring. The length emerges, so it cannot be set."""

    config_type = CtcConfig
    capabilities = frozenset({Capability.NATURAL_LENGTH, Capability.STOP_STRINGS, Capability.BATCH, Capability.COUNTS})

    def __init__(self, model: CtcMarian, codec: Codec, config: CtcConfig = CtcConfig()) -> None:
        self.model, self.codec, self.config = model, codec, config

    @classmethod
    def load(cls, folder: Path, config: CtcConfig, placement: Placement) -> tuple[Self, Codec]:
        model = load_model(folder, CtcMarian, device=placement.device, dtype=placement.dtype)
        codec = load_codec(folder)
        return cls(model, codec, config), codec

    @torch.inference_mode()
    def generate(self, request: Request, stopwatch: Stopwatch) -> Generation:
        require(self.capabilities, request)
        stopwatch.start()
        if limit(request.length) == 0:
            return nothing(request)
        model = self.model
        memory = encode(model, request, stopwatch)
        logits = model.read(memory).index_fill_(2, forbidden(model, request.length), float("-inf"))
        frames = logits.argmax(-1).tolist()
        stopwatch.lap(Phase.DECODE, calls=1, positions=logits.shape[0] * logits.shape[1])

        canvas = tuple(len(prompt.prefix_ids) * model.upsampling for prompt in request.prompts)
        rows = [collapse(row[:slots], model.blank_token_id) for row, slots in zip(frames, canvas, strict=True)]
        return answer(
            rows,
            request,
            stopwatch,
            model.config.eos_token_id,
            self.codec.decode,
            canvas=canvas,
            own_end=FinishReason.EOS,
        )


def collapse(frames: Sequence[int], blank_token_id: int) -> list[int]:
    """The tokens that an alignment stands for: equal neighbours merged first, blanks dropped second."""
    merged = [token for place, token in enumerate(frames) if place == 0 or token != frames[place - 1]]
    return [token for token in merged if token != blank_token_id]
