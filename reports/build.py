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

    text = page(summary_of(folder))
    target = out or folder / REPORT_FILE
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
