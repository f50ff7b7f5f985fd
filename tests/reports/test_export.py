"""What is exported is read back by who would read it: pandas, parsers, pytest-benchmark, and published schemas."""

import csv
import json
import subprocess
import sys
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any

import jsonschema
import pandas as pd
import pytest
from markdown_it import MarkdownIt
from pylatexenc.latex2text import LatexNodes2Text
from pylatexenc.latexwalker import LatexEnvironmentNode, LatexWalker

from reports.__main__ import main
from reports.export import FORMATS, exported, report_tables, timings
from reports.names import visible
from reports.summarise import summarise
from suites.records import Run
from tests.reports.conftest import hostile_race
from tests.reports.synthetic import Made, failed, race

# https://bencher.dev/bmf.json, the published schema of Bencher Metric Format, its patterns read as "any name"
BMF: dict[str, Any] = {
    "$schema": "http://json-schema.org/draft-07/schema",
    "type": "object",
    "additionalProperties": {
        "type": "object",
        "additionalProperties": {
            "type": "object",
            "properties": {name: {"type": "number"} for name in ("value", "lower_value", "upper_value")},
            "required": ["value"],
        },
    },
}
# github-action-benchmark's README, "customSmallerIsBetter": an array of these; src/extract.ts passes nothing else on
ACTION: dict[str, Any] = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "unit": {"type": "string"},
            "value": {"type": "number"},
            "range": {"type": "string"},
            "extra": {"type": "string"},
        },
        "required": ["name", "unit", "value"],
        "additionalProperties": False,
    },
}


@pytest.fixture(scope="module")
def run() -> Run:
    return race(labels=["ar", "ctc", "copy"], lengths=(8, 32), repeats=7, rows=3).run()


@pytest.fixture(scope="module")
def hostile() -> Run:
    return hostile_race().run()


@pytest.mark.parametrize("which", ["run", "hostile"])
@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_pandas_reads_every_record_back(which: str, form: str, request: pytest.FixtureRequest) -> None:
    run: Run = request.getfixturevalue(which)
    data = BytesIO(exported(run, form))
    frame = pd.read_parquet(data) if form == "parquet" else pd.read_csv(data, keep_default_na=False)
    assert len(frame) == len(run.records)
    for column in ("task", "label", "mode"):
        assert list(frame[column]) == [
            getattr(r, column).encode("utf-8", "backslashreplace").decode() for r in run.records
        ]
    seconds = [None if value in ("", None) or pd.isna(value) else float(value) for value in frame["latency_s"]]
    assert seconds == [r.latency_s for r in run.records]
    assert [json.loads(text) for text in frame["config"]] == [r.config for r in run.records]
    assert [json.loads(text) for text in frame["tokens_kept"]] == [list(r.tokens_kept) for r in run.records]
    assert list(frame["positions"]) == [sum(step.positions for step in r.steps) for r in run.records]


def shown(run: Run) -> list[list[list[str]]]:
    """What every cell of every table says: the value, then the small print."""

    def of(text: str) -> str:
        return " ".join(visible(text).split())

    return [
        [[of(" ".join([e.text, ", ".join(e.detail)])) for e in row] for row in table.rows]
        for table in report_tables(summarise(run))
    ]


@pytest.mark.parametrize("which", ["run", "hostile"])
def test_a_markdown_parser_finds_every_cell(which: str, request: pytest.FixtureRequest) -> None:
    run: Run = request.getfixturevalue(which)
    tokens = MarkdownIt("commonmark", {"html": False}).enable("table").parse(exported(run, "markdown").decode())
    found: list[list[list[str]]] = []
    for i, token in enumerate(tokens):
        if token.type == "tbody_open":
            found.append([])
        elif found and token.type == "tr_open" and tokens[i - 1].type in ("tbody_open", "tr_close"):
            found[-1].append([])
        elif token.type == "inline" and tokens[i - 1].type == "td_open":
            found[-1][-1].append("".join(c.content for c in token.children or [] if c.type.startswith("text")))
    assert [[[" ".join(c.split()) for c in row] for row in table] for table in found] == shown(run)


@pytest.mark.parametrize("which", ["run", "hostile"])
def test_a_latex_parser_finds_every_cell(which: str, request: pytest.FixtureRequest) -> None:
    run: Run = request.getfixturevalue(which)
    text = exported(run, "latex").decode()
    found = []
    for node in LatexWalker(text).get_latex_nodes()[0]:
        if isinstance(node, LatexEnvironmentNode):
            (tabular,) = (n for n in node.nodelist if isinstance(n, LatexEnvironmentNode))
            body = tabular.latex_verbatim().split("\\midrule\n")[1].split("\\bottomrule")[0]
            rows = body.removesuffix(" \\\\\n").split(" \\\\\n")
            found.append([[read(cell) for cell in row.split(" & ")] for row in rows])
    assert found == [[[plain(cell) for cell in row] for row in table] for table in shown(run)]


