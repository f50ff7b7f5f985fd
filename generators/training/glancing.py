"""Glancing training: a one-shot model first writes by itself, then learns with some true tokens shown in its input.

Qian et al. 2021, https://arxiv.org/abs/2008.07905: the more of it was wrong, the more is shown, so that it begins with
easy gaps and ends with none. For CTC the true tokens are those of the target's best alignment (Gu & Kong 2021,
https://arxiv.org/abs/2012.15833). The share shown is the papers' first, 0.5, and stays.
"""

import torch
import torch.nn.functional as F
from torch import Tensor

from generators.models.heads import CtcMarian, Glance, NatMarian
from generators.models.marian import Marian
from generators.training.alignment import best_alignment
from generators.training.data import Batch
from generators.training.losses import LENGTH_WEIGHT, ctc_nats, length_loss, narrowed, smoothed

SHOWN = 0.5  # shown tokens for each one that was wrong


def nat_loss(model: Marian, batch: Batch, random: torch.Generator) -> Tensor:
    """Cross-entropy of the tokens that are not shown, each given the source and the shown ones, plus the length's."""
    model = narrowed(model, NatMarian)
    lengths = batch.target_lengths
    targets = batch.target_ids[:, : int(lengths.max())]
    real = torch.arange(targets.shape[1], device=targets.device) < lengths[:, None]
    memory = model.encode(batch.source_ids)
    with torch.no_grad():
        wrong = (model.read(memory, lengths).argmax(-1) != targets) & real
    shown = choose_shown(wrong, real, random)
    hidden = model.hidden(memory, lengths, Glance(targets, shown))
    hidden_places = real & ~shown
    loss = smoothed(model, hidden[hidden_places], targets[hidden_places])
    return loss + LENGTH_WEIGHT * length_loss(model, memory, lengths)


def ctc_glancing_loss(model: Marian, batch: Batch, random: torch.Generator) -> Tensor:
    """CTC's loss with some tokens of the target's best alignment shown in the canvas, a target token."""
    model = narrowed(model, CtcMarian)
    memory = model.encode(batch.source_ids)
    canvas_lengths = (batch.source_ids != model.config.pad_token_id).sum(1) * model.upsampling
    with torch.no_grad():
        log_probs = F.log_softmax(model.read(memory).float(), dim=-1)
        aligned = best_alignment(
            log_probs, batch.target_ids, canvas_lengths, batch.target_lengths, model.blank_token_id
        )
    real = torch.arange(aligned.shape[1], device=aligned.device) < canvas_lengths[:, None]
    shown = choose_shown((log_probs.argmax(-1) != aligned) & real, real, random)
    return ctc_nats(model, model.hidden(memory, Glance(aligned, shown)), batch, canvas_lengths)


def choose_shown(wrong: Tensor, real: Tensor, random: torch.Generator) -> Tensor:
    """True at the places shown: any of the real ones, half as many as are wrong in their row, rounded down: [B, C]."""
    n_shown = (wrong.sum(1) * SHOWN).long()
    noise = torch.rand(real.shape, generator=random).to(real.device).masked_fill(~real, 2.0)
    return (noise.argsort(1).argsort(1) < n_shown[:, None]) & real
