"""What one wrong token does to the text behind it: exposure to one's own errors, measured instead of feared."""

from collections.abc import Sequence
from itertools import pairwise

from metrics.base import Statistics


def wrong_place(n_tokens: int, share: float) -> int:
    """The position of the token to be replaced in a text of `n_tokens`: so far into it, the last one at most."""
    return max(0, min(int(share * n_tokens), n_tokens - 1))


def downstream(clean: Sequence[int], damaged: Sequence[int], place: int) -> Statistics:
    """(token edits that turn the clean text behind `place` into the damaged one, its tokens); (0, 0) where nothing was.

    `clean` is what the same strategy writes when nobody interferes.
    """
    before, after = clean[place + 1 :], damaged[place + 1 :]
    return (edits(before, after), len(before)) if len(before) else (0, 0)


def healed(clean: Sequence[int], damaged: Sequence[int], place: int) -> Statistics:
    """(1 where the strategy took the wrong token back, 1); (0, 0) where the clean text is too short to have it."""
    return (int(clean[place : place + 1] == damaged[place : place + 1]), 1) if len(clean) > place else (0, 0)


def edits(a: Sequence[int], b: Sequence[int]) -> int:
    """The fewest insertions, deletions and replacements that turn `a` into `b` (Levenshtein 1966)."""
    row = list(range(len(b) + 1))
    for i, one in enumerate(a, start=1):
        new = [i]
        for other, (diagonal, above) in zip(b, pairwise(row), strict=True):
            new.append(min(new[-1] + 1, above + 1, diagonal + (one != other)))
        row = new
    return row[-1]
