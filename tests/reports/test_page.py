"""The page is whole, self-contained, inert and the same every time."""

import base64
import hashlib
import os
import re
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from markupsafe import escape

from metrics.registry import METRICS
from reports.html import SCRIPTS, page
from reports.summarise import summarise
from reports.verdict import verdict
from tests.reports.conftest import hostile_race
from tests.reports.hostile import HOSTILE
from tests.reports.synthetic import RACE, Made, failed, race

ROOT = Path(__file__).parent.parent.parent
VOID = {"meta", "link", "img", "br"}
PAGE = ROOT / "reports" / "page"


class Reader(HTMLParser):
    """Collects the elements, the attributes and the text of a page, and checks that elements close in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, f"</{tag}> closes another element"

    def handle_data(self, data: str) -> None:
        self.text.append(data)

    def attributes(self, name: str) -> list[str]:
        return [value for _, attributes in self.elements if (value := attributes.get(name))]


@pytest.fixture(scope="module")
def race_page() -> str:
    return page(summarise(race(repeats=7, rows=24).run()))


@pytest.fixture(scope="module")
def hostile_page() -> str:
    return page(summarise(hostile_race().run()))


@pytest.mark.parametrize("which", ["race_page", "hostile_page"])
def test_a_page_is_well_formed_and_its_ids_are_unique(which: str, request: pytest.FixtureRequest) -> None:
    reader = Reader(request.getfixturevalue(which))
    assert reader.open == []
    assert [name for name, count in Counter(reader.attributes("id")).items() if count > 1] == []


@pytest.mark.parametrize("which", ["race_page", "hostile_page"])
def test_a_page_asks_for_nothing_and_runs_only_our_own_script(which: str, request: pytest.FixtureRequest) -> None:
    reader = Reader(request.getfixturevalue(which))
    tags = {tag for tag, _ in reader.elements}
    assert tags.isdisjoint({"img", "iframe", "object", "embed", "form", "base", "foreignobject", "image"})
    assert [name for _, attributes in reader.elements for name in attributes if name.startswith("on")] == []
    targets = reader.attributes("href") + reader.attributes("src") + reader.attributes("xlink:href")
    assert all(target.startswith("#") or target == "data:," for target in targets)
    (style,) = re.findall(r"<style>(.*?)</style>", request.getfixturevalue(which), re.DOTALL)
    assert "url(" not in style and "@import" not in style
    (script,) = re.findall(r"<script>(.*?)</script>", request.getfixturevalue(which), re.DOTALL)
    assert script.strip() == "".join((PAGE / name).read_text(encoding="utf-8") for name in SCRIPTS).strip()
    assert len([tag for tag, _ in reader.elements if tag == "script"]) == 1


@pytest.mark.parametrize("which", ["race_page", "hostile_page"])
def test_every_link_and_label_points_at_something(which: str, request: pytest.FixtureRequest) -> None:
    reader = Reader(request.getfixturevalue(which))
    ids = set(reader.attributes("id"))
    assert {target[1:] for target in reader.attributes("href") if target.startswith("#")} <= ids
    assert {name for names in reader.attributes("aria-labelledby") for name in names.split()} <= ids


def test_the_policy_forbids_everything_but_inline_style_and_the_one_script(race_page: str) -> None:
    (policy,) = [
        a["content"] for tag, a in Reader(race_page).elements if a.get("http-equiv") == "Content-Security-Policy"
    ]
    (script,) = re.findall(r"<script>(.*?)</script>", race_page, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert policy == (
        f"default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'sha256-{digest}'; "
        "base-uri 'none'; form-action 'none'"
    )


def test_every_sentence_of_the_verdict_leads_to_what_shows_it(race_page: str) -> None:
    findings = re.search(r'<dl class="findings">(.*?)</dl>', race_page, re.DOTALL)
    assert findings
    ids = {a["id"]: tag for tag, a in Reader(race_page).elements if a.get("id")}
    for topic, texts in verdict(summarise(race(repeats=7, rows=24).run())).findings:
        for text in texts:
            after = findings.group(1).split(str(escape(text)))[1]
            found = re.match(r' <a class="shown" href="#([\w-]+)">Figure \d</a></p>', after)
            assert found and ids[found.group(1)] == "figure", topic
    assert re.search(r'</h1>\n<p class="shown"><a href="#speedup-1">Figure 2</a><a href="#quality-1">Fig', race_page)


def test_a_sentence_without_a_figure_leads_to_the_table_of_the_race() -> None:
    text = page(summarise(small(["ar", "ctc"], lengths=(8,)).run()))
    assert text.count('href="#race-1">Table of the race</a>') == 2  # the lead and its paragraph
    assert 'data-table id="race-1"' in text


def test_rows_know_what_they_can_be_filtered_by(race_page: str) -> None:
    rows = [a for tag, a in Reader(race_page).elements if tag == "tr" and "data-strategy" in a]
    assert {row["data-strategy"] for row in rows} == {label.split(":")[0] for label in RACE}
    assert {row["data-batch"] for row in rows if "data-batch" in row} == {"1"}
    assert {row["data-task"] for row in rows if "data-task" in row} == {"verse"}


def test_every_figure_has_a_title_a_description_and_its_numbers(race_page: str) -> None:
    found = re.findall(r"<figure .*?</figure>", race_page, re.DOTALL)
    assert len(found) == 4  # latency, speedup, quality against latency, iterations
    for figure in found:
        assert figure.count("<svg") == figure.count("<title") == figure.count("<desc") == 2
        assert "<details" in figure and "<tbody>" in figure


def test_drawn_colours_are_the_pages(race_page: str) -> None:
    drawings = re.findall(r"<svg.*?</svg>", race_page, re.DOTALL)
    assert drawings
    for drawing in drawings:
        assert set(re.findall(r"#[0-9a-f]{6}\b", drawing)) <= {"#000000"}  # black: clip paths, which are not seen
        assert "var(--" in drawing


def test_hostile_text_is_shown_as_it_was_written(hostile_page: str) -> None:
    text = " ".join(Reader(hostile_page).text)
    for expected in (HOSTILE[0], HOSTILE[2], HOSTILE[3], "⟨U+202E⟩", "⟨U+0000⟩", "⟨U+001B⟩[31m", "⟨U+D800⟩", "😀"):
        assert expected in text


def test_no_control_or_direction_character_reaches_the_page(hostile_page: str) -> None:
    assert re.findall("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", hostile_page) == []


def test_the_same_records_give_the_same_bytes_in_another_process(tmp_path: Path) -> None:
    folder = hostile_race().write(tmp_path / "run")
    for seed in ("1", "2"):
        command = [sys.executable, "-m", "reports", "html", str(folder), "--out", str(tmp_path / f"{seed}.html")]
        subprocess.run(command, cwd=ROOT, env=os.environ | {"PYTHONHASHSEED": seed}, check=True, capture_output=True)
    assert (tmp_path / "1.html").read_bytes() == (tmp_path / "2.html").read_bytes()


def test_a_report_does_not_depend_on_where_its_run_lies(tmp_path: Path) -> None:
    from reports.build import write_report

    made = race(labels=["ar", "ctc"], repeats=2, rows=2)
    folders = [made.write(tmp_path / name) for name in ("here", "there")]
    for folder in folders:
        with (folder / "records.jsonl").open("a", encoding="utf-8") as file:
            file.write('{"key": "torn')
    assert len({write_report(folder, None).read_bytes() for folder in folders}) == 1


def test_a_report_stays_small_whatever_the_models_wrote() -> None:
    made = race(repeats=2, rows=30)
    made.samples = [
        replace(s, text="<\U0001f600&>" * 2000, source="<" * 5000, reference="\x00" * 5000) for s in made.samples
    ]
    assert len(page(summarise(made.run())).encode()) < 2_000_000


def small(labels: list[str], lengths: tuple[int, ...] = (8, 32)) -> Made:
    return race(labels=labels, lengths=lengths, repeats=2, rows=3)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (Made(), "Nothing was measured: the run has no records yet."),
        (failed(small(["ar", "ctc"]), "error", "no weights"), "all 10 trials failed, 10 of them with error: no"),
        (small(["ctc"]), "No race to decide"),
        (small(["ar"]), "no parallel strategy took part"),
        (small(["copy"]), "No race to decide"),
        (small(["ar", "ctc"], lengths=(8,)), "On verse at 8 tokens, batch 1, ctc is"),
    ],
    ids=["empty", "all failed", "one strategy", "ar alone", "copy alone", "one length"],
)
def test_a_thin_run_still_gives_a_useful_page(made: Made, expected: str) -> None:
    text = page(summarise(made.run()))
    assert Reader(text).open == []
    assert expected in " ".join(Reader(text).text)
    assert "sha256" in text


def test_a_whole_and_clean_run_carries_no_banner_and_a_reduced_one_does() -> None:
    made = small(["ar", "ctc"])
    assert "Read with care" not in page(summarise(made.run()))
    made.reduced = "budget 3m"
    assert "Read with care" in page(summarise(made.run()))


def test_the_best_of_a_column_is_marked_by_a_symbol() -> None:
    text = page(summarise(race(labels=["ar", "ctranslate2", "ctc"], repeats=2, rows=4).run()))
    best = re.findall(r'<td class="best">.*?</td>', text)
    assert best and all("★" in cell for cell in best)


def test_one_table_holds_time_work_and_quality_of_every_contestant(race_page: str) -> None:
    (head,) = re.findall(r'id="race-1">.*?<thead>(.*?)</thead>', race_page, re.DOTALL)
    assert re.findall(r"<th[^>]*>(.*?)</th>", head) == [
        "contestant",
        "latency, ms",
        "speedup, × ar",
        "speedup, × best AR",
        "BLEU",
        "chrF",
        "AR&#39;s gain, %",
        "repeated tokens, %",
        "calls",
        "positions",
    ]


def test_skipped_outputs_agreement_and_wasted_positions_are_in_the_tables() -> None:
    made = race(labels=["ar", "ctranslate2", "ctc"], repeats=6, rows=4)
    made.records = [replace(r, canvas_positions=(300,)) if r.label == "ctc" else r for r in made.records]
    names = METRICS["name_recall"].signature
    made.scores = [
        replace(s, statistics=s.statistics | {names: (1.0, 2.0) if s.row else (0.0, 0.0)}) for s in made.scores
    ]
    text = page(summarise(made.run()))
    assert "n = 3, 1 skipped" in text
    assert "same as ar, %" in text and "tokens alike" in text
    assert '<th scope="col">wasted</th>' in text and "<bdi>292.0</bdi>" in text  # 8 tokens on a canvas of 300


def test_every_metric_is_defined_with_its_source(race_page: str) -> None:
    text = " ".join(Reader(race_page).text)
    for metric in METRICS.values():
        assert metric.definition in text and metric.source in text and metric.signature in text


def test_the_trust_block_has_what_it_takes_to_repeat_the_run(race_page: str) -> None:
    text = " ".join(Reader(race_page).text)
    for expected in (
        "python -m suites run quick",
        "1f0c2a9e8b7d6c5f",
        "An Example CPU",
        "2.13.0",
        "cd" * 32,
        "ef" * 32,
        "run: 7",
    ):
        assert expected in text
    assert f"{2 * 3 * len(RACE):,} untimed calls" not in text  # that would count lengths of one cell twice
