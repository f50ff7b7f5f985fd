"""Parallel text as training examples: single lines and passages of consecutive ones, batched by token count."""

import gzip
import random
import sys
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from generators.models.text import Codec

MAX_PASSAGE_TOKENS = 200  # target tokens; the longest text the shipped models are trained to write
MAX_VERSES = 8
WIDTH_STEP = 4  # batches are as wide as a multiple of it: few shapes, so that their products' kernels are seldom new


@dataclass(frozen=True, slots=True)
class Pair:
    """A line of a corpus. `reference` is `book.chapter.verse`, or empty where lines do not follow each other."""

    source: str
    target: str
    reference: str = ""


@dataclass(frozen=True, slots=True)
class Example:
    source_ids: tuple[int, ...]  # with EOS
    target_ids: tuple[int, ...]  # without


def read_pairs(path: Path) -> list[Pair]:
    """The lines of a TSV, plain or gzipped: source, target and, where given, a reference. Raises ValueError."""
    opener = gzip.open if path.suffix == ".gz" else open
    try:
        with opener(path, "rt", encoding="utf-8") as lines:
            pairs = [parse_line(line, path, number) for number, line in enumerate(lines, 1)]
    except (EOFError, OSError, UnicodeDecodeError, zlib.error) as error:
        raise ValueError(f"{path} cannot be read: {error}") from None
    if not pairs:
        raise ValueError(f"{path} holds no line")
    return pairs


def parse_line(line: str, path: Path, number: int) -> Pair:
    fields = line.rstrip("\n").split("\t")
    if len(fields) not in (2, 3) or not fields[0].strip() or not fields[1].strip():
        raise ValueError(f"{path}:{number}: want source<TAB>target[<TAB>reference], both with text")
    return Pair(*fields)


def split_file(corpus: Path, split: str) -> Path:
    """`train.tsv[.gz]` or `valid.tsv[.gz]` of a corpus folder. Raises FileNotFoundError naming what is missing."""
    for name in (f"{split}.tsv.gz", f"{split}.tsv"):
        if (corpus / name).is_file():
            return corpus / name
    raise FileNotFoundError(f"corpus {corpus} has no {split}.tsv or {split}.tsv.gz")


def join_passages(pairs: Sequence[Pair], codec: Codec, seed: int) -> list[Pair]:
    """Runs of 2 to 8 consecutive lines of one chapter, joined by a space, up to 200 target tokens.

    Each line is in at most one; lines without a reference are in none.
    """
    rng = random.Random(seed)
    passages: list[Pair] = []
    run: list[Pair] = []
    wanted = rng.randint(2, MAX_VERSES)
    n_tokens = 0
    for pair in pairs:
        length = len(codec.encode_target(pair.target))
        if run and (len(run) == wanted or not follows(run[-1], pair) or n_tokens + length > MAX_PASSAGE_TOKENS):
            passages.append(joined(run))
            run, wanted, n_tokens = [], rng.randint(2, MAX_VERSES), 0
        run.append(pair)
        n_tokens += length
    return [passage for passage in [*passages, joined(run)] if " + " in passage.reference]


def follows(first: Pair, second: Pair) -> bool:
    """Whether `second` is the next verse of the same chapter."""
    (chapter, _, verse), (next_chapter, _, next_verse) = (
        first.reference.rpartition("."),
        second.reference.rpartition("."),
    )
    if not chapter or chapter != next_chapter or not (verse.isdecimal() and next_verse.isdecimal()):
        return False
    return int(next_verse) == int(verse) + 1


def joined(run: Sequence[Pair]) -> Pair:
    return Pair(
        " ".join(pair.source for pair in run),
        " ".join(pair.target for pair in run),
        " + ".join(pair.reference for pair in run),
    )


def encode_pairs(pairs: Sequence[Pair], codec: Codec) -> list[Example]:
    """The pairs as token ids, without those that no model has positions for. Raises ValueError when none is left."""
    examples = [Example(codec.encode(pair.source), codec.encode_target(pair.target)) for pair in pairs]
    longest = codec.max_source_tokens
    fitting = [one for one in examples if len(one.source_ids) <= longest and len(one.target_ids) < longest]
    if not fitting:
        raise ValueError(f"none of {len(examples)} texts has fewer than {longest} tokens on both sides")
    if dropped := len(examples) - len(fitting):
        print(f"left out {dropped} of {len(examples)} texts, longer than {longest} tokens", file=sys.stderr)
    return fitting


def epoch(examples: Sequence[Example], batch_tokens: int, seed: int) -> list[list[int]]:
    """Indices of every example once, in shuffled batches of similar length and at most `batch_tokens` target tokens.

    An example longer than that is a batch of its own.
    """
    rng = random.Random(seed)
    order = sorted(range(len(examples)), key=lambda i: (len(examples[i].target_ids) + rng.uniform(-2, 2), rng.random()))
    batches = list(by_tokens(order, examples, batch_tokens))
    rng.shuffle(batches)
    return batches


def by_tokens(order: Sequence[int], examples: Sequence[Example], batch_tokens: int) -> Iterator[list[int]]:
    batch: list[int] = []
    n_tokens = 0
    for index in order:
        length = len(examples[index].target_ids) + 1  # EOS is predicted too
        if batch and n_tokens + length > batch_tokens:
            yield batch
            batch, n_tokens = [], 0
        batch.append(index)
        n_tokens += length
    yield batch


@dataclass(frozen=True, slots=True)
class Batch:
    source_ids: Tensor  # [B, S], with EOS, padded
    target_ids: Tensor  # [B, T], with EOS, padded
    target_lengths: Tensor  # [B], without EOS


def collate(examples: Sequence[Example], pad_token_id: int, eos_token_id: int, device: str) -> Batch:
    sources = pad_rows([example.source_ids for example in examples], pad_token_id)
    targets = pad_rows([(*example.target_ids, eos_token_id) for example in examples], pad_token_id)
    lengths = torch.tensor([len(example.target_ids) for example in examples])
    return Batch(sources.to(device), targets.to(device), lengths.to(device))


def pad_rows(rows: Sequence[Sequence[int]], pad_token_id: int) -> Tensor:
    """Rows of ids as one tensor, padded on the right to the longest and on to a whole number of steps: [B, width]."""
    width = -(-max(len(row) for row in rows) // WIDTH_STEP) * WIDTH_STEP
    return torch.tensor([[*row, *[pad_token_id] * (width - len(row))] for row in rows], dtype=torch.long)
