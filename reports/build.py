"""A run's folder to its report: read, summarise, judge, draw, write."""

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from reports.summarise import summarise
from reports.summary import Summary
from suites.records import read_run

REPORT_FILE, COMPARED_FILE = "report.html", "compared.html"


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


def write_comparison(folders: Sequence[Path], out: Path | None) -> Path:
    """The path of the page written for the runs in `folders`: `out`, or compared.html where the first of them lies.

    A single run, named once or more often, gets its report instead. Raises as `write_report` does, and ValueError where
    fewer than two runs can be read.
    """
    different = list(dict.fromkeys(folder.resolve() for folder in folders))
    if len(different) == 1:
        return write_report(folders[0], out)
    from reports.several_page import page_of_several

    return _written(page_of_several(folders), out or folders[0].parent / COMPARED_FILE)


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


def export(folder: Path, form: str, out: Path | None) -> Path | None:
    """`out`, now the run in `folder` in the format of that name (see `reports.export`); None after standard output.

    Raises ValueError for a format there is not, for parquet without `out`, and where the run has nothing of the kind.
    """
    from reports.export import exported

    if form == "parquet" and out is None:
        raise ValueError("parquet is no text for a terminal: say where to write it with --out FILE")
    data = exported(read_run(folder), form)
    if out is None:
        sys.stdout.buffer.write(data)
        return None
    return _written(data, out)


def _written(content: str | bytes, target: Path) -> Path:
    data = content.encode() if isinstance(content, str) else content
    partial = target.with_name(f"{target.name}.{os.getpid()}.partial")
    try:
        if target.exists() and not target.is_file():  # a pipe or a device is written to, never replaced by a file
            target.write_bytes(data)
            return target
        partial.write_bytes(data)
        partial.replace(target)
    except OSError as failure:
        raise OSError(f"cannot write {target}: {failure.strerror}") from None
    finally:
        with suppress(OSError):  # the first failure is the one to tell
            partial.unlink(missing_ok=True)
    return target
