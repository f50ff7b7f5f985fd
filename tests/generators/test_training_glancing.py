"""Glancing: what is shown and what is learnt, and the alignments that CTC's glances come from."""

import itertools
import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from generators.models.heads import CtcMarian, Glance, NatMarian
from generators.strategies.ctc import collapse
from generators.training.alignment import best_alignment
from generators.training.data import Example, collate
from generators.training.glancing import choose_shown, ctc_glancing_loss, nat_loss
from generators.training.losses import LENGTH_WEIGHT, length_loss
from tests.generators.test_training_losses import smoothed
from tests.generators.tiny import VOCAB_SIZE, tiny_model

PAD, BLANK = VOCAB_SIZE - 1, 0
EXAMPLES = [Example((5, 9, 3, 6, 0), (7, 8, 9, 4, 6, 3)), Example((6, 2, 0), (4, 5, 5))]
BATCH = collate(EXAMPLES, PAD, 0, "cpu")


@given(
    st.lists(st.lists(st.sampled_from("wr"), min_size=1, max_size=9).map("".join), min_size=1, max_size=4),
    st.integers(0, 99),
)
def test_half_as_many_tokens_are_shown_as_were_wrong(rows: list[str], seed: int) -> None:
    longest = max(map(len, rows))
    real = torch.tensor([[i < len(row) for i in range(longest)] for row in rows])
    wrong = torch.tensor([[row[i : i + 1] == "w" for i in range(longest)] for row in rows])
    shown = choose_shown(wrong, real, torch.Generator().manual_seed(seed))
    assert not (shown & ~real).any()
    assert shown.sum(1).tolist() == [row.count("w") // 2 for row in rows]


def test_every_place_is_shown_as_often() -> None:
    """Right or wrong: what is shown says nothing of what was wrong (Qian et al. 2021, section 3.1)."""
    wrong = torch.tensor([[True, True, True, True, False]]).expand(4000, 5)
    shown = choose_shown(wrong, torch.ones_like(wrong), torch.Generator().manual_seed(0))
    counts = shown.sum(0).tolist()
    assert sum(counts) == 8000
    chi_square = sum((count - 1600) ** 2 / 1600 for count in counts)
    assert chi_square < 18.5  # the 99.9 % point of chi-square with 4 degrees of freedom; the seed is fixed


def test_the_nat_loss_is_of_what_is_not_shown_given_what_is() -> None:
    model = tiny_model("nat", seed=1)
    assert isinstance(model, NatMarian)
    losses, n_shown = [], 0
    with torch.no_grad():
        real = torch.tensor([[True] * 6, [True] * 3 + [False] * 3])
        written = torch.zeros(2, 6, dtype=torch.long)
        for row, example in enumerate(EXAMPLES):
            n = len(example.target_ids)
            logits = model.read(model.encode(torch.tensor([example.source_ids])), torch.tensor([n]))
            written[row, :n] = logits[0].argmax(-1)
        targets = torch.tensor([EXAMPLES[0].target_ids, (*EXAMPLES[1].target_ids, 0, 0, 0)])
        shown = choose_shown((written != targets) & real, real, torch.Generator().manual_seed(5))
        for row, example in enumerate(EXAMPLES):
            n = len(example.target_ids)
            memory, ids = model.encode(torch.tensor([example.source_ids])), torch.tensor([example.target_ids])
            log_probs = model.logits(model.hidden(memory, torch.tensor([n]), Glance(ids, shown[row : row + 1, :n])))
            log_probs = log_probs[0].log_softmax(-1)
            losses += [smoothed(log_probs[i], example.target_ids[i]) for i in range(n) if not shown[row, i]]
            n_shown += int(shown[row].sum())
        lengths = length_loss(model, model.encode(BATCH.source_ids), BATCH.target_lengths).item()
        found = nat_loss(model, BATCH, torch.Generator().manual_seed(5)).item()
    assert n_shown >= 3
    assert found == pytest.approx(sum(losses) / len(losses) + LENGTH_WEIGHT * lengths)


def test_a_model_that_is_right_glances_at_nothing() -> None:
    model = tiny_model("ctc")
    assert isinstance(model, CtcMarian)
    seen: list[torch.Tensor] = []
    model.model.decoder.register_forward_pre_hook(lambda _, given: seen.append(given[0]))
    with torch.no_grad():
        model.final_logits_bias[0, 7] = 100.0  # says 7 in every slot, which is the truth of the first text alone
        for target, right in (((7,), True), ((8, 9), False)):
            seen.clear()
            ctc_glancing_loss(model, collate([Example((5, 0), target)], PAD, 0, "cpu"), torch.Generator())
            assert torch.equal(seen[0], seen[1]) == right


def test_ctc_glances_at_the_best_alignment() -> None:
    model = tiny_model("ctc", seed=2)
    assert isinstance(model, CtcMarian)
    seen: list[torch.Tensor] = []
    model.model.decoder.register_forward_pre_hook(lambda _, given: seen.append(given[0]))
    batch = collate(EXAMPLES[:1], PAD, 0, "cpu")
    with torch.no_grad():
        log_probs = model.read(model.encode(batch.source_ids)).log_softmax(-1)
        seen.clear()
        ctc_glancing_loss(model, batch, torch.Generator().manual_seed(1))
        (row,) = best_alignment(
            log_probs, batch.target_ids, torch.tensor([10]), batch.target_lengths, model.blank_token_id
        )
        real = torch.arange(row.shape[0]) < 10  # a batch is wider than its sources
        truth = model.embed_at(row[None], torch.zeros(row[None].shape, dtype=torch.long)) - model.positions[0]
        places = model.canvas_positions[: len(row)]  # type: ignore[index]
    changed = (seen[0] != seen[1]).any(-1)[0]
    n_wrong = int(((log_probs[0].argmax(-1) != row) & real).sum())
    assert int(changed.sum()) == n_wrong // 2 > 1
    torch.testing.assert_close(seen[1][0, changed] - places[changed], truth[0, changed])


def all_alignments(target: tuple[int, ...], n_slots: int, n_ids: int) -> list[tuple[int, ...]]:
    every = itertools.product(range(n_ids), repeat=n_slots)
    return [one for one in every if tuple(collapse(one, BLANK)) == target]


@pytest.mark.parametrize("target", [(1,), (2, 1), (1, 1), (3, 3, 2), (1, 2, 3), ()])
@pytest.mark.parametrize("seed", range(4))
def test_the_best_alignment_is_the_best_of_all(target: tuple[int, ...], seed: int) -> None:
    random = torch.Generator().manual_seed(seed)
    log_probs = (torch.randn(1, 5, 4, generator=random, dtype=torch.float64) * 2).log_softmax(-1)
    padded = torch.tensor([[*target, *[3] * (4 - len(target))]])
    (row,) = best_alignment(log_probs, padded, torch.tensor([5]), torch.tensor([len(target)]), BLANK).tolist()

    def worth(alignment: tuple[int, ...]) -> float:
        return sum(log_probs[0, slot, token].item() for slot, token in enumerate(alignment))

    assert tuple(row) == max(all_alignments(target, 5, 4), key=worth)


def test_an_alignment_does_not_depend_on_its_neighbours() -> None:
    random = torch.Generator().manual_seed(7)
    log_probs = torch.randn(3, 8, 6, generator=random, dtype=torch.float64).log_softmax(-1)
    targets = torch.tensor([[1, 2, 3, 4], [5, 5, 0, 0], [2, 0, 0, 0]])
    canvas, lengths = torch.tensor([8, 6, 2]), torch.tensor([4, 2, 1])
    together = best_alignment(log_probs, targets, canvas, lengths, BLANK)
    for row in range(3):
        n, slots = int(lengths[row]), int(canvas[row])
        alone = best_alignment(
            log_probs[row : row + 1, :slots], targets[row : row + 1, :n], canvas[row : row + 1],
            lengths[row : row + 1], BLANK,
        )  # fmt: skip
        assert together[row].tolist() == [*alone[0].tolist(), *[BLANK] * (8 - slots)]
        assert collapse(together[row].tolist(), BLANK) == targets[row, :n].tolist()


def test_a_target_beyond_its_canvas_has_no_alignment_and_stops_nobody() -> None:
    model = tiny_model("ctc")
    beyond = Example((6, 0), (4, 5, 3, 7, 8))
    with torch.no_grad():
        found = ctc_glancing_loss(model, collate([beyond, EXAMPLES[1]], PAD, 0, "cpu"), torch.Generator())
    assert math.isfinite(found.item())
