"""What a model learns from: lines read or refused, passages joined, every example once an epoch."""

import gzip
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generators.training.data import (
    MAX_PASSAGE_TOKENS,
    MAX_VERSES,
    Example,
    Pair,
    collate,
    encode_pairs,
    epoch,
    follows,
    join_passages,
    read_pairs,
    split_file,
)


class WordCodec:
    """A token a word."""

    max_source_tokens = 12
    eos_token_id = 0

    def encode(self, text: str) -> tuple[int, ...]:
        return (*self.encode_target(text), self.eos_token_id)

    def encode_target(self, text: str) -> tuple[int, ...]:
        return tuple(5 for _ in text.split())

    def decode(self, token_ids: Sequence[int]) -> str:
        return " ".join("w" for _ in token_ids)


def write(path: Path, text: str | bytes) -> Path:
    data = text.encode() if isinstance(text, str) else text
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


@pytest.mark.parametrize("name", ["train.tsv", "train.tsv.gz"])
def test_lines_are_read_plain_or_gzipped(tmp_path: Path, name: str) -> None:
    write(tmp_path / name, "a b\tA B\tGEN.1.1\r\nc\tÇ\n")
    assert read_pairs(split_file(tmp_path, "train")) == [Pair("a b", "A B", "GEN.1.1"), Pair("c", "Ç")]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a\tb\nonly one\n", r"train.tsv:2: want source<TAB>target"),
        ("a\tb\tc\td\n", r"train.tsv:1: want"),
        ("a\t \n", r"train.tsv:1: want .*both with text"),
        ("\n", r"train.tsv:1: want"),
        ("", r"train.tsv holds no line"),
        (b"a\t\xff\n", r"train.tsv cannot be read: .*utf-8"),
    ],
)
def test_a_broken_line_is_named(tmp_path: Path, text: str | bytes, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_pairs(write(tmp_path / "train.tsv", text))


def test_a_gzip_that_is_none_or_cut_short_is_named(tmp_path: Path) -> None:
    whole = gzip.compress(b"a\tb\n" * 1000)
    for data in (b"a\tb\n", whole[: len(whole) // 2], whole[:-9] + b"\0" * 9):
        (tmp_path / "train.tsv.gz").write_bytes(data)
        with pytest.raises(ValueError, match=r"train\.tsv\.gz cannot be read"):
            read_pairs(tmp_path / "train.tsv.gz")


def test_a_missing_split_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"has no valid\.tsv or valid\.tsv\.gz"):
        split_file(tmp_path, "valid")


def verse(chapter: str, number: int, n_words: int = 3) -> Pair:
    return Pair(f"s{number} " * n_words, f"t{number} " * n_words, f"{chapter}.{number}")


@pytest.mark.parametrize(
    ("first", "second", "wanted"),
    [
        ("GEN.1.1", "GEN.1.2", True),
        ("GEN.1.9", "GEN.1.10", True),
        ("GEN.1.1", "GEN.1.3", False),
        ("GEN.1.2", "GEN.1.1", False),
        ("GEN.1.31", "GEN.2.32", False),
        ("GEN.1.1", "EXO.1.2", False),
        ("", "", False),
        ("1", "2", False),
        ("GEN.1.a", "GEN.1.b", False),
        ("GEN.1.²", "GEN.1.3", False),
    ],
)
def test_a_verse_follows_the_one_before_it_in_its_chapter(first: str, second: str, wanted: bool) -> None:
    assert follows(Pair("a", "b", first), Pair("a", "b", second)) is wanted


@given(st.lists(st.tuples(st.integers(1, 3), st.integers(1, 90)), max_size=60), st.integers(0, 5))
def test_passages_join_what_follows_and_no_more_than_allowed(verses: list[tuple[int, int]], seed: int) -> None:
    pairs, number = [], 0
    for step, n_words in verses:
        number += step  # a step above 1 is a gap
        pairs.append(verse("GEN.1", number, n_words))
    codec, by_reference = WordCodec(), {pair.reference: pair for pair in pairs}
    seen: Counter[str] = Counter()
    for passage in join_passages(pairs, codec, seed):
        references = passage.reference.split(" + ")
        run = [by_reference[reference] for reference in references]
        assert 2 <= len(run) <= MAX_VERSES
        assert all(follows(a, b) for a, b in zip(run, run[1:], strict=False))
        assert passage.source == " ".join(pair.source for pair in run)
        assert passage.target == " ".join(pair.target for pair in run)
        assert len(codec.encode_target(passage.target)) <= MAX_PASSAGE_TOKENS
        seen.update(references)
    assert set(seen.values()) <= {1}


def test_passages_of_a_seed_are_always_the_same() -> None:
    pairs = [verse("GEN.1", number) for number in range(1, 40)]
    found = [passage.reference.count("+") + 1 for passage in join_passages(pairs, WordCodec(), seed=1)]
    assert found == [passage.reference.count("+") + 1 for passage in join_passages(pairs, WordCodec(), seed=1)]
    # what random.Random(1).randint(2, 8) draws first; the last run ends with the chapter's 39 verses
    assert found == [3, 6, 8, 8, 8, 2, 4]


def test_lines_without_reference_are_joined_to_nothing() -> None:
    assert join_passages([Pair("a", "b")] * 9, WordCodec(), seed=0) == []


@given(
    lengths=st.lists(st.integers(1, 40), min_size=1, max_size=80),
    batch_tokens=st.integers(1, 120),
    seed=st.integers(0, 3),
)
def test_an_epoch_holds_every_example_once_in_batches_that_fit(
    lengths: list[int], batch_tokens: int, seed: int
) -> None:
    examples = [Example((5, 0), (7,) * length) for length in lengths]
    batches = epoch(examples, batch_tokens, seed)
    assert sorted(row for batch in batches for row in batch) == list(range(len(examples)))
    for batch in batches:
        n_tokens = sum(lengths[row] + 1 for row in batch)
        assert n_tokens <= batch_tokens or len(batch) == 1
    assert epoch(examples, batch_tokens, seed) == batches


def test_batches_hold_examples_of_similar_length_and_epochs_differ() -> None:
    examples = [Example((5, 0), (7,) * (1 + place % 50)) for place in range(1000)]
    batches = epoch(examples, 400, seed=1)
    spreads = [max(lengths) - min(lengths) for batch in batches if (lengths := [row % 50 for row in batch])]
    assert max(spreads) <= 6
    assert epoch(examples, 400, seed=2) != batches


def test_what_no_position_reaches_is_left_out_and_said(capsys: pytest.CaptureFixture[str]) -> None:
    pairs = [Pair("a " * n, "b " * m) for n, m in ((11, 11), (12, 3), (3, 12), (1, 1))]
    found = encode_pairs(pairs, WordCodec())
    assert [(len(one.source_ids), len(one.target_ids)) for one in found] == [(12, 11), (2, 1)]
    assert "left out 2 of 4 texts, longer than 12 tokens" in capsys.readouterr().err
    with pytest.raises(ValueError, match="none of 1 texts"):
        encode_pairs(pairs[1:2], WordCodec())


def test_a_batch_is_padded_on_the_right_with_its_ends_in_place() -> None:
    batch = collate([Example((5, 6, 0), (7,)), Example((5, 0), (8, 9, 7))], 59, 0, "cpu")
    assert batch.source_ids.tolist() == [[5, 6, 0, 59], [5, 0, 59, 59]]
    assert batch.target_ids.tolist() == [[7, 0, 59, 59], [8, 9, 7, 0]]
    assert batch.target_lengths.tolist() == [1, 3]
