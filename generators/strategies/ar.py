"""Autoregressive decoding: one token a decoder pass, each given all before it, with a preallocated key-value cache.

Sutskever et al. 2014, https://arxiv.org/abs/1409.3215; the transformer's cached step as in Shazeer 2019,
https://arxiv.org/abs/1911.02150. `beam_size` above 1 hands over to `beam.py`.
"""

from dataclasses import dataclass

import torch

from generators.base import Capability, Generation, Phase, Request, Stopwatch, require
from generators.models.inputs import forbidden, source_tensor
from generators.models.marian import Cache, Marian
from generators.models.text import Codec
from generators.sampling import Sampler
from generators.stopping import answer, limit

@dataclass(frozen=True, slots=True, kw_only=True)
class ArConfig:
    beam_size: int = 1
    length_penalty: float = 1.0  # beam scores are divided by length ** length_penalty


class Autoregressive:
    """See the module's docstring."""

    capabilities = frozenset(Capability)

    def __init__(self, model: Marian, codec: Codec, config: ArConfig = ArConfig()) -> None:
        self.model, self.codec, self.config = model, codec, config

    @torch.inference_mode()
    def generate(self, request: Request, stopwatch: Stopwatch) -> Generation:
        require(self.capabilities, request)
        model, batch_size, max_new_tokens = self.model, len(request.prompts), limit(request.length)
        stopwatch.start()
        sources = source_tensor(request.prompts, model)
        memory = model.encode(sources)
        stopwatch.lap(Phase.ENCODE, calls=1, positions=sources.numel())

        cache = Cache(model.config, batch_size, max_new_tokens, memory.states)
        banned = forbidden(model, request.length)
        sample = Sampler(request.sampling)
        token_ids = sources.new_full((batch_size, 1), model.config.decoder_start_token_id)
        rows: list[list[int]] = [[] for _ in range(batch_size)]
        for step in range(max_new_tokens):
            hidden = model.model.decoder(model.embed(token_ids, step), memory, cache=cache)
            logits = model.logits(hidden)[:, -1].index_fill_(1, banned, float("-inf"))
            token_ids = sample(logits)[:, None]
            for row, token_id in zip(rows, token_ids[:, 0].tolist()):
                row.append(token_id)
            stopwatch.lap(Phase.DECODE, calls=1, positions=batch_size)
            if all(model.config.eos_token_id in row for row in rows):
                break
        return answer(rows, request, stopwatch, eos_token_id=model.config.eos_token_id, decode=self.codec.decode)
