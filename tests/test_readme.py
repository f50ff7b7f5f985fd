"""The README's tables name what there is, no more and no less."""

import re
from pathlib import Path

from generators.registry import STRATEGIES

README = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")


def test_the_table_of_strategies_is_the_registry() -> None:
    section = README.split("## Who races")[1].split("\n## ")[0]
    rows = dict(re.findall(r"^\| `(\w+)` \| (.+?) \|", section, flags=re.MULTILINE))
    assert {name: text.replace("`", "") for name, text in rows.items()} == {
        name: strategy.summary for name, strategy in STRATEGIES.items()
    }
