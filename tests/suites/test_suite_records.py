"""Claims about the files of a run: strict on the way out, strict on the way in, forgiving of a torn end."""

import dataclasses
import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suites import strict_json
from suites.frames import to_frames
from suites.records import (
    SCHEMA_VERSION,
    BadRun,
    IncompatibleRun,
    Record,
    RunInfo,
    Sample,
    StepRecord,
    read_run,
)
from suites.refusal import Refusal
from suites.store import RunFolder, check_free, create, lock_folder, point_latest, reopen


def record(key: str = "k1", **changes: Any) -> Record:
    fields: dict[str, Any] = {
        "key": key,
        "start": 0,
        "suite": "smoke",
        "task": "verse",
        "label": "ar",
        "strategy": "ar",
        "config": {"weights": "w", "beam_size": 1},
        "mode": "batched",
        "length": None,
        "batch_size": 1,
        "repeat": 0,
        "order": 0,
        "prompt_rows": (3,),
        "status": "ok",
        "latency_s": 0.1,
        "cpu_s": 0.1,
        "steps": (StepRecord(phase="encode", seconds=0.1, calls=1, positions=7),),
        "tokens_kept": (4,),
    }
    return Record(**{**fields, **changes})


def sample(key: str = "k1", **changes: Any) -> Sample:
    fields: dict[str, Any] = {
        "key": key,
        "task": "verse",
        "label": "ar",
        "row": 3,
        "source": "s",
        "reference": "r",
        "reference_ids": (1,),
        "token_ids": (1, 2),
        "text": "t",
        "finish_reason": "eos",
    }
    return Sample(**{**fields, **changes})


def info(*keys: str) -> RunInfo:
    plan = {"settings": {}, "rounds": [list(keys)], "cells": []}
    return RunInfo(
        schema_version=SCHEMA_VERSION,
        suite="smoke",
        plan=plan,
        plan_hash="h",
        expected=len(keys),
        reduced=None,
        starts=(),
    )


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return create(tmp_path / "run", info("k1", "k2"))


texts = st.text(st.characters(exclude_categories=()), max_size=20)  # surrogates too: model output is untrusted


@given(text=texts, reason=texts | st.none(), latency=st.floats(0, 1e9), rows=st.lists(st.integers(0, 9)).map(tuple))
def test_what_is_written_is_read_back(text: str, reason: str | None, latency: float, rows: tuple[int, ...]) -> None:
    one = record(reason=reason, latency_s=latency, prompt_rows=rows, config={"weights": text})
    line = strict_json.dumps(one)
    assert "\n" not in line
    assert strict_json.loads(Record, line) == one
    assert strict_json.loads(Sample, strict_json.dumps(sample(text=text))) == sample(text=text)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_nan_and_infinity_are_never_written(folder: RunFolder, value: float) -> None:
    with pytest.raises(ValueError):
        folder.add(record(latency_s=value), [])
    with pytest.raises(ValueError):
        strict_json.dumps(record(steps=(StepRecord(phase="decode", seconds=value, calls=1, positions=1),)))
    assert read_run(folder.path).records == ()


def test_a_step_leaves_out_what_is_zero() -> None:
    steps = json.loads(strict_json.dumps(record()))["steps"]
    assert steps == [{"phase": "encode", "seconds": 0.1, "calls": 1, "positions": 7}]


def replaced(**changes: Any) -> str:
    return json.dumps({**json.loads(strict_json.dumps(record())), **changes})


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("{", "Expecting property name"),
        ("[]", "expected an object"),
        ("", "Expecting value"),
        ("[" * 100_000, "nested too deeply"),
        ('{"key": "k1"}', "missing field"),
        (replaced(extra=1), "unknown field 'extra'"),
        (replaced(status="fine"), "field 'status': expected one of ok, oom, timeout, unsupported, error"),
        (replaced(latency_s="0.1"), "field 'latency_s': expected float, got '0.1'"),
        (replaced(batch_size=True), "field 'batch_size': expected int, got True"),
        (replaced(prompt_rows=3), "field 'prompt_rows': expected list"),
        (replaced(steps=[{"phase": "x"}]), "field 'steps': missing field"),
        (replaced().replace("0.1", "NaN"), "NaN is not a number a file may hold"),
        (replaced().replace("0.1", "-Infinity"), "-Infinity is not a number a file may hold"),
        (replaced(key="other"), "not in this run's plan: are two runs mixed?"),
        ("\xff", "can't decode"),
    ],
)
def test_a_bad_line_is_refused_by_file_and_line(folder: RunFolder, line: str, words: str) -> None:
    folder.add(record("k2"), [])
    path = folder.path / "records.jsonl"
    path.write_bytes(path.read_bytes() + line.encode("latin-1") + b"\n")
    with pytest.raises(BadRun, match=r"records\.jsonl:2: ") as refused:
        read_run(folder.path)
    assert words in str(refused.value)


def test_a_key_that_stands_twice_is_refused(folder: RunFolder) -> None:
    folder.add(record("k1"), [])
    folder.add(record("k1"), [])
    with pytest.raises(BadRun, match=r"records\.jsonl:2: key 'k1' stands here twice"):
        read_run(folder.path)


@pytest.mark.parametrize("version", [0, SCHEMA_VERSION + 1, None, "1"])
def test_records_of_another_schema_version_are_refused(folder: RunFolder, version: Any) -> None:
    path = folder.path / "run.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "schema_version": version}))
    with pytest.raises(IncompatibleRun, match=r"run\.json:1: schema version"):
        read_run(folder.path)


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"schema_version": 1}', '{"schema_version": 1, "plan": 3}'])
def test_a_broken_run_json_is_refused(folder: RunFolder, text: str) -> None:
    (folder.path / "run.json").write_text(text)
    with pytest.raises(BadRun, match=r"run\.json:1: "):
        read_run(folder.path)


