"""The same AR weights, decoded by transformers' own `generate`: the baseline that most published speedups divide by.

Wolf et al. 2020, https://arxiv.org/abs/1910.03771.
"""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import torch

from generators.base import Capability, Exact, Generation, Phase, Placement, Request, Stopwatch, require
from generators.models.files import read_ar_config
from generators.models.inputs import check, padded
from generators.models.text import Codec, load_codec
from generators.stopping import answer, limit, nothing, until


@dataclass(frozen=True, slots=True, kw_only=True)
class HfConfig:
    beam_size: int = 1
    length_penalty: float = 1.0

    def __post_init__(self) -> None:
        if self.beam_size < 1:
            raise ValueError(f"beam_size must be 1 or more, got {self.beam_size}")
        if not math.isfinite(self.length_penalty):
            raise ValueError(f"length_penalty must be finite, got {self.length_penalty}")


class HfGenerate:
    """See the module's docstring. What happens inside is not ours to count."""

    config_type = HfConfig
    capabilities = frozenset({Capability.EXACT_LENGTH, Capability.NATURAL_LENGTH, Capability.BATCH})

    def __init__(self, model: Any, codec: Codec, config: HfConfig) -> None:
        self.model, self.codec, self.config = model, codec, config

    @classmethod
    def load(cls, folder: Path, config: HfConfig, placement: Placement) -> tuple[Self, Codec]:
        from transformers import GenerationConfig, MarianMTModel
        from transformers.utils.logging import disable_progress_bar

        disable_progress_bar()
        shape = read_ar_config(folder)
        model: Any = MarianMTModel.from_pretrained(folder, dtype=getattr(torch, placement.dtype), use_safetensors=True)
        # A folder's own generation settings (beams, a forced EOS) would make it another race than `ar` runs.
        model.generation_config = GenerationConfig(
            pad_token_id=shape.pad_token_id, eos_token_id=shape.eos_token_id,
            decoder_start_token_id=shape.decoder_start_token_id, do_sample=False,
            num_beams=config.beam_size, length_penalty=config.length_penalty,
            suppress_tokens=[shape.pad_token_id] if shape.pad_token_id != shape.eos_token_id else None,
        )  # fmt: skip
        codec = load_codec(folder)
        return cls(model.to(placement.device).eval(), codec, config), codec

    @torch.inference_mode()
    def generate(self, request: Request, stopwatch: Stopwatch) -> Generation:
        require(self.capabilities, request)
        stopwatch.start()
        config, max_new_tokens = self.model.config, limit(request.length)
        if max_new_tokens == 0:
            return nothing(request)
        check(request, config.max_position_embeddings, config.vocab_size)
        rows = [prompt.prefix_ids for prompt in request.prompts]
        input_ids, real = padded(rows, config.pad_token_id, self.model.device)
        output = self.model.generate(
            input_ids,
            attention_mask=real.long(),
            max_new_tokens=max_new_tokens,
            min_new_tokens=max_new_tokens if isinstance(request.length, Exact) else None,
        )
        stopwatch.lap(Phase.ENGINE)
        emitted = [until(row, config.eos_token_id) for row in output[:, 1:].tolist()]  # the start token is no output
        return answer(emitted, request, stopwatch, config.eos_token_id, self.codec.decode)
