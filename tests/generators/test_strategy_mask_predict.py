"""Mask-predict: the lengths it tries, what it masks again, and that one iteration is one-shot."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from generators.base import Exact, Natural, Stopwatch
from generators.models.heads import CmlmMarian
from generators.models.marian import Memory
from generators.models.text import MarianCodec
from generators.strategies.mask_predict import MaskPredict, MaskPredictConfig, least_sure, length_candidates
from tests.generators.asking import ask, random_sources
from tests.generators.tiny import tiny_model


def cmlm_model(**changes: float) -> CmlmMarian:
    model = tiny_model("cmlm", **changes)  # type: ignore[arg-type]
    assert isinstance(model, CmlmMarian)
    return model


@pytest.mark.parametrize("beam", [1, 2, 5])
@pytest.mark.parametrize("predicted", [0, 1, 2, 255, 256])
def test_the_lengths_tried_are_the_nearest_there_are(predicted: int, beam: int) -> None:
    (row,) = length_candidates(torch.tensor([float(predicted)]), beam, 256).tolist()
    nearest = sorted(range(1, 257), key=lambda length: (abs(length - min(max(predicted, 1), 256)), length))
    assert row == nearest[:beam]
    assert max(predicted, 1) in row


def test_each_row_has_its_own_lengths() -> None:
    found = length_candidates(torch.tensor([-3.0, 4.4, 4.6, 99.0]), 3, 10).tolist()
    assert found == [[1, 2, 3], [4, 5, 3], [5, 4, 6], [10, 9, 8]]


@given(location=st.floats(-1e6, 1e6), beam=st.integers(1, 9), longest=st.integers(1, 30))
def test_lengths_are_legal_and_never_twice(location: float, beam: int, longest: int) -> None:
    (row,) = length_candidates(torch.tensor([location], dtype=torch.float64), beam, longest).tolist()
    assert len(row) == len(set(row)) == min(beam, longest)
    assert all(1 <= length <= longest for length in row)
    distances = [abs(length - min(max(location, 1), longest)) for length in row]
    assert distances == sorted(distances)


def test_fewer_lengths_than_the_beam_is_wide_are_enough(codec: MarianCodec) -> None:
    strategy = MaskPredict(cmlm_model(), codec, MaskPredictConfig(length_beam=5))
    sources = random_sources(3)
    for max_new_tokens in (1, 2, 4):
        got = ask(strategy, sources, Natural(max_new_tokens))
        assert all(1 <= len(row) <= max_new_tokens for row in got.token_ids)
        assert sum(step.positions for step in got.steps[2:]) == 4 * 3 * max_new_tokens * max_new_tokens


def test_one_iteration_is_the_argmax_of_one_pass(codec: MarianCodec) -> None:
    model, sources = cmlm_model(), random_sources(6, seed=1)
    strategy = MaskPredict(model, codec, MaskPredictConfig(n_iterations=1))
    for source in sources:
        with torch.no_grad():
            logits = model.fill(torch.full((1, 7), model.mask_token_id), model.encode(torch.tensor([source])), None)[0]
        logits[:, [model.config.pad_token_id, model.config.eos_token_id, model.mask_token_id]] = -math.inf
        assert ask(strategy, [source], Exact(7)).token_ids == (tuple(logits.argmax(-1).tolist()),)


class Watched(MaskPredict):
    """Keeps what goes into each pass."""

    def refine(self, memory: Memory, lengths: torch.Tensor, *rest: object) -> tuple[torch.Tensor, torch.Tensor]:
        self.inputs: list[torch.Tensor] = []
        fill = CmlmMarian.fill

        def noted(token_ids: torch.Tensor, memory: Memory, mask: torch.Tensor | None) -> torch.Tensor:
            self.inputs.append(token_ids.clone())
            return fill(self.model, token_ids, memory, mask)

        self.model.fill = noted  # type: ignore[method-assign]
        return super().refine(memory, lengths, *rest)  # type: ignore[arg-type]


@pytest.mark.parametrize(("n", "n_iterations"), [(1, 10), (2, 10), (3, 10), (10, 4), (7, 1)])
def test_ever_fewer_tokens_are_masked_again_and_none_at_the_end(codec: MarianCodec, n: int, n_iterations: int) -> None:
    strategy = Watched(cmlm_model(), codec, MaskPredictConfig(n_iterations=n_iterations))
    (row,) = ask(strategy, [(5, 9, 14, 0)], Exact(n)).token_ids
    masks = [int((token_ids == strategy.model.mask_token_id).sum()) for token_ids in strategy.inputs]
    # n of n at first, then n (T - t) / T, rounded down: Ghazvininejad et al. 2019, section 4.1
    assert masks == [n, *(n * (n_iterations - t) // n_iterations for t in range(1, n_iterations))]
    assert strategy.model.mask_token_id not in row


def test_what_is_not_masked_again_stays(codec: MarianCodec) -> None:
    strategy = Watched(cmlm_model(), codec, MaskPredictConfig(n_iterations=5))
    ask(strategy, [(5, 9, 14, 0)], Exact(10))
    for before, after in zip(strategy.inputs[1:], strategy.inputs[2:], strict=False):
        shown = before != strategy.model.mask_token_id
        kept = after != strategy.model.mask_token_id
        assert torch.equal(before[shown & kept], after[shown & kept])


@given(
    rows=st.lists(st.lists(st.sampled_from([-3.0, -2.0, -1.0, 0.0]), min_size=1, max_size=8), min_size=1, max_size=3),
    data=st.data(),
)
def test_the_least_sure_are_masked_and_ties_go_left(rows: list[list[float]], data: st.DataObject) -> None:
    longest = max(map(len, rows))
    log_probs = torch.tensor([[*row, *[0.0] * (longest - len(row))] for row in rows])
    real = torch.tensor([[place < len(row) for place in range(longest)] for row in rows])
    n_masked = [data.draw(st.integers(0, len(row))) for row in rows]
    found = least_sure(log_probs, real, torch.tensor(n_masked))
    for row, n, masked in zip(rows, n_masked, found.tolist(), strict=True):
        wanted = sorted(range(len(row)), key=lambda place: (row[place], place))[:n]
        assert [place for place, hidden in enumerate(masked) if hidden] == sorted(wanted)


def test_special_tokens_never_come_out(codec: MarianCodec) -> None:
    model = cmlm_model()
    special = [model.config.pad_token_id, model.config.eos_token_id, model.mask_token_id]
    model.final_logits_bias[0, special] = 100.0
    for length in (Natural(12), Exact(5)):
        for row in ask(MaskPredict(model, codec), random_sources(6), length).token_ids:
            assert not set(special) & set(row)


def test_a_batch_is_its_rows_with_any_padding_id(codec: MarianCodec) -> None:
    for same in ({}, {"pad_token_id": 0, "decoder_start_token_id": 0}):
        strategy = MaskPredict(cmlm_model(**same), codec)
        sources = random_sources(8, seed=3)
        alone = [ask(strategy, [source], Natural(20)).token_ids[0] for source in sources]
        assert len({len(row) for row in alone}) > 2
        assert list(ask(strategy, sources, Natural(20)).token_ids) == alone
        assert list(ask(strategy, sources[::-1], Natural(20)).token_ids) == alone[::-1]


def test_the_winner_is_the_length_with_the_best_mean(codec: MarianCodec) -> None:
    model, source = cmlm_model(), random_sources(1, seed=9)[0]
    strategy = MaskPredict(model, codec)
    (row,) = ask(strategy, [source], Natural(20)).token_ids
    with torch.no_grad():
        lengths = length_candidates(model.length(model.encode(torch.tensor([source])))[0], 3, 20)[0]
        means = {}
        for length in lengths.tolist():
            memory = model.encode(torch.tensor([source]))
            token_ids, log_probs = strategy.refine(memory, torch.tensor([length]), Stopwatch())
            means[tuple(token_ids[0].tolist())] = log_probs.mean().item()
    assert row == max(means, key=lambda one: means[one])


@pytest.mark.parametrize("knobs", [{"n_iterations": 0}, {"length_beam": 0}])
def test_no_iteration_and_no_length_are_refused(knobs: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="must be 1 or more"):
        MaskPredictConfig(**knobs)
