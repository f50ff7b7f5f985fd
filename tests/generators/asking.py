"""Requests and random sources, for strategies built from a model directly."""

from collections.abc import Sequence
from typing import Any

import torch

from generators.base import Exact, Generation, Generator, Natural, Prompt, Request, Stopwatch, TokenRow
from tests.generators.tiny import VOCAB_SIZE


def ask(generator: Generator, sources: Sequence[TokenRow], length: Natural | Exact, **more: Any) -> Generation:
    prompts = tuple(Prompt(prefix_ids=source) for source in sources)
    return generator.generate(Request(prompts=prompts, length=length, **more), Stopwatch())


def random_sources(n: int, seed: int = 0, longest: int = 12, highest_id: int = VOCAB_SIZE - 3) -> list[TokenRow]:
    """n sources of 1 to `longest` tokens, EOS at the end of each."""
    random = torch.Generator().manual_seed(seed)
    lengths = torch.randint(0, longest, (n,), generator=random).tolist()
    return [(*torch.randint(1, highest_id + 1, (length,), generator=random).tolist(), 0) for length in lengths]
