"""The words of `python -m reports gate`. Imports nothing slow, so that --help answers at once."""

import argparse
from pathlib import Path

OUT = Path("runs/gate")
STUDY = Path("docs/gate-study.jsonl")
LOADS = ("quiet", "bursty")
SCENARIOS = ("aa", "plus5", "plus10", "plus20", "fixed", "sleep")
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


def add_study(study: argparse.ArgumentParser) -> None:
    commands = study.add_subparsers(dest="step", required=True, metavar="STEP")
    collect = commands.add_parser("collect", help="measure further blocks, or whole gates, and append them to the file")
    collect.add_argument("--load", choices=LOADS, default="quiet", help="bursty: beside two processes that come and go")
    collect.add_argument("--blocks", type=int, default=10, help="how many further blocks (default: 10)")
    collect.add_argument("--gates", type=int, default=0, help="instead, so many whole gates of one scenario")
    collect.add_argument("--scenario", choices=SCENARIOS, default="aa", help="what the head of those gates is")
    collect.add_argument("--strategies", metavar="A,B", help="default: ar, mask_predict, ctc")
    render = commands.add_parser("render", help="write results, page and figure beside the file")
    for command in (collect, render):
        command.add_argument("--file", type=Path, default=STUDY, help=f"default: {STUDY}")
