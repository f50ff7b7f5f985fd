"""Each strategy at its best: a small search over data type and threads, on the validation verses alone.

What is chosen by it (`python -m reports best RUN`) is then to be raced on the test set: to choose there would be to
choose by chance as well.
"""

import os
from collections.abc import Sequence
from pathlib import Path

from suites import quality
from suites.plan import Round, Setup

TASK = str(Path(__file__).parent.parent / "generators/training/corpora/bible-kjv-web/valid.tsv.gz")
TORCH = ("ar", "ar:weights=ar_shallow", "ctc", "mask_predict:n_iterations=4")
ENGINES = (
    "ctranslate2",
    "ctranslate2:compute_type=int8",
    "ctranslate2:weights=ar_shallow",
    "ctranslate2:weights=ar_shallow:compute_type=int8",
    "ctc:engine=onnx",
    "ctc:engine=onnx_int8",
    "mask_predict:n_iterations=4:engine=onnx",
    "mask_predict:n_iterations=4:engine=onnx_int8",
)
THREADS = tuple(2**i for i in range((os.cpu_count() or 1).bit_length()))  # 1, 2, 4 … to the cores that are here
KINDS = (*TORCH, *(f"{label}:dtype=bfloat16" for label in TORCH), *ENGINES)
CONTESTANTS = tuple(label if n == 1 else f"{label}:threads={n}" for label in KINDS for n in THREADS)
VERSES = 200
SENTENCES = 30


def plan(setup: Setup) -> list[Sequence[Round]]:
    """Two parts, as in `quality`, on a sample of the verses."""
    task = setup.tasks[0]
    rows = quality.spread(setup, task)[:VERSES]
    return [
        quality.quality_rounds(setup, task, setup.entrants, rows, batch_size=quality.BATCH_SIZE),
        quality.sentence_rounds(setup, task, setup.entrants, rows[: setup.repeats]),
    ]
