"""The same AR weights, decoded by CTranslate2: the strongest CPU engine for this architecture, in float32 or int8.

https://github.com/OpenNMT/CTranslate2; int8 as in Bhandare et al. 2019, https://arxiv.org/abs/1906.00532. The weights are
converted on first use into a cache folder keyed by their hash.
"""

import json
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from generators.base import Capability, Exact, Generation, Phase, Placement, Request, Stopwatch, require
from generators.models.files import file_hash
from generators.models.text import Codec, load_codec
from generators.stopping import answer, limit

COMPUTE_TYPES = ("float32", "int8")


@dataclass(frozen=True, slots=True, kw_only=True)
class CTranslate2Config:
    compute_type: str = "float32"
    beam_size: int = 1

    def __post_init__(self) -> None:
        if self.compute_type not in COMPUTE_TYPES:
            raise ValueError(f"unknown compute_type {self.compute_type!r}; choose from: {', '.join(COMPUTE_TYPES)}")
        if self.beam_size < 1:
            raise ValueError(f"beam_size must be 1 or more, got {self.beam_size}")


class CTranslate2:
    """See the module's docstring. What happens inside is not ours to count."""

    config_type = CTranslate2Config
    capabilities = frozenset({Capability.EXACT_LENGTH, Capability.NATURAL_LENGTH, Capability.BATCH})

    def __init__(self, translator: Any, vocabulary: dict[str, int], codec: Codec, config: CTranslate2Config) -> None:
        self.translator, self.codec, self.config = translator, codec, config
        self.ids = vocabulary
        self.pieces = {index: piece for piece, index in vocabulary.items()}

    @classmethod
    def load(cls, folder: Path, config: CTranslate2Config, placement: Placement) -> tuple[Self, Codec]:
        import ctranslate2

        translator = ctranslate2.Translator(
            str(converted(folder, config.compute_type)), device=placement.device.partition(":")[0],
            compute_type=config.compute_type, inter_threads=1, intra_threads=placement.threads,
        )  # fmt: skip
        vocabulary = json.loads((folder / "vocab.json").read_text(encoding="utf-8"))
        codec = load_codec(folder)
        return cls(translator, vocabulary, codec, config), codec

    def generate(self, request: Request, stopwatch: Stopwatch) -> Generation:
        require(self.capabilities, request)
        max_new_tokens = limit(request.length)
        stopwatch.start()
        if max_new_tokens == 0:
            return answer([[] for _ in request.prompts], request, stopwatch, self.eos_token_id, self.codec.decode)
        results = self.translator.translate_batch(
            [[self.pieces[token_id] for token_id in prompt.prefix_ids] for prompt in request.prompts],
            beam_size=self.config.beam_size, max_decoding_length=max_new_tokens, max_input_length=0, return_end_token=True,
            min_decoding_length=max_new_tokens if isinstance(request.length, Exact) else 0,
        )  # fmt: skip
        rows = [[self.ids[piece] for piece in result.hypotheses[0]] for result in results]
        stopwatch.lap(Phase.ENGINE)
        return answer(rows, request, stopwatch, self.eos_token_id, self.codec.decode)

    @property
    def eos_token_id(self) -> int:
        return self.ids["</s>"]


def converted(folder: Path, compute_type: str) -> Path:
    """The engine's own form of the weights in `folder`, made where it is not yet in the cache."""
    from ctranslate2.converters import TransformersConverter

    home = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "arnar" / "ctranslate2"
    target = home / f"{file_hash(folder / 'model.safetensors')[:16]}-{compute_type}"
    if not target.is_dir():
        half_made = target.with_name(f"{target.name}.{os.getpid()}.part")
        TransformersConverter(str(folder)).convert(str(half_made), quantization=compute_type, force=True)
        try:
            half_made.replace(target)
        except OSError:  # another process was first
            shutil.rmtree(half_made)
    return target
