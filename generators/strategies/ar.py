"""Autoregressive decoding: one token a decoder pass, each given all before it, with a preallocated key-value cache.

Sutskever et al. 2014, https://arxiv.org/abs/1409.3215; the cached step of a transformer as in Shazeer 2019,
https://arxiv.org/abs/1911.02150. Greedy or sampled here; `beam_size` above 1 hands over to `beam.py`.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Self

import torch

from generators.base import Capability, Generation, Phase, Placement, Request, Stopwatch, require
from generators.models.files import load_model
from generators.models.inputs import forbidden, source_tensor
from generators.models.marian import Cache, Marian
from generators.models.text import Codec, load_codec
from generators.sampling import Sampler
from generators.stopping import answer, finish, limit
from generators.strategies.beam import beam_search


@dataclass(frozen=True, slots=True, kw_only=True)
class ArConfig:
    beam_size: int = 1
    length_penalty: float = 1.0  # a beam's log probability is divided by its length to this power

    def __post_init__(self) -> None:
        if self.beam_size < 1:
            raise ValueError(f"beam_size must be 1 or more, got {self.beam_size}")


class Autoregressive:
    """See the module's docstring. A beam draws nothing, so it cannot sample."""

    config_type = ArConfig

    def __init__(self, model: Marian, codec: Codec, config: ArConfig = ArConfig()) -> None:
        self.model, self.codec, self.config = model, codec, config
        self.capabilities = frozenset(Capability) - ({Capability.SAMPLING} if config.beam_size > 1 else set())

    @classmethod
    def load(cls, folder: Path, config: ArConfig, placement: Placement) -> tuple[Self, Codec]:
        model = load_model(folder, Marian, device=placement.device, dtype=placement.dtype)
        codec = load_codec(folder)
        return cls(model, codec, config), codec

    @torch.inference_mode()
    def generate(self, request: Request, stopwatch: Stopwatch) -> Generation:
        require(self.capabilities, request)
        model, n_rows, max_new_tokens = self.model, len(request.prompts), limit(request.length)
        stopwatch.start()
        sources = source_tensor(request.prompts, model)
        memory = model.encode(sources)
        stopwatch.lap(Phase.ENCODE, calls=1, positions=sources.numel())
        if self.config.beam_size > 1:
            rows = beam_search(
                model, memory, request.length, self.config.beam_size, self.config.length_penalty, stopwatch
            )
            return answer(rows, request, stopwatch, model.config.eos_token_id, self.codec.decode)

        cache = Cache(model.config, n_rows, max_new_tokens, memory.states)
        banned = forbidden(model, request.length)
        sample = Sampler(request.sampling)
        token_ids = sources.new_full((n_rows, 1), model.config.decoder_start_token_id)
        rows = [[] for _ in range(n_rows)]
        running = list(range(n_rows)) if max_new_tokens else []
        for step in range(max_new_tokens):
            hidden = model.model.decoder(model.embed(token_ids, step), memory, cache=cache)
            logits = model.logits(hidden)[:, -1].index_fill_(1, banned, float("-inf"))
            token_ids = sample(logits)[:, None]
            emitted = token_ids[:, 0].tolist()
            for row in running:
                rows[row].append(emitted[row])
            stopwatch.lap(Phase.DECODE, calls=1, positions=n_rows)
            running = [row for row in running if not self.ended(rows[row], request)]
            if not running:
                break
        return answer(rows, request, stopwatch, model.config.eos_token_id, self.codec.decode)

    def ended(self, row: list[int], request: Request) -> bool:
        """Whether the row needs no further token: EOS, or a stop string in its text."""
        if row[-1] == self.model.config.eos_token_id:
            return True
        return (
            bool(request.stop_strings)
            and finish(row, request, self.model.config.eos_token_id, self.codec.decode)[1] is not None
        )
