"""Losses of the output layer, whose logits are far larger than all else in an update.

Each takes the decoder's states and multiplies them into logits itself, a block of rows at a time, while they fit into
the cache: the loss and its slope (its gradient by the logits) are computed there and then, and the slope alone is kept,
in the products' own type. Values and gradients are those of `F.cross_entropy` and `F.ctc_loss`.

Dims: N rows, D width, V vocabulary, B texts, C canvas slots, T target tokens.
"""

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

IGNORED = -100
BLOCK = 128  # rows; a multiple of it has its products' kernels at hand, where each new size would compile its own


def cross_entropy(hidden: Tensor, weight: Tensor, bias: Tensor, targets: Tensor, smoothing: float) -> Tensor:
    """Mean of the smoothed cross-entropy over the rows whose target is not IGNORED: [N, D], [V, D], [V], [N] -> []."""
    hidden, weight = products_type(blocks(hidden)), products_type(weight)
    with torch.no_grad():
        targets = F.pad(targets, (0, len(hidden) - len(targets)), value=IGNORED)
        counted = (targets != IGNORED)[:, None].to(bias.dtype)  # of one type: mixed products are slow
        chosen = targets.clamp(min=0)[:, None]
        share, n_counted = smoothing / len(weight), counted.sum()
        slopes, total = hidden.new_empty(len(hidden), len(weight)), bias.new_zeros(())
        for rows in row_blocks(hidden):
            log_probs = log_softmax(hidden[rows], weight, bias)
            nats = (smoothing - 1) * log_probs.gather(1, chosen[rows]) - share * log_probs.sum(1, keepdim=True)
            total = total + (nats * counted[rows]).sum()
            slope = log_probs.exp_().sub_(share)
            slope.scatter_add_(1, chosen[rows], torch.full_like(nats, smoothing - 1))
            slopes[rows] = slope.mul_(counted[rows])
    return KnownSlopes.apply(hidden, weight, total, slopes) / n_counted  # type: ignore[no-untyped-call, no-any-return]


def ctc(
    hidden: Tensor, weight: Tensor, bias: Tensor, targets: Tensor,
    canvas_lengths: Tensor, target_lengths: Tensor, blank_token_id: int,
) -> Tensor:  # fmt: skip
    """CTC's loss, summed over the targets that fit their canvas, a target token: [B, C, D], [V, D], [V], [B, T] -> [].

    An alignment says nothing but the row's own tokens and the blank. So the recursion runs over a small vocabulary of
    those; for all other ids the slope is their probability.
    """
    n_texts, n_slots = hidden.shape[:2]
    hidden, weight = products_type(blocks(hidden.flatten(0, 1))), products_type(weight)
    with torch.no_grad():
        small = torch.cat([torch.full_like(targets[:, :1], blank_token_id), targets], dim=1)  # [B, 1 + T]
        first = (small[:, :, None] == small[:, None, :]).int().argmax(-1)  # a token that comes again keeps its place
        chosen = F.pad(small.repeat_interleave(n_slots, 0), (0, 0, 0, len(hidden) - n_texts * n_slots))
        slopes, emitted = hidden.new_empty(len(hidden), len(weight)), []
        for rows in row_blocks(hidden):
            log_probs = log_softmax(hidden[rows], weight, bias)
            emitted.append(log_probs.gather(1, chosen[rows]))
            slopes[rows] = log_probs.exp_()
        small_log_probs = torch.cat(emitted)[: n_texts * n_slots].unflatten(0, (n_texts, n_slots)).requires_grad_()
    with torch.enable_grad():
        nats = F.ctc_loss(
            small_log_probs.transpose(0, 1), first[:, 1:], canvas_lengths, target_lengths,
            blank=0, reduction="none", zero_infinity=True,
        )  # fmt: skip
        (small_slopes,) = torch.autograd.grad(nats.sum(), small_log_probs)
    with torch.no_grad():
        real = torch.arange(n_slots, device=hidden.device) < canvas_lengths[:, None]
        taught = F.pad((real & (nats > 0)[:, None]).flatten(), (0, len(hidden) - n_texts * n_slots))
        small_slopes = small_slopes.gather(2, first[:, None].expand(-1, n_slots, -1)).flatten(0, 1)
        slopes[: len(small_slopes)].scatter_(1, chosen[: len(small_slopes)], small_slopes.to(slopes.dtype))
        slopes.mul_(taught[:, None].to(slopes.dtype))
    total = nats.detach().sum()
    return KnownSlopes.apply(hidden, weight, total, slopes) / target_lengths.sum()  # type: ignore[no-untyped-call, no-any-return]


class KnownSlopes(torch.autograd.Function):
    """A value whose slopes by the logits `hidden @ weight.T` are known already."""

    @staticmethod
    def forward(ctx: Any, hidden: Tensor, weight: Tensor, value: Tensor, slopes: Tensor) -> Tensor:
        ctx.save_for_backward(hidden, weight, slopes)
        return value.clone()

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, None, None]:
        hidden, weight, slopes = ctx.saved_tensors
        return slopes @ weight * gradients[0], slopes.t() @ hidden * gradients[0], None, None


def products_type(x: Tensor) -> Tensor:
    """`x` in the type that autocast multiplies in, as it is where there is no autocast."""
    device = x.device.type
    return x.to(torch.get_autocast_dtype(device)) if torch.is_autocast_enabled(device) else x


def blocks(hidden: Tensor) -> Tensor:
    """The rows, and rows of zeros up to a whole number of blocks."""
    return F.pad(hidden, (0, 0, 0, -len(hidden) % BLOCK))


def row_blocks(hidden: Tensor) -> list[slice]:
    return [slice(start, start + BLOCK) for start in range(0, len(hidden), BLOCK)]


def log_softmax(hidden: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """Log probabilities of a few rows, in float32 at least: [n, D] -> [n, V]."""
    logits = F.linear(hidden, weight, bias.to(hidden.dtype))
    return F.log_softmax(logits.to(torch.promote_types(logits.dtype, torch.float32)), dim=-1)
