"""The words of `python -m reports gate`. Imports nothing slow, so that --help answers at once."""

import argparse
from pathlib import Path

OUT = Path("runs/gate")
BUDGET = "5m"


def add_gate(gate: argparse.ArgumentParser) -> None:
    what = gate.add_mutually_exclusive_group(required=True)
    what.add_argument("--base", metavar="REV", help="time the code against its merge base with this commit or branch")
    what.add_argument("--exact", action="store_true", help="only the exact line: counters against the committed ones")
    what.add_argument(
        "--ratio", action="store_true", help="check the committed claims of one strategy's speed over another"
    )
    what.add_argument("--write-baseline", action="store_true", help="commit to today's counters: write their file anew")
    gate.add_argument(
        "--strategies", metavar="A,B", help="what is timed (default: ar, mask_predict, ctc and one more in turn)"
    )
    gate.add_argument("--budget", default=BUDGET, help=f"stop looking after this time, such as 90s (default: {BUDGET})")
    gate.add_argument("--device", default="cpu", help="cpu or cuda (default: cpu)")
    gate.add_argument("--seed", type=int, default=0, help="of orders (default: 0)")
    gate.add_argument("--out", type=Path, metavar="DIR", default=OUT, help=f"folder of what it writes (default: {OUT})")
    gate.add_argument("--strict", action="store_true", help="exit with 5 when a verdict is inconclusive")
    gate.add_argument(
        "--allow-changes", action="store_true", help="report new, vanished and changed cells, refuse none"
    )
    gate.add_argument("--json", action="store_true", help="gate.json on standard output instead of lines")
