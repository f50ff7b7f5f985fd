"""python -m reports: a run's folder to a page, to one figure, or to a summary on standard output."""

import argparse
import os
import sys
import traceback
from pathlib import Path

from reports.gate_arguments import add_gate, add_study

BAD_INPUT, INCOMPATIBLE, OUR_BUG, INTERRUPTED = 2, 4, 70, 130


def main(arguments: list[str] | None = None) -> int:
    """The exit code: 0 fine, 2 bad input, 4 no run or one of another schema version, 70 our bug, 130 interrupted."""
    options = _parser().parse_args(arguments)
    from suites.records import IncompatibleRun

    try:
        if options.command in ("gate", "gate-study"):
            return _gate(options)
        _COMMANDS[options.command](options)
    except IncompatibleRun as refusal:
        return _refused(refusal, INCOMPATIBLE)
    except (ValueError, OSError) as wrong:
        return _refused(wrong, BAD_INPUT)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    except Exception:  # noqa: BLE001  the exit code must tell our bugs from a regression
        traceback.print_exc()
        return OUR_BUG
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m reports", description="Reads a run's folder and says what it means."
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    html = commands.add_parser("html", help="write one self-contained page: a run's report, or several runs compared")
    html.add_argument(
        "runs", type=Path, metavar="RUN", nargs="+", help="a run's folder, such as runs/latest, or several"
    )
    html.add_argument(
        "--out", type=Path, metavar="FILE", help="default: RUN/report.html, or compared.html beside the runs"
    )
    figure = commands.add_parser("figure", help="write one figure of the report as an SVG file")
    figure.add_argument("run", type=Path, metavar="RUN", help="a run's folder, such as runs/latest")
    figure.add_argument("name", metavar="NAME", help="such as latency-1; a wrong one lists those the run has")
    figure.add_argument("--out", type=Path, metavar="FILE", required=True, help="where to write it")
    summary = commands.add_parser("summary", help="print the verdict and a table")
    summary.add_argument("run", type=Path, metavar="RUN", help="a run's folder, such as runs/latest")
    summary.add_argument("--json", action="store_true", help="a JSON array instead, one object a contestant and task")
    best = commands.add_parser("best", help="print whom to race: each strategy, and the settings it was fastest with")
    best.add_argument("run", type=Path, metavar="RUN", help="folder of a run that tried several, such as of suite tune")
    export = commands.add_parser("export", help="print or write a run for another tool")
    export.add_argument("run", type=Path, metavar="RUN", help="a run's folder, such as runs/latest")
    export.add_argument(
        "--format",
        required=True,
        metavar="NAME",
        help="csv, parquet, latex, markdown, pytest-benchmark, github-action-benchmark or bencher",
    )
    export.add_argument("--out", type=Path, metavar="FILE", help="where to write it (default: standard output)")
    lines = commands.add_parser("lines", help="print latency against length as fitted lines, a JSON array")
    lines.add_argument("runs", type=Path, metavar="RUN", nargs="+", help="folders of runs")
    compare = commands.add_parser("compare", help="print what changed from one run to another, with intervals")
    compare.add_argument("first", type=Path, metavar="A", help="folder of the earlier run")
    compare.add_argument("second", type=Path, metavar="B", help="folder of the later run")
    compare.add_argument("--other-machine", action="store_true", help="compare runs of different machines all the same")
    compare.add_argument("--json", action="store_true", help="one JSON object instead")
    add_gate(
        commands.add_parser("gate", help="judge whether the working tree made a strategy slower", allow_abbrev=False)
    )
    add_study(commands.add_parser("gate-study", help="the gate's own evidence: what it finds, how often it cries wolf"))
    return parser


def _gate(options: argparse.Namespace) -> int:
    from reports.gate_command import gate, study

    return gate(options) if options.command == "gate" else study(options)


def _html(options: argparse.Namespace) -> None:
    from reports.build import write_comparison

    print(write_comparison(options.runs, options.out))


def _figure(options: argparse.Namespace) -> None:
    from reports.build import write_figure

    print(write_figure(options.run, options.name, options.out))


def _summary(options: argparse.Namespace) -> None:
    from reports.build import summary_of
    from reports.text import as_json, as_text

    print((as_json if options.json else as_text)(summary_of(options.run)))


def _best(options: argparse.Namespace) -> None:
    from reports.bests import line_up
    from reports.build import summary_of

    if not (labels := line_up(summary_of(options.run))):
        raise ValueError(f"{options.run} timed no strategy in several settings; the suite that does is tune")
    print(",".join(labels))


def _lines(options: argparse.Namespace) -> None:
    from reports.line_text import lines_as_json

    print(lines_as_json(options.runs))


def _compare(options: argparse.Namespace) -> None:
    from reports.compare import compare
    from reports.compare_text import changes_as_json, changes_as_text

    changes = compare(options.first, options.second, other_machine=options.other_machine)
    print((changes_as_json if options.json else changes_as_text)(changes))


def _export(options: argparse.Namespace) -> None:
    from reports.build import export

    if written := export(options.run, options.format, options.out):
        print(written)


def _refused(reason: Exception, code: int) -> int:
    from reports.names import visible

    print("error:", visible(" ".join(str(reason).split())), file=sys.stderr)
    return code


_COMMANDS = {
    "html": _html,
    "figure": _figure,
    "summary": _summary,
    "best": _best,
    "compare": _compare,
    "lines": _lines,
    "export": _export,
}

if __name__ == "__main__":
    # before numpy is there: its products are too small to share out, and threads that wait for work burn a core each
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    sys.exit(main())
