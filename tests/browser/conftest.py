"""A Chromium for every file of browser tests."""

from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture(scope="module")
def browser(chromium_path: str) -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as started:
        opened = started.chromium.launch(
            executable_path=chromium_path, args=["--no-sandbox", "--disable-dev-shm-usage"]
        )
        yield opened
        opened.close()
