"""Sequence-level distillation: the training text again, its targets replaced by the teacher's own beam-4 output.

Kim & Rush 2016, https://arxiv.org/abs/1606.07947. A parallel student copes better with one consistent way to say a
thing than with the many a corpus holds (Zhou et al. 2020, https://arxiv.org/abs/1911.02727). Decoded by CTranslate2, in
pieces that are kept, so that a kill loses one piece at most.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

from generators.base import Natural, Placement, Prompt, Request, Stopwatch
from generators.models.files import save_model
from generators.models.text import Codec
from generators.strategies.ctranslate2 import CTranslate2, CTranslate2Config
from generators.training.data import Pair
from generators.training.recipes import RECIPES, model_values
from generators.training.teacher import NAME, teacher_state

BEAM_SIZE = 4
PIECE = 2048  # texts a file
BATCH_SIZE = 64


def distilled(pairs: Sequence[Pair], codec: Codec, folder: Path, threads: int) -> list[Pair]:
    """`pairs` with the teacher's outputs as targets; an empty output leaves its pair out."""
    home = folder / "distilled"
    home.mkdir(exist_ok=True)
    texts: list[str] = []
    teacher = None
    for start in range(0, len(pairs), PIECE):
        path = home / f"{start:06d}.txt"
        if not path.is_file():
            teacher = teacher or load_teacher(folder, threads)
            outputs = translate(teacher, codec, [pair.source for pair in pairs[start : start + PIECE]])
            path.with_suffix(".part").write_text("".join(f"{text}\n" for text in outputs), encoding="utf-8")
            path.with_suffix(".part").replace(path)
            print(f"distilled {min(start + PIECE, len(pairs)):,} of {len(pairs):,} texts", file=sys.stderr, flush=True)
        texts += path.read_text(encoding="utf-8").split("\n")[:-1]
    return [Pair(pair.source, text, pair.reference) for pair, text in zip(pairs, texts, strict=True) if text]


def load_teacher(folder: Path, threads: int) -> CTranslate2:
    """The trained teacher in the engine's form."""
    target = folder / "teacher"
    state = teacher_state(folder)
    vocabulary = folder / "vocabulary"
    save_model(state, model_values(RECIPES[NAME], state["model.shared.weight"].shape[0]), vocabulary, target)
    return CTranslate2.load(target, CTranslate2Config(beam_size=BEAM_SIZE), Placement(threads=threads))[0]


def translate(teacher: CTranslate2, codec: Codec, sources: Sequence[str]) -> list[str]:
    """The teacher's output for each source, as one line each; batches hold sources of similar length."""
    ids = [codec.encode(source) for source in sources]
    order = sorted(range(len(ids)), key=lambda i: len(ids[i]))
    outputs = [""] * len(ids)
    for start in range(0, len(order), BATCH_SIZE):
        rows = order[start : start + BATCH_SIZE]
        prompts = tuple(Prompt(prefix_ids=ids[row]) for row in rows)
        longest = min(2 * max(len(prompt.prefix_ids) for prompt in prompts), codec.max_source_tokens)
        generation = teacher.generate(Request(prompts=prompts, length=Natural(longest)), Stopwatch())
        for row, token_ids in zip(rows, generation.token_ids, strict=True):
            outputs[row] = " ".join(codec.decode(token_ids).split())
    return outputs
