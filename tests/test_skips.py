"""The rule of conftest.py, tried on small sessions of its own."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
SKIPPING = {
    "call": "import pytest\ndef test_it(): pytest.skip('not today')\n",
    "mark": "import pytest\n@pytest.mark.skipif(True, reason='not today')\ndef test_it(): pass\n",
    "xfail": "import pytest\n@pytest.mark.xfail(reason='not today')\ndef test_it(): assert False\n",
    "module": "import pytest\npytest.skip('not today', allow_module_level=True)\n",
    "missing": "import pytest\npytest.importorskip('no_such_module', reason='not today')\n",
}
SOUND = {"sound": "def test_it(): pass\n"}


def session(folder: Path, tests: dict[str, str], allow: str = "", require_all: str = "0") -> tuple[int, str]:
    """The exit status and the output of a pytest session over `tests`, one a file, under the real conftest."""
    shutil.copy(HERE / "conftest.py", folder)
    (folder / "allowed_skips.txt").write_text(allow)
    for name, text in tests.items():
        (folder / f"test_{name}.py").write_text(text)
    environment = os.environ | {"ARNAR_REQUIRE_ALL": require_all, "PYTEST_ADDOPTS": ""}
    flags = ["-ra", "-p", "no:cacheprovider", "--continue-on-collection-errors", f"--rootdir={folder}"]
    command = [sys.executable, "-m", "pytest", *flags, str(folder)]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout


@pytest.fixture(scope="module")
def unlisted(tmp_path_factory: pytest.TempPathFactory) -> tuple[int, str]:
    return session(tmp_path_factory.mktemp("unlisted"), SKIPPING | SOUND)


@pytest.mark.parametrize("name", SKIPPING)
def test_a_skip_outside_the_list_is_a_failure(unlisted: tuple[int, str], name: str) -> None:
    lines = [
        line for line in unlisted[1].splitlines() if f"test_{name}.py" in line and line[:6] in ("FAILED", "ERROR ")
    ]
    assert len(lines) == 1
    assert "not today" in lines[0]


def test_such_a_session_fails_and_its_closing_line_says_so(unlisted: tuple[int, str]) -> None:
    assert unlisted[0] == 1
    assert "2 failed, 1 passed, 3 errors" in unlisted[1]


def test_a_listed_skip_is_only_a_skip(tmp_path: Path) -> None:
    status, output = session(tmp_path, SKIPPING | SOUND, allow="# why\ntest_[cmx]*.py*  # because\n")
    assert status == 0
    assert "1 passed, 4 skipped, 1 xfailed" in output


def test_requiring_all_empties_the_list(tmp_path: Path) -> None:
    status, output = session(tmp_path, {"call": SKIPPING["call"]} | SOUND, allow="test_call.py*\n", require_all="1")
    assert status == 1
    assert "1 failed, 1 passed" in output
