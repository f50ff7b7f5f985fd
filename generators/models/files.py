"""Models on disk: a folder that `transformers.MarianMTModel` reads too, or a hub name where there is a hub.

Beside Marian's own keys, `config.json` may hold `arnar`: `{"head": "ctc" | "cmlm", …}`, the head and its settings.
"""

import dataclasses
import json
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file

from generators.models.heads import CmlmMarian, CtcMarian
from generators.models.marian import ACTIVATIONS, Marian, MarianConfig
from generators.models.text import Codec, load_codec

WEIGHTS = "model.safetensors"
SHARED_KEYS = ("model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight", "lm_head.weight")
COMPUTED_KEYS = ("model.encoder.embed_positions.weight", "model.decoder.embed_positions.weight")


def read_config(folder: Path) -> dict[str, Any]:
    path = folder / "config.json"
    if not path.is_file():
        raise ValueError(f"{folder} is no model folder: it has no config.json")
    values = json.loads(path.read_text(encoding="utf-8"))
    if values.get("model_type") != "marian":
        raise ValueError(f"{path}: want a Marian model, got model_type {values.get('model_type')!r}")
    return dict(values)


def build_model(values: dict[str, Any], dropout: float = 0.0) -> Marian:
    """An untrained model of the shape and head that a `config.json` asks for."""
    config = MarianConfig(**{field.name: values[field.name] for field in dataclasses.fields(MarianConfig)})
    if config.activation_function not in ACTIVATIONS:
        raise ValueError(f"unknown activation {config.activation_function!r}; choose from: {', '.join(ACTIVATIONS)}")
    head = dict(values.get("arnar", {}))
    kinds = {None: Marian, "ctc": CtcMarian, "cmlm": CmlmMarian}
    return kinds[head.pop("head", None)](config, dropout=dropout, **head)


def load_model(folder: Path, *, device: str = "cpu", dtype: torch.dtype = torch.float32) -> Marian:
    """The model in `folder`, ready for inference."""
    if not (folder / WEIGHTS).is_file():
        raise ValueError(f"{folder} has no {WEIGHTS}; weights are loaded from safetensors only")
    model = build_model(read_config(folder))
    state = {k: v for k, v in load_file(folder / WEIGHTS).items() if k not in (*SHARED_KEYS, *COMPUTED_KEYS)}
    model.load_state_dict(state)
    return model.to(device=device, dtype=dtype).eval()


def save_model(model_state: dict[str, torch.Tensor], values: dict[str, Any], folder: Path) -> None:
    """Write `config.json` and half-precision `model.safetensors`."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(values, indent=1) + "\n", encoding="utf-8")
    save_file({k: v.half().contiguous() for k, v in model_state.items()}, folder / WEIGHTS, metadata={"format": "pt"})


def codec_of(folder: Path) -> Codec:
    """The tokenizer beside the weights."""
    return load_codec(folder, int(read_config(folder)["max_position_embeddings"]))
