"""What a person types and what comes back."""

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from xml.etree import ElementTree

import pytest

from reports.__main__ import main
from tests.reports.synthetic import RACE, Made, race

ROOT = Path(__file__).parent.parent.parent
FIELDS = """strategy task n bleu chrf repeated_token_rate length_ratio name_recall share_of_ar_gain latency_s_median
ms_per_token calls positions speedup_like_for_like speedup_each_at_best"""


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    """The exit code and the one line on standard error; nothing may stand on standard output."""
    code = main(list(arguments))
    out, error = capsys.readouterr()
    assert out == ""
    assert error.count("\n") == 1 and error.startswith("error: ")
    return code, error


def test_html_writes_the_page_beside_the_records_and_prints_where(
    small_run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["html", str(small_run)]) == 0
    assert capsys.readouterr().out == f"{small_run / 'report.html'}\n"
    assert (small_run / "report.html").read_text(encoding="utf-8").startswith("<!doctype html>")


def test_html_writes_to_another_file(small_run: Path, tmp_path: Path) -> None:
    assert main(["html", str(small_run), "--out", str(tmp_path / "page.html")]) == 0
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]


def test_a_figure_is_one_svg_file_that_needs_no_page(small_run: Path, tmp_path: Path) -> None:
    out = tmp_path / "figure.svg"
    assert main(["figure", str(small_run), "latency-1", "--out", str(out)]) == 0
    text = out.read_text(encoding="utf-8")
    assert text.startswith('<?xml version="1.0" encoding="UTF-8"?>\n<svg ')
    assert "var(" not in text and "href=" not in text.replace('href="#', "")
    root = ElementTree.fromstring(text)
    paper = root.find("{http://www.w3.org/2000/svg}rect")
    assert paper is not None and paper.get("fill") == "#ffffff"
    left, top, width, height = map(float, root.attrib["viewBox"].split())
    assert (float(root.attrib["width"]), float(root.attrib["height"])) == (width, height)
    assert (float(paper.attrib["x"]), float(paper.attrib["y"])) == (left, top)
    first = out.read_bytes()
    assert main(["figure", str(small_run), "latency-1", "--out", str(out)]) == 0
    assert out.read_bytes() == first


