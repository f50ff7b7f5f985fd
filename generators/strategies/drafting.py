"""Who drafts for `speculative.py`: a small autoregressive model, or a text at hand that the answer may follow.

Copying from a text (Yang et al. 2023, https://arxiv.org/abs/2304.04487) costs no model call a draft. The text is the
source itself, or what a one-shot model wrote: a parallel draft of the whole answer, held to the autoregressive truth.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol

import torch

from generators.base import GREEDY, Generator, Phase, Placement, Request, Stopwatch, TokenRow
from generators.models.cache import RaggedCache
from generators.models.files import load_beside, read_config
from generators.models.heads import CtcMarian, NatMarian
from generators.models.inputs import check, forbidden, padded
from generators.models.marian import Marian, Memory
from generators.models.text import Codec
from generators.registry import find_weights
from generators.stopping import limit
from generators.strategies.ctc import Ctc
from generators.strategies.nat import Nat

COPY = "copy"
REACH = 16  # how far from its place in the text a row that left it is looked for
SUFFIX = 3  # how many of a row's last tokens are compared there


class Drafts(Protocol):
    """The drafts for one request."""

    def propose(self, rows: Sequence[Sequence[int]], n: int, stopwatch: Stopwatch) -> list[list[int]]:
        """At most n tokens, 0 or more, that may come next in each row, given all that the target has let stand."""
        ...


class Drafter(Protocol):
    def begin(self, request: Request, stopwatch: Stopwatch) -> Drafts:
        """Get ready to draft for a request; what that costs is closed as a step of its own."""
        ...


def load_drafter(name: str, main: Path, codec: Codec, placement: Placement) -> Drafter:
    """The drafter that `name` is: `copy`, or weights that can draft, with the vocabulary of those in `main`."""
    if name == COPY:
        return SourceDrafter()
    folder = find_weights(name)
    place = {"device": placement.device, "dtype": placement.dtype}
    head = read_config(folder).get("arnar", {}).get("head")
    if head == "ctc":
        return OneShotDrafter(Ctc(load_beside(folder, CtcMarian, main, **place), codec))
    if head == "nat":
        return OneShotDrafter(Nat(load_beside(folder, NatMarian, main, **place), codec))
    return ShallowDrafter(load_beside(folder, Marian, main, **place))


class SourceDrafter:
    """Drafts that are copied from the source."""

    def begin(self, request: Request, stopwatch: Stopwatch) -> Drafts:
        return Copying([prompt.prefix_ids for prompt in request.prompts])


class OneShotDrafter:
    """Drafts that are copied from what a one-shot strategy writes for the same sources, as a whole and greedily."""

    def __init__(self, strategy: Ctc | Nat) -> None:
        self.strategy: Generator = strategy
        self.eos_token_id = strategy.model.config.eos_token_id

    def begin(self, request: Request, stopwatch: Stopwatch) -> Drafts:
        plain = replace(request, stop_strings=(), sampling=GREEDY, trace=False)
        got = self.strategy.generate(plain, Stopwatch())
        calls, positions = sum(step.calls for step in got.steps), sum(step.positions for step in got.steps)
        stopwatch.lap(Phase.DRAFT, calls=calls, positions=positions)
        return Copying([(*row, self.eos_token_id) for row in got.token_ids])


class Copying:
    """Drafts that go on in a text of each row, from the place that the row has come to in it."""

    def __init__(self, texts: Sequence[TokenRow]) -> None:
        self.texts = texts
        self.places = [0] * len(texts)  # of the text's token that is expected next
        self.seen = [0] * len(texts)  # tokens of the row that have been followed so far

    def propose(self, rows: Sequence[Sequence[int]], n: int, stopwatch: Stopwatch) -> list[list[int]]:
        for index, (row, text) in enumerate(zip(rows, self.texts, strict=True)):
            for end in range(self.seen[index] + 1, len(row) + 1):
                self.places[index] = followed(text, self.places[index], row[:end])
            self.seen[index] = len(row)
        drafts = [list(text[place : place + n]) for text, place in zip(self.texts, self.places, strict=True)]
        stopwatch.lap(Phase.DRAFT)
        return drafts


def followed(text: TokenRow, place: int, row: Sequence[int]) -> int:
    """The place in `text` behind the row's last token, where `place` was before it.

    A row that left the text is looked for nearby, where most of its last tokens stand; where none does, its last token
    stands in for the text's.
    """
    wanted = place + 1
    if place < len(text) and text[place] == row[-1]:
        return wanted
    nearby = range(max(1, wanted - REACH), min(len(text), wanted + REACH) + 1)
    best = max(nearby, key=lambda end: (common_suffix(text[:end], row), -abs(end - wanted)), default=wanted)
    return best if common_suffix(text[:best], row) else min(wanted, len(text))


def common_suffix(one: Sequence[int], other: Sequence[int]) -> int:
    """How many of the last tokens are the same, up to `SUFFIX`."""
    n = 0
    while n < min(len(one), len(other), SUFFIX) and one[-1 - n] == other[-1 - n]:
        n += 1
    return n


class ShallowDrafter:
    """Drafts that a smaller autoregressive model writes, token by token and greedily."""

    def __init__(self, model: Marian) -> None:
        self.model = model

    def begin(self, request: Request, stopwatch: Stopwatch) -> Drafts:
        config = self.model.config
        check(request, config.max_position_embeddings, config.vocab_size)
        source_ids, real = padded([one.prefix_ids for one in request.prompts], config.pad_token_id, self.device)
        memory = self.model.encode(source_ids, real)
        stopwatch.lap(Phase.DRAFT, calls=1, positions=source_ids.numel())
        return Writing(self.model, memory, request)

    @property
    def device(self) -> torch.device:
        return self.model.positions.device


class Writing:
    """Drafts of one request by a model with a cache of its own, wound back to what the target let stand."""

    def __init__(self, model: Marian, memory: Memory, request: Request) -> None:
        self.model, self.memory = model, memory
        n_rows, longest = len(request.prompts), limit(request.length)
        self.cache = RaggedCache(model.config, n_rows, 2 * longest + 1, memory.states)
        self.banned = forbidden(model, request.length)

    def propose(self, rows: Sequence[Sequence[int]], n: int, stopwatch: Stopwatch) -> list[list[int]]:
        begun = [[self.model.config.decoder_start_token_id, *row] for row in rows]
        # Where all of a draft stood, its last token has not been read yet, nor the target's own behind it.
        known = [min(length, len(row) - 1) for length, row in zip(self.cache.lengths, begun, strict=True)]
        n_unread = max(len(row) - length for row, length in zip(begun, known, strict=True))
        self.cache.lengths = [len(row) - n_unread for row in begun]
        token_ids = torch.tensor([row[-n_unread:] for row in begun], device=self.banned.device)
        written = []
        for _ in range(n):
            token_ids = self.step(token_ids)
            written.append(token_ids)
        positions = len(rows) * (n_unread + n - 1) if n else 0
        stopwatch.lap(Phase.DRAFT, calls=n, positions=positions)
        drafts: list[list[int]] = torch.cat(written, dim=1).tolist() if n else [[] for _ in rows]
        return drafts

    def step(self, token_ids: torch.Tensor) -> torch.Tensor:
        """The best next token of each row [B, 1] behind the new ones [B, T]."""
        model = self.model
        places, mask = self.cache.place(token_ids.shape[1])
        hidden = model.model.decoder(model.embed_at(token_ids, places), self.memory, mask=mask, cache=self.cache)
        logits = model.logits(hidden[:, -1:]).index_fill_(2, self.banned, float("-inf"))
        return logits.argmax(-1)
