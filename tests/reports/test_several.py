"""Several runs on one page: what changed is judged only where it can be, and a broken run is named and left out."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from reports.__main__ import main
from reports.several import several
from reports.several_page import page_of_several
from reports.several_words import lead, sentences
from tests.reports.hostile import SCRIPT
from tests.reports.synthetic import Made, race
from tests.reports.test_page import Reader

COMMITS = ("a1b2c3d4e5", "b2c3d4e5f6", "c3d4e5f6a7")


def written(folder: Path, made: Made, number: int, **start: Any) -> Path:
    """A run in `folder`, the n-th of its history, with other facts about its start."""
    made.write(folder)
    info = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    info["starts"][0] |= {"commit": COMMITS[number], "started_at": f"2026-01-0{number + 1}T00:00:00Z", **start}
    (folder / "run.json").write_text(json.dumps(info), encoding="utf-8")
    return folder


def slowed(label: str, times: float) -> Made:
    made = race(labels=["ar", "ctc", "copy"], lengths=(8, 32), repeats=9, rows=20)
    made.records = [replace(r, latency_s=(r.latency_s or 0) * times) if r.label == label else r for r in made.records]
    return made


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Three runs, in another order than that of their names: ctc takes 1.3 times the time in the last."""
    root = tmp_path_factory.mktemp("history")
    runs = (("z", 1.0), ("m", 1.02), ("a", 1.3))
    return [written(root / name, slowed("ctc", times), i) for i, (name, times) in enumerate(runs)]


def test_runs_stand_in_the_order_in_which_they_started(history: list[Path]) -> None:
    assert [member.name for member in several(history[::-1]).members] == ["z", "m", "a"]


def test_a_change_is_told_with_both_medians_their_intervals_and_the_ratio(history: list[Path]) -> None:
    found = several(history)
    assert lead(found) == (
        "From a1b2c3d to c3d4e5f, 2 of 6 timed workloads take longer, none less time and no contestant's BLEU changed "
        "significantly."
    )
    time = dict(sentences(found))["Time"]
    assert len(time) == 2
    for sentence in time:
        assert re.fullmatch(
            r"On verse at (8|32) tokens, batch 1, ctc takes [\d.]+ ms \[[\d.]+, [\d.]+\] in c3d4e5f and took [\d.]+ ms "
            r"\[[\d.]+, [\d.]+\] in a1b2c3d: 1\.30× the time\.",
            sentence,
        )


def test_two_runs_of_one_commit_go_by_their_folders(tmp_path: Path) -> None:
    one, other = (written(tmp_path / name, slowed("ctc", times), 0) for name, times in (("early", 1), ("late", 1.3)))
    found = several([one, other])
    told = lead(found) + " ".join(dict(sentences(found))["Time"])
    assert told.startswith("From early to late") and "in late and took" in told and COMMITS[0][:7] not in told


def test_turning_history_round_turns_the_sentences_round(history: list[Path], tmp_path: Path) -> None:
    turned = [written(tmp_path / str(i), slowed("ctc", times), i) for i, times in enumerate((1.3, 1.0))]
    found = several(turned)
    assert "none of 6 timed workloads take longer, 2 less time" in lead(found)
    assert all("0.769× the time" in sentence for sentence in dict(sentences(found))["Time"])  # 1 / 1.3


def test_runs_of_another_machine_stand_beside_but_are_not_judged(history: list[Path], tmp_path: Path) -> None:
    other = written(tmp_path / "other", slowed("ar", 5.0), 1, machine={"cpu": "Another CPU"})
    found = several([*history, other])
    assert "2 of 6 timed workloads take longer" in lead(found)
    assert [member.name for i, member in enumerate(found.members) if i not in found.judged] == ["other"]
    assert any("machine" in sentence for sentence in dict(sentences(found))["Also different"])
    alone = several([history[0], other])
    assert lead(alone).startswith("No two of these 2 runs share suite, machine and threads with the newest, other")
    assert "Another CPU" in page_of_several([history[0], other])


