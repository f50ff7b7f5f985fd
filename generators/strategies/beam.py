"""Beam search for `ar.py`: the `beam_size` most probable prefixes advance together, and those that ended compete.

They compete by log probability over length to a power. Graves 2012, https://arxiv.org/abs/1211.3711; the length penalty
as in Wu et al. 2016, https://arxiv.org/abs/1609.08144, in the simpler form that fairseq and transformers use.
"""

from dataclasses import dataclass, field

import torch
from torch import Tensor

from generators.base import Frame, Length, Phase, SlotState, Stopwatch
from generators.models.cache import Cache
from generators.models.inputs import forbidden, start_tokens
from generators.models.marian import Marian, Memory
from generators.stopping import limit
from generators.tracing import slots


@dataclass(slots=True)
class Finished:
    """The best hypotheses of one row that have ended, at most `beam_size` of them; none is added once it is closed."""

    beam_size: int
    length_penalty: float
    hypotheses: list[tuple[float, list[int]]] = field(default_factory=list)
    closed: bool = False

    def add(self, score: float, token_ids: list[int]) -> None:
        if self.closed or score == float("-inf"):
            return  # a row must not profit from passes made for its neighbours; a beam that never lived cannot end
        self.hypotheses.append((score / len(token_ids) ** self.length_penalty, token_ids))
        self.hypotheses = sorted(self.hypotheses, key=lambda one: -one[0])[: self.beam_size]

    def close_to(self, score: float, n_tokens: int) -> None:
        """Close when a running prefix of this log probability could not enter any more if it ended now."""
        full = len(self.hypotheses) == self.beam_size
        self.closed |= full and self.hypotheses[-1][0] >= score / n_tokens**self.length_penalty


def beam_search(
    model: Marian, memory: Memory, length: Length, beam_size: int, length_penalty: float, stopwatch: Stopwatch,
    frames: list[list[Frame]] | None = None,
) -> list[list[int]]:  # fmt: skip
    """The best hypothesis of each row, with its EOS where it wrote one.

    Where there are `frames`, each row's are filled: the leading prefix step by step, then the hypothesis selected.
    """
    n_rows, max_new_tokens, device = len(memory.states), limit(length), memory.states.device
    memory = memory.select(torch.arange(n_rows, device=device).repeat_interleave(beam_size))
    cache, banned = Cache(model.config, n_rows * beam_size, max_new_tokens, memory.states), forbidden(model, length)
    scores = memory.states.new_full((n_rows, beam_size), float("-inf"))
    scores[:, 0] = 0  # all beams of a row start equal, so only one may fork
    token_ids = start_tokens(model, n_rows * beam_size)
    prefixes = token_ids[:, :0]
    finished = [Finished(beam_size, length_penalty) for _ in range(n_rows)]

    for step in range(max_new_tokens):
        hidden = model.model.decoder(model.embed(token_ids, step), memory, cache=cache)
        logits = model.logits(hidden)[:, -1].index_fill_(1, banned, float("-inf"))
        total = scores[:, :, None] + logits.log_softmax(-1).view(n_rows, beam_size, -1)
        scores, parents, token_ids = advance(total, prefixes, finished, model.config.eos_token_id)
        cache.reorder(parents)
        prefixes = torch.cat([prefixes[parents], token_ids], dim=1)
        stopwatch.lap(Phase.DECODE, calls=1, positions=n_rows * beam_size)
        if frames is not None:
            follow(frames, finished, prefixes.view(n_rows, beam_size, -1)[:, 0].tolist(), len(stopwatch.steps) - 1)
        for one, best in zip(finished, scores[:, 0].tolist(), strict=True):
            one.close_to(best, step + 1)
        if all(one.closed for one in finished):
            break
    for row, running in enumerate(prefixes.view(n_rows, beam_size, -1).tolist()):
        for score, prefix in zip(scores[row].tolist(), running, strict=True):
            finished[row].add(score, prefix)
    chosen = [one.hypotheses[0][1] for one in finished]
    for of_row, best_ids in zip(frames or (), chosen, strict=bool(frames)):
        of_row[-1] = Frame(of_row[-1].step, slots(best_ids, SlotState.FINAL))
    return chosen


def follow(frames: list[list[Frame]], finished: list[Finished], leaders: list[list[int]], step: int) -> None:
    """Note the leading prefix of each row whose search goes on: any part of it may yet be given up."""
    for of_row, one, leader in zip(frames, finished, leaders, strict=True):
        if not one.closed:
            of_row.append(Frame(step, slots(leader, SlotState.TENTATIVE)))


def advance(
    total: Tensor, prefixes: Tensor, finished: list[Finished], eos_token_id: int
) -> tuple[Tensor, Tensor, Tensor]:
    """The next beams from the scores of all continuations [B, K, V]: scores [B, K], parent rows [B*K], tokens [B*K, 1].

    Among the 2 K best continuations at most K end, so K that go on are always left.
    """
    n_rows, beam_size, vocab_size = total.shape
    best = total.flatten(1).topk(2 * beam_size)
    parents, tokens = best.indices // vocab_size, best.indices % vocab_size
    ends = tokens == eos_token_id
    for row, rank in ends[:, :beam_size].nonzero().tolist():
        prefix = prefixes[row * beam_size + int(parents[row, rank])].tolist()
        finished[row].add(best.values[row, rank].item(), [*prefix, eos_token_id])
    kept = ends.long().argsort(dim=1, stable=True)[:, :beam_size]
    rows = torch.arange(n_rows, device=total.device)[:, None] * beam_size
    return (
        best.values.gather(1, kept),
        (parents.gather(1, kept) + rows).flatten(),
        tokens.gather(1, kept).flatten()[:, None],
    )
