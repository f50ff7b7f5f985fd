"""Output = source: what any rewriting model must beat, and the zero of the share-of-gain scale."""

from dataclasses import dataclass
from pathlib import Path
from typing import Self

from generators.base import (
    Capability,
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
from generators.models.text import Codec, load_codec
from generators.stopping import answer, limit, nothing
from generators.tracing import slots


@dataclass(frozen=True, slots=True, kw_only=True)
class CopyConfig:
    """Nothing to choose."""


class Copy:
    """See the module's docstring. It has a vocabulary and no model."""

    config_type = CopyConfig
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

    def __init__(self, eos_token_id: int, codec: Codec, config: CopyConfig = CopyConfig()) -> None:
        self.eos_token_id, self.codec, self.config = eos_token_id, codec, config

    @classmethod
    def load(cls, folder: Path, config: CopyConfig, placement: Placement) -> tuple[Self, Codec]:
        codec = load_codec(folder)
        return cls(codec.eos_token_id, codec, config), codec

    def generate(self, request: Request, stopwatch: Stopwatch) -> Generation:
        require(self.capabilities, request)
        stopwatch.start()
        if limit(request.length) == 0:
            return nothing(request)
        rows = [prompt.prefix_ids for prompt in request.prompts]
        stopwatch.lap(Phase.HOST)
        return answer(
            rows, request, stopwatch, self.eos_token_id, self.codec.decode, own_end=FinishReason.EOS,
            frames=[[Frame(0, slots(row, SlotState.FINAL))] for row in rows] if request.trace else None,
        )  # fmt: skip
