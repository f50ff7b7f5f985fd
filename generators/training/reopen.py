"""Going on from exported weights where the checkpoints are lost: a checkpoint folder made from a model and its account.

The exported weights (a mean, in half precision) take the last checkpoint's place. The optimiser starts afresh, so the
learning rate is warmed up again, and the epochs are ones that no sitting has seen. Counts, curve and starts are the
account's; `reopened.json` keeps what was done, for every later start to say.
"""

import json
from pathlib import Path
from typing import Any

import torch

from generators.models.files import TOKENIZER_FILES, WEIGHTS, build_model, file_hash, one_line, read_weights
from generators.training.data import split_file
from generators.training.loop import Progress, State, adam, checkpoint, save
from generators.training.recipes import RECIPES, VOCAB_SIZE, Schedule, model_values
from generators.training.teacher import NAME


def reopen(name: str, weights: Path, corpus: Path, home: Path) -> None:
    """Make `home/name` from `weights/name`. Raises ValueError where one is there, or text or vocabulary differ."""
    folder = home / name
    if (folder / "state.pt").is_file():
        raise ValueError(f"{folder} has a checkpoint already: leave out --reopen to go on from it")
    accounts = read_accounts(weights)
    account = account_of(name, accounts, weights, corpus)
    vocabulary = same_vocabulary(weights / name, home / "vocabulary")
    state = exported(name, weights, account)
    if RECIPES[name].parent and not (home / "teacher.pt").is_file():
        teacher = account_of(NAME, accounts, weights, corpus)
        same_vocabulary(weights / NAME, weights / name)
        save({"update": teacher["best_update"], "state": exported(NAME, weights, teacher)}, home / "teacher.pt")
    vocabulary.mkdir(parents=True, exist_ok=True)
    for file in TOKENIZER_FILES:
        (vocabulary / file).write_bytes((weights / name / file).read_bytes())
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "starts.jsonl").write_text("".join(f"{json.dumps(start)}\n" for start in account["starts"]), "utf-8")
    note = {"update": account["updates"], "weights_of_update": account["best_update"],
            "weights_sha256": account["files_sha256"][WEIGHTS]}  # fmt: skip
    (folder / "reopened.json").write_text(json.dumps(note) + "\n", "utf-8")
    save(state, folder / "best.pt")
    write_checkpoint(name, state, account, folder)


def read_accounts(weights: Path) -> dict[str, Any]:
    path = weights / "MANIFEST.json"
    try:
        accounts: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ValueError(f"{path} cannot be read: {one_line(error)}") from None
    return accounts


def account_of(name: str, accounts: dict[str, Any], weights: Path, corpus: Path) -> dict[str, Any]:
    if name not in accounts:
        raise ValueError(f"{weights} has no {name!r} to reopen; it has: {', '.join(sorted(accounts))}")
    account: dict[str, Any] = accounts[name]
    if account["data_sha256"] != {split: file_hash(split_file(corpus, split)) for split in ("train", "valid")}:
        raise ValueError(f"{weights / name} was trained on another text than {corpus} has now")
    return account


def same_vocabulary(model: Path, vocabulary: Path) -> Path:
    """`vocabulary`, which must be the model's wherever it has files."""
    for file in TOKENIZER_FILES:
        if (vocabulary / file).is_file() and file_hash(vocabulary / file) != file_hash(model / file):
            raise ValueError(f"{model} has another vocabulary than {vocabulary}")
    return vocabulary


def exported(name: str, weights: Path, account: dict[str, Any]) -> State:
    """The weights in single precision. Raises ValueError where they are not those of the account and the recipe."""
    state = {key: value.float() for key, value in read_weights(weights / name).items()}
    if file_hash(weights / name / WEIGHTS) != account["files_sha256"][WEIGHTS]:
        raise ValueError(f"{weights / name / WEIGHTS} is not the model that MANIFEST.json describes")
    wanted = build_model(model_values(RECIPES[name], VOCAB_SIZE)).state_dict()
    if {key: value.shape for key, value in state.items()} != {key: value.shape for key, value in wanted.items()}:
        raise ValueError(f"{weights / name} has another shape than the recipe {name!r}")
    return state


def write_checkpoint(name: str, state: State, account: dict[str, Any], folder: Path) -> None:
    """`state.pt` and `curve.json` as an evaluation leaves them."""
    model = build_model(model_values(RECIPES[name], VOCAB_SIZE))
    model.load_state_dict(state)
    updates = account["updates"]
    progress = Progress(
        update=updates, tokens=account["target_tokens"], seconds=account["minutes"] * 60, epoch=updates,
        best_bleu=account["best_valid_bleu"], best_update=account["best_update"],
        curve=[(update, bleu) for update, bleu in account["valid_bleu_curve"]], checkpoints=[state],
        reopened_at=updates,
    )  # fmt: skip
    torch.manual_seed(Schedule().seed + updates)  # dropout and masks that the sittings before did not draw
    random = torch.Generator().manual_seed(Schedule().seed + updates)
    checkpoint(folder, state, adam(model), random, progress)
