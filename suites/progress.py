"""How far a run is, on stderr: a bar on a terminal, a plain line now and then elsewhere. Never drawn inside a trial."""

import os
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TextIO

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

LINE_EVERY_S = 10.0
DRAW_EVERY_S = 0.25


class Progress(Protocol):
    def say(self, line: str) -> None:
        """Tell the user something that stays on the screen."""

    def begin(self, total: int, done: int) -> None:
        """Show how many of `total` trials are done from here on."""

    def advance(self, trials: int, seconds_left: float) -> None:
        """`trials` more are done, and the rest may take `seconds_left`; 0 trials: still warming up."""

    def end(self) -> None: ...


def progress_on(stream: TextIO = sys.stderr) -> Progress:
    """A bar where `stream` is a terminal that can draw one, else plain lines."""
    if stream.isatty() and os.environ.get("TERM") != "dumb":
        return BarProgress()
    return LineProgress(stream)


@dataclass(slots=True)
class LineProgress:
    stream: TextIO
    total: int = 0
    done: int = 0
    _spoke_at: float = 0.0

    def say(self, line: str) -> None:
        print(line, file=self.stream, flush=True)

    def begin(self, total: int, done: int) -> None:
        self.total, self.done, self._spoke_at = total, done, time.monotonic()

    def advance(self, trials: int, seconds_left: float) -> None:
        self.done += trials
        if time.monotonic() - self._spoke_at >= LINE_EVERY_S or (trials and self.done == self.total):
            self._spoke_at = time.monotonic()
            self.say(f"{self.done} of {self.total} trials, {_left(trials, seconds_left)}")

    def end(self) -> None:
        pass


@dataclass(slots=True)
class BarProgress:
    """Drawn by hand between blocks: a refreshing thread would run inside timed regions."""

    _bar: "Bar | None" = None
    _drew_at: float = 0.0

    def say(self, line: str) -> None:
        if self._bar is None:
            print(line, file=sys.stderr, flush=True)
        else:
            self._bar.console.print(line, markup=False, highlight=False)

    def begin(self, total: int, done: int) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

        columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}", markup=False))
        self._bar = Progress(*columns, console=Console(stderr=True), auto_refresh=False)  # honours NO_COLOR
        self._bar.add_task("warming up", total=total, completed=done)
        self._bar.start()

    def advance(self, trials: int, seconds_left: float) -> None:
        if self._bar is None:
            return
        task = self._bar.tasks[0]
        self._bar.update(task.id, advance=trials, description=_left(trials, seconds_left))
        if time.monotonic() - self._drew_at >= DRAW_EVERY_S or task.finished:
            self._drew_at = time.monotonic()
            self._bar.refresh()

    def end(self) -> None:
        if self._bar is not None:
            self._bar.stop()
            self._bar = None


def _left(trials: int, seconds: float) -> str:
    if trials == 0:
        return "warming up"
    minutes, rest = divmod(round(seconds), 60)
    return f"about {minutes}:{rest:02} left"
