"""The words of the command line. Imports nothing slow, so that --help answers at once."""

import argparse
from collections.abc import Iterable
from pathlib import Path

from generators.base import DTYPES
from suites.settings import Settings, parse_numbers


def make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m suites", description="Race decoding strategies and keep the records."
    )
    commands = parser.add_subparsers(required=True, dest="command", metavar="COMMAND")
    _add_run(commands.add_parser("run", help="run a suite into a folder", allow_abbrev=False))
    commands.add_parser("list", help="list the suites with their contestants, and the tasks")
    validate = commands.add_parser("validate", help="check the files of a run and that no planned trial is missing")
    validate.add_argument("run", type=Path, metavar="RUN", help="folder of a run")
    validate.add_argument("--strict", action="store_true", help="refuse failed trials too")
    commands.add_parser("overhead", help="measure what the harness itself adds to a trial")
    agreement = commands.add_parser("agreement", help="compare an engine's outputs with those of ar, token by token")
    agreement.add_argument("engine", metavar="ENGINE", help="hf_generate, ctranslate2, … on the weights it names")
    agreement.add_argument("--task", default="verse", help="verse, passage, mixed, or a TSV file's path")
    agreement.add_argument("--rows", type=int, help="how many of the task's rows (default: all)")
    agreement.add_argument("--dtype", default="float32", choices=DTYPES, help="default: float32")
    agreement.add_argument("--threads", type=int, default=1)
    for command in commands.choices.values():
        command.add_argument("--json", action="store_true", help="one JSON object on stdout")
    return parser


def _add_run(run: argparse.ArgumentParser) -> None:
    run.add_argument("suite", metavar="SUITE", help="latency, quality, iterations, quick or smoke")
    run.add_argument("--task", help="verse, passage, mixed, or a TSV file's path (default: the suite's)")
    run.add_argument("--strategies", metavar="A,B", help="contestants such as ar,mask_predict:n_iterations=4")
    run.add_argument("--lengths", metavar="8,16", help="output lengths in tokens")
    run.add_argument("--batch-sizes", metavar="1,8", help="rows a request (default: 1)")
    run.add_argument("--device", default="cpu", help="cpu, cuda or cuda:N (default: cpu)")
    run.add_argument("--dtype", default="float32", help=f"{', '.join(DTYPES)} (default: float32)")
    run.add_argument("--threads", type=int, default=1, help="of every thread pool (default: 1)")
    run.add_argument("--repeats", type=int, help="timed calls a length, or sentences timed in quality and iterations")
    run.add_argument("--budget", metavar="3m", help="fit the run into this time by fewer repeats and sentences")
    run.add_argument("--seed", type=int, default=0, help="of orders and samples (default: 0)")
    run.add_argument("--out", type=Path, metavar="DIR", help="folder of the run (default: runs/SUITE)")
    run.add_argument("--dry-run", action="store_true", help="print the trials and an estimate; write nothing")
    again = run.add_mutually_exclusive_group()
    again.add_argument("--resume", action="store_true", help="go on with an interrupted run")
    again.add_argument("--force", action="store_true", help="replace the run that is there")


def settings_of(options: argparse.Namespace) -> Settings:
    """The settings that the options of `run` ask for. Refuses those that cannot be meant."""
    return Settings(
        suite=options.suite,
        task=options.task,
        strategies=None if options.strategies is None else tuple(_names(options.strategies.split(","))),
        lengths=None if options.lengths is None else parse_numbers(options.lengths),
        batch_sizes=None if options.batch_sizes is None else parse_numbers(options.batch_sizes),
        repeats=options.repeats,
        budget=options.budget,
        device=options.device,
        dtype=options.dtype,
        threads=options.threads,
        seed=options.seed,
    )


def _names(texts: Iterable[str]) -> Iterable[str]:
    return (text.strip() for text in texts)