def test_a_missing_run_is_told_from_a_broken_one(tmp_path: Path) -> None:
    with pytest.raises(IncompatibleRun, match="no run in"):
        read_run(tmp_path / "nothing")
    with pytest.raises(IncompatibleRun, match="no run in"):
        read_run(tmp_path)


@pytest.mark.parametrize("cut", [1, 20, 200])
def test_a_torn_last_line_is_cut_off_and_said_so(folder: RunFolder, cut: int) -> None:
    folder.add(record("k1"), [sample("k1")])
    folder.add(record("k2"), [sample("k2")])
    path = folder.path / "records.jsonl"
    path.write_bytes(path.read_bytes()[:-cut])
    run = read_run(folder.path)
    assert [r.key for r in run.records] == ["k1"]
    assert [s.key for s in run.samples] == ["k1"]  # the sample of k2 has no record: it is not evidence
    assert any("records.jsonl:2: a torn last line was left out" in note for note in run.notes)
    assert any("1 samples without a record" in note for note in run.notes)


def test_reopening_leaves_nothing_torn_behind(folder: RunFolder) -> None:
    folder.add(record("k1"), [sample("k1")])
    with (folder.path / "records.jsonl").open("a") as file:
        file.write('{"key": "k2", "sta')
    run = read_run(folder.path)
    folder.close()
    again = reopen(folder.path, lock_folder(folder.path), run.records, run.samples)
    again.add(record("k2"), [])
    assert [r.key for r in read_run(folder.path).records] == ["k1", "k2"]
    assert read_run(folder.path).notes == ()


def test_samples_are_written_before_their_record(folder: RunFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    import suites.store

    order: list[str] = []
    real = suites.store._write_all

    def watch(path: Path, descriptor: int, text: str) -> None:
        order.append(path.name)
        real(path, descriptor, text)

    monkeypatch.setattr(suites.store, "_write_all", watch)
    folder.add(record("k1"), [sample("k1")])
    assert order == ["samples.jsonl", "records.jsonl"]


def test_a_record_is_on_disk_when_add_returns(folder: RunFolder) -> None:
    folder.add(record("k1"), [])
    assert [r.key for r in read_run(folder.path).records] == ["k1"]  # nothing was closed or flushed


def test_a_second_writer_is_refused(folder: RunFolder) -> None:
    with pytest.raises(Refusal, match="another process is writing"):
        lock_folder(folder.path)
    with pytest.raises(Refusal, match="another process is writing"):
        create(folder.path, info("k9"), force=True)
    assert read_run(folder.path).expected_keys == {"k1", "k2"}
    folder.close()
    lock_folder(folder.path)


def test_a_run_is_never_overwritten_without_force(folder: RunFolder) -> None:
    folder.add(record("k1"), [])
    folder.close()
    with pytest.raises(Refusal, match="already holds a run"):
        create(folder.path, info("k9"))
    assert len(read_run(folder.path).records) == 1
    create(folder.path, info("k9"), force=True)
    assert read_run(folder.path).records == ()
    assert [p.name for p in folder.path.parent.iterdir()] == ["run"]  # nothing left lying about


def test_force_does_not_touch_a_folder_that_is_no_run(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(Refusal, match="other files than a run's"):
        check_free(tmp_path, force=True)
    with pytest.raises(Refusal, match="not a folder"):
        check_free(tmp_path / "thesis.tex", force=True)


def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(Refusal, match="cannot create"):
        create(tmp_path / "file" / "run", info("k1"))


def test_a_folder_appears_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import suites.store

    def fail(path: Path, values: Any) -> None:
        raise Refusal("disk full")

    monkeypatch.setattr(suites.store, "_replace", fail)
    with pytest.raises(Refusal, match="disk full"):
        create(tmp_path / "run", info("k1"))
    assert list(tmp_path.iterdir()) == []


def test_latest_points_to_the_newest(tmp_path: Path) -> None:
    for name in ("one", "two"):
        create(tmp_path / "runs" / name, info("k1"))
        point_latest(tmp_path / "runs" / name)
        assert (tmp_path / "runs" / "latest").resolve().name == name


def test_latest_is_left_alone_where_it_is_a_users_own(tmp_path: Path) -> None:
    (tmp_path / "runs" / "latest").mkdir(parents=True)
    point_latest(tmp_path / "runs" / "one")
    assert not (tmp_path / "runs" / "latest").is_symlink()


def test_frames_hold_a_row_a_record_and_a_row_a_step(folder: RunFolder) -> None:
    folder.add(record("k1"), [sample("k1")])
    folder.add(record("k2", steps=(), status="error", latency_s=None, reason="no"), [])
    frames = to_frames(read_run(folder.path))
    assert list(frames["records"]["status"]) == ["ok", "error"]
    assert frames["steps"][["key", "step", "phase", "positions"]].values.tolist() == [["k1", 0, "encode", 7]]
    assert list(frames["samples"]["text"]) == ["t"]


def test_frames_of_an_empty_run_have_their_columns(folder: RunFolder) -> None:
    frames = to_frames(read_run(folder.path))
    assert set(frames["records"].columns) == {f.name for f in dataclasses.fields(Record)} - {"steps"}
    assert all(len(frame) == 0 for frame in frames.values())
