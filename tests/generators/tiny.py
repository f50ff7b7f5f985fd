"""Models and a vocabulary so small that a test can build them, in the very files that the shipped ones have."""

import dataclasses
import json
import shutil
from pathlib import Path
from typing import Any

import torch
from transformers import GenerationConfig, MarianConfig, MarianMTModel
from transformers.utils.logging import disable_progress_bar

from generators.models.files import build_model, save_model
from generators.models.marian import Marian
from generators.models.marian import MarianConfig as Shape
from generators.training.recipes import RECIPES, model_values
from generators.training.vocabulary import train_vocabulary

VOCAB_SIZE = 60
POSITIONS = 40
LINES = (
    "In the beginning God created the heaven and the earth.",
    "And the earth was without form, and void; and darkness was upon the face of the deep.",
    "And God said, Let there be light: and there was light.",
    "And God saw the light, that it was good: and God divided the light from the darkness.",
    "And the evening and the morning were the first day, kept by Quixotic Jews of Zion.",
)
MODEL_KEYS = {field.name for field in dataclasses.fields(Shape)}
SOURCES = ("And God said, Let there be light.", "the deep", "In the beginning was the light, and it was good.", "")


def write_vocabulary(folder: Path) -> Path:
    train_vocabulary(LINES, VOCAB_SIZE, folder)
    return folder


def tiny_values(recipe: str, **changes: Any) -> dict[str, Any]:
    """The `config.json` of a shipped model, shrunk."""
    small = {"d_model": 16, "encoder_ffn_dim": 24, "decoder_ffn_dim": 24, "max_position_embeddings": POSITIONS}
    heads = {"encoder_attention_heads": 2, "decoder_attention_heads": 2, "encoder_layers": 2, "decoder_layers": 2}
    return model_values(RECIPES[recipe], VOCAB_SIZE) | small | heads | changes


# Standard deviations that give a random model of this size varied outputs: words, sources and places all matter.
SPREAD = {"fc1": 0.1, "fc2": 0.1, "q_proj": 2.0, "k_proj": 2.0, "shared": 0.5}


def tiny_model(recipe: str = "ar", seed: int = 0, eos_bias: float = 0.0, **changes: Any) -> Marian:
    """A random model in float64; a higher `eos_bias` makes it end sooner."""
    torch.manual_seed(seed)
    model = build_model(tiny_values(recipe, **changes)).double()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "norm" not in name:
                std = SPREAD.get(name.split(".")[-2], 0.3)
                parameter.normal_(std=std) if parameter.ndim == 2 else parameter.zero_()
        model.model.shared.weight[model.config.pad_token_id] = 0
        model.final_logits_bias.normal_(std=0.1)
        model.final_logits_bias[0, model.config.eos_token_id] += eos_bias
    return model.eval()


def write_model(folder: Path, vocabulary: Path, recipe: str, **options: Any) -> Path:
    """A whole model folder, as training exports it."""
    model = tiny_model(recipe, **options)
    values = tiny_values(recipe) | {"d_model": model.config.d_model}
    save_model(model.state_dict(), values, vocabulary, folder)
    return folder


def rewrite_config(folder: Path, **changes: Any) -> None:
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def write_opus_model(folder: Path, vocabulary: Path, **changes: Any) -> MarianMTModel:
    """A random model and its folder as transformers saves it, configured as the Helsinki-NLP opus-mt models are."""
    torch.manual_seed(3)
    pad = VOCAB_SIZE - 1
    shape = {
        "vocab_size": VOCAB_SIZE, "decoder_vocab_size": VOCAB_SIZE, "d_model": 16, "encoder_layers": 2,
        "decoder_layers": 2, "encoder_attention_heads": 2, "decoder_attention_heads": 2, "encoder_ffn_dim": 24,
        "decoder_ffn_dim": 24, "activation_function": "swish", "scale_embedding": True,
        "max_position_embeddings": POSITIONS, "pad_token_id": pad, "eos_token_id": 0, "decoder_start_token_id": pad,
        "static_position_embeddings": True, "num_beams": 4, "max_length": POSITIONS,
    }  # fmt: skip
    model = MarianMTModel(MarianConfig(**{**shape, **changes})).eval()
    own = tiny_model(**{key: value for key, value in changes.items() if key in MODEL_KEYS}, eos_bias=6.0)
    missing, _ = model.load_state_dict({name: value.float() for name, value in own.state_dict().items()}, strict=False)
    assert all("embed_" in name or name == "lm_head.weight" for name in missing)
    model.tie_weights()
    model.generation_config = GenerationConfig(
        num_beams=4, max_length=POSITIONS, bad_words_ids=[[pad]], forced_eos_token_id=0, pad_token_id=pad,
        eos_token_id=0, decoder_start_token_id=pad,
    )  # fmt: skip
    disable_progress_bar()
    model.save_pretrained(folder)
    for name in ("source.spm", "target.spm", "vocab.json", "tokenizer_config.json"):
        shutil.copyfile(vocabulary / name, folder / name)
    return model
