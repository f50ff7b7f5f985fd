"""Requests as tensors: the little that every strategy does before its first pass."""

from collections.abc import Sequence

import torch
from torch import Tensor

from generators.base import Exact, Length, Prompt
from generators.models.marian import Marian


def source_tensor(prompts: Sequence[Prompt], model: Marian) -> Tensor:
    """The prompts as one tensor padded on the right: [B, longest]. Raises ValueError beyond the model's positions."""
    rows = [prompt.prefix_ids for prompt in prompts]
    longest = max(map(len, rows))
    if longest > model.config.max_position_embeddings:
        raise ValueError(
            f"a source has {longest} tokens; the model has positions for {model.config.max_position_embeddings}"
        )
    pad = model.config.pad_token_id
    return torch.tensor([[*row, *[pad] * (longest - len(row))] for row in rows], device=model.positions.device)


def forbidden(model: Marian, length: Length) -> Tensor:
    """Ids that may not be emitted: padding always, EOS where the length is set."""
    ids = [model.config.pad_token_id]
    if isinstance(length, Exact):
        ids.append(model.config.eos_token_id)
    return torch.tensor(ids, device=model.positions.device)
