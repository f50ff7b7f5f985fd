"""The replay in a real browser: it shows what stood when, by mouse and keyboard, and moves only where it may."""

import functools
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from reports.build import write_report
from tests.browser.opening import becomes_true
from tests.reports.hostile import HOSTILE
from tests.reports.synthetic import Made
from tests.reports.traces import add_ar, all_ways

pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pip install -e '.[dev]'")
pytestmark = pytest.mark.browser

# What a lane shows now: a sign a visible slot, and its text.
SHOWN = """label => {
  const named = lane => lane.querySelector('bdi').textContent === label;
  const lane = [...document.querySelectorAll('[data-lane]')].find(named);
  return [...lane.querySelectorAll('.slot')].filter(slot => !slot.hidden && !slot.classList.contains('absent'))
    .map(slot => slot.className.split(' ')[1] + slot.textContent);
}"""
GO = """time => {
  const scrubber = document.querySelector('[data-replay] input[type=range]');
  scrubber.value = time;
  scrubber.dispatchEvent(new Event('input'));
}"""
AXE = (Path(__file__).parent / "axe" / "axe.min.js").read_text(encoding="utf-8")
SERIOUS = """async () => (await axe.run('#replay')).violations
  .filter(found => ['serious', 'critical'].includes(found.impact))
  .map(found => `${found.id}: ${found.nodes.slice(0, 3).map(node => node.target).join(' ')}`)"""
TIME = "Number(document.querySelector('[data-replay] input[type=range]').value)"


def hostile_ways() -> Made:
    made = all_ways()
    made.traced = [
        replace(s, source=HOSTILE[0], trace=replace(s.trace, pieces={k: HOSTILE[int(k)] for k in s.trace.pieces}))
        for s in made.traced
        if s.trace
    ]
    return made


def unmeasured() -> Made:
    made = Made()
    add_ar(made, words=3)
    made.records = [replace(trial, steps=()) for trial in made.records]
    return made


MADE = {"all": all_ways, "hostile": hostile_ways, "unmeasured": unmeasured}


@functools.cache
def written(folder: Path, which: str) -> Path:
    return write_report(MADE[which]().write(folder / which), None)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("replays")


class Opened:
    """A page with a replay, everything it asked for and everything the console said."""

    def __init__(self, browser: Any, path: Path, **context: Any) -> None:
        self.context = browser.new_context(**{"viewport": {"width": 1200, "height": 900}, **context})
        self.page = self.context.new_page()
        self.page.set_default_timeout(120_000)  # a busy machine is slow, not wrong
        self.requests: list[str] = []
        self.console: list[str] = []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("console", lambda message: self.console.append(message.text))
        self.page.on("pageerror", lambda error: self.console.append(str(error)))
        self.page.goto(path.as_uri())

    def shown(self, label: str, time_ms: float | None = None) -> list[str]:
        if time_ms is not None:
            self.page.evaluate(GO, time_ms)
        found: list[str] = self.page.evaluate(SHOWN, label)
        return found


Open = Callable[..., Opened]


@pytest.fixture
def opened(browser: Any, folder: Path) -> Iterator[Open]:
    pages: list[Opened] = []

    def open_page(which: str = "all", **context: Any) -> Opened:
        pages.append(Opened(browser, written(folder, which), **context))
        return pages[-1]

    yield open_page
    for each in pages:
        each.context.close()


def test_the_scrubber_shows_what_stood_at_its_time(opened: Open) -> None:
    one = opened()
    assert one.shown("ar", 0) == []
    assert one.shown("ar", 5.5) == ["f in", "f the"]
    assert one.shown("mask_predict", 0.5) == []
    assert one.shown("mask_predict", 1.2) == ["m▢"] * 5
    assert one.shown("mask_predict", 4.2) == ["t in", "m▢", "t was", "m▢", "t the"]
    assert one.shown("mask_predict", 7.2) == ["t in", "t the", "m▢", "m▢", "t word"]
    assert one.shown("mask_predict", 10.15) == ["t in", "t the", "t beginning", "t was", "t word"]
    assert one.shown("mask_predict", 10.25) == ["f in", "f the", "f beginning", "f was", "f word"]
    assert one.shown("ctc", 4.05) == ["t in", "t in", "m▢", "t the", "m▢", "t beginning"]
    assert one.shown("ctc", 4.2) == ["f in", "f the", "f beginning"]
    assert one.shown("ar beam 4", 9.5) == ["t in", "t the"]
    assert one.shown("levenshtein", 1.5) == ["f in", "t the"]
    assert one.shown("levenshtein", 3.5) == ["f in"]
    assert one.shown("levenshtein", 5.5) == ["f in", "m▢", "m▢"]
    assert one.shown("speculative", 2) == ["t in", "t the", "t was"]
    assert one.shown("speculative", 3.6) == ["f in", "f the", "f beginning"]
    assert one.shown("blocks", 7.5) == ["f in", "f the", "m▢", "f was"]
    assert one.console == []


def test_all_lanes_run_on_one_clock(opened: Open) -> None:
    page = opened().page
    page.evaluate(GO, 8.75)
    heads = page.evaluate("[...document.querySelectorAll('[data-lane] .strip i')].map(i => [i.hidden, i.style.left])")
    assert heads == [[False, "50%"]] * 7


def test_the_page_opens_on_what_was_written_in_the_end(opened: Open) -> None:
    one = opened()
    assert one.shown("ar") == ["f in", "f the", "f beginning", "f was", "f the", "f word", "f ."]
    assert one.page.evaluate(TIME) == 17.5
    assert "17.5 of 17.5 ms, 457× slower" in one.page.locator("[data-replay-controls] output").inner_text()


