"""One repository of toys a session, copied for each test."""

import shutil
from pathlib import Path

import pytest

from tests.gate.toys import Repo, make_repo


@pytest.fixture(scope="session")
def first_repo(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    return make_repo(tmp_path_factory.mktemp("toys") / "repo")


@pytest.fixture
def repo(first_repo: Repo, tmp_path: Path) -> Repo:
    shutil.copytree(first_repo.path, tmp_path / "repo")
    return Repo(tmp_path / "repo")
