"""Text to token ids and back, by the tokenizer that lies beside a model's weights."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from transformers import MarianTokenizer


class Codec(Protocol):
    """What a suite needs of a tokenizer."""

    max_source_tokens: int
    eos_token_id: int

    def encode(self, text: str) -> tuple[int, ...]:
        """Source ids with EOS, as the model expects them."""
        ...

    def encode_target(self, text: str) -> tuple[int, ...]:
        """Target ids without EOS."""
        ...

    def decode(self, token_ids: Sequence[int]) -> str:
        """The text of target ids, special tokens left out."""
        ...

    def piece(self, token_id: int) -> str:
        """What one id writes, a space before it where it begins a word; a special token's name."""
        ...


class MarianCodec:
    """A `transformers.MarianTokenizer`, its special tokens never parsed out of a user's text."""

    def __init__(self, tokenizer: "MarianTokenizer", max_source_tokens: int) -> None:
        self.tokenizer = tokenizer
        self.max_source_tokens = max_source_tokens
        self.eos_token_id: int = tokenizer.eos_token_id

    def encode(self, text: str) -> tuple[int, ...]:
        return (*self._ids(text), self.eos_token_id)

    def encode_target(self, text: str) -> tuple[int, ...]:
        self.tokenizer._switch_to_target_mode()
        try:
            return self._ids(text)
        finally:
            self.tokenizer._switch_to_input_mode()

    def decode(self, token_ids: Sequence[int]) -> str:
        return str(self.tokenizer.decode(list(token_ids), skip_special_tokens=True))

    def piece(self, token_id: int) -> str:
        return str(self.tokenizer.convert_ids_to_tokens(token_id)).replace("\u2581", " ")

    def _ids(self, text: str) -> tuple[int, ...]:
        # Straight to the pieces: text that spells "</s>" is text, and must not end a source.
        pieces = self.tokenizer._tokenize(text)
        return tuple(self.tokenizer._convert_token_to_id(piece) for piece in pieces)


def load_codec(folder: Path) -> MarianCodec:
    """The tokenizer beside a model's weights. Raises ValueError where its files are missing or broken."""
    from transformers import MarianTokenizer

    if missing := [name for name in ("source.spm", "target.spm", "vocab.json") if not (folder / name).is_file()]:
        raise ValueError(f"{folder} has no tokenizer: {', '.join(missing)} missing")
    try:
        tokenizer = MarianTokenizer.from_pretrained(folder)
    except (AssertionError, KeyError, OSError, RuntimeError, TypeError, ValueError) as error:
        raise ValueError(f"{folder}: its tokenizer cannot be read: {str(error).partition(chr(10))[0]}") from None
    return MarianCodec(tokenizer, min(int(tokenizer.model_max_length), n_positions(folder)))


def n_positions(folder: Path) -> int:
    """How many positions the model in `folder` has; no limit where there is only a tokenizer yet."""
    path = folder / "config.json"
    if not path.is_file():
        return sys.maxsize
    return int(json.loads(path.read_text(encoding="utf-8"))["max_position_embeddings"])
