"""The shapes that the literature reports, measured again in one run: iterations, length beam, distillation, batch."""

from collections.abc import Sequence
from dataclasses import replace

from suites import latency, quality
from suites.line_up import LineUp
from suites.plan import Round, Setup

_T = [f"mask_predict:n_iterations={t}:length_beam=3" for t in (1, 2, 4, 10)]
_BEAM = [f"mask_predict:n_iterations=4:length_beam={beam}" for beam in (1, 2, 5, 9)]
TIMED = ("ar", "ar:weights=ar_shallow", "mask_predict:n_iterations=4:length_beam=3")
RAW = ("ctc:weights=ctc_raw", "mask_predict:weights=cmlm_raw:n_iterations=4:length_beam=3")  # if they are shipped
CONTESTANTS = ("copy", "ar", "ar:weights=ar", "ar:weights=ar_shallow", "ctc", *_T, *_BEAM, *RAW)
LENGTHS = (64,)
BATCH_SIZES = (1, 8, 32)
REPEATS = 20
VERSES = 400
BUDGET = "20m"


def line_up(asked: LineUp) -> LineUp:
    """All contestants whose weights are here; the models trained on the original text need not be."""
    from generators.registry import SHIPPED

    absent = [label for label in RAW if not (SHIPPED / _weights(label) / "config.json").is_file()]
    if asked.chosen or not absent:
        return asked
    asked.say(f"not shipped, so left out: {', '.join(map(_weights, absent))}")
    return replace(asked, labels=tuple(label for label in asked.labels if label not in absent))


def plan(setup: Setup) -> list[Sequence[Round]]:
    """Two parts: latency at three batch sizes on the first task, quality on the last one."""
    lengths, verses = setup.tasks[0], setup.tasks[-1]
    rows = quality.spread(setup, verses)[:VERSES]
    return [
        latency.latency_rounds(setup, lengths, setup.among(TIMED)),
        quality.quality_rounds(setup, verses, setup.entrants, rows, batch_size=quality.BATCH_SIZE),
    ]


def _weights(label: str) -> str:
    return label.partition("weights=")[2].partition(":")[0]
