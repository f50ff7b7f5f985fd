"""Prefix beam search for `ctc.py`: the text whose alignments together are most probable, not the best alignment's text.

Graves et al. 2006, section 3.2; in the form of Hannun et al. 2014, https://arxiv.org/abs/1408.2873, without a language
model. In a slot, only its `beam_size` most probable ids are looked at.
"""

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from torch import Tensor

from generators.base import TokenRow

NEVER = -math.inf


class Mass(NamedTuple):
    """Log probability of all alignments of a prefix, by how they end: in a blank, or in the prefix's last token."""

    blank: float = NEVER
    token: float = NEVER

    @property
    def total(self) -> float:
        return log_add(self.blank, self.token)


def prefix_beam_search(log_probs: Tensor, blank_token_id: int, beam_size: int) -> list[int]:
    """The tokens of the most probable text found, for log probabilities of one canvas [C, V]."""
    best = log_probs.topk(min(beam_size, log_probs.shape[1]), dim=1)
    blanks: list[float] = log_probs[:, blank_token_id].tolist()
    beam: dict[TokenRow, Mass] = {(): Mass(blank=0.0)}
    for ids, scores, blank in zip(best.indices.tolist(), best.values.tolist(), blanks, strict=True):
        tokens = [(one, p) for one, p in zip(ids, scores, strict=True) if one != blank_token_id]
        found: dict[TokenRow, Mass] = {}
        for prefix, gained in extensions(beam, tokens, blank):
            old = found.get(prefix, Mass())
            found[prefix] = Mass(log_add(old.blank, gained.blank), log_add(old.token, gained.token))
        beam = dict(sorted(found.items(), key=lambda one: -one[1].total)[:beam_size])
    return list(next(iter(beam)))


def extensions(
    beam: dict[TokenRow, Mass], tokens: Sequence[tuple[int, float]], blank: float
) -> Iterator[tuple[TokenRow, Mass]]:
    """What one more slot makes of each prefix: it says nothing, its last token on, or a token more."""
    for prefix, mass in beam.items():
        yield prefix, Mass(blank=mass.total + blank)
        for token, p in tokens:
            if prefix and token == prefix[-1]:
                yield prefix, Mass(token=mass.token + p)
                yield (*prefix, token), Mass(token=mass.blank + p)  # a blank stood between the two
            else:
                yield (*prefix, token), Mass(token=mass.total + p)


def log_add(a: float, b: float) -> float:
    high, low = max(a, b), min(a, b)
    return high if low == NEVER else high + math.log1p(math.exp(low - high))
