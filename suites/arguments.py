"""The words of the command line. Imports nothing slow, so that --help answers at once."""

import argparse
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NoReturn

from generators.base import DTYPES
from suites.refusal import Refusal
from suites.settings import Settings, parse_numbers


class Parser(argparse.ArgumentParser):
    """Answers a word it does not know with one line instead of the whole usage."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message} (--help lists what there is)\n")


def make_parser() -> argparse.ArgumentParser:
    parser = Parser(prog="python -m suites", description="Race decoding strategies and keep the records.")
    commands = parser.add_subparsers(required=True, dest="command", metavar="COMMAND")
    _add_run(commands.add_parser("run", help="run a suite into a folder", allow_abbrev=False))
    commands.add_parser("list", help="list the suites with their contestants, and the tasks")
    validate = commands.add_parser("validate", help="check the files of a run and that no planned trial is missing")
    validate.add_argument("run", type=Path, metavar="RUN", help="folder of a run")
    validate.add_argument("--strict", action="store_true", help="refuse failed trials too")
    rescore = commands.add_parser("rescore", help="score the saved outputs of a run anew, without generating again")
    rescore.add_argument("run", type=Path, metavar="RUN", help="folder of a run")
    same = commands.add_parser("same", help="compare two runs of one plan: equal counts? times alike within noise?")
    same.add_argument("runs", type=Path, metavar="RUN", nargs=2, help="folder of a run")
    same.add_argument("--against", default="ar", metavar="LABEL", help="whose time is the unit in each (default: ar)")
    commands.add_parser("overhead", help="measure what the harness itself adds to a trial")
    commands.add_parser("selfcheck", help="race contestants of known cost: is what comes out true? (some minutes)")
    agreement = commands.add_parser("agreement", help="compare an engine's outputs with torch's, token by token")
    agreement.add_argument("engine", metavar="ENGINE", help="hf_generate, ctranslate2, ctc:engine=onnx, …")
    agreement.add_argument("--task", default="verse", help="verse, passage, mixed, coupled, or a TSV file's path")
    agreement.add_argument("--rows", type=int, help="how many of the task's rows (default: all)")
    agreement.add_argument("--dtype", default="float32", choices=DTYPES, help="default: float32")
    agreement.add_argument("--threads", type=int, default=1)
    worker = commands.add_parser("gate-worker", help="one side of the latency gate; `python -m reports gate` starts it")
    worker.add_argument("--tree", type=Path, required=True, help="where its generators must lie")
    worker.add_argument("--strategies", metavar="A,B", help="default: every strategy of that tree")
    worker.add_argument("--lengths", metavar="16,32", required=True)
    worker.add_argument("--device", default="cpu")
    for command in commands.choices.values():
        command.add_argument("--json", action="store_true", help="one JSON object on stdout")
    return parser


def _add_run(run: argparse.ArgumentParser) -> None:
    run.add_argument("suite", metavar="SUITE", help="latency, quality, batch, … (see: python -m suites list)")
    run.add_argument("--settings", type=Path, metavar="FILE", help="TOML file of the flags below; flags overrule it")
    run.add_argument("--task", help="verse, passage, mixed, coupled, or a TSV file's path (default: the suite's)")
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
    run.add_argument("--timeout", metavar="5m", default="5m", help="of one call; past it, its record says timeout")
    run.add_argument("--memory-limit", metavar="4g", help="beyond what loading took; a call past it is an oom record")
    run.add_argument("--isolate", action="store_true", help="a process a contestant, still interleaved")
    run.add_argument("--dry-run", action="store_true", help="print the trials and an estimate; write nothing")
    again = run.add_mutually_exclusive_group()
    again.add_argument("--resume", action="store_true", help="go on with an interrupted run")
    again.add_argument("--force", action="store_true", help="replace the run that is there")


def parse(given: Sequence[str]) -> argparse.Namespace:
    """The options in `given`; those of a settings file stand in front of the flags, which therefore overrule them."""
    parser = make_parser()
    options = parser.parse_args(given)
    if getattr(options, "settings", None) is None:
        return options
    try:
        return parser.parse_args([given[0], *settings_words(options.settings), *given[1:]])
    except Refusal as refusal:
        parser.exit(refusal.exit_code, f"suites: {refusal}\n")


def settings_words(path: Path) -> list[str]:
    """The flags that a TOML file of settings stands for, `--lengths=8,32` for `lengths = [8, 32]`.

    Refuses a file that cannot be read, and values that are no flag's.
    """
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as wrong:  # broken TOML and broken UTF-8 are ValueErrors
        raise Refusal(f"cannot read the settings in {path}: {wrong}") from None
    return [word for name, value in found.items() for word in _flag(path, name, value)]


def _flag(path: Path, name: str, value: object) -> list[str]:
    values = value if isinstance(value, list) else [value]
    if isinstance(value, bool):
        return [f"--{name}"] if value else []
    if not all(isinstance(one, str | int) for one in values):
        raise Refusal(f"{path}: {name} must be text, a whole number, true, false or a list of these, got {value!r}")
    return [f"--{name}={','.join(map(str, values))}"]


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
        timeout=options.timeout,
        memory_limit=options.memory_limit,
        isolate=options.isolate,
    )


def _names(texts: Iterable[str]) -> Iterable[str]:
    return (text.strip() for text in texts)
