"""Models on disk: a folder that `transformers.MarianMTModel` reads too.

Beside Marian's own keys, `config.json` may hold `arnar`: `{"head": "ctc" | "cmlm" | "nat" | "semi", …}`, the head and
its settings.
"""

import dataclasses
import hashlib
import json
import shutil
from pathlib import Path
from typing import Any, TypeVar

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from generators.models.heads import CmlmMarian, CtcMarian, NatMarian, SemiMarian
from generators.models.marian import ACTIVATIONS, Marian, MarianConfig

WEIGHTS = "model.safetensors"
TOKENIZER_FILES = ("source.spm", "target.spm", "vocab.json", "tokenizer_config.json")
SHARED_KEYS = ("model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight", "lm_head.weight")
COMPUTED_KEYS = ("model.encoder.embed_positions.weight", "model.decoder.embed_positions.weight")
HEADS: dict[str | None, type[Marian]] = {
    None: Marian,
    "ctc": CtcMarian,
    "cmlm": CmlmMarian,
    "nat": NatMarian,
    "semi": SemiMarian,
}

M = TypeVar("M", bound=Marian)


def load_model(folder: Path, kind: type[M], *, device: str = "cpu", dtype: str = "float32") -> M:
    """The model in `folder`, ready for inference. Raises ValueError for broken files and for another kind of model."""
    values = read_config(folder)
    try:
        model = build_model(values)
    except (AssertionError, KeyError, TypeError, ValueError, RuntimeError, ZeroDivisionError) as error:
        raise ValueError(f"{folder / 'config.json'}: no model can be made of it: {one_line(error)}") from None
    if type(model) is not kind:
        raise ValueError(f"{folder} holds a {type(model).__name__}; this strategy needs a {kind.__name__}")
    try:
        model.load_state_dict(read_weights(folder))
    except RuntimeError as error:
        raise ValueError(f"{folder / WEIGHTS} does not fit its config.json: {one_line(error)}") from None
    model.to(device=device, dtype=getattr(torch, dtype)).eval().requires_grad_(False).pack()
    return model


def load_beside(folder: Path, kind: type[M], main: Path, *, device: str = "cpu", dtype: str = "float32") -> M:
    """A model that reads and writes the same ids as the one in `main`. Raises ValueError where it does not."""
    if file_hash(folder / "vocab.json") != file_hash(main / "vocab.json"):
        raise ValueError(f"{folder} has another vocabulary than {main}")
    return load_model(folder, kind, device=device, dtype=dtype)


def read_config(folder: Path) -> dict[str, Any]:
    """The `config.json` of a model folder. Raises ValueError where there is none, or none of a Marian we can run."""
    path = folder / "config.json"
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ValueError(f"{folder} is no model folder: it has no config.json") from None
    except (OSError, ValueError) as error:
        raise ValueError(f"{path} cannot be read: {one_line(error)}") from None
    if not isinstance(values, dict) or values.get("model_type") != "marian":
        raise ValueError(f"{path} describes no Marian model (model_type must be 'marian')")
    if not (values.get("share_encoder_decoder_embeddings", True) and values.get("tie_word_embeddings", True)):
        raise ValueError(f"{path}: only models with one embedding for source, target and output are supported")
    return values


def read_ar_config(folder: Path) -> MarianConfig:
    """The shape of the autoregressive model in `folder`. Raises ValueError where no such model lies there."""
    return load_model(folder, Marian).config


def build_model(values: dict[str, Any], dropout: float = 0.0) -> Marian:
    """An untrained model of the shape and head that a `config.json` asks for. Raises KeyError for a missing key."""
    config = MarianConfig(**{field.name: values[field.name] for field in dataclasses.fields(MarianConfig)})
    if config.activation_function not in ACTIVATIONS:
        raise ValueError(f"unknown activation {config.activation_function!r}; choose from: {', '.join(ACTIVATIONS)}")
    settings = dict(values.get("arnar", {}))
    head = settings.pop("head", None)
    if head not in HEADS:
        raise ValueError(f"unknown head {head!r}; choose from: {', '.join(filter(None, HEADS))}")
    return HEADS[head](config, dropout=dropout, **settings)


def read_weights(folder: Path) -> dict[str, torch.Tensor]:
    """The tensors of a model folder under our names, without copies and what is computed anyway. Raises ValueError."""
    path = folder / WEIGHTS
    if not path.is_file():
        raise ValueError(f"{folder} has no {WEIGHTS}; weights are loaded from safetensors only")
    try:
        state = load_file(path)
    except (OSError, SafetensorError) as error:
        raise ValueError(f"{path} cannot be read: {one_line(error)}") from None
    return {name: value for name, value in state.items() if name not in (*SHARED_KEYS, *COMPUTED_KEYS)}


def save_model(state: dict[str, torch.Tensor], values: dict[str, Any], vocabulary: Path, folder: Path) -> None:
    """Write a whole model folder: config, half-precision weights, and the tokenizer's files from `vocabulary`."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(values, indent=1) + "\n", encoding="utf-8")
    halves = {name: value.half().contiguous() for name, value in state.items()}
    save_file(halves, folder / WEIGHTS, metadata={"format": "pt"})
    for name in TOKENIZER_FILES:
        shutil.copyfile(vocabulary / name, folder / name)


def file_hash(path: Path) -> str:
    """The sha256 of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def one_line(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:200]
