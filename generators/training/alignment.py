"""The best alignment of targets to their CTC canvases: Viterbi's algorithm over the states of Graves et al. 2006.

Dims: B rows, C canvas slots, V vocabulary, T target tokens, L = 2 T + 1 states: tokens with blanks around them.
"""

import torch
from torch import Tensor

NEVER = -1e30


def best_alignment(
    log_probs: Tensor, targets: Tensor, canvas_lengths: Tensor, target_lengths: Tensor, blank_token_id: int
) -> Tensor:
    """The token or blank of each slot on the most probable alignment that collapses to the target: [B, C].

    For log probabilities [B, C, V] and targets [B, T]; blanks behind a row's canvas. A target that does not fit its
    canvas has no alignment; its row is then some path, to be left out by the caller.
    """
    states = torch.full((len(targets), 2 * targets.shape[1] + 1), blank_token_id, device=targets.device)  # [B, L]
    states[:, 1::2] = targets
    emitted = log_probs.gather(2, states[:, None].expand(-1, log_probs.shape[1], -1))  # [B, C, L]
    may_skip = torch.zeros_like(states, dtype=torch.bool)  # the blank before, where another token stands behind it
    may_skip[:, 2:] = (states[:, 2:] != states[:, :-2]) & (states[:, 2:] != blank_token_id)

    best = torch.full_like(emitted[:, 0], NEVER)
    best[:, :2] = emitted[:, 0, :2]
    steps = []
    for slot in range(1, emitted.shape[1]):
        skipped = shifted(best, 2).masked_fill(~may_skip, NEVER)
        reached, step = torch.stack([best, shifted(best, 1), skipped]).max(0)
        open_rows = (slot < canvas_lengths)[:, None]
        best = torch.where(open_rows, reached + emitted[:, slot], best)
        steps.append(step * open_rows)

    last = 2 * target_lengths  # the blank behind the last token, or that token
    before = (last - 1).clamp(min=0)
    ends = torch.stack([last, before]).gather(0, best.gather(1, torch.stack([last, before], 1)).argmax(1)[None])[0]
    path = [ends]
    for step in reversed(steps):
        path.append(path[-1] - step.gather(1, path[-1][:, None])[:, 0])
    aligned = states.gather(1, torch.stack(path[::-1], dim=1))
    slots = torch.arange(aligned.shape[1], device=aligned.device)
    return aligned.masked_fill(slots >= canvas_lengths[:, None], blank_token_id)


def shifted(best: Tensor, n: int) -> Tensor:
    """What stood n states before: [B, L] -> [B, L]."""
    return torch.nn.functional.pad(best, (n, 0), value=NEVER)[:, : best.shape[1]]
