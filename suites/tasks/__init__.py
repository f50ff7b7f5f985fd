"""Test sets: what a contestant reads and what its output is compared with."""

import gzip
import hashlib
import re
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from metrics.coupled import sentences
from suites.refusal import Refusal

SHIPPED = Path(__file__).with_name("bible-kjv-web.test.tsv.gz")
MAX_VERSES = 8
COUPLED, COUPLED_SEED = 200, 2015  # sentences of the language of coupled pairs, and what they are drawn by
MAX_MARKS = 150  # words and punctuation marks of a passage's reference: about 200 sub-words


@dataclass(frozen=True, slots=True)
class Row:
    source: str
    reference: str
    ref_id: str  # "book.chapter.verse" in the shipped set, else what the file's third column says or the line number


@dataclass(frozen=True, slots=True)
class Task:
    name: str
    rows: tuple[Row, ...]
    sha256: str  # of the rows
    wrong_at: tuple[str, float] | None = None  # (the task as it is, how far into its reference a wrong token is put)


def load_task(name: str) -> Task:
    """The task called `name`: a shipped one, or that of a path to a TSV file or a folder that has `test.tsv`.

    Refuses, with one line, a name that is none, and a broken file by its name and line.
    """
    if name in SHIPPED_TASKS:
        verses = read_tsv(SHIPPED)
        return _task(name, SHIPPED_TASKS[name](verses))
    path = _test_file(name)
    rows = read_tsv(path)
    if not rows:
        raise Refusal(f"{path}: no rows")
    return _task(path.parent.name if path.name.startswith("test.tsv") else path.name.split(".")[0], rows)


def read_tsv(path: Path) -> tuple[Row, ...]:
    """The rows of a file of `source<TAB>reference[<TAB>name]`, gzipped or not. Refuses by file and line."""
    try:
        data = path.read_bytes()
        text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode("utf-8")
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as failure:
        raise Refusal(f"{path}: cannot be read: {failure}") from None
    lines = text.removesuffix("\n").split("\n") if text else []
    return tuple(_row(path, number, line.removesuffix("\r")) for number, line in enumerate(lines, start=1))


def passages(verses: tuple[Row, ...]) -> tuple[Row, ...]:
    """Consecutive verses of a chapter joined, 1 to 8 of them in turn; every verse stands in exactly one passage."""
    joined: list[Row] = []
    start = 0
    while start < len(verses):
        wanted = len(joined) % MAX_VERSES + 1
        end = _end_of_passage(verses, start, wanted)
        joined.append(_join(verses[start:end]))
        start = end
    return tuple(joined)


SHIPPED_TASKS: dict[str, Callable[[tuple[Row, ...]], tuple[Row, ...]]] = {
    "verse": lambda verses: verses,
    "passage": passages,
    "mixed": lambda verses: verses + tuple(row for row in passages(verses) if "-" in row.ref_id),
    "coupled": lambda verses: tuple(Row(*pair, str(n)) for n, pair in enumerate(sentences(COUPLED, COUPLED_SEED), 1)),
}


def _end_of_passage(verses: tuple[Row, ...], start: int, wanted: int) -> int:
    end, marks = start + 1, _marks(verses[start])
    while end < min(start + wanted, len(verses)) and _follows(verses[end - 1], verses[end]):
        marks += _marks(verses[end])
        if marks > MAX_MARKS:
            break
        end += 1
    return end


def _marks(row: Row) -> int:
    return len(re.findall(r"\w+|[^\w\s]", row.reference))


def _follows(row: Row, later: Row) -> bool:
    chapter, _, verse = row.ref_id.rpartition(".")
    return later.ref_id == f"{chapter}.{int(verse) + 1}"


def _join(verses: tuple[Row, ...]) -> Row:
    first, last = verses[0].ref_id, verses[-1].ref_id
    name = first if len(verses) == 1 else f"{first}-{last.rpartition('.')[2]}"
    return Row(" ".join(v.source for v in verses), " ".join(v.reference for v in verses), name)


def _test_file(name: str) -> Path:
    path = Path(name)
    found = [p for p in (path / "test.tsv", path / "test.tsv.gz") if p.is_file()] if path.is_dir() else [path]
    if not found:
        raise Refusal(f"{path}: this folder has no test.tsv or test.tsv.gz")
    if not found[0].is_file():
        raise Refusal(f"unknown task {name!r}; choose from: {', '.join(SHIPPED_TASKS)}, or give a TSV file's path")
    return found[0]


def _task(name: str, rows: tuple[Row, ...]) -> Task:
    parts = (f"{row.source}\t{row.reference}\t{row.ref_id}\n" for row in rows)
    return Task(name, rows, hashlib.sha256("".join(parts).encode()).hexdigest())


def _row(path: Path, number: int, line: str) -> Row:
    columns = line.split("\t")
    if len(columns) not in (2, 3):
        raise Refusal(f"{path}:{number}: expected source<TAB>reference[<TAB>name], got {len(columns)} columns")
    source, reference, name = (*columns, str(number))[:3]
    if not source.strip() or not reference.strip():
        raise Refusal(f"{path}:{number}: the {'source' if not source.strip() else 'reference'} is empty")
    return Row(source, reference, name)
