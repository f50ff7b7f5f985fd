"""Valid BLEU of a model in training, decoded by the strategy that will race with it."""

from collections.abc import Sequence

import sacrebleu
import torch

from generators.base import Generator, Natural, Prompt, Request, Stopwatch
from generators.models.heads import CmlmMarian, CtcMarian, NatMarian, SemiMarian
from generators.models.marian import Marian
from generators.models.text import Codec
from generators.strategies.ar import Autoregressive
from generators.strategies.ctc import Ctc
from generators.strategies.mask_predict import MaskPredict
from generators.strategies.nat import Nat
from generators.strategies.semi_ar import SemiAutoregressive
from generators.training.data import Pair

BATCH_SIZE = 70


def strategy_for(model: Marian, codec: Codec) -> Generator:
    """The strategy a model is selected by, its knobs at their defaults: what will race with it."""
    if isinstance(model, CtcMarian):
        return Ctc(model, codec)
    if isinstance(model, CmlmMarian):
        return MaskPredict(model, codec)
    if isinstance(model, NatMarian):
        return Nat(model, codec)
    if isinstance(model, SemiMarian):
        return SemiAutoregressive(model, codec)
    return Autoregressive(model, codec)


def valid_bleu(generator: Generator, codec: Codec, pairs: Sequence[Pair]) -> float:
    """sacreBLEU of the generator's outputs for `pairs`, in batches of similar length."""
    n_threads = torch.get_num_threads()
    torch.set_num_threads(1)  # a decoding step is too small to share out
    sources = [codec.encode(pair.source) for pair in pairs]
    order = sorted(range(len(pairs)), key=lambda i: len(sources[i]))
    texts = [""] * len(pairs)
    for start in range(0, len(order), BATCH_SIZE):
        rows = order[start : start + BATCH_SIZE]
        prompts = tuple(Prompt(prefix_ids=sources[row]) for row in rows)
        longest = min(2 * max(len(prompt.prefix_ids) for prompt in prompts), codec.max_source_tokens)
        generation = generator.generate(Request(prompts=prompts, length=Natural(longest)), Stopwatch())
        for row, token_ids in zip(rows, generation.token_ids, strict=True):
            texts[row] = codec.decode(token_ids)
    torch.set_num_threads(n_threads)
    return float(sacrebleu.corpus_bleu(texts, [[pair.target for pair in pairs]]).score)
