"""Traced outputs made up on the spot, of every way of writing a sentence, with their timed trials."""

from collections.abc import Sequence
from dataclasses import replace

from generators.base import Frame, Slot, SlotState
from suites.records import Sample, StepRecord, Trace
from suites.trace import TracedStep
from suites.tracing import histories
from tests.reports.synthetic import TASK, Made, record

WORDS = ["in", "the", "beginning", "was", "the", "word", "."]
MASK = 99
SOURCE = "In the begynnynge was the worde."
Steps = Sequence[tuple[str, float]]  # phase, seconds
Places = Sequence[tuple[int, int, str]]  # uid, index into WORDS or MASK, letter of the state
STATES = {"m": SlotState.MASKED, "t": SlotState.TENTATIVE, "f": SlotState.FINAL}


def add_trace(
    made: Made, label: str, steps: Steps, frames: Sequence[tuple[int, Places]], row: int = 0, repeat: int = 0
) -> None:
    """A timed trial of `label` on `row` with these steps, and its trace."""
    slots = histories([Frame(step, tuple(Slot(u, w, STATES[s]) for u, w, s in row)) for step, row in frames])
    trace = Trace(
        steps=tuple(TracedStep(phase=phase, calls=1, positions=7) for phase, _ in steps),
        frames=tuple(step for step, _ in frames),
        slots=slots,
        pieces={str(i): f" {word}" for i, word in enumerate(WORDS)},
    )
    kept = trace.token_ids
    latency_s = sum(seconds for _, seconds in steps) + 0.0005
    trial = record(label, mode="natural", length=None, repeat=repeat, latency_s=latency_s, kept=len(kept))
    done = tuple(StepRecord(phase=phase, seconds=seconds, calls=1, positions=7) for phase, seconds in steps)
    trial = replace(trial, steps=done, prompt_rows=(row,))
    made.records.append(trial)
    made.traced.append(
        Sample(
            key=trial.key,
            task=TASK,
            label=label,
            row=row,
            source=SOURCE,
            reference="In the beginning was the Word.",
            reference_ids=kept,
            token_ids=kept,
            text=" ".join(WORDS[i] for i in kept),
            finish_reason="eos",
            trace=trace,
        )
    )


def final(*words: int) -> list[tuple[int, int, str]]:
    return [(place, word, "m" if word == MASK else "f") for place, word in enumerate(words)]


def tentative(*words: int) -> list[tuple[int, int, str]]:
    return [(uid, word, "t" if state == "f" else state) for uid, word, state in final(*words)]


def add_ar(made: Made, label: str = "ar", row: int = 0, repeat: int = 0, words: int = 7) -> None:
    """A word a step of 2 ms, from 3 ms on, and a last step for the end."""
    steps = [("encode", 0.001), *[("decode", 0.002)] * (words + 1)]
    frames = [(1 + n, final(*range(min(n + 1, words)))) for n in range(words + 1)]
    add_trace(made, label, steps, frames, row, repeat)


def all_ways(row: int = 0, repeat: int = 0) -> Made:
    """AR, a beam, one-shot, mask-predict, blocks, edits and speculation, each as its frames would be."""
    made = Made()
    add_ar(made, row=row, repeat=repeat)
    first = ("encode", 0.001)

    def add(label: str, steps: Steps, frames: Sequence[tuple[int, Places]]) -> None:
        add_trace(made, label, [first, *steps], frames, row, repeat)

    add(
        "ar:beam_size=4", [("decode", 0.004)] * 3,
        [(1, tentative(1)), (2, tentative(0, 1)), (3, final(0, 1, 2))],
    )  # fmt: skip
    add("ctc", [("decode", 0.003), ("host", 0.0001)], [
        (1, [(0, 0, "t"), (1, 0, "t"), (2, MASK, "m"), (3, 1, "t"), (4, MASK, "m"), (5, 2, "t")]),
        (2, [(0, 0, "f"), (3, 1, "f"), (5, 2, "f")]),
    ])  # fmt: skip
    add("mask_predict", [("host", 0.0001), *[("decode", 0.003)] * 3, ("host", 0.0001)], [
        (1, final(*[MASK] * 5)), (2, tentative(0, MASK, 3, MASK, 4)), (3, tentative(0, 1, MASK, MASK, 5)),
        (4, tentative(0, 1, 2, 3, 5)), (5, final(0, 1, 2, 3, 5)),
    ])  # fmt: skip
    add("blocks", [("decode", 0.002)] * 4, [
        (0, final(*[MASK] * 4)), (1, final(0, MASK, MASK, MASK)), (2, final(0, 1, MASK, MASK)),
        (3, final(0, 1, MASK, 3)), (4, final(0, 1, 2, 3)),
    ])  # fmt: skip
    add("levenshtein", [("decode", 0.002)] * 3, [
        (0, [(0, 0, "f"), (1, 4, "t")]), (1, [(0, 0, "f")]),
        (2, [(0, 0, "f"), (2, MASK, "m"), (3, MASK, "m")]), (3, [(0, 0, "f"), (2, 1, "f"), (3, 2, "f")]),
    ])  # fmt: skip
    add("speculative", [("draft", 0.0005), ("decode", 0.002)], [
        (1, tentative(0, 1, 3)), (2, [(0, 0, "f"), (1, 1, "f"), (4, 2, "f")]),
    ])  # fmt: skip
    return made
