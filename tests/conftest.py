"""What every test session keeps: no silent skip, no network, one thread, Ctrl-C, no clock in a property test."""

import fnmatch
import os
import shutil
import signal
from collections.abc import Generator
from pathlib import Path

import hypothesis
import pytest

# Before torch is imported anywhere. One thread: tiny models are faster with it, and sums keep their order.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("HF_HUB_OFFLINE", "1")

# A shell that starts the tests in the background lets them ignore Ctrl-C, and all that they start with them.
signal.signal(signal.SIGINT, signal.default_int_handler)

# A deadline would be a timing assertion; a busy machine must not fail a property.
hypothesis.settings.register_profile(
    "arnar", deadline=None, print_blob=True, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("arnar")

ALLOW_LIST = Path(__file__).with_name("allowed_skips.txt")
CHROMIUMS = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)


def allowed_skips() -> list[str]:
    """The patterns of node ids that may be skipped; none under ARNAR_REQUIRE_ALL=1, where everything must run."""
    if os.environ.get("ARNAR_REQUIRE_ALL") == "1":
        return []
    lines = (line.partition("#")[0].strip() for line in ALLOW_LIST.read_text(encoding="utf-8").splitlines())
    return [line for line in lines if line]


def refuse_silent_skip(report: pytest.TestReport | pytest.CollectReport) -> None:
    """Turn a skip or an expected failure outside the allow-list into a failure that names the rule."""
    if not report.skipped or any(fnmatch.fnmatchcase(report.nodeid, pattern) for pattern in allowed_skips()):
        return
    why = report.longrepr[2] if isinstance(report.longrepr, tuple) else getattr(report, "wasxfail", report.longrepr)
    report.outcome = "failed"
    report.longrepr = (
        f"{why}\nNot in {ALLOW_LIST.name}, or ARNAR_REQUIRE_ALL=1: a test that does not run proves nothing."
    )
    if hasattr(report, "wasxfail"):
        del report.wasxfail  # else it would be counted as xfailed


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    refuse_silent_skip(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    refuse_silent_skip(report)
    return report


@pytest.fixture(scope="session")
def chromium_path() -> str:
    """The path of a Chromium to open pages in; skips where there is none."""
    for name in CHROMIUMS:
        if path := shutil.which(name):
            return path
    pytest.skip("no Chromium here: install it (Debian, Ubuntu: apt install chromium)")
