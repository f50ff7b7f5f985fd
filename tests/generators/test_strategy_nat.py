"""One-shot of a predicted length, and how candidates of several lengths are judged."""

import math

import pytest
import torch

from generators.base import Exact, Natural, Phase, Prompt, Request, Stopwatch
from generators.models.heads import Glance, NatMarian
from generators.models.marian import Marian
from generators.models.text import MarianCodec
from generators.strategies.mask_predict import MaskPredict, MaskPredictConfig, length_candidates
from generators.strategies.nat import Nat, NatConfig
from generators.strategies.rescoring import score, select
from tests.generators.asking import ask, random_sources
from tests.generators.tiny import POSITIONS, tiny_model


def nat_model() -> NatMarian:
    model = tiny_model("nat")
    assert isinstance(model, NatMarian)
    return model


def test_the_answer_is_the_argmax_of_one_pass(codec: MarianCodec) -> None:
    model = nat_model()
    for source in random_sources(6, seed=1):
        with torch.no_grad():
            logits = model.read(model.encode(torch.tensor([source])), torch.tensor([7]))[0]
        logits[:, [model.config.pad_token_id, model.config.eos_token_id, model.mask_token_id]] = -math.inf
        assert ask(Nat(model, codec), [source], Exact(7)).token_ids == (tuple(logits.argmax(-1).tolist()),)


def test_a_length_is_read_the_same_beside_other_lengths_and_sources() -> None:
    model, sources = nat_model(), [(5, 9, 14, 0), (7, 3, 0), (0,)]
    lengths = [3, 6, 1]
    padded = torch.tensor([[*source, *[59] * (4 - len(source))] for source in sources])
    with torch.no_grad():
        together = model.read(model.encode(padded), torch.tensor(lengths))
        for row, (source, n) in enumerate(zip(sources, lengths, strict=True)):
            alone = model.read(model.encode(torch.tensor([source])), torch.tensor([n]))[0]
            torch.testing.assert_close(together[row, :n], alone, rtol=0, atol=1e-12)


def test_places_copy_the_source_in_order_and_evenly() -> None:
    model = nat_model()
    inputs: list[torch.Tensor] = []
    model.model.decoder.register_forward_pre_hook(lambda _, given: inputs.append(given[0]))
    with torch.no_grad():
        model.canvas_proj.weight.copy_(torch.eye(model.config.d_model))
        model.canvas_proj.bias.zero_()
        memory = model.encode(torch.tensor([(5, 9, 14, 3, 0)]))
        for n, wanted in ((4, [0, 1, 2, 3]), (8, [0, 0, 1, 1, 2, 2, 3, 3]), (2, [0, 2]), (1, [0])):  # never the EOS
            model.hidden(memory, torch.tensor([n]))
            torch.testing.assert_close(inputs.pop()[0] - model.positions[:n], memory.states[0, wanted])


def test_a_glance_puts_true_tokens_in_their_places() -> None:
    model = nat_model()
    inputs: list[torch.Tensor] = []
    model.model.decoder.register_forward_pre_hook(lambda _, given: inputs.append(given[0]))
    with torch.no_grad():
        memory, lengths = model.encode(torch.tensor([(5, 9, 0)])), torch.tensor([3])
        model.hidden(memory, lengths)
        model.hidden(memory, lengths, Glance(torch.tensor([[7, 8, 9]]), torch.tensor([[False, True, False]])))
        shown = model.embed(torch.tensor([[7, 8, 9]]))
    assert torch.equal(inputs[0][0, [0, 2]], inputs[1][0, [0, 2]])
    assert torch.equal(inputs[1][0, 1], shown[0, 1])


def test_the_winner_is_the_length_with_the_best_mean(codec: MarianCodec) -> None:
    model, source = nat_model(), random_sources(1, seed=9)[0]
    strategy = Nat(model, codec)
    (row,) = ask(strategy, [source], Natural(20)).token_ids
    means = {}
    with torch.no_grad():
        memory = model.encode(torch.tensor([source]))
        for length in length_candidates(model.length(memory)[0], 3, 20)[0].tolist():
            token_ids, log_probs = strategy.write(memory, torch.tensor([length]))
            means[tuple(token_ids[0].tolist())] = log_probs.mean().item()
    assert len(means) == 3
    assert row == max(means, key=lambda one: means[one])