def test_play_runs_to_the_end_and_can_be_paused(opened: Open) -> None:
    page = opened().page
    play = page.get_by_role("button", name="Play the replay")
    play.click()
    becomes_true(page, f"{TIME} > 0 && {TIME} < 17")
    page.get_by_role("button", name="Pause the replay").click()
    stood = page.evaluate(TIME)
    page.wait_for_timeout(500)
    assert page.evaluate(TIME) == stood
    play.click()
    becomes_true(page, f"{TIME} === 17.5")
    assert play.is_visible()


def test_the_buttons_go_from_change_to_change(opened: Open) -> None:
    page = opened().page
    back, on = (page.get_by_role("button", name=name) for name in ("One change back", "One change on"))
    page.evaluate(GO, 0)
    seen = []
    for _ in range(4):
        on.click()
        seen.append(page.evaluate(TIME))
    assert seen == pytest.approx([1, 1.1, 1.5, 3])
    back.click()
    assert page.evaluate(TIME) == pytest.approx(1.5)


def test_the_replay_answers_the_keyboard(opened: Open) -> None:
    page = opened().page
    page.get_by_role("button", name="Play the replay").focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")  # one change back
    assert page.evaluate(TIME) == pytest.approx(17)
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.type") == "range"
    page.keyboard.press("Home")
    assert page.evaluate(TIME) == 0
    page.keyboard.press("ArrowRight")
    assert 0 < page.evaluate(TIME) < 17
    assert " ms" in page.evaluate("document.activeElement.getAttribute('aria-valuetext')")


def test_nothing_moves_by_itself_where_less_motion_is_asked_for(opened: Open) -> None:
    one = opened(reduced_motion="reduce")
    assert one.page.get_by_role("button", name="Play the replay").count() == 0
    one.page.get_by_role("button", name="One change back").click()
    assert one.page.evaluate(TIME) == pytest.approx(17)
    assert one.shown("ar", 5.5) == ["f in", "f the"]


def test_without_scripts_the_static_picture_stands(opened: Open) -> None:
    page = opened(java_script_enabled=False).page
    assert page.locator("[data-replay-controls]").is_visible() is False
    assert page.locator("[data-lane] .strip path").first.is_visible()
    assert page.locator("[data-lane]").first.inner_text().count("beginning") == 1


def test_on_paper_the_strips_stand_and_the_controls_do_not(opened: Open) -> None:
    page = opened().page
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = false })")
    page.emulate_media(media="print")
    assert page.locator("[data-lane] .strip path").first.is_visible()
    assert page.locator("[data-replay-controls]").first.is_visible() is False


def test_where_no_pace_is_measured_the_clock_counts_steps_and_says_so(opened: Open) -> None:
    one = opened("unmeasured")
    assert one.shown("ar", 2) == ["f in", "f the"]
    assert one.page.locator("[data-replay-controls] output").inner_text() == "step 2 of 4, pace not measured"
    assert "pace not measured" in one.page.locator("[data-lane] small").first.inner_text()


def test_hostile_pieces_are_read_as_text_at_every_time(opened: Open) -> None:
    one = opened("hostile")
    for time_ms in (0, 2, 4.05, 7, 10, 17.5):
        one.page.evaluate(GO, time_ms)
    assert one.page.locator("main script, main img, main iframe").count() == 0
    assert one.shown("ar", 4)[0].startswith("f<script>fetch(")
    assert [url for url in one.requests if url != "data:,"] == [one.page.url]
    assert one.console == []


@pytest.mark.parametrize("which", ["all", "hostile"])
@pytest.mark.parametrize("width", [360, 768, 1200])
def test_a_replay_fits_its_page(opened: Open, which: str, width: int) -> None:
    page = opened(which, viewport={"width": width, "height": 900}).page
    for time_ms in (4.05, 17.5):
        page.evaluate(GO, time_ms)
        assert page.evaluate("document.documentElement.scrollWidth") == width


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_stand_out_from_their_shade(opened: Open, scheme: str) -> None:
    """WCAG's contrast of at least 4.5 for the words on the darkest tint and for the small numbers beside them."""
    page = opened(color_scheme=scheme).page
    colours = page.evaluate("""() => [...document.querySelectorAll('[data-lane] .slot.s5:not([hidden])')].map(slot => {
      const canvas = document.createElement('canvas').getContext('2d');
      const over = (...paints) => {
        for (const paint of paints) { canvas.fillStyle = paint; canvas.fillRect(0, 0, 1, 1); }
        return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
      };
      const page = getComputedStyle(document.body).backgroundColor, own = getComputedStyle(slot);
      return [over(page, own.backgroundColor), over(own.color), over(getComputedStyle(slot, '::after').color)];
    })""")
    assert len(colours) > 3
    for ground, word, number in colours:
        assert contrast(word, ground) >= 4.5
        assert contrast(number, ground) >= 4.5


@pytest.mark.parametrize("time_ms", [4.05, 17.5])
@pytest.mark.parametrize(("width", "scheme"), [(1200, "light"), (1200, "dark"), (360, "light")])
def test_axe_finds_nothing_serious(opened: Open, width: int, scheme: str, time_ms: float) -> None:
    page = opened(viewport={"width": width, "height": 900}, color_scheme=scheme).page
    page.evaluate(GO, time_ms)
    page.evaluate(AXE)
    assert page.evaluate(SERIOUS) == []


def contrast(one: list[int], other: list[int]) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(colour: list[int]) -> float:
    parts = [c / 255 for c in colour]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
