"""The report's controls in a real browser: sort, filter, copy, search, theme, links, keys; and life without scripts."""

import csv
import functools
from collections.abc import Callable, Iterator
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from reports.build import write_comparison, write_report
from reports.html import tables_of
from reports.names import visible
from reports.rankings import race_table
from reports.summarise import summarise
from reports.table_text import as_latex, as_markdown
from tests.browser.opening import Opened, becomes_true
from tests.reports.conftest import hostile_race
from tests.reports.hostile import SCRIPT
from tests.reports.synthetic import Made, race

pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pip install -e '.[dev]'")
pytestmark = pytest.mark.browser
LABELS = ["ar", "ctranslate2", "ctc", "mask_predict:n_iterations=1", "copy"]
AXE = (Path(__file__).parent / "axe" / "axe.min.js").read_text(encoding="utf-8")
SERIOUS = """async () => (await axe.run()).violations.filter(found => ['serious', 'critical'].includes(found.impact))
  .map(found => `${found.id}: ${found.nodes.slice(0, 3).map(node => node.target).join(' ')}`)"""
Open = Callable[..., Any]


def busy() -> Made:
    """Two tasks, two batch sizes, and more than one contestant that repeats itself."""
    made = race(labels=LABELS, lengths=(8, 32), repeats=6, rows=14)
    timed = [r for r in made.records if r.mode != "batched"]
    made.records += [replace(r, key=f"{r.key}|8", batch_size=8, tokens_kept=r.tokens_kept * 8) for r in timed]
    made.records += [replace(r, key=f"{r.key}|p", task="passage") for r in timed]
    return made


@functools.cache
def written(folder: Path, which: str) -> Path:
    if which == "several":
        made = race(labels=LABELS, lengths=(8, 32), repeats=6, rows=8)
        return write_comparison([made.write(folder / "a"), made.write(folder / "b")], None)
    return write_report((hostile_race() if which == "hostile" else busy()).write(folder / which), None)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("reports")


@pytest.fixture
def opened(browser: Any, folder: Path) -> Iterator[Open]:
    pages: list[Opened] = []

    def open_report(which: str = "busy", width: int = 1200, scheme: str = "light", anchor: str = "") -> Any:
        pages.append(Opened(browser, written(folder, which), width, scheme, anchor))
        return pages[-1].page

    yield open_report
    for each in pages:
        assert each.console == []
        each.page.close()


def column(page: Any, table: str, number: int) -> list[str]:
    """The values of a column as they stand, without their small print."""
    rows = f"[...document.querySelectorAll('{table} tbody tr:not([hidden])')]"
    found: list[str] = page.evaluate(f"{rows}.map(row => row.cells[{number - 1}].querySelector('bdi').textContent)")
    return found


def test_a_head_sorts_by_mouse_and_by_keyboard_and_gives_the_order_back(opened: Open) -> None:
    page = opened()
    before = column(page, "#race-2", 1)
    head = page.locator("#race-2 th", has_text="latency")
    head.get_by_role("button").click()
    rising = [float(text) for text in column(page, "#race-2", 2)]
    assert rising == sorted(rising) and len(rising) == len(LABELS)
    assert head.get_attribute("aria-sort") == "ascending"
    page.keyboard.press("Enter")
    assert [float(text) for text in column(page, "#race-2", 2)] == rising[::-1]
    assert head.get_attribute("aria-sort") == "descending"
    page.keyboard.press("Space")
    assert column(page, "#race-2", 1) == before
    assert head.get_attribute("aria-sort") is None


def test_what_was_not_measured_sorts_last_either_way(opened: Open) -> None:
    page = opened()
    button = page.locator("#race-2 th", has_text="best AR").get_by_role("button")
    for _ in range(2):
        button.click()
        assert column(page, "#race-2", 4)[-1] == "–"
        assert "–" not in column(page, "#race-2", 4)[:-1]


