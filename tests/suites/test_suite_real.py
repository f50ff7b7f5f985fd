"""Claims about the suites with the real strategies, on tiny untrained models made on the spot."""

import importlib.util
import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
import torch

from generators.base import Exact, Placement, Stopwatch
from generators.models.files import build_model, save_model
from generators.registry import build, parse
from generators.training.recipes import RECIPES, model_values
from generators.training.vocabulary import train_vocabulary
from suites.exchange import request_for
from suites.plan import Cell, Trial
from suites.records import Run, read_run
from suites.tasks import load_task

ROOT = Path(__file__).parents[2]
VOCAB_SIZE = 300
TINY = {
    "d_model": 16,
    "encoder_layers": 1,
    "decoder_layers": 1,
    "encoder_attention_heads": 2,
    "decoder_attention_heads": 2,
    "encoder_ffn_dim": 32,
    "decoder_ffn_dim": 32,
}


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of untrained models `ar`, `ctc` and `cmlm`."""
    folder = tmp_path_factory.mktemp("models")
    train_vocabulary((row.source for row in load_task("verse").rows), VOCAB_SIZE, folder / "vocabulary")
    for seed, name in enumerate(("ar", "ctc", "cmlm")):
        torch.manual_seed(seed)
        values = {**model_values(RECIPES[name], VOCAB_SIZE), **TINY}
        save_model(build_model(values).state_dict(), values, folder / "vocabulary", folder / name)
    return folder


def labels(models: Path) -> list[str]:
    knobs = {
        "copy": "ar",
        "ar": "ar",
        "ar_uncached": "ar",
        "hf_generate": "ar",
        "ctranslate2": "ar",
        "ctc": "ctc",
        "mask_predict:n_iterations=2": "cmlm",
    }
    return [f"{label}:weights={models / name}" for label, name in knobs.items()]


@pytest.fixture(scope="module")
def smoke(models: Path) -> Run:
    """A run in float64, so that a batch's rounding cannot tip a token; converted weights go to a cache of its own."""
    given = ["run", "smoke", "--strategies", ",".join(labels(models)), "--out", str(models / "run"), "--json"]
    done = subprocess.run(
        [sys.executable, "-m", "suites", *given, "--dtype", "float64"],
        cwd=ROOT,
        env={**os.environ, "XDG_CACHE_HOME": str(models / "cache")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["planned"] == len(read_run(models / "run").records)
    return read_run(models / "run")


def test_the_smoke_suite_runs_every_real_strategy(smoke: Run) -> None:
    statuses = Counter((record.strategy, record.status) for record in smoke.records)
    engine = "ok" if importlib.util.find_spec("ctranslate2") else "unsupported"
    wanted = dict.fromkeys(("copy", "ar", "ar_uncached", "hf_generate", "ctc", "mask_predict"), "ok")
    assert set(statuses) == {*wanted.items(), ("ctranslate2", engine)}, {r.reason for r in smoke.records}


def test_exact_lengths_are_kept_and_their_passes_counted(smoke: Run) -> None:
    exact = [r for r in smoke.records if r.mode == "exact" and r.status == "ok"]
    assert {r.strategy for r in exact} >= {"ar", "ar_uncached", "hf_generate", "mask_predict"}
    assert all(r.tokens_kept == (r.length,) for r in exact)
    calls = {(r.strategy, r.length): sum(s.calls for s in r.steps if s.phase == "decode") for r in exact}
    assert (calls["ar", 4], calls["ar", 8]) == (4, 8)
    assert (calls["mask_predict", 4], calls["mask_predict", 8]) == (2, 2)


def test_copy_gives_its_source_back(smoke: Run) -> None:
    copied = [sample for sample in smoke.samples if sample.label.startswith("copy")]
    assert len(copied) == 4
    assert all(sample.text == sample.source for sample in copied)


def test_samples_hold_what_was_generated_for_their_own_row(smoke: Run, models: Path) -> None:
    """Decoded alone, a row gives what it gave in its batch: rows and samples are not mixed up."""
    loaded = build(parse(f"ctc:weights={models / 'ctc'}"), Placement(dtype="float64"))
    for sample in (s for s in smoke.samples if s.label.startswith("ctc")):
        trial = Trial("smoke", Cell("verse", "ctc", "natural", None, 1), 0, (sample.row,))
        request = request_for(trial, load_task("verse"), loaded.codec)
        assert loaded.generator.generate(request, Stopwatch()).token_ids == (sample.token_ids,)


def test_a_request_carries_the_sources_tokens_and_the_exact_length(models: Path) -> None:
    codec = build(parse(f"copy:weights={models / 'ar'}"), Placement()).codec
    trial = Trial("smoke", Cell("verse", "ar", "exact", 8, 2), 0, (0, 5))
    request = request_for(trial, load_task("verse"), codec)
    rows = load_task("verse").rows
    assert [codec.decode(p.prefix_ids[:-1]) for p in request.prompts] == [rows[0].source, rows[5].source]
    assert request.length == Exact(8)


def test_the_harness_measures_its_own_cost() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "suites", "overhead", "--json"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    told = json.loads(done.stdout)
    assert told["trials"] == 1000
    assert 0 < told["in_sample_us"] < told["whole_trial_us"]
