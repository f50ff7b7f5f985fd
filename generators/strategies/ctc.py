"""One-shot decoding with CTC: one decoder pass over a canvas longer than the answer, then merge and drop blanks.

Libovický & Helcl 2018, https://arxiv.org/abs/1811.04719; greedy collapse as in Graves et al. 2006, or a search for the
most probable text (`prefix_beam.py`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

import torch
from torch import Tensor

from generators.base import (
    Capability,
    FinishReason,
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
from generators.models.heads import CtcMarian
from generators.models.inputs import encode, forbidden
from generators.models.onnx_engine import check_engine, load_on
from generators.models.text import Codec, load_codec
from generators.stopping import answer, limit, nothing
from generators.strategies.prefix_beam import prefix_beam_search
from generators.tracing import slots


@dataclass(frozen=True, slots=True, kw_only=True)
class CtcConfig:
    beam_size: int = 1  # 1: the best alignment's text; more: prefixes that advance together, on the host
    engine: str = "torch"  # what computes the passes (`onnx_engine.py`)

    def __post_init__(self) -> None:
        if self.beam_size < 1:
            raise ValueError(f"beam_size must be 1 or more, got {self.beam_size}")
        check_engine(self.engine)


class Ctc:
    """See the module's docstring. The length emerges, so it cannot be set."""

    config_type = CtcConfig
    capabilities = frozenset(
        {
            Capability.NATURAL_LENGTH,
            Capability.STOP_STRINGS,
            Capability.BATCH,
            Capability.COUNTS,
            Capability.COMMIT_ORDER,
            Capability.TRACE,
        }
    )

    def __init__(self, model: CtcMarian, codec: Codec, config: CtcConfig = CtcConfig()) -> None:
        self.model, self.codec, self.config = model, codec, config

    @classmethod
    def load(cls, folder: Path, config: CtcConfig, placement: Placement) -> tuple[Self, Codec]:
        model = load_on(config.engine, folder, CtcMarian, placement)
        codec = load_codec(folder)
        return cls(model, codec, config), codec

    @torch.inference_mode()
    def generate(self, request: Request, stopwatch: Stopwatch) -> Generation:
        require(self.capabilities, request)
        stopwatch.start()
        if limit(request.length) == 0:
            return nothing(request)
        model = self.model
        memory = encode(model, request, stopwatch)
        logits = model.read(memory).index_fill_(2, forbidden(model, request.length), float("-inf"))
        alignments = logits.argmax(-1).tolist()
        stopwatch.lap(Phase.DECODE, calls=1, positions=logits.shape[0] * logits.shape[1])

        canvas = tuple(len(prompt.prefix_ids) * model.upsampling for prompt in request.prompts)
        alignments = [row[:n_slots] for row, n_slots in zip(alignments, canvas, strict=True)]
        if self.config.beam_size > 1:
            log_probs = logits.log_softmax(-1)
            rows = [self.search(one[:n_slots]) for one, n_slots in zip(log_probs, canvas, strict=True)]
        else:
            rows = [collapse(row, model.blank_token_id) for row in alignments]
        stopwatch.lap(Phase.HOST)
        got = answer(
            rows, request, stopwatch, model.config.eos_token_id, self.codec.decode, canvas=canvas,
            own_end=FinishReason.EOS,
            frames=self.frames(alignments, rows, len(stopwatch.steps)) if request.trace else None,
        )  # fmt: skip
        full = [len(kept) == n_slots for kept, n_slots in zip(got.token_ids, canvas, strict=True)]
        ends = zip(got.finish_reasons, full, strict=True)
        return replace(got, finish_reasons=tuple(end_of(*one) for one in ends))

    def search(self, log_probs: Tensor) -> list[int]:
        return prefix_beam_search(log_probs, self.model.blank_token_id, self.config.beam_size)

    def frames(self, alignments: list[list[int]], rows: list[list[int]], n_steps: int) -> list[list[Frame]]:
        """Each row's canvas as it was read, and in the step after it what the collapse left or the search found."""
        blank, found = self.model.blank_token_id, []
        for alignment, row in zip(alignments, rows, strict=True):
            new = range(len(alignment), len(alignment) + len(row))
            places = survivors(alignment, blank) if self.config.beam_size == 1 else new
            left = tuple(Slot(place, one, SlotState.FINAL) for place, one in zip(places, row, strict=True))
            read = slots(alignment, SlotState.TENTATIVE, masked_id=blank)
            found.append([Frame(n_steps - 2, read), Frame(n_steps - 1, left)])
        return found


def end_of(reason: FinishReason, full: bool) -> FinishReason:
    """A row with a kept token in every slot of its canvas may have had more to say."""
    return FinishReason.CANVAS_FULL if full and reason is FinishReason.EOS else reason


def collapse(alignment: Sequence[int], blank_token_id: int) -> list[int]:
    """The tokens that an alignment stands for: equal neighbours merged first, blanks dropped second."""
    return [alignment[place] for place in survivors(alignment, blank_token_id)]


def survivors(alignment: Sequence[int], blank_token_id: int) -> list[int]:
    """The places of an alignment whose tokens the collapse leaves: the first of equal neighbours, no blanks."""
    merged = [place for place, token in enumerate(alignment) if place == 0 or token != alignment[place - 1]]
    return [place for place in merged if alignment[place] != blank_token_id]
