"""The one loop all models are trained by: its rules, and that a kill changes nothing."""

import json
import math
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
import torch

from generators.models.files import build_model
from generators.models.marian import Marian
from generators.training.data import Example
from generators.training.loop import Progress, initialise, learning_rate, train
from generators.training.losses import Loss, ar_loss
from generators.training.pipeline import LOSSES
from generators.training.recipes import RECIPES, Schedule, model_values
from tests.generators.tiny import VOCAB_SIZE, tiny_values

SCHEDULE = Schedule(
    batch_tokens=24, warmup_updates=4, evaluate_every=3, averaged=2, max_updates=9, patience_updates=100, seed=7
)
EXAMPLES = [Example((2 + place, 9, 5, 0), (3 + place, 8, 4)) for place in range(20)]
PAD = VOCAB_SIZE - 1


class Killed(BaseException):
    """As if by `kill -9`: nothing catches it."""


def rising() -> Callable[[Marian], float]:
    scores = iter(range(1000))
    return lambda _: float(next(scores))


def run(
    folder: Path,
    *,
    recipe: str = "ar",
    loss: Loss = ar_loss,
    schedule: Schedule = SCHEDULE,
    score: Callable[[Marian], float] | None = None,
    kill_at: int | None = None,
) -> tuple[Marian, Progress]:
    """Train a tiny model as the real ones are, dropout and bf16 autocast included; killed after `kill_at` updates."""
    model = build_model(tiny_values(recipe), dropout=0.1)
    initialise(model, schedule.seed, None)
    calls = 0

    def counted(*inputs: object) -> torch.Tensor:
        nonlocal calls
        calls += 1
        if kill_at is not None and calls > kill_at:
            raise Killed
        return loss(*inputs)  # type: ignore[arg-type]

    progress = train(model, EXAMPLES, counted, score or rising(), schedule, folder, lambda _: None)
    return model, progress


@pytest.mark.parametrize("recipe", ["ar", "ctc", "cmlm", "ctc_glancing", "nat", "semi_ar"])
def test_a_killed_training_ends_in_the_same_weights(tmp_path: Path, recipe: str) -> None:
    loss = LOSSES[RECIPES[recipe].head, RECIPES[recipe].glancing]
    whole, progress = run(tmp_path / "whole", recipe=recipe, loss=loss)
    with pytest.raises(Killed):
        run(tmp_path / "killed", recipe=recipe, loss=loss, kill_at=8)  # two updates after the second evaluation
    torch.manual_seed(99)  # another process has another random state
    with pytest.raises(Killed):
        run(tmp_path / "killed", recipe=recipe, loss=loss, kill_at=1)
    resumed, again = run(tmp_path / "killed", recipe=recipe, loss=loss, score=after(2))
    assert again.update == progress.update == 9
    assert (again.epoch, again.batch, again.tokens) == (progress.epoch, progress.batch, progress.tokens)
    assert again.curve == progress.curve
    for name, value in whole.state_dict().items():
        assert torch.equal(value, resumed.state_dict()[name]), name
    best = [torch.load(tmp_path / folder / "best.pt", weights_only=True) for folder in ("whole", "killed")]
    assert all(torch.equal(best[0][name], best[1][name]) for name in best[0])


def after(n_evaluations: int) -> Callable[[Marian], float]:
    score = rising()
    for _ in range(n_evaluations):
        score(None)  # type: ignore[arg-type]
    return score


def test_a_kill_while_saving_leaves_the_state_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(tmp_path, schedule=replace(SCHEDULE, max_updates=3))
    before = (tmp_path / "state.pt").read_bytes()
    real = torch.save

    def torn(value: object, path: Path) -> None:
        if "state" in path.name:
            path.write_bytes(b"half")
            raise Killed
        real(value, path)

    with monkeypatch.context() as patch:
        patch.setattr(torch, "save", torn)
        with pytest.raises(Killed):
            run(tmp_path, score=after(1))
    assert (tmp_path / "state.pt").read_bytes() == before
    _, progress = run(tmp_path, score=after(1))
    assert [update for update, _ in progress.curve] == [3, 6, 9]


def test_a_finished_training_does_nothing_more(tmp_path: Path) -> None:
    run(tmp_path)
    _, progress = run(tmp_path, kill_at=0)
    assert progress.update == 9


def test_the_padding_stays_zero_while_its_neighbours_learn(tmp_path: Path) -> None:
    model, _ = run(tmp_path)
    weight = model.model.shared.weight
    assert weight[PAD].abs().max() == 0
    fresh = build_model(tiny_values("ar"))
    initialise(fresh, SCHEDULE.seed, None)
    assert (weight[:PAD] != fresh.model.shared.weight[:PAD]).any(1).all()


def test_training_learns(tmp_path: Path) -> None:
    losses: list[float] = []

    def noted(*inputs: object) -> torch.Tensor:
        value = ar_loss(*inputs)  # type: ignore[arg-type]
        losses.append(value.item())
        return value

    run(tmp_path, loss=noted, schedule=replace(SCHEDULE, max_updates=60, peak_learning_rate=1e-2))
    assert sum(losses[-10:]) < 0.8 * sum(losses[:10])


