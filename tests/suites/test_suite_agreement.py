"""The comparison of an engine with our AR loop: agreement where there is some, and the place where there is none."""

import subprocess
import sys
from pathlib import Path

import pytest

from generators.base import Placement, Prompt
from generators.registry import STRATEGIES
from suites import agreement
from suites.tasks import load_task

ROOT = Path(__file__).parent.parent.parent


def test_the_same_weights_say_the_same_in_double_precision() -> None:
    found = agreement.agreement("hf_generate", load_task("verse"), 3, Placement(dtype="float64"))
    assert (found.rows, found.identical, found.divergences) == (3, 3, ())


def test_a_divergence_is_shown_where_it_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    """The other side loses its third token: the first that differs is the third, and the gap is a gap."""
    honest = agreement.outputs
    calls = []

    def one_token_short(generator: object, prompts: list[Prompt]) -> list[tuple[int, ...]]:
        calls.append(generator)
        rows = honest(generator, prompts)  # type: ignore[arg-type]
        return rows if len(calls) == 1 else [row[:2] + row[3:] for row in rows]

    monkeypatch.setattr(agreement, "outputs", one_token_short)
    found = agreement.agreement("ar", load_task("verse"), 2, Placement())
    assert (found.rows, found.identical) == (2, 0)
    for divergence in found.divergences:
        assert divergence.position == 2
        assert divergence.ours != divergence.theirs
        assert divergence.gap is not None and divergence.gap > 0
    assert len(list(agreement.lines(found))) == 3


def test_a_parallel_engine_is_compared_with_its_own_strategy() -> None:
    config = {"engine": "onnx", "weights": "ctc"}
    assert agreement.counterpart("ctc:beam_size=3:engine=onnx", config) == "ctc:beam_size=3"
    assert agreement.counterpart("ctranslate2:compute_type=int8", {"weights": "ar_shallow"}) == "ar:weights=ar_shallow"
    found = agreement.agreement("ctc", load_task("verse"), 2, Placement())
    assert (found.ours, found.identical) == ("ctc", 2)


def test_an_unknown_engine_is_refused_in_one_line() -> None:
    command = [sys.executable, "-m", "suites", "agreement", "nobody"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        f"suites: nobody: unknown strategy 'nobody'; choose from: {', '.join(STRATEGIES)}"
    ]
