"""Every registered strategy on tiny weights of the kind it ships with, in float64 where it can."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from generators import registry
from generators.base import Placement
from generators.registry import Loaded, build, parse
from generators.training.recipes import RECIPES
from tests.generators.tiny import write_model, write_vocabulary

Contestant = Callable[[str], Loaded]
EOS_BIAS = {"ctc": 3.0, "semi_ar": 2.5}  # elsewhere 6: rows that end at once, in the middle, and not at all


@pytest.fixture(scope="session")
def tiny_weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a tiny model under the name of every recipe, drafters among them."""
    home = tmp_path_factory.mktemp("weights")
    vocabulary = write_vocabulary(home / "vocabulary")
    for name in RECIPES:
        write_model(home / name, vocabulary, name, eos_bias=EOS_BIAS.get(name, 6.0))
    return home


@pytest.fixture(scope="session")
def contestant(tiny_weights: Path, tmp_path_factory: pytest.TempPathFactory) -> Contestant:
    """The strategy of a label, loaded; skips where its engine is not installed."""
    cache_home = tmp_path_factory.mktemp("cache")

    @cache
    def load(label: str) -> Loaded:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(registry, "SHIPPED", tiny_weights)
            patch.setenv("XDG_CACHE_HOME", str(cache_home))
            try:
                return build(parse(label), Placement(dtype="float64"))
            except ImportError as missing:
                pytest.skip(f"{label}: {missing}")

    return load
