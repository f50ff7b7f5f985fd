"""Semi-autoregressive decoding: a block of k tokens a decoder pass, left to right, with a key-value cache.

Wang et al. 2018, https://arxiv.org/abs/1808.08583. One model serves several k; blocks of one token are plain
autoregressive decoding. A block is always computed whole, as in training: an answer may end inside the last one.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Self

import torch

from generators.base import Capability, Generation, Phase, Placement, Request, Stopwatch, require
from generators.models.cache import Cache
from generators.models.files import load_model
from generators.models.heads import SemiMarian
from generators.models.inputs import encode, forbidden, start_tokens
from generators.models.marian import Memory
from generators.models.text import Codec, load_codec
from generators.sampling import Sampler
from generators.stopping import answer, finish, limit, nothing
from generators.tracing import grown


@dataclass(frozen=True, slots=True, kw_only=True)
class SemiArConfig:
    block_length: int = 2  # tokens a pass; one of those that the model was trained for


class SemiAutoregressive:
    """See the module's docstring."""

    config_type = SemiArConfig
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

    def __init__(self, model: SemiMarian, codec: Codec, config: SemiArConfig = SemiArConfig()) -> None:
        if config.block_length not in model.block_lengths:
            known = ", ".join(map(str, model.block_lengths))
            raise ValueError(f"this model knows no block_length {config.block_length}; choose from: {known}")
        self.model, self.codec, self.config = model, codec, config

    @classmethod
    def load(cls, folder: Path, config: SemiArConfig, placement: Placement) -> tuple[Self, Codec]:
        model = load_model(folder, SemiMarian, device=placement.device, dtype=placement.dtype)
        codec = load_codec(folder)
        return cls(model, codec, config), codec

    @torch.inference_mode()
    def generate(self, request: Request, stopwatch: Stopwatch) -> Generation:
        require(self.capabilities, request)
        stopwatch.start()
        if limit(request.length) == 0:
            return nothing(request)
        memory = encode(self.model, request, stopwatch)
        first_step, n_at_once = len(stopwatch.steps), self.config.block_length
        rows = self.blocks(memory, request, stopwatch)
        frames = [grown(row, first_step, n_at_once) for row in rows] if request.trace else None
        return answer(rows, request, stopwatch, self.model.config.eos_token_id, self.codec.decode, frames=frames)

    def blocks(self, memory: Memory, request: Request, stopwatch: Stopwatch) -> list[list[int]]:
        """The ids each row emitted in the blocks up to the one in which it ended."""
        model, config, size = self.model, self.model.config, self.config.block_length
        rows: list[list[int]] = [[] for _ in request.prompts]
        running = list(range(len(rows)))
        longest = min(limit(request.length) + size - 1, config.max_position_embeddings)
        cache = Cache(config, len(rows), longest, memory.states)
        banned, sample = forbidden(model, request.length), Sampler(request.sampling)
        token_ids = start_tokens(model, len(rows)).expand(-1, size)
        for first in range(0, limit(request.length), size):
            token_ids = token_ids[:, : config.max_position_embeddings - first]
            hidden = model.model.decoder(model.embed_block(token_ids, size, first), memory, cache=cache)
            logits = model.logits(hidden).index_fill_(2, banned, float("-inf"))
            token_ids = torch.stack([sample(at_place) for at_place in logits.unbind(1)], dim=1)
            emitted = token_ids.tolist()
            for row in running:
                rows[row] += emitted[row]
            stopwatch.lap(Phase.DECODE, calls=1, positions=token_ids.numel())
            running = [row for row in running if not self.ended(rows[row], request)]
            if not running:
                break
        return rows

    def ended(self, row: list[int], request: Request) -> bool:
        return finish(row, request, self.model.config.eos_token_id, self.codec.decode)[1] is not None
