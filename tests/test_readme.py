"""The README's tables name what there is, no more and no less."""

import re
import subprocess
import sys
from pathlib import Path

from generators.registry import STRATEGIES

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_table_of_strategies_is_the_registry() -> None:
    section = README.split("## Who races")[1].split("\n## ")[0]
    rows = dict(re.findall(r"^\| `(\w+)` \| (.+?) \|", section, flags=re.MULTILINE))
    assert {name: text.replace("`", "") for name, text in rows.items()} == {
        name: strategy.summary for name, strategy in STRATEGIES.items()
    }


def test_the_tables_of_results_are_those_of_the_committed_summaries() -> None:
    printed = subprocess.run(
        [sys.executable, ROOT / "docs" / "readme_tables.py"], capture_output=True, text=True, check=True
    ).stdout
    quality, latency = printed.split("\n\n")
    assert quality.strip() in README
    assert latency.strip() in README
