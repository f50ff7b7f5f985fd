"""Coupled choices: a language of known probabilities, models trained on it on the spot, and what they mix up."""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from metrics import coupled
from suites import quality
from suites.environment import ROOT
from suites.line_up import LineUp
from suites.plan import Round, Setup
from suites.refusal import Refusal

TRAINED = "COUPLED"  # stands for the folder of the trained models until they are there
PASSES = (1, 2, 3, 4, 8)
CONTESTANTS = (
    f"ar:weights={TRAINED}/ar",
    *(f"mask_predict:weights={TRAINED}/cmlm:n_iterations={t}:length_beam=1" for t in PASSES),
)
TRAINING_SENTENCES, SENTENCES = 20_000, 200  # to learn from; to write


def line_up(asked: LineUp) -> LineUp:
    """The models' labels with their folder in place, trained first if need be; as it is where the user named others."""
    if asked.chosen:
        return asked
    folder = trained(asked)
    return replace(asked, labels=tuple(label.replace(TRAINED, str(folder)) for label in asked.labels))


def plan(setup: Setup) -> list[Sequence[Round]]:
    """One part: every sentence in batches. Nothing is timed."""
    rows = quality.spread(setup, setup.tasks[0])[: setup.repeats]
    return [
        quality.quality_rounds(setup, setup.tasks[0], setup.entrants, rows, batch_size=quality.BATCH_SIZE),
    ]


def trained(asked: LineUp) -> Path:
    """The folder of the models of this seed, language and code in the user's cache; made there, whole, if missing."""
    sources = (Path(coupled.__file__), ROOT / "generators" / "training" / "small.py")
    name = hashlib.sha256(b"".join(path.read_bytes() for path in sources) + str(asked.seed).encode()).hexdigest()[:12]
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "arnar" / "coupled" / name
    if not home.is_dir():
        asked.say("training tiny models of the coupled language: under a minute, once")
        try:
            home.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=home.parent) as fresh:
                _train(Path(fresh), asked.seed)
                Path(fresh, "models").replace(home)
        except OSError as failure:
            if not home.is_dir():  # another process may have been faster
                raise Refusal(f"cannot keep trained models in {home}: {failure.strerror}; set XDG_CACHE_HOME") from None
    return home


def _train(folder: Path, seed: int) -> None:
    """Both models in `folder`/models, by the training's own command in a process of its own."""
    pairs = coupled.sentences(TRAINING_SENTENCES, seed)
    text = "".join(f"{source}\t{target}\n" for source, target in pairs)
    (folder / "train.tsv").write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "generators.training.small", str(folder), str(folder / "models")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Refusal(f"training the tiny models failed: {' '.join(done.stderr.split())[-300:]}")
    shutil.rmtree(folder / "models" / "vocabulary")
