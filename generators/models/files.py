"""Models on disk: a folder that `transformers.MarianMTModel` reads too, or a hub name where there is a hub.

Beside Marian's own keys, `config.json` may hold `arnar`: `{"head": "ctc" | "cmlm", …}`, the head and its settings.
"""

import dataclasses
import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file

from generators.models.heads import CmlmMarian, CtcMarian
from generators.models.marian import ACTIVATIONS, Marian, MarianConfig

WEIGHTS = "model.safetensors"
TOKENIZER_FILES = ("source.spm", "target.spm", "vocab.json", "tokenizer_config.json")
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


def load_model[M: Marian](folder: Path, kind: type[M], *, device: str = "cpu", dtype: str = "float32") -> M:
    """The model in `folder`, ready for inference. Raises ValueError where it is not of the wanted kind."""
    if not (folder / WEIGHTS).is_file():
        raise ValueError(f"{folder} has no {WEIGHTS}; weights are loaded from safetensors only")
    model = build_model(read_config(folder))
    if type(model) is not kind:
        raise ValueError(f"{folder} holds a {type(model).__name__}; this strategy needs a {kind.__name__}")
    state = {k: v for k, v in load_file(folder / WEIGHTS).items() if k not in (*SHARED_KEYS, *COMPUTED_KEYS)}
    model.load_state_dict(state)
    return model.to(device=device, dtype=getattr(torch, dtype)).eval()


def save_model(state: dict[str, torch.Tensor], values: dict[str, Any], vocabulary: Path, folder: Path) -> None:
    """Write a whole model folder: config, half-precision weights, and the tokenizer's files from `vocabulary`."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(values, indent=1) + "\n", encoding="utf-8")
    save_file(
        {name: value.half().contiguous() for name, value in state.items()}, folder / WEIGHTS, metadata={"format": "pt"}
    )
    for name in TOKENIZER_FILES:
        shutil.copyfile(vocabulary / name, folder / name)


def file_hash(path: Path) -> str:
    """The sha256 of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
