"""What each model is trained to do: (model, batch, random generator) -> a scalar loss, in nats a predicted token."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TypeVar

import torch
from torch import Tensor

from generators.models.heads import CmlmMarian, CtcMarian, LengthMarian, SemiMarian
from generators.models.marian import Marian, Memory, causal_mask
from generators.training import output
from generators.training.data import Batch, Example

LABEL_SMOOTHING = 0.1
LENGTH_WEIGHT = 0.1  # of the length's loss beside the tokens'

M = TypeVar("M", bound=Marian)
Loss = Callable[[Marian, Batch, torch.Generator], Tensor]


def ar_loss(model: Marian, batch: Batch, _: torch.Generator, smoothing: float = LABEL_SMOOTHING) -> Tensor:
    """Cross-entropy of each token given the true ones before it."""
    start = torch.full_like(batch.target_ids[:, :1], model.config.decoder_start_token_id)
    decoder_ids = torch.cat([start, batch.target_ids[:, :-1]], dim=1)
    x = model.embed(decoder_ids)
    hidden = model.model.decoder(x, model.encode(batch.source_ids), mask=causal_mask(x))
    return smoothed(model, hidden, without_padding(batch, model), smoothing)


def ctc_loss(model: Marian, batch: Batch, _: torch.Generator) -> Tensor:
    """Minus log of the summed probability of all alignments that collapse to the target, a target token.

    Graves et al. 2006. A target that cannot fit its canvas has no alignment and adds nothing.
    """
    model = narrowed(model, CtcMarian)
    canvas_lengths = (batch.source_ids != model.config.pad_token_id).sum(1) * model.upsampling
    return ctc_nats(model, model.hidden(model.encode(batch.source_ids)), batch, canvas_lengths)


def ctc_nats(model: CtcMarian, hidden: Tensor, batch: Batch, canvas_lengths: Tensor) -> Tensor:
    """The loss itself, from the decoder's states [B, C, D]."""
    return output.ctc(
        hidden, model.output, model.final_logits_bias[0], batch.target_ids,
        canvas_lengths, batch.target_lengths, model.blank_token_id,
    )  # fmt: skip


def without_alignment(examples: Sequence[Example], upsampling: int) -> int:
    """How many targets are longer than their canvas; equal neighbours need a blank between them."""
    wanted = (len(t) + sum(a == b for a, b in pairwise(t)) for t in (one.target_ids for one in examples))
    return sum(n > upsampling * len(one.source_ids) for n, one in zip(wanted, examples, strict=True))


def cmlm_loss(model: Marian, batch: Batch, random: torch.Generator, smoothing: float = LABEL_SMOOTHING) -> Tensor:
    """Cross-entropy of masked tokens given the others, a uniform number of them masked, plus the length's.

    Ghazvininejad et al. 2019, section 3.
    """
    model = narrowed(model, CmlmMarian)
    targets = batch.target_ids[:, :-1].masked_fill(
        batch.target_ids[:, :-1] == model.config.eos_token_id, model.config.pad_token_id
    )
    real = targets != model.config.pad_token_id
    masked = choose_masks(real, batch.target_lengths, random)
    memory = model.encode(batch.source_ids)
    hidden = model.hidden(targets.masked_fill(masked, model.mask_token_id), memory, real[:, None, None, :])
    tokens = smoothed(model, hidden[masked], targets[masked], smoothing)
    return tokens + LENGTH_WEIGHT * length_loss(model, memory, batch.target_lengths)


def choose_masks(real: Tensor, lengths: Tensor, random: torch.Generator) -> Tensor:
    """True at the masked positions: n of each row's tokens, n uniform in 1…length: [B, T]."""
    # drawn on the CPU, so that the masks of a seed are the same on every device
    n_masked = (torch.rand(lengths.shape, generator=random).to(lengths.device) * lengths).long() + 1
    noise = torch.rand(real.shape, generator=random).to(real.device).masked_fill(~real, 2.0)
    return (noise.argsort(1).argsort(1) < n_masked[:, None]) & real


def length_loss(model: LengthMarian, memory: Memory, lengths: Tensor) -> Tensor:
    """Minus log likelihood of the target's length under a Laplace distribution, a row."""
    location, scale = model.length(memory)
    return ((location - lengths).abs() / scale + scale.log()).mean()


def semi_loss(model: Marian, batch: Batch, random: torch.Generator) -> Tensor:
    """Cross-entropy of each token given the blocks before its own, for a block length drawn anew for each batch.

    Wang et al. 2018, section 3.1: a place reads the true token one block before it, the first block start tokens.
    """
    model = narrowed(model, SemiMarian)
    size = model.block_lengths[int(torch.randint(len(model.block_lengths), (1,), generator=random))]
    return block_loss(model, batch, size)


def block_loss(model: SemiMarian, batch: Batch, size: int) -> Tensor:
    """The same for blocks of `size`. The last one is whole, as in decoding, where nobody knows that it is the last."""
    n_places = -(-batch.target_ids.shape[1] // size) * size
    starts = batch.target_ids.new_full((len(batch.target_ids), size), model.config.decoder_start_token_id)
    decoder_ids = torch.cat([starts, batch.target_ids], dim=1)[:, :n_places]
    hidden = model.hidden(model.encode(batch.source_ids), decoder_ids, size)
    return smoothed(model, hidden[:, : batch.target_ids.shape[1]], without_padding(batch, model))


def without_padding(batch: Batch, model: Marian) -> Tensor:
    return batch.target_ids.masked_fill(batch.target_ids == model.config.pad_token_id, output.IGNORED)


def smoothed(model: Marian, hidden: Tensor, targets: Tensor, smoothing: float = LABEL_SMOOTHING) -> Tensor:
    """The smoothed cross-entropy of what the output layer says of the decoder's states, a target."""
    bias = model.final_logits_bias[0]
    return output.cross_entropy(hidden.flatten(0, -2), model.output, bias, targets.flatten(), smoothing)


def narrowed(model: Marian, wanted: type[M]) -> M:
    """`model`, which must be of the wanted kind."""
    if not isinstance(model, wanted):
        raise TypeError(f"this loss wants a {wanted.__name__}, got a {type(model).__name__}")
    return model
