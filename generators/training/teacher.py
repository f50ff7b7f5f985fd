"""The teacher of all students: the AR model as it stood when the first student asked for it, frozen from then on.

Students start from its weights and read its text, over as many sittings as they take; the `ar` run itself may go on to
its own end, and must not shift what they learn from.
"""

import json
from pathlib import Path

import torch

from generators.training.loop import State, save

NAME = "ar"


def teacher_state(folder: Path) -> State:
    """The frozen teacher's weights. Raises FileNotFoundError where no AR model has been trained yet."""
    frozen = folder / "teacher.pt"
    if not frozen.is_file():
        best = folder / NAME / "best.pt"
        if not best.is_file():
            raise FileNotFoundError(f"students start from {NAME!r}, and {best} is missing: train {NAME!r} first")
        update = json.loads((folder / NAME / "curve.json").read_text(encoding="utf-8"))["best_update"]
        save({"update": update, "state": torch.load(best, weights_only=True)}, frozen)
    state: State = torch.load(frozen, weights_only=True)["state"]
    return state


def teacher_update(folder: Path) -> int | None:
    """The update of the AR run at which the teacher was frozen, None while it has not been."""
    frozen = folder / "teacher.pt"
    return int(torch.load(frozen, weights_only=True)["update"]) if frozen.is_file() else None
