"""The shipped weights are the trained ones: what they write of unseen verses is what training is for."""

from collections.abc import Sequence

import pytest
import sacrebleu

from generators.base import Natural, Prompt, Request, Stopwatch
from generators.registry import build, parse
from suites.tasks import Row, load_task

ROWS = load_task("verse").rows[::40]  # 40 verses, spread over the test set
MORE_ROWS = load_task("verse").rows[::8]  # 196: four iterations and ten are about a point of BLEU apart


def bleu(label: str, rows: Sequence[Row] = ROWS) -> float:
    loaded = build(parse(label))
    prompts = tuple(Prompt(prefix_ids=loaded.codec.encode(row.source)) for row in rows)
    generation = loaded.generator.generate(Request(prompts=prompts, length=Natural(128)), Stopwatch())
    texts = [loaded.codec.decode(token_ids) for token_ids in generation.token_ids]
    return float(sacrebleu.corpus_bleu(texts, [[row.reference for row in rows]]).score)


@pytest.mark.parametrize("label", ["ar:weights=ar", "ar", "ar:weights=ar_shallow", "ctc"])
def test_a_trained_model_beats_copying_its_source(label: str) -> None:
    assert bleu(label) > bleu("copy") + 5


def test_mask_predict_is_better_the_more_often_it_refines() -> None:
    once, four_times, ten_times = (bleu(f"mask_predict:n_iterations={n}", MORE_ROWS) for n in (1, 4, 10))
    assert once < four_times < ten_times