def test_an_unknown_figure_is_refused_with_2_and_those_there_are(
    small_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, error = refused(capsys, "figure", str(small_run), "pie", "--out", str(tmp_path / "pie.svg"))
    assert code == 2 and "unknown figure 'pie'; choose from: latency-1, speedup-1, quality-1" in error
    assert list(tmp_path.iterdir()) == []


def test_a_link_to_a_run_is_a_run(small_run: Path, tmp_path: Path) -> None:
    (tmp_path / "latest").symlink_to(small_run)
    assert main(["html", str(tmp_path / "latest"), "--out", str(tmp_path / "page.html")]) == 0


def test_json_has_one_object_a_contestant_with_the_promised_fields(
    race_run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["summary", str(race_run), "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert sorted(row["strategy"] for row in rows) == sorted(RACE)
    assert all(set(FIELDS.split()) <= row.keys() for row in rows)
    by_label = {row["strategy"]: row for row in rows}
    assert by_label["ctc"]["speedup_each_at_best_against"] == "ctranslate2:compute_type=int8"
    assert by_label["ar"]["share_of_ar_gain"] == pytest.approx(1.0)
    assert by_label["copy"]["speedup_like_for_like"] is None
    assert by_label["ctranslate2"]["calls"] is None
    assert 0 <= by_label["ctranslate2"]["same_as_ar"] <= 1 and by_label["ctranslate2"]["same_as_ar_n"] == 24
    assert by_label["ctc"]["same_as_ar"] is None
    assert (by_label["mask_predict"]["mode"], by_label["mask_predict"]["length_candidates_timed"]) == ("exact", 1)
    assert (by_label["ctc"]["mode"], by_label["ctc"]["length_candidates_timed"]) == ("natural", None)
    assert all(row["seq_rep_4_n"] + row["seq_rep_4_skipped"] == row["n"] for row in rows)
    assert all(row["wasted_positions"] is None for row in rows)


def test_json_of_an_empty_run_is_an_empty_array(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["summary", str(Made().write(tmp_path / "run")), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == []


def test_the_summary_says_the_verdict_first_and_acts_on_no_terminal(
    hostile_run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["summary", str(hostile_run)]) == 0
    out = capsys.readouterr().out
    assert out.startswith("On task ")
    assert "\x1b" not in out and "\x00" not in out and "\u202e" not in out


def test_a_folder_without_a_run_is_refused_with_4(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, error = refused(capsys, "html", str(tmp_path / "nowhere"))
    assert code == 4 and "run.json is missing" in error


def test_another_schema_version_is_refused_with_4(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = race(labels=["ar"], repeats=1, rows=1).write(tmp_path / "run")
    text = (folder / "run.json").read_text(encoding="utf-8")
    (folder / "run.json").write_text(text.replace('"schema_version": 1', '"schema_version": 99'), encoding="utf-8")
    code, error = refused(capsys, "summary", str(folder))
    assert code == 4 and "schema version 99" in error


def test_a_broken_line_is_refused_with_2_file_and_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = race(labels=["ar"], repeats=2, rows=1).write(tmp_path / "run")
    lines = (folder / "records.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    lines[1] = lines[1][:40] + "\n"
    (folder / "records.jsonl").write_text("".join(lines), encoding="utf-8")
    code, error = refused(capsys, "html", str(folder))
    assert code == 2 and "records.jsonl:2" in error


def test_a_torn_last_line_gives_a_page_that_says_so(tmp_path: Path) -> None:
    folder = race(labels=["ar", "ctc"], repeats=2, rows=1).write(tmp_path / "run")
    text = (folder / "records.jsonl").read_text(encoding="utf-8")
    (folder / "records.jsonl").write_text(text[:-40], encoding="utf-8")
    assert main(["html", str(folder)]) == 0
    report = (folder / "report.html").read_text(encoding="utf-8")
    assert "a torn last line was left out" in report and "Incomplete: 1 of" in report


def test_a_plan_without_sense_is_refused_with_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = race(labels=["ar"], repeats=1, rows=1).write(tmp_path / "run")
    text = (folder / "run.json").read_text(encoding="utf-8")
    (folder / "run.json").write_text(text.replace('"planned"', '"plant"'), encoding="utf-8")
    code, error = refused(capsys, "html", str(folder))
    assert code == 2 and "cells" in error


def test_a_latency_of_zero_is_refused_with_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = race(labels=["ar"], repeats=1, rows=1).write(tmp_path / "run")
    text = (folder / "records.jsonl").read_text(encoding="utf-8")
    first, rest = text.split("\n", 1)
    record = json.loads(first) | {"latency_s": 0.0}
    (folder / "records.jsonl").write_text(json.dumps(record) + "\n" + rest, encoding="utf-8")
    code, error = refused(capsys, "html", str(folder))
    assert code == 2 and "above 0" in error


def test_a_place_that_cannot_be_written_is_refused_with_2_and_leaves_nothing(
    small_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    code, error = refused(capsys, "html", str(small_run), "--out", str(tmp_path / "file" / "page.html"))
    assert code == 2 and "cannot write" in error
    (tmp_path / "folder").mkdir()
    code, error = refused(capsys, "html", str(small_run), "--out", str(tmp_path / "folder"))
    assert code == 2 and "cannot write" in error
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder"]


def test_a_pipe_is_written_to_and_stays_a_pipe(small_run: Path, tmp_path: Path) -> None:
    os.mkfifo(pipe := tmp_path / "pipe")
    with ThreadPoolExecutor() as reading:
        read = reading.submit(pipe.read_bytes)
        assert main(["html", str(small_run), "--out", str(pipe)]) == 0
        assert read.result(timeout=60).startswith(b"<!doctype html>")
    assert pipe.is_fifo()


def test_our_own_bug_exits_70_with_its_traceback(
    small_run: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(folder: Path) -> None:
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr("reports.build.summary_of", broken)
    assert main(["summary", str(small_run)]) == 70
    assert "ZeroDivisionError: a bug" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [[], ["draw"], ["html"], ["summary", "a", "b"], ["figure", "a", "latency-1"]])
def test_wrong_usage_exits_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    assert "usage:" in capsys.readouterr().err


def loaded_after(code: str) -> set[str]:
    """The top-level modules that a fresh interpreter holds after running `code`."""
    script = f"import sys\n{code}\nprint(' '.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    return {name.split(".")[0] for name in done.stdout.splitlines()[-1].split()}


def test_help_loads_nothing_heavy() -> None:
    code = "import reports.__main__ as m\ntry: m.main(['--help'])\nexcept SystemExit: pass"
    assert loaded_after(code).isdisjoint({"torch", "matplotlib", "pandas", "numpy", "jinja2", "sacrebleu"})


def test_a_report_loads_neither_torch_nor_the_strategies(small_run: Path, tmp_path: Path) -> None:
    code = f"import reports.__main__ as m\nm.main(['html', {str(small_run)!r}, '--out', {str(tmp_path / 'p.html')!r}])"
    assert loaded_after(code).isdisjoint({"torch", "transformers", "generators"})
