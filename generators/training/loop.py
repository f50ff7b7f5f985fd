"""One training loop for every loss: resumable, and the same rules for all (see `recipes.py`)."""

import json
import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from generators.models.heads import CtcMarian, NatMarian
from generators.models.marian import Marian
from generators.training.data import Example, collate, epoch
from generators.training.losses import Loss
from generators.training.recipes import Schedule

State = dict[str, Tensor]
REOPENED_WARMUP = 200  # updates; Adam's averages of squares (beta 0.98) know a gradient's size after some 100


@dataclass(slots=True)
class Progress:
    """Where a training stands; written whole at every evaluation, so that a killed one goes on from there."""

    update: int = 0
    tokens: int = 0
    seconds: float = 0.0
    epoch: int = 0
    batch: int = 0  # next batch of the epoch
    best_bleu: float = -1.0
    best_update: int = 0
    curve: list[tuple[int, float]] = field(default_factory=list)  # (update, valid BLEU)
    checkpoints: list[State] = field(default_factory=list)  # the last few, oldest first
    reopened_at: int = 0  # the update at which exported weights took the place of lost checkpoints (see `reopen.py`)

    def stopped_by(self, schedule: Schedule) -> str | None:
        """Why training is over, or None while it goes on."""
        if self.update >= schedule.max_updates:
            return f"cap of {schedule.max_updates} updates"
        if self.update - self.best_update >= schedule.patience_updates:
            return f"no rise of valid BLEU for {schedule.patience_updates} updates"
        return None

    def halvings(self, schedule: Schedule) -> int:
        """How often the learning rate has been halved: read from the curve, but for what lies before a reopening."""
        best, since, n_halvings = -1.0, 0, 0
        for update, bleu in self.curve:
            if bleu > best:
                best, since = bleu, update
            elif update - max(since, self.reopened_at) >= schedule.halve_after_updates:
                since, n_halvings = update, n_halvings + 1
        return n_halvings


def initialise(model: Marian, seed: int, parent: State | None) -> None:
    """Glorot weights and unit-variance embeddings, then the parent's wherever name and shape agree."""
    torch.manual_seed(seed)
    for module in model.modules():
        if isinstance(module, nn.Linear):
            nn.init.xavier_uniform_(module.weight)
            nn.init.zeros_(module.bias)
    if isinstance(model, CtcMarian | NatMarian):  # slots start as copies of source states (Gu et al. 2018, section 3.1)
        n_copies = model.canvas_proj.out_features // model.config.d_model
        model.canvas_proj.weight.data = torch.eye(model.config.d_model).repeat(n_copies, 1)
    shared = model.model.shared
    nn.init.normal_(shared.weight, std=model.config.d_model**-0.5)
    with torch.no_grad():
        shared.weight[model.config.pad_token_id] = 0  # Marian's decoders start from a zero embedding
        own = model.state_dict()
        for name, value in (parent or {}).items():
            if name in own and own[name].shape == value.shape:
                own[name].copy_(value)


def learning_rate(update: int, schedule: Schedule, reopened_at: int = 0, halvings: int = 0) -> float:
    """Linear warm-up, then decay with the inverse square root of the update (Vaswani et al. 2017, section 5.3).

    A plateau of valid BLEU halves it: what is left to learn there is smaller than the steps.
    Reopened trained weights meet an optimiser that knows nothing of them yet: full steps at once would undo them, so
    the rate rises to its place again, in a straight line.
    """
    rate = schedule.peak_learning_rate * 0.5**halvings
    rate *= min(update / schedule.warmup_updates, math.sqrt(schedule.warmup_updates / update))
    return rate * min(1.0, (update - reopened_at) / REOPENED_WARMUP) if reopened_at else rate


def train(
    model: Marian,
    examples: Sequence[Example],
    loss: Loss,
    score: Callable[[Marian], float],
    schedule: Schedule,
    folder: Path,
    say: Callable[[str], None],
) -> Progress:
    """Train until a stopping rule holds; `folder` then has `state.pt`, `best.pt` (mean weights) and `curve.json`."""
    optimizer = adam(model)
    random = torch.Generator().manual_seed(schedule.seed)
    progress = resume(folder, model, optimizer, random)
    keep_padding_zero(model)
    started, seconds_before, tokens_before = time.monotonic(), progress.seconds, progress.tokens
    for batch_examples in batches(examples, progress, schedule):
        progress.update += 1
        rate = learning_rate(progress.update, schedule, progress.reopened_at, progress.halvings(schedule))
        for group in optimizer.param_groups:
            group["lr"] = rate
        value = update(model, optimizer, loss, batch_examples, random, schedule)
        progress.tokens += sum(len(example.target_ids) + 1 for example in batch_examples)
        progress.seconds = seconds_before + time.monotonic() - started
        if progress.update % 50 == 0:
            pace = (progress.tokens - tokens_before) / (progress.seconds - seconds_before)
            left = (schedule.max_updates - progress.update) * progress.seconds / progress.update / 60
            say(f"update {progress.update}: loss {value:.3f}, {pace:,.0f} target tokens/s, {left:.0f} min to the cap")
        if progress.update % schedule.evaluate_every == 0:
            evaluate(model, optimizer, random, progress, score, schedule, folder, say)
            if reason := progress.stopped_by(schedule):
                say(f"stopped by {reason}; best valid BLEU {progress.best_bleu:.2f} at update {progress.best_update}")
                break
    return progress