def mean_log_prob(scorer: Marian, source: tuple[int, ...], row: tuple[int, ...]) -> float:
    """Of a candidate's tokens and its end, one decoder pass over it alone."""
    wanted = torch.tensor([*row, scorer.config.eos_token_id])
    with torch.no_grad():
        decoder_ids = torch.tensor([[scorer.config.decoder_start_token_id, *row]])
        log_probs = scorer(torch.tensor([source]), decoder_ids)[0].log_softmax(-1)
    return float(log_probs.gather(1, wanted[:, None]).mean())


@pytest.mark.parametrize("kind", ["nat", "mask_predict"])
def test_a_scorer_chooses_what_it_finds_most_likely_and_is_charged(codec: MarianCodec, kind: str) -> None:
    scorer, sources = tiny_model("ar_student", seed=5), random_sources(12, seed=4)
    written = tiny_model("nat" if kind == "nat" else "cmlm")

    def strategy(beam: int, scorer: Marian | None) -> Nat | MaskPredict:
        if isinstance(written, NatMarian):
            return Nat(written, codec, NatConfig(length_beam=beam), scorer)
        return MaskPredict(written, codec, MaskPredictConfig(length_beam=beam), scorer)  # type: ignore[arg-type]

    got = ask(strategy(4, scorer), sources, Natural(20))
    plain = ask(strategy(4, None), sources, Natural(20))
    assert sum(a != b for a, b in zip(got.token_ids, plain.token_ids, strict=True)) >= 3  # the judges do differ
    for source, row in zip(sources, got.token_ids, strict=True):
        with torch.no_grad():
            lengths = length_candidates(written.length(written.encode(torch.tensor([source])))[0], 4, 20)[0].tolist()  # type: ignore[operator]
        candidates = [ask(strategy(1, None), [source], Exact(n)).token_ids[0] for n in lengths]
        assert row == max(candidates, key=lambda one: mean_log_prob(scorer, source, one))
    encoded, decoded = [step for step in got.steps if step.phase is Phase.SCORE]
    assert (encoded.calls, encoded.positions) == (1, 12 * max(map(len, sources)))
    assert got.canvas_positions is not None
    assert (decoded.calls, decoded.positions) == (1, 12 * 4 * (max(got.canvas_positions) + 1))  # and each one's EOS
    assert not [step for step in plain.steps if step.phase is Phase.SCORE]
    assert not [step for step in ask(strategy(4, scorer), sources, Exact(5)).steps if step.phase is Phase.SCORE]


def test_an_empty_candidate_never_wins_by_its_emptiness() -> None:
    scorer = tiny_model("ar_student", eos_bias=30.0)  # nothing is as likely as the end
    request = Request(prompts=(Prompt(prefix_ids=(5, 9, 0)),), length=Natural(5))
    with torch.no_grad():
        scores = score(scorer, request, [(), (7, 8), ()], Stopwatch()).tolist()
        assert scores[0] == scores[2] == -math.inf
        assert scores[1] == pytest.approx(mean_log_prob(scorer, (5, 9, 0), (7, 8)))
        token_ids, lengths = torch.tensor([[7, 8], [7, 8], [7, 8]]), torch.tensor([[0, 2, 0]])
        best = select(token_ids, torch.zeros(3, 2), lengths, scorer, request, Stopwatch())
    assert best.tolist() == [1]


def test_a_candidate_as_long_as_the_positions_is_scored_without_its_end() -> None:
    scorer = tiny_model("ar_student")
    request = Request(prompts=(Prompt(prefix_ids=(5, 9, 0)),), length=Natural(POSITIONS))
    longest = [7] * POSITIONS
    with torch.no_grad():
        (found,) = score(scorer, request, [longest], Stopwatch()).tolist()
        decoder_ids = torch.tensor([[scorer.config.decoder_start_token_id, *longest[:-1]]])
        log_probs = scorer(torch.tensor([(5, 9, 0)]), decoder_ids)[0].log_softmax(-1)
    assert found == pytest.approx(log_probs[:, 7].mean().item())


def test_no_length_is_refused() -> None:
    with pytest.raises(ValueError, match="length_beam must be 1 or more, got 0"):
        NatConfig(length_beam=0)
