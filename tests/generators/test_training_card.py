"""The model card and the starts it is rendered from, where a model has a canvas that targets may not fit."""

import json
from pathlib import Path

from generators.registry import SHIPPED
from generators.training.card import model_card
from generators.training.export import note_start


def test_a_start_notes_how_many_targets_no_canvas_holds(tmp_path: Path) -> None:
    note_start("ctc", tmp_path / "ctc", 1, "cpu", 17)
    note_start("ar", tmp_path / "ar", 1, "cpu", None)
    noted = [json.loads((tmp_path / name / "starts.jsonl").read_text()) for name in ("ctc", "ar")]
    assert [start["targets_beyond_canvas"] for start in noted] == [17, None]


def test_the_card_says_how_many_targets_no_canvas_holds() -> None:
    accounts = json.loads((SHIPPED / "MANIFEST.json").read_text(encoding="utf-8"))
    for account in accounts.values():
        account["starts"][-1].pop("targets_beyond_canvas", None)
    assert "Beyond the canvas" not in model_card(accounts)
    accounts["ctc"]["starts"][-1]["targets_beyond_canvas"] = 1234
    (line,) = [line for line in model_card(accounts).splitlines() if "Beyond the canvas" in line]
    assert (
        line
        == "- *Beyond the canvas*: training targets longer than twice their source, which teach nothing: `ctc` 1,234."
    )
