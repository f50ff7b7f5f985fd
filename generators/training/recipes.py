"""What is trained, and the one schedule all of it shares, so that a gap between models is not a gap in training."""

from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """The rules every model of a table is trained under."""

    batch_tokens: int = 1600  # target tokens an update, at most
    peak_learning_rate: float = 1.5e-3
    warmup_updates: int = 800  # linear to the peak, then the peak times sqrt(warmup / update)
    halve_after_updates: int = 1_000  # and halved whenever valid BLEU has not risen for as long
    dropout: float = 0.1
    clip_norm: float = 1.0
    evaluate_every: int = 250  # updates; each evaluation scores the mean of the last `averaged` checkpoints
    averaged: int = 4
    max_updates: int = 20_000
    patience_updates: int = 3_000  # stop when valid BLEU has not risen for as long
    seed: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """One model: its shape, its head, where it starts from and what it reads."""

    head: Literal["ctc", "cmlm", "nat", "semi"] | None = None  # None: autoregressive
    encoder_layers: int = 3
    decoder_layers: int = 3
    parent: str | None = "ar"  # start from this model's weights wherever name and shape agree; None: from random ones
    distilled: bool = True  # train on the teacher's beam-4 output instead of the original target
    glancing: bool = False  # the decoder is shown some true tokens, ever fewer as it gets better


RECIPES = {
    "ar": Recipe(parent=None, distilled=False),
    "ar_student": Recipe(),
    "ar_shallow": Recipe(encoder_layers=5, decoder_layers=1),
    "ctc": Recipe(head="ctc"),
    "cmlm": Recipe(head="cmlm"),
    "ctc_glancing": Recipe(head="ctc", glancing=True),
    "nat": Recipe(head="nat", glancing=True),
    "semi_ar": Recipe(head="semi"),
    "ar_draft": Recipe(encoder_layers=1, decoder_layers=1),  # no racer: it drafts for `speculative`
    "ctc_raw": Recipe(head="ctc", distilled=False),
    "cmlm_raw": Recipe(head="cmlm", distilled=False),
}

VOCAB_SIZE = 4000
CTC_UPSAMPLING = 2
BLOCK_LENGTHS = (1, 2, 4, 8)  # of the semi-autoregressive model


def model_values(recipe: Recipe, vocab_size: int) -> dict[str, Any]:
    """The `config.json` of a model to be trained by `recipe`."""
    pad, mask = vocab_size - 1, vocab_size - 2
    heads: dict[str | None, dict[str, Any]] = {
        None: {},
        "ctc": {"upsampling": CTC_UPSAMPLING, "blank_token_id": mask},
        "cmlm": {"mask_token_id": mask},
        "nat": {"mask_token_id": mask},
        "semi": {"block_lengths": list(BLOCK_LENGTHS)},
    }
    values: dict[str, Any] = {
        "architectures": ["MarianMTModel"], "model_type": "marian", "is_encoder_decoder": True,
        "tie_word_embeddings": True, "vocab_size": vocab_size, "decoder_vocab_size": vocab_size, "d_model": 256,
        "scale_embedding": True,
        "encoder_layers": recipe.encoder_layers, "encoder_attention_heads": 4, "encoder_ffn_dim": 1024,
        "decoder_layers": recipe.decoder_layers, "decoder_attention_heads": 4, "decoder_ffn_dim": 1024,
        "activation_function": "relu", "max_position_embeddings": 512, "max_length": 512, "num_beams": 1,
        "pad_token_id": pad, "eos_token_id": 0, "bos_token_id": None, "decoder_start_token_id": pad,
        "bad_words_ids": [[pad]],
    }  # fmt: skip
    return values | ({"arnar": {"head": recipe.head, **heads[recipe.head]}} if recipe.head else {})
