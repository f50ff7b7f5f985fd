"""One-shot decoding of a predicted length: one decoder pass over copies of the source's states, every token by itself.

Gu et al. 2018, https://arxiv.org/abs/1711.02281; trained by glancing, Qian et al. 2021, https://arxiv.org/abs/2008.07905.
Several lengths are tried side by side; the model or a scorer chooses (`rescoring.py`).
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Self

import torch
from torch import Tensor

from generators.base import (
    Capability,
    Exact,
    FinishReason,
    Frame,
    Generation,
    Phase,
    Placement,
    Request,
    SlotState,
    Stopwatch,
    require,
)
from generators.models.files import load_model
from generators.models.heads import NatMarian
from generators.models.inputs import encode, forbidden
from generators.models.marian import Marian, Memory
from generators.models.text import Codec, load_codec
from generators.stopping import answer, limit, nothing
from generators.strategies.mask_predict import choose_lengths
from generators.strategies.rescoring import NO_SCORER, load_scorer, select
from generators.tracing import slots


@dataclass(frozen=True, slots=True, kw_only=True)
class NatConfig:
    length_beam: int = 3  # lengths tried side by side; 1 where the length is set
    scorer: str = NO_SCORER  # weights of the autoregressive model that chooses among them

    def __post_init__(self) -> None:
        if self.length_beam < 1:
            raise ValueError(f"length_beam must be 1 or more, got {self.length_beam}")

    @property
    def other_weights(self) -> tuple[str, ...]:
        return () if self.scorer == NO_SCORER else (self.scorer,)


class Nat:
    """See the module's docstring."""

    config_type = NatConfig
    capabilities = frozenset(
        {
            Capability.EXACT_LENGTH,
            Capability.NATURAL_LENGTH,
            Capability.STOP_STRINGS,
            Capability.BATCH,
            Capability.COUNTS,
            Capability.COMMIT_ORDER,
            Capability.TRACE,
        }
    )

    def __init__(
        self, model: NatMarian, codec: Codec, config: NatConfig = NatConfig(), scorer: Marian | None = None
    ) -> None:
        self.model, self.codec, self.config, self.scorer = model, codec, config, scorer

    @classmethod
    def load(cls, folder: Path, config: NatConfig, placement: Placement) -> tuple[Self, Codec]:
        model = load_model(folder, NatMarian, device=placement.device, dtype=placement.dtype)
        codec = load_codec(folder)
        return cls(model, codec, config, load_scorer(config.scorer, folder, placement)), codec

    @torch.inference_mode()
    def generate(self, request: Request, stopwatch: Stopwatch) -> Generation:
        require(self.capabilities, request)
        stopwatch.start()
        if limit(request.length) == 0:
            return nothing(request)
        memory = encode(self.model, request, stopwatch)
        lengths = choose_lengths(self.model, memory, request, self.config.length_beam)  # [B, K]
        memory = memory.repeated(lengths.shape[1])
        stopwatch.lap(Phase.HOST)

        token_ids, log_probs = self.write(memory, lengths.flatten())
        written = len(stopwatch.steps)
        stopwatch.lap(Phase.DECODE, calls=1, positions=token_ids.numel())
        best = select(token_ids, log_probs, lengths, self.scorer, request, stopwatch)
        sizes = lengths.flatten()[best].tolist()
        rows = [row[:n] for row, n in zip(token_ids[best].tolist(), sizes, strict=True)]
        stopwatch.lap(Phase.HOST)
        selected = len(stopwatch.steps) - 1 if lengths.shape[1] > 1 else written
        return answer(
            rows, request, stopwatch, self.model.config.eos_token_id, self.codec.decode,
            canvas=tuple(lengths.amax(1).tolist()), own_end=FinishReason.EOS,
            frames=[self.frames(row, written, selected) for row in rows] if request.trace else None,
        )  # fmt: skip

    def write(self, memory: Memory, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """Ids of the given lengths [N] and their log probabilities, 0 in the padding: [N, T]."""
        model = self.model
        banned = torch.cat([forbidden(model, Exact(1)), lengths.new_tensor([model.mask_token_id])])
        logits = model.read(memory, lengths).index_fill_(2, banned, float("-inf"))
        log_probs, token_ids = logits.log_softmax(-1).max(-1)
        real = torch.arange(token_ids.shape[1], device=lengths.device) < lengths[:, None]
        return token_ids, log_probs.masked_fill(~real, 0.0)

    def frames(self, row: list[int], written: int, selected: int) -> list[Frame]:
        """The empty canvas, what the pass wrote, and the selection where lengths were searched."""
        mask = self.model.mask_token_id
        empty = Frame(written - 1, slots([mask] * len(row), SlotState.MASKED, masked_id=mask))
        found = [Frame(written, slots(row, SlotState.FINAL if selected == written else SlotState.TENTATIVE))]
        return [empty, *found, *([] if selected == written else [Frame(selected, slots(row, SlotState.FINAL))])]