def test_the_best_is_the_mean_of_the_last_checkpoints_at_the_best_score(tmp_path: Path) -> None:
    seen: list[dict[str, torch.Tensor]] = []
    scores = iter([1.0, 5.0, 2.0])

    def score(model: Marian) -> float:
        seen.append({name: value.clone() for name, value in model.state_dict().items()})
        return next(scores)

    model, progress = run(tmp_path, score=score)
    assert (progress.best_bleu, progress.best_update) == (5.0, 6)
    best = torch.load(tmp_path / "best.pt", weights_only=True)
    assert all(torch.equal(best[name], seen[1][name]) for name in best)
    last = torch.load(tmp_path / "state.pt", weights_only=True)
    first, second = last["progress"]["checkpoints"]
    for name, value in seen[2].items():
        torch.testing.assert_close(value, (first[name] + second[name]) / 2)
        assert torch.equal(model.state_dict()[name], second[name])  # training goes on from where it was, not the mean
    assert json.loads((tmp_path / "curve.json").read_text())["curve"] == [[3, 1.0], [6, 5.0], [9, 2.0]]


def test_training_stops_when_the_score_has_not_risen_for_as_long_as_allowed(tmp_path: Path) -> None:
    scores = iter([4.0, 4.0, 3.0, 9.0])
    schedule = replace(SCHEDULE, max_updates=100, patience_updates=6)
    _, progress = run(tmp_path, score=lambda _: next(scores), schedule=schedule)
    assert (progress.update, progress.best_update) == (9, 3)
    assert progress.stopped_by(schedule) == "no rise of valid BLEU for 6 updates"
    assert Progress(update=100).stopped_by(schedule) == "cap of 100 updates"
    assert Progress(update=99, best_update=94).stopped_by(schedule) is None


def test_a_student_starts_from_its_teacher_where_shapes_agree() -> None:
    teacher, student = build_model(tiny_values("ar")), build_model(tiny_values("ctc", encoder_layers=3))
    initialise(teacher, 1, None)
    parent = {name: value + 1 for name, value in teacher.state_dict().items()}
    parent["model.encoder.layers.0.fc1.weight"] = torch.ones(3)  # another shape
    initialise(student, 2, parent)
    own = student.state_dict()
    assert torch.equal(own["model.encoder.layers.1.fc1.weight"], parent["model.encoder.layers.1.fc1.weight"])
    assert own["model.encoder.layers.0.fc1.weight"].shape == (24, 16)
    assert own["model.encoder.layers.2.fc1.weight"].abs().max() < 1  # fresh
    assert own["canvas_proj.weight"].shape == (32, 16)


def test_the_learning_rate_rises_to_its_peak_and_falls_with_the_root() -> None:
    schedule = Schedule(peak_learning_rate=1.0, warmup_updates=100)
    rates = [learning_rate(update, schedule) for update in (1, 50, 100, 400)]
    assert rates == pytest.approx([0.01, 0.5, 1.0, 0.5])
    assert learning_rate(400, schedule, halvings=2) == pytest.approx(0.125)


def test_a_plateau_of_valid_bleu_halves_the_rate_as_often_as_it_is_long() -> None:
    schedule = Schedule(halve_after_updates=500)
    curve = [(250, 1.0), (500, 2.0), (750, 1.5), (1000, 2.0), (1250, 1.9), (1500, 1.9), (1750, 2.1), (2250, 2.1)]
    counts = [Progress(curve=curve[:n]).halvings(schedule) for n in range(len(curve) + 1)]
    assert counts == [0, 0, 0, 0, 1, 1, 2, 2, 3]
    assert Progress(curve=curve, reopened_at=1000).halvings(schedule) == 2  # what lies before had another optimiser


def test_training_on_a_plateau_takes_halved_steps(tmp_path: Path) -> None:
    schedule = replace(SCHEDULE, max_updates=12, halve_after_updates=3)
    moved = {}
    for name, score in (("rising", rising()), ("flat", lambda _: 1.0)):
        seen: list[torch.Tensor] = []

        def noted(model: Marian, *inputs: object, seen: list[torch.Tensor] = seen) -> torch.Tensor:
            seen.append(model.model.shared.weight.detach().clone())
            return ar_loss(model, *inputs)  # type: ignore[arg-type]

        run(tmp_path / name, loss=noted, schedule=schedule, score=score)
        moved[name] = [(b - a).abs().max().item() for a, b in pairwise(seen)]
    assert moved["flat"][:6] == moved["rising"][:6]  # updates 1 to 6: the plateau is seen after the sixth
    assert moved["flat"][6] == pytest.approx(moved["rising"][6] / 2, rel=1e-3)


def test_all_models_of_the_table_share_schedule_width_and_vocabulary() -> None:
    values = [model_values(recipe, 4000) for recipe in RECIPES.values()]
    for key in ("d_model", "encoder_ffn_dim", "decoder_ffn_dim", "vocab_size", "encoder_attention_heads"):
        assert len({one[key] for one in values}) == 1
    depths = {name: one["encoder_layers"] + one["decoder_layers"] for name, one in zip(RECIPES, values, strict=True)}
    assert depths.pop("ar_draft") == 2  # it drafts for another and stands in no table
    assert set(depths.values()) == {6}
    assert {(recipe.head, recipe.glancing) for recipe in RECIPES.values()} == set(LOSSES)
    assert [name for name, recipe in RECIPES.items() if recipe.parent is None] == ["ar"]
    assert math.isclose(values[0]["d_model"] / values[0]["encoder_attention_heads"], 64)
