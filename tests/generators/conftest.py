"""A vocabulary trained on five lines, shared by the session."""

from pathlib import Path

import pytest

from generators.models.text import MarianCodec, load_codec
from tests.generators.tiny import write_vocabulary


@pytest.fixture(scope="session")
def vocabulary(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_vocabulary(tmp_path_factory.mktemp("vocabulary"))


@pytest.fixture(scope="session")
def codec(vocabulary: Path) -> MarianCodec:
    return load_codec(vocabulary)
