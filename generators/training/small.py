"""`python -m generators.training.small CORPUS OUT`: two tiny models of a toy language, in seconds on one thread.

CORPUS is a folder with a `train.tsv`; OUT/ar and OUT/cmlm are then an autoregressive and a mask-predict model. The
losses, the optimiser and the files are those of the real training, but nothing is smoothed or dropped: these models are
to know the toy's probabilities. There is no selection, for a toy has no valid set; instead the learning rate ends at 0.
"""

import argparse
import random
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import torch

from generators.models.files import build_model, save_model
from generators.models.text import load_codec
from generators.training.data import Example, Pair, collate, encode_pairs, read_pairs
from generators.training.loop import adam, initialise, keep_padding_zero
from generators.training.losses import ar_loss, cmlm_loss
from generators.training.recipes import RECIPES, Schedule, model_values
from generators.training.vocabulary import train_vocabulary

SHAPE = {
    "d_model": 64, "encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 4,
    "decoder_attention_heads": 4, "encoder_ffn_dim": 128, "decoder_ffn_dim": 128, "max_position_embeddings": 512,
}  # fmt: skip
# name: loss, updates; smoothed labels would bend the probabilities
MODELS = {"ar": (partial(ar_loss, smoothing=0.0), 400), "cmlm": (partial(cmlm_loss, smoothing=0.0), 2000)}
SCHEDULE = Schedule()
PEAK_LEARNING_RATE, WARMUP_UPDATES = 5e-3, 50
BATCH_SIZE = 64  # sentences


def train_small(corpus: Path, out: Path) -> None:
    """Train both models on `corpus` and write them into `out`, each a whole model folder."""
    pairs = read_pairs(corpus / "train.tsv")
    vocab_size = vocabulary_of_letters(pairs, out / "vocabulary")
    examples = encode_pairs(pairs, load_codec(out / "vocabulary"))
    if any(len(one.target_ids) != len(pair.target.split()) for one, pair in zip(examples, pairs, strict=True)):
        raise ValueError(f"{corpus}: a word of its targets is more than one token, so that places would shift")
    for name in MODELS:
        train_one(name, examples, vocab_size, out)


def vocabulary_of_letters(pairs: Sequence[Pair], folder: Path) -> int:
    """The size of the vocabulary written to `folder`, in which the one-letter words of the targets are one piece each.

    Beside them there is room for every letter alone, the space, EOS, unknown, mask and padding. The words of the
    targets get theirs because they are the frequent ones.
    """
    text = " ".join(f"{pair.source} {pair.target}" for pair in pairs)
    size = len(set(text.split())) + len({word for pair in pairs for word in pair.target.split()}) + 5
    train_vocabulary((text[start : start + 1000] for start in range(0, len(text), 1000)), size, folder)
    return size


def train_one(name: str, examples: Sequence[Example], vocab_size: int, out: Path) -> None:
    """Train the model `name` for its number of updates and write its folder."""
    torch.set_num_threads(1)
    values = model_values(RECIPES[name], vocab_size) | SHAPE
    model = build_model(values)
    initialise(model, SCHEDULE.seed, None)
    keep_padding_zero(model)
    optimizer = adam(model)
    draw, masks = random.Random(SCHEDULE.seed), torch.Generator().manual_seed(SCHEDULE.seed)
    loss, n_updates = MODELS[name]
    for n in range(1, n_updates + 1):
        for group in optimizer.param_groups:
            group["lr"] = PEAK_LEARNING_RATE * min(n / WARMUP_UPDATES, 1 - (n - 1) / n_updates)
        batch = collate(
            draw.choices(examples, k=BATCH_SIZE), model.config.pad_token_id, model.config.eos_token_id, "cpu"
        )
        value = loss(model, batch, masks)
        optimizer.zero_grad()
        value.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), SCHEDULE.clip_norm)
        optimizer.step()
    save_model(model.state_dict(), values, out / "vocabulary", out / name)


def main(arguments: list[str] | None = None) -> int:
    """The exit code: 0 fine, 2 bad input."""
    parser = argparse.ArgumentParser(prog="python -m generators.training.small", description=__doc__)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("out", type=Path)
    options = parser.parse_args(arguments)
    try:
        train_small(options.corpus, options.out)
    except (OSError, ValueError) as error:
        print(f"train: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
