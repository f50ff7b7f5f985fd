"""Where a text repeats a word and where it differs from its reference, word by word."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import groupby
from typing import Literal

Mark = Literal["", "repeats", "differs", "missing"]


@dataclass(frozen=True, slots=True)
class Run:
    """A stretch of text under one mark; of words that are missing here, their number."""

    text: str
    mark: Mark


def marked(text: str, reference: str) -> tuple[Run, ...]:
    """`text` cut into runs: words that repeat the last one, words the reference has not here, and gaps in between.

    Words are compared without case and outer punctuation. Joined, the runs that are not `missing` give `text` again.
    """
    words = [_core(word) for word in text.split()]
    differs, missing = _against([_core(word) for word in reference.split()], words)
    marks: list[Mark] = [
        "repeats" if i and word == words[i - 1] else "differs" if i in differs else "" for i, word in enumerate(words)
    ]
    return tuple(_joined(_labelled(re.findall(r"\s+|\S+", text), marks, missing)))


def _labelled(pieces: Sequence[str], marks: Sequence[Mark], missing: dict[int, int]) -> Iterator[tuple[str, Mark]]:
    """Every piece with its mark, and the gaps; a space between two words that differ belongs to them."""
    at = 0  # the next word
    for piece in pieces:
        if piece.isspace():
            inside = 0 < at < len(marks) and at not in missing and marks[at - 1] == marks[at] == "differs"
            yield piece, "differs" if inside else ""
            continue
        if at in missing:
            yield str(missing[at]), "missing"
        yield piece, marks[at]
        at += 1
    if at in missing:
        yield str(missing[at]), "missing"


def _against(reference: Sequence[str], words: Sequence[str]) -> tuple[set[int], dict[int, int]]:
    """The places of words that the reference has not there, and how many of its words are missing before a place."""
    differs, missing = set[int](), dict[int, int]()
    for what, i1, i2, j1, j2 in SequenceMatcher(None, reference, words).get_opcodes():
        if what == "delete":
            missing[j1] = i2 - i1
        elif what != "equal":
            differs.update(range(j1, j2))
    return differs, missing


def _joined(labelled: Iterator[tuple[str, Mark]]) -> Iterator[Run]:
    for mark, pieces in groupby(labelled, key=lambda pair: pair[1]):
        if mark in ("repeats", "missing"):  # each is counted by its symbol
            yield from (Run(text, mark) for text, _ in pieces)
        else:
            yield Run("".join(text for text, _ in pieces), mark)


def _core(piece: str) -> str:
    word = piece.casefold()
    return re.sub(r"^\W+|\W+$", "", word) or word