def adam(model: Marian) -> torch.optim.Optimizer:
    return torch.optim.Adam(model.parameters(), lr=0.0, betas=(0.9, 0.98), eps=1e-9, fused=True)


def batches(examples: Sequence[Example], progress: Progress, schedule: Schedule) -> Iterator[list[Example]]:
    """The batches of epoch after epoch, from where `progress` stands; the order depends on the seed and epoch alone."""
    while progress.stopped_by(schedule) is None:
        order = epoch(examples, schedule.batch_tokens, schedule.seed + progress.epoch)
        for rows in order[progress.batch :]:
            progress.batch += 1
            yield [examples[row] for row in rows]
        progress.epoch, progress.batch = progress.epoch + 1, 0


def update(
    model: Marian,
    optimizer: torch.optim.Optimizer,
    loss: Loss,
    examples: Sequence[Example],
    random: torch.Generator,
    schedule: Schedule,
) -> float:
    """One optimiser step under bf16 autocast; the loss in nats a token."""
    device = model.positions.device.type
    model.train()
    batch = collate(examples, model.config.pad_token_id, model.config.eos_token_id, device)
    with torch.autocast(device, torch.bfloat16):
        value = loss(model, batch, random)
    optimizer.zero_grad()
    value.backward()
    nn.utils.clip_grad_norm_(model.parameters(), schedule.clip_norm)
    optimizer.step()
    return value.item()


def keep_padding_zero(model: Marian) -> None:
    """Let no gradient reach the padding's row, which the tied output layer would otherwise move."""
    keep = torch.ones_like(model.model.shared.weight[:, :1])
    keep[model.config.pad_token_id] = 0
    model.model.shared.weight.register_hook(lambda gradient: gradient * keep)


def evaluate(
    model: Marian, optimizer: torch.optim.Optimizer, random: torch.Generator, progress: Progress,
    score: Callable[[Marian], float], schedule: Schedule, folder: Path, say: Callable[[str], None],
) -> None:  # fmt: skip
    """Score the mean of the last checkpoints, keep it when it is the best yet, and save all that a resume needs."""
    current = {name: value.detach().cpu().clone() for name, value in model.state_dict().items()}
    progress.checkpoints = [*progress.checkpoints, current][-schedule.averaged :]
    average = {name: torch.stack([state[name] for state in progress.checkpoints]).mean(0) for name in current}
    model.load_state_dict(average)
    bleu = score(model.eval())
    model.load_state_dict(current)
    progress.curve.append((progress.update, round(bleu, 3)))
    if bleu > progress.best_bleu:
        progress.best_bleu, progress.best_update = bleu, progress.update
        save(average, folder / "best.pt")
    checkpoint(folder, current, optimizer, random, progress)
    say(f"update {progress.update}: valid BLEU {bleu:.2f} (best {progress.best_bleu:.2f} at {progress.best_update})")


def checkpoint(
    folder: Path, current: State, optimizer: torch.optim.Optimizer, random: torch.Generator, progress: Progress
) -> None:
    """Save all that a resume needs, and the curve for people to read."""
    values = {name: getattr(progress, name) for name in Progress.__slots__}
    save({"model": current, "optimizer": optimizer.state_dict(), "random": random.get_state(),
          "dropout": torch.get_rng_state(), "cuda_dropout": cuda_random(), "progress": values},
         folder / "state.pt")  # fmt: skip
    curve = {name: value for name, value in values.items() if name != "checkpoints"}
    (folder / "curve.json").write_text(json.dumps(curve) + "\n", encoding="utf-8")


def resume(folder: Path, model: Marian, optimizer: torch.optim.Optimizer, random: torch.Generator) -> Progress:
    """The progress saved in `folder`, all states restored with it; a fresh one where there is none."""
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / "state.pt").is_file():
        return Progress()
    state: dict[str, Any] = torch.load(folder / "state.pt", weights_only=True)
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    random.set_state(state["random"])
    torch.set_rng_state(state["dropout"])
    if state.get("cuda_dropout") is not None:
        torch.cuda.set_rng_state(state["cuda_dropout"])
    return Progress(**state["progress"])


def cuda_random() -> Tensor | None:
    return torch.cuda.get_rng_state() if torch.cuda.is_available() else None


def save(value: Any, path: Path) -> None:
    """Write whole or not at all: a kill while saving leaves the previous file."""
    half = path.with_suffix(".part")
    torch.save(value, half)
    half.replace(path)
