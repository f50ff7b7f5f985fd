"""The same AR weights, decoded by transformers' own `generate`: the baseline most published speedups are measured against.

Wolf et al. 2020, https://arxiv.org/abs/1910.03771.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import torch

from generators.base import Capability, Exact, Generation, Phase, Placement, Request, Stopwatch, require
from generators.models.text import Codec, load_codec
from generators.stopping import answer, limit
from generators.strategies.ar_uncached import until


@dataclass(frozen=True, slots=True, kw_only=True)
class HfConfig:
    beam_size: int = 1
    length_penalty: float = 1.0


class HfGenerate:
    """See the module's docstring. What happens inside is not ours to count."""

    config_type = HfConfig
    capabilities = frozenset({Capability.EXACT_LENGTH, Capability.NATURAL_LENGTH, Capability.BATCH})

    def __init__(self, model: Any, codec: Codec, config: HfConfig) -> None:
        self.model, self.codec, self.config = model, codec, config

    @classmethod
    def load(cls, folder: Path, config: HfConfig, placement: Placement) -> tuple[Self, Codec]:
        from transformers import MarianMTModel

        model = MarianMTModel.from_pretrained(folder, dtype=getattr(torch, placement.dtype), use_safetensors=True)
        codec = load_codec(folder)
        return cls(model.to(placement.device).eval(), codec, config), codec

    @torch.inference_mode()
    def generate(self, request: Request, stopwatch: Stopwatch) -> Generation:
        require(self.capabilities, request)
        config, max_new_tokens = self.model.config, limit(request.length)
        stopwatch.start()
        if max_new_tokens == 0:
            return answer([[] for _ in request.prompts], request, stopwatch, config.eos_token_id, self.codec.decode)
        rows = [prompt.prefix_ids for prompt in request.prompts]
        longest = max(map(len, rows))
        pad = config.pad_token_id
        input_ids = torch.tensor([[*row, *[pad] * (longest - len(row))] for row in rows], device=self.model.device)
        output = self.model.generate(
            input_ids, attention_mask=(input_ids != pad).long(), do_sample=False, num_beams=self.config.beam_size,
            length_penalty=self.config.length_penalty, max_new_tokens=max_new_tokens, forced_eos_token_id=None,
            min_new_tokens=max_new_tokens if isinstance(request.length, Exact) else None,
        )  # fmt: skip
        stopwatch.lap(Phase.ENGINE)
        emitted = [until(row, config.eos_token_id) for row in output[:, 1:].tolist()]  # the start token is no output
        return answer(emitted, request, stopwatch, config.eos_token_id, self.codec.decode)
