"""Logits to token ids: greedy, temperature, top-k and top-p, as pure functions of [B, V]."""

from collections.abc import Callable

import torch
from torch import Tensor

from generators.base import Sampling


class Sampler:
    """Draws one token a row; every row owns a seeded generator, so its text does not depend on its neighbours."""

    def __init__(self, sampling: Sampling) -> None:
        self.sampling = sampling
        self.randoms = [torch.Generator().manual_seed(seed) for seed in sampling.seeds]

    def __call__(self, logits: Tensor) -> Tensor:
        """Token ids [B] for logits [B, V]."""
        if self.sampling.greedy:
            return logits.argmax(-1)
        probs = probabilities(logits, self.sampling).cpu()
        drawn = [torch.multinomial(row, 1, generator=random) for row, random in zip(probs, self.randoms, strict=True)]
        return torch.cat(drawn).to(logits.device)

    def along(self, logits: Tensor) -> Callable[[int, int], int]:
        """A function of row and place that draws the token there, for logits [B, T, V].

        Only what is asked for is drawn, so a row that asks from left to right gets what one call a place would give it.
        """
        if self.sampling.greedy:
            best: list[list[int]] = logits.argmax(-1).tolist()
            return lambda row, place: best[row][place]
        probs = probabilities(logits, self.sampling).cpu()
        return lambda row, place: int(torch.multinomial(probs[row, place], 1, generator=self.randoms[row]))


def probabilities(logits: Tensor, sampling: Sampling) -> Tensor:
    """The float64 distribution that `sampling` draws from: […, V] -> […, V]; temperature must be above 0.

    top-k keeps the k largest logits, then top-p the smallest set whose mass reaches p, the most likely token always
    among them (Holtzman et al. 2020, https://arxiv.org/abs/1904.09751). Ties at the edge go to the lower id.
    """
    order = logits.double().sort(dim=-1, descending=True, stable=True)
    probs = ((order.values - order.values[..., :1]) / sampling.temperature).softmax(-1)  # at most 0: none overflows
    if 0 < sampling.top_k < probs.shape[-1]:
        probs[..., sampling.top_k :] = 0
        probs /= probs.sum(-1, keepdim=True)
    if sampling.top_p < 1:
        before = probs.cumsum(-1) - probs
        before[..., 0] = -1.0  # the most likely token stays even at p = 0
        # cumulative sums of decimals such as .5 + .3 miss p by a rounding error
        probs[before >= sampling.top_p - 1e-12] = 0
        probs /= probs.sum(-1, keepdim=True)
    return torch.zeros_like(probs).scatter(-1, order.indices, probs)
