"""Claims about the test sets."""

import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suites.refusal import Refusal
from suites.tasks import MAX_MARKS, MAX_VERSES, SHIPPED, Row, load_task, passages, read_tsv


def test_the_shipped_verses_are_all_there() -> None:
    rows = load_task("verse").rows
    assert len(rows) == 1561  # the vendored set's own description
    assert rows[0].ref_id == "1.13.1"
    assert len({row.ref_id for row in rows}) == 1561


def test_every_verse_stands_in_exactly_one_passage() -> None:
    verses, joined = load_task("verse").rows, load_task("passage").rows
    assert " ".join(row.source for row in joined) == " ".join(row.source for row in verses)
    assert " ".join(row.reference for row in joined) == " ".join(row.reference for row in verses)


def test_a_passage_is_up_to_eight_consecutive_verses_of_one_chapter() -> None:
    verses = {row.ref_id: row for row in load_task("verse").rows}
    sizes = set()
    for passage in load_task("passage").rows:
        first, _, last = passage.ref_id.partition("-")
        chapter, _, verse = first.rpartition(".")
        names = [f"{chapter}.{n}" for n in range(int(verse), int(last or verse) + 1)]
        assert passage.reference == " ".join(verses[name].reference for name in names)
        sizes.add(len(names))
    assert sizes == set(range(1, MAX_VERSES + 1))


def test_passages_stay_within_their_length() -> None:
    import re

    longest = max(len(re.findall(r"\w+|[^\w\s]", row.reference)) for row in load_task("passage").rows)
    assert MAX_MARKS * 0.9 < longest <= MAX_MARKS


def test_mixed_has_verses_and_longer_passages_and_no_row_twice() -> None:
    mixed = load_task("mixed").rows
    assert len({row.ref_id for row in mixed}) == len(mixed) > 1561 + 300
    assert mixed[:1561] == load_task("verse").rows


def test_tasks_are_told_apart_by_their_hash(tmp_path: Path) -> None:
    hashes = {load_task(name).sha256 for name in ("verse", "passage", "mixed")}
    assert len(hashes) == 3
    copy = tmp_path / "copy.tsv"
    copy.write_bytes(gzip.decompress(SHIPPED.read_bytes()))
    assert load_task(str(copy)).sha256 == load_task("verse").sha256  # the rows count, not the packing


def test_a_gap_or_a_new_chapter_ends_a_passage() -> None:
    ids = ["1.1.1", "1.1.2", "1.1.4", "1.2.5", "1.2.6"]
    assert [row.ref_id for row in passages(tuple(Row("s", "r", name) for name in ids))] == [
        "1.1.1",
        "1.1.2",
        "1.1.4",
        "1.2.5-6",
    ]


@given(st.lists(st.integers(1, 80), max_size=40))
def test_joining_loses_no_verse_whatever_their_lengths(words: list[int]) -> None:
    verses = tuple(Row(f"s{i}", " ".join(["w"] * n), f"1.1.{i}") for i, n in enumerate(words))
    joined = passages(verses)
    assert " ".join(row.source for row in joined) == " ".join(row.source for row in verses)
    assert all(len(row.reference.split()) <= MAX_MARKS for row in joined)


@pytest.mark.parametrize(
    ("data", "rows"),
    [
        (b"a\tb\n", [("a", "b", "1")]),
        (b"a\tb\tid\nc\td", [("a", "b", "id"), ("c", "d", "2")]),
        (b"a\tb\r\n", [("a", "b", "1")]),
        ("a\u2028b\tc\n".encode(), [("a\u2028b", "c", "1")]),  # a line separator of Unicode is no end of a line
        (b"", []),
    ],
)
def test_a_tsv_is_read_as_it_is(tmp_path: Path, data: bytes, rows: list[tuple[str, str, str]]) -> None:
    path = tmp_path / "a.tsv"
    path.write_bytes(data)
    assert [(row.source, row.reference, row.ref_id) for row in read_tsv(path)] == rows
    packed = tmp_path / "a.tsv.gz"
    packed.write_bytes(gzip.compress(data))
    assert read_tsv(packed) == read_tsv(path)


@pytest.mark.parametrize(
    ("name", "data"),
    [("a.tsv", b"\xff\tb\n"), ("a.tsv.gz", b"no gzip"), ("b.tsv.gz", gzip.compress(b"a\tb\n" * 99, mtime=0)[:-9])],
)
def test_an_unreadable_file_is_named(tmp_path: Path, name: str, data: bytes) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(Refusal, match=f"{name}: cannot be read"):
        load_task(str(path))


def test_a_task_without_rows_or_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty.tsv").write_text("")
    with pytest.raises(Refusal, match="no rows"):
        load_task(str(tmp_path / "empty.tsv"))
    with pytest.raises(Refusal, match=r"no test\.tsv"):
        load_task(str(tmp_path))
    with pytest.raises(Refusal, match="unknown task 'vers'; choose from: verse, passage, mixed"):
        load_task("vers")
