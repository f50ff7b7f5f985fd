"""One parallel scoring pass over tokens that are given: it writes nothing, so no one-shot strategy can get under it.

The pass of maximum-likelihood training (Williams & Zipser 1989, A Learning Algorithm for Continually Running Fully
Recurrent Neural Networks): the decoder reads all tokens at once and says how probable each was. The tokens are the
source's own, again from its start where more are asked for: which they are does not change the cost.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Self

import torch

from generators.base import (
    Capability,
    Generation,
    Phase,
    Placement,
    Request,
    Stopwatch,
    TokenRow,
    Unsupported,
    require,
)
from generators.models.files import load_model
from generators.models.inputs import encode, start_tokens
from generators.models.marian import Marian, Memory, causal_mask
from generators.models.text import Codec, load_codec
from generators.stopping import answer, limit


@dataclass(frozen=True, slots=True, kw_only=True)
class TeacherForcingConfig:
    """Nothing to choose."""


class TeacherForcing:
    """See the module's docstring. It has no length of its own; what comes back are the tokens that were scored."""

    config_type = TeacherForcingConfig
    capabilities = frozenset({Capability.EXACT_LENGTH, Capability.BATCH, Capability.COUNTS})

    def __init__(self, model: Marian, codec: Codec, config: TeacherForcingConfig = TeacherForcingConfig()) -> None:
        self.model, self.codec, self.config = model, codec, config

    @classmethod
    def load(cls, folder: Path, config: TeacherForcingConfig, placement: Placement) -> tuple[Self, Codec]:
        model = load_model(folder, Marian, device=placement.device, dtype=placement.dtype)
        codec = load_codec(folder)
        return cls(model, codec, config), codec

    @torch.inference_mode()
    def generate(self, request: Request, stopwatch: Stopwatch) -> Generation:
        require(self.capabilities, request)
        stopwatch.start()
        model, n = self.model, limit(request.length)
        rows = [repeated(prompt.prefix_ids, n, model.config.eos_token_id) for prompt in request.prompts]
        memory = encode(model, request, stopwatch)
        token_ids = torch.tensor(rows, device=memory.states.device)
        self.score(token_ids, memory)
        stopwatch.lap(Phase.SCORE, calls=1, positions=token_ids.numel())
        return answer(rows, request, stopwatch, model.config.eos_token_id, self.codec.decode)

    def score(self, token_ids: torch.Tensor, memory: Memory) -> list[list[float]]:
        """The log probability of every token given those before it: [B, T]."""
        model = self.model
        x = model.embed(torch.cat([start_tokens(model, len(token_ids)), token_ids[:, :-1]], dim=1))
        logits = model.logits(model.model.decoder(x, memory, mask=causal_mask(x)))
        chosen = logits.log_softmax(-1).gather(2, token_ids[:, :, None])[:, :, 0]
        scores: list[list[float]] = chosen.tolist()  # on the host, as a caller needs them
        return scores


def repeated(source_ids: TokenRow, n: int, eos_token_id: int) -> list[int]:
    """The source's tokens without its EOS, cut or again from their start to `n`. Raises `Unsupported` for none."""
    own = [token_id for token_id in source_ids if token_id != eos_token_id]
    if not own:
        raise Unsupported("an empty source has no tokens to score")
    return [own[i % len(own)] for i in range(n)]
