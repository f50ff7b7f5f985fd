"""Requests as tensors: the little that every strategy does before its first decoder pass."""

from collections.abc import Sequence

import torch
from torch import Tensor

from generators.base import Exact, Length, Phase, Request, Stopwatch
from generators.models.marian import Marian, Memory
from generators.stopping import limit


def encode(model: Marian, request: Request, stopwatch: Stopwatch) -> Memory:
    """The memory of the request's sources: the one encoder pass of a generation. Raises ValueError as `check` does."""
    config = model.config
    check(request, config.max_position_embeddings, config.vocab_size)
    rows = [prompt.prefix_ids for prompt in request.prompts]
    source_ids, real = padded(rows, config.pad_token_id, model.positions.device)
    memory = model.encode(source_ids, real)
    stopwatch.lap(Phase.ENCODE, calls=1, positions=source_ids.numel())
    return memory


def check(request: Request, n_positions: int, vocab_size: int) -> None:
    """Raise ValueError for a source or an answer beyond a model's positions, and for an id beyond its vocabulary."""
    longest = max(len(prompt.prefix_ids) for prompt in request.prompts)
    if longest > n_positions:
        raise ValueError(f"a source has {longest} tokens; the model has positions for {n_positions}")
    if limit(request.length) > n_positions:
        raise ValueError(f"asked for {limit(request.length)} tokens; the model has positions for {n_positions}")
    for prompt in request.prompts:
        low, high = min(prompt.prefix_ids), max(prompt.prefix_ids)
        if low < 0 or high >= vocab_size:
            raise ValueError(f"a source has the id {low if low < 0 else high}; the vocabulary ends at {vocab_size - 1}")


def padded(rows: Sequence[Sequence[int]], pad_token_id: int, device: torch.device) -> tuple[Tensor, Tensor]:
    """The rows as one tensor, padded on the right, and True where a token stands: [B, longest] twice.

    The padding is known by the rows' lengths, not by its id, which in some models is also that of EOS.
    """
    longest = max(map(len, rows))
    token_ids = torch.tensor([[*row, *[pad_token_id] * (longest - len(row))] for row in rows], device=device)
    lengths = torch.tensor([len(row) for row in rows], device=device)
    return token_ids, torch.arange(longest, device=device) < lengths[:, None]


def forbidden(model: Marian, length: Length) -> Tensor:
    """Ids that may not be emitted: padding, and EOS where the length is set. A padding id that is also EOS is EOS."""
    config = model.config
    ids = {config.pad_token_id} - {config.eos_token_id}
    if isinstance(length, Exact):
        ids.add(config.eos_token_id)
    return torch.tensor(sorted(ids), dtype=torch.long, device=model.positions.device)


def start_tokens(model: Marian, n_rows: int) -> Tensor:
    """What a causal decoder reads before its first token: [n_rows, 1]."""
    return torch.full((n_rows, 1), model.config.decoder_start_token_id, device=model.positions.device)
