"""Autoregressive decoding: one token a decoder pass, each given all before it, with a preallocated key-value cache.

Sutskever et al. 2014, https://arxiv.org/abs/1409.3215; the cached step of a transformer as in Shazeer 2019,
https://arxiv.org/abs/1911.02150. Greedy or sampled here; `beam_size` above 1 hands over to `beam.py`.
"""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import torch

from generators.base import (
    Capability,
    Frame,
    Generation,
    Natural,
    Phase,
    Placement,
    Prompt,
    Request,
    Stopwatch,
    TokenRow,
    require,
)
from generators.models.cache import Cache
from generators.models.files import load_model
from generators.models.inputs import encode, forbidden, start_tokens
from generators.models.marian import Marian, Memory
from generators.models.text import Codec, load_codec
from generators.sampling import Sampler
from generators.stopping import answer, ended, limit, nothing
from generators.strategies.beam import beam_search
from generators.tracing import grown


@dataclass(frozen=True, slots=True, kw_only=True)
class ArConfig:
    beam_size: int = 1
    length_penalty: float = 1.0  # a beam's log probability is divided by its length to this power

    def __post_init__(self) -> None:
        if self.beam_size < 1:
            raise ValueError(f"beam_size must be 1 or more, got {self.beam_size}")
        if not math.isfinite(self.length_penalty):
            raise ValueError(f"length_penalty must be finite, got {self.length_penalty}")


class Autoregressive:
    """See the module's docstring. A beam draws nothing, so it cannot sample."""

    config_type = ArConfig
    capabilities = frozenset(
        {
            Capability.EXACT_LENGTH,
            Capability.NATURAL_LENGTH,
            Capability.SAMPLING,
            Capability.STOP_STRINGS,
            Capability.BATCH,
            Capability.COUNTS,
            Capability.COMMIT_ORDER,
            Capability.TRACE,
        }
    )

    def __init__(self, model: Marian, codec: Codec, config: ArConfig = ArConfig()) -> None:
        self.model, self.codec, self.config = model, codec, config
        if config.beam_size > 1:
            self.capabilities = self.capabilities - {Capability.SAMPLING}

    @classmethod
    def load(cls, folder: Path, config: ArConfig, placement: Placement) -> tuple[Self, Codec]:
        model = load_model(folder, Marian, device=placement.device, dtype=placement.dtype)
        codec = load_codec(folder)
        return cls(model, codec, config), codec

    @torch.inference_mode()
    def generate(self, request: Request, stopwatch: Stopwatch) -> Generation:
        require(self.capabilities, request)
        stopwatch.start()
        if limit(request.length) == 0:
            return nothing(request)
        memory = encode(self.model, request, stopwatch)
        frames: list[list[Frame]] | None = [[] for _ in request.prompts] if request.trace else None
        if self.config.beam_size > 1:
            beam_size, length_penalty = self.config.beam_size, self.config.length_penalty
            rows = beam_search(self.model, memory, request.length, beam_size, length_penalty, stopwatch, frames)
        else:
            first_step = len(stopwatch.steps)
            rows = self.one_by_one(memory, request, stopwatch)
            frames = [grown(row, first_step) for row in rows] if request.trace else None
        return answer(rows, request, stopwatch, self.model.config.eos_token_id, self.codec.decode, frames=frames)

    def one_by_one(self, memory: Memory, request: Request, stopwatch: Stopwatch) -> list[list[int]]:
        """The ids each row emitted until it ended, EOS included. Rows that ended ride along until the last one does."""
        model, max_new_tokens, eos_token_id = self.model, limit(request.length), self.model.config.eos_token_id
        rows: list[list[int]] = [[] for _ in request.prompts]
        running = list(range(len(rows)))
        cache = Cache(model.config, len(rows), max_new_tokens, memory.states)
        banned, sample = forbidden(model, request.length), Sampler(request.sampling)
        token_ids = start_tokens(model, len(rows))
        for step in range(max_new_tokens):
            hidden = model.model.decoder(model.embed(token_ids, step), memory, cache=cache)
            logits = model.logits(hidden)[:, -1].index_fill_(1, banned, float("-inf"))
            token_ids = sample(logits)[:, None]
            emitted = token_ids[:, 0].tolist()
            for row in running:
                rows[row].append(emitted[row])
            stopwatch.lap(Phase.DECODE, calls=1, positions=len(rows))
            running = [row for row in running if not ended(rows[row], request, eos_token_id, self.codec.decode)]
            if not running:
                break
        return rows

    @torch.inference_mode()
    def gap_after(self, prompt: Prompt, prefix_ids: TokenRow) -> float:
        """How far the best next token's logit stands above the second best's, after `prefix_ids`."""
        model = self.model
        sources = torch.tensor([prompt.prefix_ids], device=model.positions.device)
        start = model.config.decoder_start_token_id
        logits = model(sources, torch.tensor([[start, *prefix_ids]], device=sources.device))[0, -1]
        first, second = logits.index_fill_(0, forbidden(model, Natural(0)), float("-inf")).topk(2).values.tolist()
        return float(first - second)
