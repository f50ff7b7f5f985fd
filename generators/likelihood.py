"""What a reference costs a model, in nats: the losses from which a task's total correlation is estimated."""

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

from generators.base import Exact, Generator, Prompt, TokenRow
from generators.models.heads import CmlmMarian
from generators.models.inputs import forbidden, padded
from generators.models.marian import Marian, causal_mask
from generators.strategies.ar import Autoregressive
from generators.strategies.mask_predict import MaskPredict

BATCH_SIZE = 16


def nats(generator: Generator, prompts: Sequence[Prompt], targets: Sequence[TokenRow]) -> list[float] | None:
    """Minus the log probability of each target's tokens (EOS excluded), its length known; None for another strategy.

    An autoregressive model gives each token the true ones before it; a mask-predict model sees the length alone, every
    token masked. Ids that an output of that length cannot hold have no share in either. No token costs nothing.
    """
    if not isinstance(generator, Autoregressive | MaskPredict):
        return None
    order = sorted(range(len(targets)), key=lambda i: len(targets[i]))
    found = [0.0] * len(targets)
    for start in range(0, len(order), BATCH_SIZE):
        rows = [i for i in order[start : start + BATCH_SIZE] if targets[i]]
        if rows:
            costs = _batch(generator.model, [prompts[i].prefix_ids for i in rows], [targets[i] for i in rows])
            for i, cost in zip(rows, costs.tolist(), strict=True):
                found[i] = cost
    return found


@torch.inference_mode()
def _batch(model: Marian, sources: Sequence[TokenRow], targets: Sequence[TokenRow]) -> Tensor:
    device, pad = model.positions.device, model.config.pad_token_id
    memory = model.encode(*padded(sources, pad, device))
    target_ids, real = padded(targets, pad, device)
    if isinstance(model, CmlmMarian):
        masks = torch.where(real, model.mask_token_id, pad)
        logits = model.fill(masks, memory, real[:, None, None, :])
        banned = torch.cat([forbidden(model, Exact(1)), masks.new_tensor([model.mask_token_id])])
    else:
        start = torch.full_like(target_ids[:, :1], model.config.decoder_start_token_id)
        x = model.embed(torch.cat([start, target_ids[:, :-1]], dim=1))
        logits = model.logits(model.model.decoder(x, memory, mask=causal_mask(x)))
        banned = forbidden(model, Exact(1))
    log_probs = logits.index_fill(2, banned, float("-inf")).log_softmax(-1)
    costs = F.nll_loss(log_probs.transpose(1, 2), target_ids, reduction="none")
    return costs.masked_fill(~real, 0.0).sum(1)
