"""Mask-predict: predict all tokens at once, mask the least sure again, and repeat a constant number of times.

Ghazvininejad et al. 2019, https://arxiv.org/abs/1904.09324, section 4: linear schedule, length beam, the candidate with
the best mean log probability wins. One iteration is the classical length-predicted one-shot.
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
from generators.models.heads import CmlmMarian, LengthMarian
from generators.models.inputs import encode, forbidden
from generators.models.marian import Marian, Memory
from generators.models.onnx_engine import check_engine, load_on
from generators.models.text import Codec, load_codec
from generators.stopping import answer, limit, nothing
from generators.strategies.rescoring import NO_SCORER, load_scorer, select
from generators.tracing import slots


@dataclass(frozen=True, slots=True, kw_only=True)
class MaskPredictConfig:
    n_iterations: int = 4  # decoder passes
    length_beam: int = 3  # lengths tried side by side; 1 where the length is set
    scorer: str = NO_SCORER  # weights of an autoregressive model that chooses among them (`rescoring.py`)
    engine: str = "torch"  # what computes the passes (`onnx_engine.py`), a scorer's excepted

    def __post_init__(self) -> None:
        if self.n_iterations < 1 or self.length_beam < 1:
            raise ValueError(
                f"n_iterations and length_beam must be 1 or more, got {self.n_iterations} and {self.length_beam}"
            )
        check_engine(self.engine)

    @property
    def other_weights(self) -> tuple[str, ...]:
        return () if self.scorer == NO_SCORER else (self.scorer,)


class MaskPredict:
    """See the module's docstring."""

    config_type = MaskPredictConfig
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
        self,
        model: CmlmMarian,
        codec: Codec,
        config: MaskPredictConfig = MaskPredictConfig(),
        scorer: Marian | None = None,
    ) -> None:
        self.model, self.codec, self.config, self.scorer = model, codec, config, scorer

    @classmethod
    def load(cls, folder: Path, config: MaskPredictConfig, placement: Placement) -> tuple[Self, Codec]:
        model = load_on(config.engine, folder, CmlmMarian, placement)
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

        canvases: list[Tensor] | None = [] if request.trace else None
        first_step = len(stopwatch.steps) - 1
        token_ids, log_probs = self.refine(memory, lengths.flatten(), stopwatch, canvases)
        best = select(token_ids, log_probs, lengths, self.scorer, request, stopwatch)
        sizes = lengths.flatten()[best].tolist()
        rows = [row[:n] for row, n in zip(token_ids[best].tolist(), sizes, strict=True)]
        stopwatch.lap(Phase.HOST)
        chosen = [canvas[best].tolist() for canvas in canvases or ()]
        by_row = [[one[row][:n] for one in chosen] for row, n in enumerate(sizes)]
        selected = len(stopwatch.steps) - 1 if lengths.shape[1] > 1 else None
        return answer(
            rows, request, stopwatch, self.model.config.eos_token_id, self.codec.decode,
            canvas=tuple(lengths.amax(1).tolist()), own_end=FinishReason.EOS,
            frames=[self.frames(of_row, first_step, selected) for of_row in by_row] if request.trace else None,
        )  # fmt: skip

    def refine(
        self, memory: Memory, lengths: Tensor, stopwatch: Stopwatch, canvases: list[Tensor] | None = None
    ) -> tuple[Tensor, Tensor]:
        """Ids of the given lengths [N] after all iterations and their log probabilities, 0 in the padding: [N, T].

        Where there are `canvases`, the empty one and what every iteration left [N, T] are added.
        """
        model, n_iterations = self.model, self.config.n_iterations
        real = torch.arange(int(lengths.max()), device=lengths.device) < lengths[:, None]
        mask = None if bool(real.all()) else real[:, None, None, :]
        banned = torch.cat([forbidden(model, Exact(1)), lengths.new_tensor([model.mask_token_id])])
        masked = real
        token_ids = torch.where(real, model.mask_token_id, model.config.pad_token_id)
        log_probs = torch.zeros(real.shape, dtype=memory.states.dtype, device=lengths.device)
        for n_done in range(1, n_iterations + 1):
            if canvases is not None:
                canvases.append(token_ids)
            logits = model.fill(token_ids, memory, mask).index_fill_(2, banned, float("-inf"))
            best, predicted = logits.log_softmax(-1).max(-1)
            token_ids, log_probs = torch.where(masked, predicted, token_ids), torch.where(masked, best, log_probs)
            stopwatch.lap(Phase.DECODE, calls=1, positions=real.numel())
            masked = least_sure(log_probs, real, lengths * (n_iterations - n_done) // n_iterations)
            token_ids = token_ids.masked_fill(masked, model.mask_token_id)
        if canvases is not None:
            canvases.append(token_ids)
        return token_ids, log_probs

    def frames(self, canvases: list[list[int]], first_step: int, selected: int | None) -> list[Frame]:
        """A row's frames: the empty canvas, what each iteration left, and where lengths were searched the selection."""
        state, mask = SlotState.FINAL if selected is None else SlotState.TENTATIVE, self.model.mask_token_id
        found = [Frame(first_step + i, slots(canvas, state, masked_id=mask)) for i, canvas in enumerate(canvases)]
        return found if selected is None else [*found, Frame(selected, slots(canvases[-1], SlotState.FINAL))]


def choose_lengths(model: LengthMarian, memory: Memory, request: Request, beam: int) -> Tensor:
    """Lengths to try [B, K]: the one asked for, or the K whole numbers nearest to the predicted one."""
    n_rows, device = memory.states.shape[0], memory.states.device
    if isinstance(request.length, Exact):
        return torch.full((n_rows, 1), request.length.n, device=device)
    return length_candidates(model.length(memory)[0], beam, limit(request.length))


def length_candidates(location: Tensor, beam: int, longest: int) -> Tensor:
    """The `beam` whole numbers in 1…longest nearest to `location`, nearest first, then the shorter: [B] -> [B, K].

    K is `beam`, or `longest` where there are no more lengths than that.
    """
    grid = torch.arange(1, longest + 1, device=location.device)
    distance = (grid - location[:, None].clamp(1, longest)).abs()
    return grid[distance.argsort(dim=1, stable=True)[:, :beam]]


def least_sure(log_probs: Tensor, real: Tensor, n_masked: Tensor) -> Tensor:
    """True at the `n_masked` least probable real positions of each row, ties to the left: [N, T]."""
    order = log_probs.masked_fill(~real, float("inf")).argsort(dim=1, stable=True)
    return torch.zeros_like(real).scatter(1, order, torch.arange(real.shape[1], device=real.device) < n_masked[:, None])