def read(latex: str) -> str:
    """A cell as a reader of the paper sees it."""
    return plain(LatexNodes2Text(keep_comments=True, strict_latex_spaces=True).latex_to_text(latex))


def plain(text: str) -> str:
    """With one form of each sign that TeX and its reader spell differently."""
    return " ".join(text.replace("−", "-").replace("⋅", "·").replace("ˆ", "^").split())


def test_every_table_in_latex_has_booktabs_rules_and_as_many_columns_as_heads(hostile: Run) -> None:
    text = exported(hostile, "latex").decode()
    tables = report_tables(summarise(hostile))
    assert text.count("\\toprule") == text.count("\\midrule") == text.count("\\bottomrule") == len(tables)
    for table, part in zip(tables, text.split("\\begin{table}")[1:], strict=True):
        assert f"\\begin{{tabular}}{{l{'r' * (len(table.heads) - 1)}}}" in part
        rows = [line for line in part.splitlines() if line.endswith(" \\\\")]
        assert {line.count(" & ") for line in rows} == {len(table.heads) - 1}


def test_pytest_benchmark_compares_what_was_exported(run: Run, tmp_path: Path) -> None:
    (tmp_path / "run.json").write_bytes(exported(run, "pytest-benchmark"))
    command = [sys.executable, "-m", "pytest_benchmark", "compare", "run.json", "--csv=out.csv"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    rows = list(csv.DictReader(StringIO((tmp_path / "out.csv").read_text())))
    medians = {t.name: sorted(t.seconds)[len(t.seconds) // 2] for t in timings(run)}
    assert {row["name"]: float(row["median"]) for row in rows} == pytest.approx(medians)
    assert {row["rounds"] for row in rows} == {"7"}


def test_bencher_gets_its_published_schema_in_its_own_unit(run: Run, hostile: Run) -> None:
    for one in (run, hostile):
        jsonschema.validate(json.loads(exported(one, "bencher")), BMF)
    found = json.loads(exported(run, "bencher"))
    first = timings(run)[0]
    latency = found[first.name]["latency"]
    assert latency["value"] == pytest.approx(1e9 * sorted(first.seconds)[3])  # nanoseconds
    assert latency["lower_value"] == pytest.approx(1e9 * min(first.seconds))  # of 7, only the extremes reach 95 %
    assert latency["upper_value"] == pytest.approx(1e9 * max(first.seconds))


def test_github_action_benchmark_gets_smaller_is_better(run: Run, hostile: Run) -> None:
    for one in (run, hostile):
        jsonschema.validate(json.loads(exported(one, "github-action-benchmark")), ACTION)
    found = json.loads(exported(run, "github-action-benchmark"))
    assert [entry["name"] for entry in found] == [timing.name for timing in timings(run)]
    assert {entry["unit"] for entry in found} == {"ms"}
    assert found[0]["value"] == pytest.approx(1000 * sorted(timings(run)[0].seconds)[3])


@pytest.mark.parametrize("form", FORMATS)
def test_the_same_run_gives_the_same_bytes(run: Run, form: str) -> None:
    assert exported(run, form) == exported(run, form)


@pytest.mark.parametrize(
    "made", [Made(), failed(race(labels=["ar"], rows=2), "oom", "no room")], ids=["empty", "failed"]
)
@pytest.mark.parametrize("form", FORMATS)
def test_a_run_without_a_timing_is_exported_or_refused_in_words(made: Made, form: str) -> None:
    if form in ("csv", "parquet", "latex", "markdown"):
        assert exported(made.run(), form) is not None
    else:
        with pytest.raises(ValueError, match="no timed trial"):
            exported(made.run(), form)


def test_the_command_prints_or_writes(small_run: Path, tmp_path: Path, capfdbinary: Any) -> None:
    assert main(["export", str(small_run), "--format", "markdown"]) == 0
    assert capfdbinary.readouterr().out.startswith(b"### The race on verse, 32 tokens")
    assert main(["export", str(small_run), "--format", "csv", "--out", str(tmp_path / "run.csv")]) == 0
    assert len(pd.read_csv(tmp_path / "run.csv")) == 15  # 3 contestants: 2 lengths twice each, and a quality pass


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--format", "excel"], "unknown format 'excel'; choose from: csv, parquet, latex, markdown, pytest-benchmark"),
        (["--format", "parquet"], "--out FILE"),
    ],
)
def test_what_cannot_be_exported_is_refused_with_2(
    arguments: list[str], said: str, small_run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["export", str(small_run), *arguments]) == 2
    out, error = capsys.readouterr()
    assert out == "" and error.count("\n") == 1 and said in error
