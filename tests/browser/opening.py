"""A page in a real browser, with everything it asked for and everything the console said."""

from pathlib import Path
from typing import Any

import pytest


class Opened:
    """A report in a page of its own; what is folded away is unfolded, so that all of it can be looked at."""

    def __init__(self, browser: Any, path: Path, width: int, scheme: str = "light", anchor: str = "") -> None:
        self.page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
        self.page.set_default_timeout(120_000)  # a busy machine is slow, not wrong
        self.requests: list[str] = []
        self.console: list[str] = []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("console", lambda message: self.console.append(message.text))
        self.page.on("pageerror", lambda error: self.console.append(str(error)))
        self.page.on("dialog", lambda dialog: self.console.append(f"dialog: {dialog.message}"))
        self.url = path.as_uri() + anchor
        self.page.goto(self.url)

    def unfolded(self) -> "Opened":
        self.page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")
        return self


def becomes_true(page: Any, condition: str) -> None:
    """Wait for it. Playwright's own waiting evaluates text inside the page, which the page's policy forbids."""
    for _ in range(300):
        if page.evaluate(condition):
            return
        page.wait_for_timeout(100)
    pytest.fail(f"never came true: {condition}")
