"""Mask-predict: predict all tokens at once, mask the least sure again, and repeat a constant number of times.

Ghazvininejad et al. 2019, https://arxiv.org/abs/1904.09324, section 4: linear schedule, length beam, the candidate with the
best mean log probability wins. One iteration is the classical length-predicted one-shot.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Self

import torch
from torch import Tensor

from generators.base import Capability, Exact, FinishReason, Generation, Phase, Placement, Request, Stopwatch, require
from generators.models.files import load_model
from generators.models.heads import CmlmMarian
from generators.models.inputs import forbidden, source_tensor
from generators.models.marian import Memory
from generators.models.text import Codec, load_codec
from generators.stopping import answer, limit


@dataclass(frozen=True, slots=True, kw_only=True)
class MaskPredictConfig:
    n_iterations: int = 4  # decoder passes
    length_beam: int = 3  # lengths tried side by side; 1 where the length is set

    def __post_init__(self) -> None:
        if self.n_iterations < 1 or self.length_beam < 1:
            raise ValueError(
                f"n_iterations and length_beam must be 1 or more, got {self.n_iterations} and {self.length_beam}"
            )


class MaskPredict:
    """See the module's docstring."""

    config_type = MaskPredictConfig
    capabilities = frozenset(Capability) - {Capability.SAMPLING}

    def __init__(self, model: CmlmMarian, codec: Codec, config: MaskPredictConfig = MaskPredictConfig()) -> None:
        self.model, self.codec, self.config = model, codec, config

    @classmethod
    def load(cls, folder: Path, config: MaskPredictConfig, placement: Placement) -> tuple[Self, Codec]:
        model = load_model(folder, CmlmMarian, device=placement.device, dtype=placement.dtype)
        codec = load_codec(folder)
        return cls(model, codec, config), codec

    @torch.inference_mode()
    def generate(self, request: Request, stopwatch: Stopwatch) -> Generation:
        require(self.capabilities, request)
        model = self.model
        stopwatch.start()
        sources = source_tensor(request.prompts, model)
        memory = model.encode(sources)
        lengths = self.choose_lengths(memory, request)  # [B, K]
        stopwatch.lap(Phase.ENCODE, calls=1, positions=sources.numel())

        beam = lengths.shape[1]
        if beam > 1:
            memory = memory.select(torch.arange(len(sources), device=sources.device).repeat_interleave(beam))
        flat = lengths.flatten()  # [B * K]
        real = torch.arange(int(flat.max()), device=flat.device) < flat[:, None]  # [B * K, T]
        mask = None if bool(real.all()) else real[:, None, None, :]
        banned = torch.cat([forbidden(model, Exact(1)), flat.new_tensor([model.mask_token_id])])

        masked = real
        token_ids = torch.where(real, model.mask_token_id, model.config.pad_token_id)
        log_probs = torch.zeros(real.shape, dtype=memory.states.dtype, device=flat.device)
        for iteration in range(self.config.n_iterations):
            logits = model.fill(token_ids, memory, mask).index_fill_(2, banned, float("-inf"))
            best, predicted = logits.log_softmax(-1).max(-1)
            token_ids, log_probs = torch.where(masked, predicted, token_ids), torch.where(masked, best, log_probs)
            stopwatch.lap(Phase.DECODE, calls=1, positions=real.numel())
            n_masked = flat * (self.config.n_iterations - 1 - iteration) // self.config.n_iterations
            masked = least_sure(log_probs, real, n_masked)
            token_ids = token_ids.masked_fill(masked, model.mask_token_id)

        means = (log_probs * real).sum(1) / flat
        chosen = means.view(-1, beam).argmax(1) + torch.arange(len(sources), device=flat.device) * beam
        rows = [row[:n] for row, n in zip(token_ids[chosen].tolist(), flat[chosen].tolist(), strict=True)]
        canvas = (int(real.shape[1]),) * len(rows)
        return answer(
            rows,
            request,
            stopwatch,
            model.config.eos_token_id,
            self.codec.decode,
            canvas=canvas,
            own_end=FinishReason.EOS,
        )

    def choose_lengths(self, memory: Memory, request: Request) -> Tensor:
        """Lengths to try [B, K]: the one asked for, or the K whole numbers nearest to the predicted one."""
        n_rows, device = memory.states.shape[0], memory.states.device
        if isinstance(request.length, Exact):
            return torch.full((n_rows, 1), request.length.n, device=device)
        return length_candidates(self.model.length(memory)[0], self.config.length_beam, limit(request.length))


def length_candidates(location: Tensor, beam: int, longest: int) -> Tensor:
    """The `beam` whole numbers nearest to `location` in 1…longest, nearest first: [B] -> [B, K]."""
    grid = torch.arange(1, longest + 1, device=location.device)
    distance = (grid - location[:, None].clamp(1, longest)).abs()
    return grid[distance.argsort(1, stable=True)[:, :beam]]


def least_sure(log_probs: Tensor, real: Tensor, n_masked: Tensor) -> Tensor:
    """True at the `n_masked` least probable real positions of each row, ties to the left: [N, T]."""
    order = log_probs.masked_fill(~real, float("inf")).argsort(1, stable=True)
    return torch.zeros_like(real).scatter(1, order, torch.arange(real.shape[1], device=real.device) < n_masked[:, None])
