"""Text to ids and back: as transformers does it, but text that spells a special token is only text."""

import pytest

from generators.models.text import MarianCodec
from tests.generators.tiny import LINES, VOCAB_SIZE


@pytest.mark.parametrize("text", [*LINES, "", " ", "unknown Ω letters", "two  spaces , and . dots"])
def test_ordinary_text_is_encoded_as_transformers_does(codec: MarianCodec, text: str) -> None:
    assert list(codec.encode(text)) == codec.tokenizer(text).input_ids
    assert codec.encode_target(text) == tuple(codec.tokenizer(text_target=text).input_ids[:-1])


@pytest.mark.parametrize("line", LINES)
def test_known_text_comes_back_whole(codec: MarianCodec, line: str) -> None:
    assert codec.decode(codec.encode(line)) == line
    assert codec.decode(codec.encode_target(line)) == line


@pytest.mark.parametrize("text", ["</s>", "the </s> end", "<pad>", "<mask> the", "<unk>"])
def test_text_that_spells_a_special_token_is_only_text(codec: MarianCodec, text: str) -> None:
    ids = codec.encode(text)
    assert ids[-1] == codec.eos_token_id == 0
    assert {0, VOCAB_SIZE - 1, VOCAB_SIZE - 2}.isdisjoint(ids[:-1])


def test_an_empty_text_is_its_end_alone(codec: MarianCodec) -> None:
    assert codec.encode("") == (0,)
    assert codec.encode(" \t") == (0,)
    assert codec.encode_target("") == ()
    assert codec.decode(()) == ""


def test_special_tokens_are_no_text(codec: MarianCodec) -> None:
    ids = codec.encode("the light")
    assert codec.decode((*ids, VOCAB_SIZE - 1, 0)) == codec.decode(ids[:-1]) == "the light"


def test_encoding_a_target_leaves_the_source_side_alone(codec: MarianCodec) -> None:
    before = codec.encode(LINES[0])
    codec.encode_target(LINES[1])
    assert codec.encode(LINES[0]) == before
    assert codec.tokenizer.current_spm is codec.tokenizer.spm_source
