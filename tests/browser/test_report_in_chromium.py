"""The report in a real browser: inert, readable, light and dark, on a phone and on paper."""

import functools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from reports.build import write_report
from tests.browser.opening import Opened, becomes_true
from tests.reports.conftest import hostile_race
from tests.reports.hostile import SCRIPT
from tests.reports.synthetic import race

pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pip install -e '.[dev]'")
pytestmark = pytest.mark.browser

CLIPPED = """() => [...document.querySelectorAll('.plot')].filter(plot => plot.offsetParent).flatMap(plot => {
  const frame = plot.getBoundingClientRect();
  return [...plot.querySelectorAll('text')].filter(text => {
    const box = text.getBoundingClientRect();
    return box.left < frame.left || box.right > frame.right || box.top < frame.top || box.bottom > frame.bottom;
  }).map(text => text.textContent);
})"""
OVERLAPPING = """() => [...document.querySelectorAll('.plot')].filter(plot => plot.offsetParent).flatMap(svg => {
  const boxes = [...svg.querySelectorAll('text')].map(text => [text.textContent, text.getBoundingClientRect()]);
  const shared = (p, q, low, high) => Math.min(p[high], q[high]) - Math.max(p[low], q[low]);
  return boxes.flatMap(([a, p], i) => boxes.slice(i + 1).filter(([b, q]) =>
    shared(p, q, 'left', 'right') > 1 && shared(p, q, 'top', 'bottom') > 4
  ).map(([b, q]) => `${a} / ${b}`));
})"""


Open = Callable[..., Opened]


@pytest.fixture
def opened(browser: Any, folder: Path) -> Iterator[Open]:
    """Opens a report, `race` or `hostile`, at a width and in a colour scheme; closes its pages after the test."""
    pages: list[Opened] = []

    def open_report(which: str, width: int = 1200, scheme: str = "light") -> Opened:
        pages.append(Opened(browser, written(folder, which), width, scheme).unfolded())
        return pages[-1]

    yield open_report
    for each in pages:
        each.page.close()


@functools.cache
def written(folder: Path, which: str) -> Path:
    made = hostile_race() if which == "hostile" else race(lengths=(8, 16, 32, 64, 128, 192), repeats=7, rows=24)
    return write_report(made.write(folder / which), None)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("reports")


@pytest.mark.parametrize("which", ["race", "hostile"])
def test_the_page_asks_for_nothing_and_the_console_is_silent(opened: Open, which: str) -> None:
    report = opened(which)
    report.page.mouse.move(400, 400)
    report.page.mouse.wheel(0, 3000)
    report.page.wait_for_timeout(300)
    assert [url for url in report.requests if url not in (report.url, "data:,")] == []
    assert report.console == []


def test_the_policy_stops_what_gets_past_the_escaping(opened: Open) -> None:
    report = opened("race")
    report.page.evaluate("""() => {
        window.ran = [];
        document.addEventListener('securitypolicyviolation', event => window.ran.push(event.effectiveDirective));
        for (const markup of ['<img src="https://example.invalid/a.png">', '<iframe src="https://example.invalid/"></iframe>'])
            document.body.insertAdjacentHTML('beforeend', markup);
        const script = document.createElement('script');
        script.textContent = 'window.escaped = true';
        document.body.append(script);
    }""")
    becomes_true(report.page, "window.ran.length >= 3")
    assert sorted(report.page.evaluate("window.ran")) == ["frame-src", "img-src", "script-src-elem"]
    assert report.page.evaluate("window.escaped") is None


def test_hostile_text_is_read_as_text(opened: Open) -> None:
    report = opened("hostile")
    text = report.page.inner_text("body")
    for expected in (SCRIPT, "onerror=alert(1)", "{{ 7 * 7 }}", "⟨U+202E⟩", "⟨U+0000⟩", "😀"):
        assert expected in text
    assert report.page.locator("script:not(body > script), main img, iframe").count() == 0
    assert report.page.title() == f"arnar: {SCRIPT} suite"


@pytest.mark.parametrize("which", ["race", "hostile"])
@pytest.mark.parametrize("width", [360, 768, 1200])
def test_nothing_scrolls_sideways_but_tables(opened: Open, which: str, width: int) -> None:
    report = opened(which, width)
    assert report.page.evaluate("document.documentElement.scrollWidth") == width


@pytest.mark.parametrize("width", [360, 1200])
def test_no_label_of_a_figure_is_cut_or_covered(opened: Open, width: int) -> None:
    report = opened("race", width)
    assert report.page.locator(".plot:visible text").count() > 80
    assert report.page.locator(".plot:visible text", has_text="…").count() == 0
    assert report.page.evaluate(CLIPPED) == []
    assert report.page.evaluate(OVERLAPPING) == []


@pytest.mark.parametrize(("width", "shown"), [(360, "narrow"), (1200, "wide")])
def test_each_figure_shows_the_drawing_that_fits(opened: Open, width: int, shown: str) -> None:
    page = opened("race", width).page
    figures = page.locator("figure").count()
    visible = {kind: page.locator(f".plot.{kind}:visible").count() for kind in ("wide", "narrow")}
    assert figures >= 4
    assert visible == {"wide": 0, "narrow": 0} | {shown: figures}


def test_labels_on_a_phone_are_large_enough_to_read(opened: Open) -> None:
    page = opened("race", 360).page
    heights = page.evaluate(
        "[...document.querySelectorAll('.plot.narrow text')].map(t => t.getBoundingClientRect().height)"
    )
    assert min(heights) >= 11  # CSS pixels from ascender to descender: letters of 9 or more


def test_light_and_dark_follow_the_readers_choice(opened: Open) -> None:
    def look(scheme: str) -> tuple[str, str]:
        page = opened("race", scheme=scheme).page
        stroke = "getComputedStyle(document.querySelector('.plot.wide path[style*=\"--s-ctc\"]')).stroke"
        return page.evaluate("getComputedStyle(document.body).backgroundColor"), page.evaluate(stroke)

    assert look("light") == ("rgb(251, 250, 246)", "rgb(184, 58, 12)")
    assert look("dark") == ("rgb(19, 21, 23)", "rgb(255, 155, 107)")


def test_a_table_can_be_reached_and_scrolled_by_keyboard(opened: Open) -> None:
    page = opened("race", 360).page
    table = page.locator("#race-1 .scroll")
    table.focus()
    page.keyboard.press("ArrowRight")
    becomes_true(page, "document.activeElement.scrollLeft > 0")


def test_a_printed_report_fits_the_paper_and_is_light(opened: Open) -> None:
    page = opened("race", width=718, scheme="dark").page  # A4 less two margins of a centimetre, at 96 a inch
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("document.documentElement.scrollWidth") == 718
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"


def test_a_printed_report_holds_the_tables_folded_away(opened: Open) -> None:
    page = opened("race").page
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = false })")
    folded = page.locator("figure details tbody").first
    assert not folded.is_visible()
    page.emulate_media(media="print")
    assert folded.is_visible()
