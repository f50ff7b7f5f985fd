"""Noisy parallel decoding: of several candidates a row, the one that an autoregressive model finds most likely.

Gu et al. 2018, https://arxiv.org/abs/1711.02281, section 4. The scorer reads all candidates of all rows in one pass,
and both its passes are charged. Without a scorer, the model that wrote the candidates judges them itself.
"""

from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor

from generators.base import Phase, Placement, Request, Stopwatch, TokenRow
from generators.models.files import load_beside
from generators.models.inputs import padded
from generators.models.marian import Marian, causal_mask
from generators.registry import find_weights

NO_SCORER = "none"


def load_scorer(name: str, main: Path, placement: Placement) -> Marian | None:
    """The autoregressive model `name`, with the vocabulary of the one in `main`; None for `none`."""
    if name == NO_SCORER:
        return None
    return load_beside(find_weights(name), Marian, main, device=placement.device, dtype=placement.dtype)


def select(
    token_ids: Tensor, log_probs: Tensor, lengths: Tensor, scorer: Marian | None, request: Request, stopwatch: Stopwatch
) -> Tensor:
    """The index of each row's best candidate among all N = B * K: ids and log probabilities [N, T], lengths [B, K].

    By the mean log probability of its tokens, the writer's own or the scorer's. One candidate needs no judge.
    """
    n_rows, beam = lengths.shape
    if scorer is None or beam == 1:
        means = log_probs.sum(1).view(n_rows, beam) / lengths
    else:
        rows = [row[:n] for row, n in zip(token_ids.tolist(), lengths.flatten().tolist(), strict=True)]
        means = score(scorer, request, rows, stopwatch).view(n_rows, beam)
    return means.argmax(1) + torch.arange(n_rows, device=means.device) * beam


def score(scorer: Marian, request: Request, candidates: Sequence[Sequence[int]], stopwatch: Stopwatch) -> Tensor:
    """The mean log probability of each candidate's tokens and its EOS: [N], K in a row for each prompt.

    An empty candidate has nothing to be unsure of but its end: it scores minus infinity, and wins only among its like.
    """
    config, device = scorer.config, scorer.positions.device
    sources = [prompt.prefix_ids for prompt in request.prompts]
    source_ids, real = padded(sources, config.pad_token_id, device)
    memory = scorer.encode(source_ids, real)
    stopwatch.lap(Phase.SCORE, calls=1, positions=source_ids.numel())
    memory = memory.repeated(len(candidates) // len(sources))

    targets: list[TokenRow] = [(*candidate, config.eos_token_id) for candidate in candidates]
    target_ids, real = padded(targets, config.pad_token_id, device)
    target_ids, real = (x[:, : config.max_position_embeddings] for x in (target_ids, real))
    start = torch.full_like(target_ids[:, :1], config.decoder_start_token_id)
    x = scorer.embed(torch.cat([start, target_ids[:, :-1]], dim=1))
    log_probs = scorer.logits(scorer.model.decoder(x, memory, mask=causal_mask(x))).log_softmax(-1)
    stopwatch.lap(Phase.SCORE, calls=1, positions=target_ids.numel())

    found = log_probs.gather(2, target_ids[:, :, None])[:, :, 0].masked_fill(~real, 0.0)
    empty = torch.tensor([not candidate for candidate in candidates], device=device)
    return (found.sum(1) / real.sum(1)).masked_fill(empty, float("-inf"))
