"""Speculative decoding: a cheap draft of k tokens, verified by the target in one pass; what comes out is the target's.

Leviathan et al. 2023, https://arxiv.org/abs/2211.17192; Xia et al. 2023, https://arxiv.org/abs/2203.16487. Drafts
are a drafter's best tokens, so its distribution is a single point and the rule of acceptance (Leviathan, section 2.3)
becomes: draw the target's token as if there were no draft, and go on while it is the draft's. So not only the
distribution is the target's: the same seed draws the very tokens of `ar`. Drafters: see `drafting.py`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import torch
from torch import Tensor

from generators.base import (
    Capability,
    Frame,
    Generation,
    Phase,
    Placement,
    Request,
    Slot,
    SlotState,
    Stopwatch,
    require,
)
from generators.models.cache import RaggedCache
from generators.models.files import load_model
from generators.models.inputs import encode, forbidden, padded
from generators.models.marian import Marian, Memory
from generators.models.text import Codec, load_codec
from generators.sampling import Sampler
from generators.stopping import answer, ended, limit, nothing
from generators.strategies.drafting import COPY, Drafter, SourceDrafter, load_drafter
from generators.tracing import slots


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeculativeConfig:
    drafter: str = COPY  # copy: from the source; else weights of a one-shot or a small autoregressive model
    draft_length: int = 4  # k: tokens drafted for each pass of the target

    def __post_init__(self) -> None:
        if self.draft_length < 1:
            raise ValueError(f"draft_length must be 1 or more, got {self.draft_length}")

    @property
    def other_weights(self) -> tuple[str, ...]:
        return () if self.drafter == COPY else (self.drafter,)


class Speculative:
    """See the module's docstring. How fast it is depends on the text, so its length cannot be set.

    Past its natural end, a target repeats itself and is easy to draft for: that would flatter it.
    """

    config_type = SpeculativeConfig
    capabilities = frozenset(
        {
            Capability.NATURAL_LENGTH,
            Capability.SAMPLING,
            Capability.STOP_STRINGS,
            Capability.BATCH,
            Capability.COUNTS,
            Capability.COMMIT_ORDER,
            Capability.TRACE,
        }
    )

    def __init__(
        self, model: Marian, codec: Codec, config: SpeculativeConfig = SpeculativeConfig(),
        drafter: Drafter | None = None,
    ) -> None:  # fmt: skip
        self.model, self.codec, self.config, self.drafter = model, codec, config, drafter or SourceDrafter()

    @classmethod
    def load(cls, folder: Path, config: SpeculativeConfig, placement: Placement) -> tuple[Self, Codec]:
        model = load_model(folder, Marian, device=placement.device, dtype=placement.dtype)
        codec = load_codec(folder)
        return cls(model, codec, config, load_drafter(config.drafter, folder, codec, placement)), codec

    @torch.inference_mode()
    def generate(self, request: Request, stopwatch: Stopwatch) -> Generation:
        require(self.capabilities, request)
        stopwatch.start()
        if limit(request.length) == 0:
            return nothing(request)
        memory = encode(self.model, request, stopwatch)
        frames: list[list[Frame]] | None = [[] for _ in request.prompts] if request.trace else None
        rows = self.draft_and_verify(memory, request, stopwatch, frames)
        return answer(rows, request, stopwatch, self.model.config.eos_token_id, self.codec.decode, frames=frames)

    def draft_and_verify(
        self, memory: Memory, request: Request, stopwatch: Stopwatch, frames: list[list[Frame]] | None
    ) -> list[list[int]]:
        """The ids each row committed until it ended, EOS included. Rows that ended ride along, without drafts."""
        rows: list[list[int]] = [[] for _ in request.prompts]
        running, max_new_tokens, k = list(range(len(rows))), limit(request.length), self.config.draft_length
        drafts, sampler = self.drafter.begin(request, stopwatch), Sampler(request.sampling)
        cache = RaggedCache(self.model.config, len(rows), max_new_tokens + k + 1, memory.states)
        while running:
            # One less than may still come: the pass that verifies a draft adds a token of its own.
            room = {row: min(k, max_new_tokens - len(rows[row]) - 1) for row in running}
            offered = drafts.propose(rows, max(room.values()), stopwatch)
            draft = [offered[row][: room.get(row, 0)] for row in range(len(rows))]
            note(frames, running, rows, draft, stopwatch)

            logits = self.target_logits(memory, cache, rows, draft, forbidden(self.model, request.length))
            token_at = sampler.along(logits)
            accepted = sum(self.commit(rows[row], draft[row], row, token_at, request) for row in running)
            cache.lengths = [len(row) for row in rows]
            positions, drafted = logits.shape[0] * logits.shape[1], sum(map(len, draft))
            stopwatch.lap(Phase.DECODE, calls=1, positions=positions, drafted=drafted, accepted=accepted)
            note(frames, running, rows, None, stopwatch)
            running = [row for row in running if len(rows[row]) < max_new_tokens and not self.ended(rows[row], request)]
        return rows

    def target_logits(
        self, memory: Memory, cache: RaggedCache, rows: list[list[int]], draft: list[list[int]], banned: Tensor
    ) -> Tensor:
        """The target's logits behind each row and behind each token of its draft, in one pass: [B, 1 + drafted, V]."""
        model, start = self.model, self.model.config.decoder_start_token_id
        unread = [(row[-1] if row else start, *tokens) for row, tokens in zip(rows, draft, strict=True)]
        token_ids, _ = padded(unread, model.config.pad_token_id, model.positions.device)
        places, mask = cache.place(token_ids.shape[1])
        hidden = model.model.decoder(model.embed_at(token_ids, places), memory, mask=mask, cache=cache)
        return model.logits(hidden).index_fill_(2, banned, float("-inf"))

    def commit(
        self, row: list[int], draft: Sequence[int], index: int, token_at: Callable[[int, int], int], request: Request
    ) -> int:
        """Add the target's tokens to a row until one is not the draft's or ends it; how many were the draft's."""
        n_accepted = 0
        for wanted in (*draft, None):
            row.append(token_at(index, n_accepted))
            if row[-1] != wanted:
                break
            n_accepted += 1
            if self.ended(row, request):
                break
        return n_accepted

    def ended(self, row: list[int], request: Request) -> bool:
        return ended(row, request, self.model.config.eos_token_id, self.codec.decode)


def note(
    frames: list[list[Frame]] | None, running: list[int], rows: list[list[int]], draft: list[list[int]] | None,
    stopwatch: Stopwatch,
) -> None:  # fmt: skip
    """Note how the running rows stand after a step, where frames are wanted; a draft may still go."""
    if frames is None:
        return
    for row in running:
        standing = slots(rows[row], SlotState.FINAL)
        drafted = [
            Slot(len(standing) + i, one, SlotState.TENTATIVE) for i, one in enumerate(draft[row] if draft else ())
        ]
        frames[row].append(Frame(len(stopwatch.steps) - 1, (*standing, *drafted)))