def test_a_filter_holds_for_every_table_and_says_how_many_rows_are_left(opened: Open) -> None:
    page = opened()
    bars = page.locator("[data-filters]")
    bars.nth(1).locator("[data-facet=strategy]").select_option("ctc")
    assert bars.nth(0).locator("[data-facet=strategy]").input_value() == "ctc"
    strategies = page.evaluate(
        "[...document.querySelectorAll('tr[data-strategy]:not([hidden])')].map(r => r.dataset.strategy)"
    )
    assert set(strategies) == {"ctc"}
    assert page.locator("#race-2 output").inner_text() == "1 of 5 rows"
    bars.nth(0).locator("[data-facet=batch]").select_option("8")
    bars.nth(0).locator("[data-facet=task]").select_option("verse")
    rows = "[...document.querySelectorAll('#tables tr[data-batch]:not([hidden])')].map(r => ({...r.dataset}))"
    assert {(row["task"], row["batch"]) for row in page.evaluate(rows)} == {("verse", "8")}
    for facet in ("strategy", "batch", "task"):
        bars.nth(0).locator(f"[data-facet={facet}]").select_option("")
    assert page.locator("tbody tr[hidden]").count() == 0
    assert page.locator("#race-2 output").inner_text() == ""


def copied(page: Any, table: str, form: str) -> str:
    page.evaluate("navigator.clipboard.writeText = async text => { window.copied = text; }")
    page.locator(f'{table} .tools button[aria-label$="as {form}"]').click()
    becomes_true(page, "window.copied !== undefined")
    return str(page.evaluate("window.copied"))


@pytest.mark.parametrize("which", ["busy", "hostile"])
def test_what_is_copied_is_what_export_writes(opened: Open, which: str) -> None:
    page = opened(which)
    summary = summarise((hostile_race() if which == "hostile" else busy()).run())
    number = len(summary.tasks)
    table = race_table(summary, summary.tasks[-1])
    assert table is not None
    assert copied(page, f"#race-{number}", "Markdown") == as_markdown(table)
    assert copied(page, f"#race-{number}", "LaTeX") == as_latex(table)
    coverage = tables_of(summary)[-1]
    assert copied(page, "#tables .table:last-of-type", "LaTeX") == as_latex(coverage)
    rows = list(csv.reader(StringIO(copied(page, "#tables .table:last-of-type", "CSV"))))
    assert rows[0] == list(coverage.heads)
    for row, entries in zip(rows[1:], coverage.rows, strict=True):
        assert [field.removeprefix("'") for field in row] == [visible(entry.text) for entry in entries]


def test_csv_has_plain_numbers_and_small_print_in_columns_of_its_own(opened: Open) -> None:
    page = opened()
    page.locator("[data-filters]").first.locator("[data-facet=strategy]").select_option("ctc")
    head, row = csv.reader(StringIO(copied(page, "#race-2", "CSV")))
    assert head[:4] == ["contestant", "latency, ms", "latency, ms: interval and n", "speedup, × ar"]
    assert row[0] == "ctc" and float(row[1]) > 0 and row[2].startswith("[") and row[2].endswith("n = 6")


def test_copying_works_where_the_clipboard_is_refused(opened: Open) -> None:
    page = opened()
    page.evaluate("""() => {
        navigator.clipboard.writeText = async () => { throw new Error('refused'); };
        document.addEventListener('copy', () => { window.copied = document.activeElement.value; });
    }""")
    page.locator("[data-copied] + button").first.click()
    becomes_true(page, "window.copied !== undefined")
    assert page.evaluate("window.copied") == "python -m suites run quick"
    assert page.locator("[data-said]").inner_text() == "Copied the command"


def test_the_theme_can_be_chosen_whatever_the_system_says(opened: Open) -> None:
    page = opened(scheme="dark")
    background = "getComputedStyle(document.body).backgroundColor"
    switch = page.get_by_role("button", name="Colours")
    found = [page.evaluate(background)]
    for _ in range(3):
        switch.click()
        found.append(page.evaluate(background))
    dark, light = "rgb(19, 21, 23)", "rgb(251, 250, 246)"
    assert found == [dark, light, dark, dark]  # auto, light, dark, auto
    assert switch.get_attribute("aria-label") == "Colours: auto"


def test_a_link_opens_its_sample_even_one_that_was_filtered_away(opened: Open) -> None:
    page = opened(anchor="#sample-2-9")
    becomes_true(page, "document.getElementById('sample-2-9').getBoundingClientRect().height > 0")
    top = page.evaluate("document.getElementById('sample-2-9').getBoundingClientRect().top")
    assert 0 <= top < 900
    page.get_by_label("search").fill("nothing has this text")
    assert page.locator(".sample:visible").count() == 0
    page.evaluate("location.hash = '#sample-2-11'")
    becomes_true(page, "document.getElementById('sample-2-11').getBoundingClientRect().height > 0")


