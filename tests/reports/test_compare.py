"""What `reports compare` says of two runs whose difference is known, and which pairs it refuses."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from reports.__main__ import main
from reports.compare import Changes, compare
from suites.records import IncompatibleRun
from tests.reports.synthetic import Made, race

LABELS = ["ar", "ctc", "copy"]


def slower(made: Made, factor: float, label: str = "") -> Made:
    """The same run with every latency, or those of `label`, so many times as long."""
    made.records = [
        replace(r, latency_s=r.latency_s * factor) if r.latency_s and label in ("", r.label) else r
        for r in made.records
    ]
    return made


def made() -> Made:
    return race(labels=LABELS, lengths=(8, 32), repeats=9, rows=12)


def both(tmp_path: Path, after: Made, **options: Any) -> Changes:
    paths = [one.write(tmp_path / name) for one, name in ((made(), "before"), (after, "after"))]
    return compare(paths[0], paths[1], **{"other_machine": False, **options})


def elsewhere(folder: Path, **changes: Any) -> None:
    """Rewrite the last start of a run's run.json."""
    info = json.loads((folder / "run.json").read_text())
    info["starts"][-1] |= changes
    (folder / "run.json").write_text(json.dumps(info))


def test_a_run_and_itself_do_not_differ(tmp_path: Path) -> None:
    changes = both(tmp_path, made())
    assert [c.ratio.value for c in changes.latencies if c.ratio] == [1.0] * 6
    assert {(q.change.difference, q.change.p_value) for q in changes.qualities} == {(0.0, 1.0)}
    assert (changes.differences, changes.only_in) == ((), ((), ()))


def test_a_slow_machine_cancels_relative_to_ar_and_a_slow_strategy_does_not(tmp_path: Path) -> None:
    changes = both(tmp_path, slower(slower(made(), 2.0), 1.5, "ctc"))
    ctc = next(c for c in changes.latencies if (c.label, c.length) == ("ctc", 32))
    assert ctc.ratio and ctc.relative
    assert ctc.ratio.value == pytest.approx(3.0) and ctc.relative.value == pytest.approx(1.5)
    assert ctc.relative.low > 1.4 and ctc.relative.p_value < 0.05
    ar = next(c for c in changes.latencies if (c.label, c.length) == ("ar", 32))
    assert ar.ratio and ar.ratio.value == pytest.approx(2.0) and ar.relative is None
    assert (ar.before_ms, ar.n) == (pytest.approx(ar.after_ms / 2), (9, 9))


def test_a_worse_quality_is_paired_by_sentence(tmp_path: Path) -> None:
    after = made()
    spoilt = [s for s in after.scores if s.label == "copy"]
    after.scores = [
        replace(s, statistics=next(c.statistics for c in spoilt if c.row == s.row)) if s.label == "ar" else s
        for s in after.scores
    ]
    found = {(q.label, q.metric): q for q in both(tmp_path, after).qualities}
    assert found["ar", "bleu"].change.difference < -10 and found["ar", "bleu"].change.p_value < 0.05
    assert found["ar", "bleu"].n == 12
    assert found["ctc", "bleu"].change.difference == 0.0


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"machine": {"cpu": "Another CPU"}}, "cpu An Example CPU then, Another CPU now"),
        ({"threads": 2}, "threads 1 then, 2 now"),
        ({"settings": {"device": "cuda"}}, "device None then, cuda now"),
    ],
)
def test_another_machine_is_refused_unless_told(
    tmp_path: Path, changes: dict[str, Any], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before, after = (made().write(tmp_path / name) for name in ("before", "after"))
    elsewhere(after, **changes)
    assert main(["compare", str(before), str(after)]) == 4
    out, err = capsys.readouterr()
    assert out == "" and len(err.splitlines()) == 1
    assert words in err and "--other-machine" in err
    assert main(["compare", str(before), str(after), "--other-machine"]) == 0
    assert f"Differs: {words}" in capsys.readouterr().out


def test_what_may_explain_a_difference_is_named(tmp_path: Path) -> None:
    before, after = (made().write(tmp_path / name) for name in ("before", "after"))
    elsewhere(after, versions={"python": "3.12.1", "torch": "9.9"}, code_sha256="ff" * 32)
    found = compare(before, after, other_machine=False).differences
    assert found == ("code 010101010101 then, ffffffffffff now", "torch 2.13.0 then, 9.9 now")


def test_cells_of_one_run_alone_are_named_and_nothing_in_common_is_refused(tmp_path: Path) -> None:
    changes = both(tmp_path, race(labels=["ar", "mask_predict"], lengths=(8,), repeats=9, rows=12))
    assert "ctc on verse, length 8, batch 1" in changes.only_in[0]
    assert "quality of mask_predict on verse" in changes.only_in[1]
    with pytest.raises(IncompatibleRun, match="in common"):
        both(tmp_path / "other", race(labels=["mask_predict"], lengths=(8,), repeats=9, rows=12))


def test_few_samples_have_no_interval(tmp_path: Path) -> None:
    few = race(labels=LABELS, lengths=(8, 32), repeats=3, rows=12)
    assert {c.ratio for c in both(tmp_path, few).latencies} == {None}


def test_the_command_prints_tables_or_one_object(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before, after = made().write(tmp_path / "before"), slower(made(), 2.0).write(tmp_path / "after")
    assert main(["compare", str(before), str(after)]) == 0
    text = capsys.readouterr().out
    line = next(line for line in text.splitlines() if line.startswith("ctc") and "32 tokens" in line)
    assert "2.00 [1.9" in line.replace("2.00 [2.0", "2.00 [1.9") and "9, 9" in line
    assert main(["compare", str(before), str(after), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [c["ratio"][0] for c in told["latencies"]] == pytest.approx([2.0] * 6)
    assert main(["compare", str(before), str(tmp_path / "nowhere")]) == 4
