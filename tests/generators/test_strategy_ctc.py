"""CTC: what an alignment stands for, and that loss and decoder agree on it."""

import itertools
import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from generators.base import FinishReason, Natural
from generators.models.heads import CtcMarian
from generators.models.text import MarianCodec
from generators.strategies.ctc import Ctc, collapse
from generators.training.data import Batch, Example, collate
from generators.training.losses import ctc_loss, without_alignment
from tests.generators.asking import ask, random_sources
from tests.generators.tiny import tiny_model


def words(text: str) -> list[int]:
    return [ord(letter) for letter in text]


@pytest.mark.parametrize(
    ("frames", "wanted"),
    [
        ("aa_aa", "aa"),
        ("_", ""),
        ("a__a", "aa"),
        ("aab", "ab"),
        ("", ""),
        ("a_b_", "ab"),
        ("___a", "a"),
        ("abab", "abab"),
    ],
)
def test_equal_neighbours_merge_before_blanks_drop(frames: str, wanted: str) -> None:
    assert collapse(words(frames), ord("_")) == words(wanted)


@given(st.lists(st.integers(0, 3), max_size=20))
def test_collapsing_is_grouping_and_dropping(frames: list[int]) -> None:
    assert collapse(frames, 0) == [token for token, _ in itertools.groupby(frames) if token != 0]


@given(st.lists(st.integers(1, 5), max_size=10))
def test_every_text_has_an_alignment_with_room_for_its_repeats(tokens: list[int]) -> None:
    frames = list(itertools.chain.from_iterable((token, 0) for token in tokens))
    assert collapse(frames, 0) == tokens  # "very very good" keeps both


def ctc_model(**changes: int) -> CtcMarian:
    model = tiny_model("ctc", **changes)
    assert isinstance(model, CtcMarian)
    return model


SMALL = {"vocab_size": 5, "decoder_vocab_size": 5, "pad_token_id": 4, "decoder_start_token_id": 4}


@pytest.mark.parametrize("target", [(1,), (2, 1), (1, 1), (2, 2, 1)])
def test_the_loss_is_the_probability_of_all_that_collapses_to_the_target(target: tuple[int, ...]) -> None:
    blank = 3
    model = ctc_model(**SMALL, arnar={"head": "ctc", "upsampling": 2, "blank_token_id": blank})
    batch = collate([Example((2, 0), target)], 4, 0, "cpu")
    with torch.no_grad():
        loss = ctc_loss(model, batch, torch.Generator()).item()
        log_probs = model.read(model.encode(batch.source_ids))[0].log_softmax(-1)
    alignments = itertools.product(range(5), repeat=4)  # two source tokens, a canvas of four
    logs = [
        sum(log_probs[place, token].item() for place, token in enumerate(one))
        for one in alignments
        if tuple(collapse(one, blank)) == target
    ]
    wanted = -torch.tensor(logs, dtype=torch.float64).logsumexp(0).item() / len(target)
    assert loss == pytest.approx(wanted, rel=1e-5)


def test_a_target_that_cannot_fit_teaches_nothing_and_breaks_nothing() -> None:
    model = ctc_model().train()
    fits, too_long = Example((5, 7, 0), (9, 8)), Example((5, 0), (9, 9, 9))  # three equal tokens need five slots
    loss = ctc_loss(model, collate([fits, too_long], 59, 0, "cpu"), torch.Generator())
    loss.backward()  # type: ignore[no-untyped-call]
    gradients = [parameter.grad for parameter in model.parameters() if parameter.grad is not None]
    assert all(torch.isfinite(gradient).all() for gradient in gradients)
    alone: Batch = collate([too_long], 59, 0, "cpu")
    assert ctc_loss(model, alone, torch.Generator()).item() == 0.0


def test_targets_that_cannot_fit_are_counted() -> None:
    fits = [Example((5, 0), (9, 8, 9, 8)), Example((5, 0), (9, 9, 8)), Example((5, 0), ())]
    too_long = [Example((5, 0), (9, 8, 9, 8, 9)), Example((5, 0), (9, 9, 9))]
    assert without_alignment(fits + too_long, 2) == 2
    for one in fits[:2]:  # the loss agrees
        assert ctc_loss(ctc_model(), collate([one], 59, 0, "cpu"), torch.Generator()).item() > 0


def test_the_answer_is_the_best_frame_of_every_slot(codec: MarianCodec) -> None:
    model, source = ctc_model(), random_sources(1, seed=3)[0]
    with torch.no_grad():
        logits = model.read(model.encode(torch.tensor([source])))[0]
    logits[:, model.config.pad_token_id] = -math.inf
    wanted = collapse(logits.argmax(-1).tolist(), model.blank_token_id)
    (row,) = ask(Ctc(model, codec), [source], Natural(40)).token_ids
    assert row == tuple(wanted[: wanted.index(0)] if 0 in wanted else wanted)


def test_an_answer_longer_than_wanted_is_cut_and_says_so(codec: MarianCodec) -> None:
    ctc = Ctc(ctc_model(eos_bias=-9.0), codec)
    sources = random_sources(10, seed=4)
    whole = ask(ctc, sources, Natural(40))
    canvas = [2 * len(source) for source in sources]
    assert [reason is FinishReason.CANVAS_FULL for reason in whole.finish_reasons] == [
        len(row) == n_slots for row, n_slots in zip(whole.token_ids, canvas, strict=True)
    ]
    assert set(whole.finish_reasons) == {FinishReason.EOS, FinishReason.CANVAS_FULL}
    cut = ask(ctc, sources, Natural(2))
    assert [row[:2] for row in whole.token_ids] == list(cut.token_ids)
    assert cut.tokens_raw == whole.tokens_raw
    reasons = [FinishReason.LENGTH if n >= 2 else FinishReason.EOS for n in map(len, whole.token_ids)]
    assert list(cut.finish_reasons) == reasons


def test_slots_of_padding_say_nothing(codec: MarianCodec) -> None:
    ctc, sources = Ctc(ctc_model(), codec), random_sources(8, seed=5)
    together = ask(ctc, sources, Natural(40))
    assert list(together.token_ids) == [ask(ctc, [source], Natural(40)).token_ids[0] for source in sources]
    assert together.canvas_positions == tuple(2 * len(source) for source in sources)