def test_a_change_of_bleu_is_judged_on_the_same_sentences(tmp_path: Path) -> None:
    better = slowed("ctc", 1.0)
    better.scores = [
        replace(s, statistics=next(o for o in better.scores if (o.label, o.row) == ("ar", s.row)).statistics)
        if s.label == "copy"
        else s
        for s in better.scores
    ]
    found = several([written(tmp_path / "a", slowed("ctc", 1.0), 0), written(tmp_path / "b", better, 1)])
    (sentence,) = dict(sentences(found))["Quality"]
    assert re.match(r"On verse \(20 sentences\), copy scores \+[\d.]+ \[\+[\d.]+, \+[\d.]+\] BLEU in b2c3d4e", sentence)
    other = written(tmp_path / "c", better, 1, corpora={"verse": "00" * 32})
    assert several([tmp_path / "a", other]).better == ()


def test_what_else_differs_is_said(history: list[Path], tmp_path: Path) -> None:
    new = written(tmp_path / "new", slowed("ctc", 1.0), 2, versions={"python": "3.12.1", "torch": "2.14.0"})
    assert dict(sentences(several([history[0], new])))["Also different"] == ("version of torch: 2.13.0, then 2.14.0",)


def test_a_trend_within_its_intervals_is_titled_as_no_finding(tmp_path: Path) -> None:
    runs = [written(tmp_path / f"run{i}", slowed("ctc", times), i) for i, times in enumerate((1.0, 1.001))]
    text = page_of_several(runs)
    assert "No change is beyond doubt: ctc moves most, to 1.00 times its first run" in text
    assert "the largest change" not in text.split('id="trend-1"')[1].split("</h3>")[0]


def test_the_trend_is_drawn_relative_to_the_first_run(history: list[Path]) -> None:
    text = page_of_several(history)
    assert Reader(text).open == []
    assert "ctc takes 1.30 times the time of its first run, the largest change" in text
    assert 'id="trend-1"' in text and 'id="bleu-1"' in text
    assert "No contestant&#39;s BLEU changes" in text


def test_a_folder_without_a_readable_run_is_left_out_and_named(history: list[Path], tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    future = written(tmp_path / "future", slowed("ctc", 1.0), 1)
    text = (future / "run.json").read_text(encoding="utf-8").replace('"schema_version": 1', '"schema_version": 99')
    (future / "run.json").write_text(text, encoding="utf-8")
    found = several([*history, tmp_path / "empty", future])
    assert len(found.members) == 3
    assert [reason.split(" was")[0] for reason in found.left_out] == ["empty", "future"]
    assert "schema version 99" in page_of_several([*history, future])


def test_fewer_than_two_readable_runs_are_refused_with_2(
    history: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["html", str(history[0]), str(tmp_path / "nowhere")]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and "two readable runs, got 1" in error and "run.json is missing" in error


def test_a_run_named_twice_is_one_run(history: list[Path], tmp_path: Path) -> None:
    (tmp_path / "latest").symlink_to(history[0])
    assert len(several([*history, tmp_path / "latest"]).members) == 3
    assert main(["html", str(history[0]), str(tmp_path / "latest"), "--out", str(tmp_path / "one.html")]) == 0
    assert "quick suite" in (tmp_path / "one.html").read_text(encoding="utf-8")


def test_the_page_lies_beside_the_runs_and_is_the_same_every_time(history: list[Path], tmp_path: Path) -> None:
    assert main(["html", *map(str, history)]) == 0
    first = (history[0].parent / "compared.html").read_bytes()
    assert main(["html", *map(str, history[::-1]), "--out", str(tmp_path / "again.html")]) == 0
    assert (tmp_path / "again.html").read_bytes() == first


def test_hostile_names_stay_text(tmp_path: Path) -> None:
    made = slowed("ctc", 1.0)
    for i in range(2):
        written(tmp_path / f"<b>{i}", made, i, machine={"cpu": SCRIPT}, versions={"torch": f"{SCRIPT}{i}"})
    text = page_of_several([tmp_path / "<b>0", tmp_path / "<b>1"])
    assert "<script>fetch" not in text and "<b>" not in text
    assert SCRIPT[:50] in " ".join(Reader(text).text)
