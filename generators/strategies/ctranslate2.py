"""The same AR weights, decoded by CTranslate2: the strongest CPU engine for this architecture, in float32 or int8.

https://github.com/OpenNMT/CTranslate2; int8 as in Bhandare et al. 2019, https://arxiv.org/abs/1906.00532. The weights
are converted on first use into a cache folder keyed by their hash.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from generators.base import (
    Capability,
    Exact,
    FinishReason,
    Generation,
    Phase,
    Placement,
    Request,
    Stopwatch,
    Unsupported,
    require,
)
from generators.models.conversions import kept
from generators.models.files import WEIGHTS, read_ar_config
from generators.models.inputs import check
from generators.models.marian import MarianConfig
from generators.models.text import Codec, load_codec
from generators.stopping import answer, limit, nothing

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

    def __init__(
        self, translator: Any, vocabulary: dict[str, int], shape: MarianConfig, codec: Codec, config: CTranslate2Config
    ) -> None:
        self.translator, self.shape, self.codec, self.config = translator, shape, codec, config
        self.ids = vocabulary
        self.pieces = {index: piece for piece, index in vocabulary.items()}

    @classmethod
    def load(cls, folder: Path, config: CTranslate2Config, placement: Placement) -> tuple[Self, Codec]:
        import ctranslate2

        if placement.device != "cpu" and not ctranslate2.get_cuda_device_count():
            raise Unsupported("this build of CTranslate2 finds no CUDA device")
        shape, codec = read_ar_config(folder), load_codec(folder)
        translator = ctranslate2.Translator(
            str(converted(folder, shape)), device=placement.device.partition(":")[0],
            compute_type=config.compute_type, inter_threads=1, intra_threads=placement.threads,
        )  # fmt: skip
        vocabulary = json.loads((folder / "vocab.json").read_text(encoding="utf-8"))
        return cls(translator, vocabulary, shape, codec, config), codec

    def generate(self, request: Request, stopwatch: Stopwatch) -> Generation:
        require(self.capabilities, request)
        stopwatch.start()
        max_new_tokens = limit(request.length)
        if max_new_tokens == 0:
            return nothing(request)
        check(request, self.shape.max_position_embeddings, self.shape.vocab_size)
        results = self.translator.translate_batch(
            [[self.pieces[token_id] for token_id in prompt.prefix_ids] for prompt in request.prompts],
            beam_size=self.config.beam_size, max_decoding_length=max_new_tokens, max_input_length=0,
            min_decoding_length=max_new_tokens if isinstance(request.length, Exact) else 0, return_end_token=True,
        )  # fmt: skip
        rows = [[self.ids[piece] for piece in result.hypotheses[0]] for result in results]
        stopwatch.lap(Phase.ENGINE)
        if isinstance(request.length, Exact) and not all(rows):
            raise Unsupported("CTranslate2 never decodes an empty source, so it cannot give it a set length")
        eos_token_id, decode = self.shape.eos_token_id, self.codec.decode
        return answer(rows, request, stopwatch, eos_token_id, decode, own_end=FinishReason.EOS)


def converted(folder: Path, shape: MarianConfig) -> Path:
    """The engine's own form of the weights in `folder`, in float32, made where it is not yet in the cache.

    int8 is made from it when loaded. Raises ValueError for weights the engine reads otherwise, and for a cache folder
    that cannot be written.
    """
    if not shape.pad_token_id == shape.decoder_start_token_id == shape.vocab_size - 1:
        raise ValueError(f"{folder}: CTranslate2 takes the last id for padding and starts from it; this model does not")
    files = [folder / name for name in (WEIGHTS, "config.json", "vocab.json")]
    return kept("ctranslate2", files, lambda target: convert(folder, target))


def convert(folder: Path, target: Path) -> None:
    from ctranslate2.converters import TransformersConverter

    TransformersConverter(str(folder)).convert(str(target), quantization="float32")
