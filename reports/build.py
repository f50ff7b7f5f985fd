"""A run's folder to its report: read, summarise, judge, draw, write."""

import os
from contextlib import suppress
from pathlib import Path

from reports.summarise import summarise
from reports.summary import Summary
from suites.records import read_run

REPORT_FILE = "report.html"


def summary_of(folder: Path) -> Summary:
    """The summary of the run in `folder`; the paths in its notes are relative to it, wherever it lies.

    Raises `IncompatibleRun` or `BadRun` (see `suites.records`).
    """
    return summarise(read_run(folder), str(folder))


def write_report(folder: Path, out: Path | None) -> Path:
    """The path of the report written for the run in `folder`: `out`, or report.html beside the records.

    The file appears whole or not at all. Raises OSError where it cannot be written.
    """
    from reports.html import page

    return _written(page(summary_of(folder)), out or folder / REPORT_FILE)


def write_figure(folder: Path, name: str, out: Path) -> Path:
    """`out`, now an SVG file of the figure of that name, such as latency-1, of the run in `folder`.

    Raises ValueError, naming those there are, for a figure the run has not.
    """
    from reports.drawing import standalone
    from reports.figures import figures
    from reports.names import looks

    summary = summary_of(folder)
    found = {figure.name: figure for figure in figures(summary)}
    if name not in found:
        raise ValueError(f"unknown figure {name!r}; choose from: {', '.join(found) or 'none, this run has no figure'}")
    contestants = (contestant.strategy for contestant in summary.contestants)
    return _written(standalone(found[name].wide, found[name].title, looks(contestants)), out)


def _written(text: str, target: Path) -> Path:
    partial = target.with_name(f"{target.name}.{os.getpid()}.partial")
    try:
        partial.write_text(text, encoding="utf-8", newline="\n")
        partial.replace(target)
    except OSError as failure:
        raise OSError(f"cannot write {target}: {failure.strerror}") from None
    finally:
        with suppress(OSError):  # the first failure is the one to tell
            partial.unlink(missing_ok=True)
    return target