def test_samples_can_be_searched_and_the_most_repetitive_come_first(opened: Open) -> None:
    page = opened()
    assert page.locator("[data-sample-controls] output").inner_text() == "14 of 14"
    page.get_by_label("show").select_option("repeats")
    by = "[...document.querySelectorAll('.sample:not([hidden])')].map(s => Number(s.dataset.{}))"
    repeats = page.evaluate(by.format("repeats"))
    assert repeats == sorted(repeats, reverse=True) and repeats[-1] > 0
    page.get_by_label("show").select_option("gap")
    gaps = page.evaluate(by.format("gap"))
    assert gaps == sorted(gaps, reverse=True) and gaps[0] > 0
    page.get_by_label("show").select_option("")
    page.get_by_label("search").fill("VERILY")
    assert page.locator(".sample:visible").count() == 14


def test_every_mark_has_a_symbol_besides_its_colour(opened: Open) -> None:
    page = opened()
    signs = {"ins": "≠", "del": "⌄", "mark": "↻"}
    for element, sign in signs.items():
        assert page.locator(f".sample {element}").count() > 0
        content = f"getComputedStyle(document.querySelector('.sample {element}'), '::before').content"
        assert page.evaluate(content) == f'"{sign}"'


def test_keyboard_focus_is_seen(opened: Open) -> None:
    page = opened()
    seen = []
    for _ in range(12):
        page.keyboard.press("Tab")
        seen.append(page.evaluate("(s => [s.outlineStyle, s.outlineWidth])(getComputedStyle(document.activeElement))"))
    assert seen == [["solid", "2px"]] * 12


@pytest.mark.parametrize("which", ["busy", "hostile", "several"])
@pytest.mark.parametrize(("width", "scheme"), [(1200, "light"), (1200, "dark"), (360, "light")])
def test_axe_finds_nothing_serious(opened: Open, which: str, width: int, scheme: str) -> None:
    page = opened(which, width, scheme)
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")
    page.evaluate(AXE)
    assert page.evaluate(SERIOUS) == []


def test_axe_would_find_a_serious_fault(opened: Open) -> None:
    page = opened()
    page.evaluate("document.querySelector('h1').style.color = '#bbbbbb'")
    page.evaluate(AXE)
    assert any(found.startswith("color-contrast") for found in page.evaluate(SERIOUS))


def test_without_scripts_everything_can_be_read_and_nothing_pretends_to_work(browser: Any, folder: Path) -> None:
    context = browser.new_context(java_script_enabled=False, viewport={"width": 1200, "height": 900})
    page = context.new_page()
    page.goto(written(folder, "busy").as_uri() + "#sample-2-9")
    assert page.locator("#race-2 tbody tr:visible").count() == len(LABELS)
    assert page.locator("button:visible, select:visible, input:visible").count() == 0
    assert page.locator("#sample-2-9").is_visible()  # the browser itself unfolds what a link points at
    page.locator(".sample > summary").nth(5).click()
    assert page.locator(".sample .rows").nth(5).is_visible()
    context.close()


def test_paper_shows_no_controls(opened: Open) -> None:
    page = opened()
    page.emulate_media(media="print")
    assert page.locator("button:visible:not(thead button), select:visible, input:visible").count() == 0


def test_paper_takes_ten_samples_and_says_so(opened: Open) -> None:
    page = opened()
    assert page.locator(".sample").count() > 10
    assert not page.locator(".printed").is_visible()
    page.emulate_media(media="print")
    assert page.locator(".sample:visible").count() == 10
    assert page.locator(".printed").inner_text().startswith("On paper: the first 10 of")


def test_several_runs_fit_the_paper(browser: Any, folder: Path) -> None:
    report = Opened(browser, written(folder, "several"), 718)
    report.page.emulate_media(media="print")
    assert report.page.evaluate("document.documentElement.scrollWidth") == 718
    report.page.close()


def test_several_runs_make_a_page_as_inert_as_one(browser: Any, folder: Path) -> None:
    report = Opened(browser, written(folder, "several"), 360)
    assert [url for url in report.requests if url not in (report.url, "data:,")] == []
    assert report.console == []
    assert report.page.evaluate("document.documentElement.scrollWidth") == 360
    report.page.close()


def test_hostile_names_are_copied_as_text(opened: Open) -> None:
    page = opened("hostile")
    assert SCRIPT in copied(page, "#tables .table:last-of-type", "CSV")
    assert "<script" not in copied(page, "#tables .table:last-of-type", "Markdown").replace("\\<script", "")
