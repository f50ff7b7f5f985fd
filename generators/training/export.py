"""A trained model as a folder to race with, and the account of how it came to be."""

import dataclasses
import datetime
import hashlib
import json
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

import torch

from generators.models.files import file_hash, save_model
from generators.training.card import model_card
from generators.training.data import split_file
from generators.training.recipes import RECIPES, VOCAB_SIZE, Schedule, model_values
from generators.training.teacher import teacher_update


def note_start(name: str, folder: Path, threads: int, device: str, n_beyond_canvas: int | None) -> None:
    """Append a line to `starts.jsonl`: the rules, texts, commit and machine of this start or resume.

    `n_beyond_canvas` is how many training targets are longer than their canvas, None where the model has none.
    """
    folder.mkdir(parents=True, exist_ok=True)
    reopened = folder / "reopened.json"
    start = {
        "at": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "commit": git("rev-parse", "HEAD"),
        "dirty": bool(git("status", "--porcelain", "--untracked-files=no")),
        "recipe": dataclasses.asdict(RECIPES[name]),
        "schedule": dataclasses.asdict(Schedule()),
        "threads": threads,
        "device": device,
        "machine": platform.machine(),
        "torch": torch.__version__,
        "targets_beyond_canvas": n_beyond_canvas,
        "teacher_update": teacher_update(folder.parent) if RECIPES[name].parent else None,
        "distilled_sha256": distilled_hash(folder.parent) if RECIPES[name].distilled else None,
        "reopened": json.loads(reopened.read_text(encoding="utf-8")) if reopened.is_file() else None,
    }
    with (folder / "starts.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(start) + "\n")


def git(*arguments: str) -> str | None:
    """What git says of the code, None where there is no git or no repository."""
    try:
        here = Path(__file__).parent
        return subprocess.run(["git", *arguments], cwd=here, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None


def export(name: str, corpus: Path, home: Path, target: Path) -> Path:
    """The folder `target/name` with the best model so far; its account is merged into `target/MANIFEST.json`."""
    trained = home / name
    if not (trained / "best.pt").is_file():
        raise FileNotFoundError(f"nothing to export: {trained} has no best.pt; train {name!r} first")
    state = torch.load(trained / "best.pt", weights_only=True)
    save_model(state, model_values(RECIPES[name], VOCAB_SIZE), home / "vocabulary", target / name)
    manifest = target / "MANIFEST.json"
    accounts = json.loads(manifest.read_text(encoding="utf-8")) if manifest.is_file() else {}
    accounts[name] = account(name, corpus, trained, target / name, sum(value.numel() for value in state.values()))
    manifest.write_text(json.dumps(accounts, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    (target / "MODEL_CARD.md").write_text(model_card(accounts), encoding="utf-8")
    print(f"{name}: exported to {target / name}", file=sys.stderr)
    return target / name


def account(name: str, corpus: Path, trained: Path, exported: Path, n_parameters: int) -> dict[str, Any]:
    """How the model came to be: enough to make it again, and to see that all models kept the same rules."""
    progress = json.loads((trained / "curve.json").read_text(encoding="utf-8"))
    starts = [json.loads(line) for line in (trained / "starts.jsonl").read_text(encoding="utf-8").splitlines()]
    return {
        "command": f"python -m generators.training {name}",
        "corpus": corpus.name,
        "data_sha256": {split: file_hash(split_file(corpus, split)) for split in ("train", "valid")},
        "files_sha256": {path.name: file_hash(path) for path in sorted(exported.iterdir())},
        "parameters": n_parameters,
        "distilled_sha256": distilled_hash(trained.parent) if RECIPES[name].distilled else None,
        "teacher_update": teacher_update(trained.parent) if RECIPES[name].parent else None,
        "starts": starts,
        "updates": progress["update"],
        "target_tokens": progress["tokens"],
        "minutes": round(progress["seconds"] / 60, 1),
        "stopped_by": stopped_by(progress),
        "best_update": progress["best_update"],
        "best_valid_bleu": round(progress["best_bleu"], 2),
        "valid_bleu_curve": progress["curve"],
    }


def distilled_hash(home: Path) -> str:
    """The sha256 of the distilled text, its pieces in order."""
    pieces = sorted((home / "distilled").glob("*.txt"))
    return hashlib.sha256(b"".join(piece.read_bytes() for piece in pieces)).hexdigest()


def stopped_by(progress: dict[str, Any]) -> str:
    """The rule that ended the training; `interrupted` where it could still go on."""
    if progress["update"] >= Schedule().max_updates:
        return "cap"
    risen = progress["update"] - progress["best_update"] < Schedule().patience_updates
    return "interrupted" if risen else "patience"
