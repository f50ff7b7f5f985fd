"""Several runs side by side: what takes longer or less time, writes better or worse, from the oldest to the newest.

Runs made at different times were not interleaved, so what the machine did in between counts too. Times are judged only
within one place: the same suite, machine and threads.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from metrics.bootstrap import paired_bootstrap
from metrics.registry import METRICS
from reports.quality import SEED, table_of
from reports.summarise import summarise
from reports.summary import Estimate, Summary
from suites.records import BadRun, Start, read_run

Workload = tuple[str, str, str, int | None, int]  # task, label, mode, length, batch size
Statistics = dict[int, tuple[float, ...]]  # row of the test set -> BLEU's statistics


@dataclass(frozen=True, slots=True)
class Member:
    name: str  # of the run's folder
    summary: Summary
    start: Start
    bleu: dict[tuple[str, str], Statistics]  # by task and label

    @property
    def commit(self) -> str:
        """The commit in seven digits, with a mark where the code had uncommitted changes."""
        return (self.start.commit or "unknown")[:7] + ("+" if self.start.dirty else "")

    @property
    def place(self) -> tuple[Any, ...]:
        """What two runs must share before their times may be judged."""
        return self.summary.info.suite, sorted(self.start.machine.items()), self.start.threads


@dataclass(frozen=True, slots=True)
class Track:
    """One workload's median latency, run by run; None where a run has not measured it."""

    workload: Workload
    values: tuple[Estimate | None, ...]


@dataclass(frozen=True, slots=True)
class Slower:
    """How a workload's median changed from the first to the last of the judged runs that have it."""

    workload: Workload
    first: Estimate
    last: Estimate

    @property
    def times(self) -> float:
        return self.last.value / self.first.value

    @property
    def apart(self) -> bool:
        """Whether the two 95 % intervals have nothing in common; False where one has no interval."""
        bounds = (self.first.low, self.first.high, self.last.low, self.last.high)
        low0, high0, low1, high1 = bounds
        if low0 is None or high0 is None or low1 is None or high1 is None:
            return False
        return low1 > high0 or high1 < low0


@dataclass(frozen=True, slots=True)
class Better:
    """BLEU in the last of the judged runs minus BLEU in the first, over the sentences both have."""

    task: str
    label: str
    difference: float
    low: float
    high: float
    p_value: float
    n: int


@dataclass(frozen=True, slots=True)
class Several:
    members: tuple[Member, ...]  # by when they started
    left_out: tuple[str, ...]  # sentences: which folders are not among them, and why
    judged: tuple[int, ...]  # places in `members` of the runs made where the newest was made
    tracks: tuple[Track, ...]  # workloads that two or more runs have
    slower: tuple[Slower, ...]  # of those that two or more judged runs have
    better: tuple[Better, ...]

    @property
    def ends(self) -> tuple[Member, Member]:
        """The oldest and the newest of the judged runs; the same where there is but one."""
        return self.members[self.judged[0]], self.members[self.judged[-1]]


def several(folders: Sequence[Path]) -> Several:
    """The runs in `folders`, each once, in the order in which they started.

    A folder that holds no readable run is left out and named. Raises ValueError where fewer than two are left.
    """
    found: list[Member] = []
    left_out: list[str] = []
    for folder in dict.fromkeys(folder.resolve() for folder in folders):
        try:
            found.append(_member(folder))
        except (BadRun, ValueError) as wrong:
            left_out.append(f"{folder.name} was left out: {wrong}".replace(f"{folder}/", "").replace(str(folder), "it"))
    if len(found) < 2:
        raise ValueError("; ".join([f"a comparison needs two readable runs, got {len(found)}", *left_out]))
    members = tuple(sorted(found, key=lambda member: (member.start.started_at, member.name)))
    judged = tuple(i for i, member in enumerate(members) if member.place == members[-1].place)
    tracks = _tracks(members)
    return Several(members, tuple(left_out), judged, tracks, _slower(tracks, judged), _better(members, judged))


def _member(folder: Path) -> Member:
    run = read_run(folder)
    if not run.info.starts:
        raise ValueError("it never started")
    table = table_of(run.scores)
    bleu = {pair: metrics["bleu"] for pair, metrics in table.items() if "bleu" in metrics}
    return Member(folder.name, summarise(run, str(folder)), run.info.starts[0], bleu)


def _tracks(members: Sequence[Member]) -> tuple[Track, ...]:
    cells = [
        {(c.task, c.label, c.mode, c.length, c.batch_size): c.latency_s for c in member.summary.cells}
        for member in members
    ]
    workloads = dict.fromkeys(workload for found in reversed(cells) for workload in found)
    tracks = [Track(workload, tuple(found.get(workload) for found in cells)) for workload in workloads]
    return tuple(track for track in tracks if sum(value is not None for value in track.values) > 1)


def _slower(tracks: Sequence[Track], judged: Sequence[int]) -> tuple[Slower, ...]:
    """The largest change first, in either direction."""
    found = []
    for track in tracks:
        values = [value for i in judged if (value := track.values[i])]
        if len(values) > 1:
            found.append(Slower(track.workload, values[0], values[-1]))
    return tuple(sorted(found, key=lambda change: -max(change.times, 1 / change.times)))


def _better(members: Sequence[Member], judged: Sequence[int]) -> tuple[Better, ...]:
    """Pairs of the oldest and the newest judged run, where both wrote the same test set."""
    old, new = members[judged[0]], members[judged[-1]]
    found = []
    for task, label in sorted(old.bleu.keys() & new.bleu.keys()) if old is not new else ():
        before, after = old.bleu[task, label], new.bleu[task, label]
        rows = sorted(before.keys() & after.keys())
        if rows and old.start.corpora.get(task) == new.start.corpora.get(task):
            pair = paired_bootstrap(METRICS["bleu"], [after[r] for r in rows], [before[r] for r in rows], SEED)
            found += (
                [Better(task, label, pair.difference, pair.low, pair.high, pair.p_value, len(rows))] if pair else []
            )
    return tuple(found)
