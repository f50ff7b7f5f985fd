"""Several runs to one page: verdict, trend figures, and the numbers run by run."""

from collections.abc import Callable, Sequence
from pathlib import Path

from markupsafe import Markup

from reports import entries, names, plots
from reports.drawing import svg
from reports.entries import Entry
from reports.figures import NARROW, WIDE, Figure
from reports.formats import NONE, fixed, interval, number, workload
from reports.html import rendered
from reports.several import Member, Several, Track, several
from reports.several_words import lead, name, sentences
from reports.summary import Contestant, Estimate
from reports.tables import Table

SHOWN = 6  # runs in a table: the oldest and the newest ones
DRAWN = 20  # runs in a figure: the newest ones
Value = Callable[[Member], Estimate | None]


def page_of_several(folders: Sequence[Path]) -> str:
    """The runs in `folders` as one page, commit by commit. Raises ValueError where fewer than two can be read."""
    found = several(folders)
    drawn = [figure for task in _tasks(found) for figure in (_times(found, task), _bleu(found, task)) if figure]
    tables = [t for task in _tasks(found) for t in (_latency_table(found, task), _bleu_table(found, task)) if t.rows]
    return rendered(
        "several.html",
        several=found,
        lead=lead(found),
        findings=sentences(found),
        runs=_runs_table(found),
        figures=[{"value": f, "wide": Markup(f.wide), "narrow": Markup(f.narrow)} for f in drawn],
        tables=tables,
        looks=names.looks(contestant.strategy for contestant in _contestants(found).values()),
    )


def _tasks(found: Several) -> list[str]:
    return sorted({task for member in found.members for task in member.summary.tasks})


def _contestants(found: Several) -> dict[str, Contestant]:
    """By label, as the newest run that has it calls it."""
    return {c.label: c for member in found.members for c in member.summary.contestants}


def _times(found: Several, task: str) -> Figure | None:
    """Each contestant's median at the newest run's headline workload, over its first judged run."""
    workload_there = found.members[-1].summary.headline_workload(task)
    own = [t for t in found.tracks if t.workload[0] == task and (t.workload[3], t.workload[4]) == workload_there]
    points = {t.workload[1]: _relative(t, found.judged[-DRAWN:]) for t in own}
    drawn = {label: p for label, p in points.items() if len(p) > 1}
    if not drawn or workload_there is None:
        return None
    label, last = max(((label, p[-1]) for label, p in drawn.items()), key=lambda pair: abs(pair[1].y - 1))
    title = f"{name(found, label)} takes {number(last.y)} times the time of its first run, the largest change"
    if not any(change.apart for change in found.slower if change.workload in [track.workload for track in own]):
        title = f"No change is beyond doubt: {name(found, label)} moves most, to {number(last.y)} times its first run"
    caption = (
        f"Median latency over that of the first run shown, task {task} at {workload(*workload_there)}, run by run from "
        "the oldest to the newest (numbers: table of the runs); bars: 95 % interval of each median. One machine's runs "
        "only; they were not interleaved, so the machine's drift is part of every point."
    )
    panel = ("median latency, × first run", 1.0, "first run")
    return _figure(found, f"trend-{_number(found, task)}", title, caption, drawn, panel)


def _relative(track: Track, judged: Sequence[int]) -> tuple[plots.Point, ...]:
    present = [(i, value) for i in judged if (value := track.values[i])]
    return tuple(plots.point(i + 1, value, 1 / present[0][1].value) for i, value in present)


def _bleu(found: Several, task: str) -> Figure | None:
    """Each contestant's BLEU, run by run."""
    shown = [(i, found.members[i]) for i in found.judged[-DRAWN:]]
    drawn = {}
    for label in _contestants(found):
        values = [(i, score) for i, member in shown if (score := _score(member, task, label))]
        if len(values) > 1:
            drawn[label] = tuple(plots.point(i + 1, score) for i, score in values)
    if not drawn:
        return None
    label, points = max(drawn.items(), key=lambda item: abs(item[1][-1].y - item[1][0].y))
    change = fixed(abs(points[-1].y - points[0].y))
    moves = "gains" if points[-1].y >= points[0].y else "loses"
    title = f"{name(found, label)} {moves} {change} BLEU, the largest change"
    title = title if float(change) else "No contestant's BLEU changes"
    caption = f"BLEU (points), task {task}, run by run from the oldest to the newest; bars: 95 % intervals."
    return _figure(found, f"bleu-{_number(found, task)}", title, caption, drawn, ("BLEU, points", None, ""))


def _figure(
    found: Several,
    anchor: str,
    title: str,
    caption: str,
    drawn: dict[str, tuple[plots.Point, ...]],
    panel: tuple[str, float | None, str],
) -> Figure:
    contestants = _contestants(found)
    looks = names.looks(contestant.strategy for contestant in contestants.values())
    series = [
        plots.Series(name(found, label), contestants[label].variant, looks[contestants[label].strategy], points)
        for label, points in drawn.items()
    ]
    heading, level, line = panel
    draw = plots.knob([(heading, series)], [(line, level)], "run, oldest to newest")
    wide, narrow = (
        svg(f"{anchor}-{size}", title, caption, 1, canvas, looks, draw)
        for size, canvas in (("wide", WIDE), ("narrow", NARROW))
    )
    rows = [(_who(found, label), *_values_at(found, points)) for label, points in drawn.items()]
    heads = ("contestant", *(f"run {i + 1}" for i in found.judged[-DRAWN:]))
    return Figure(anchor, title, caption, wide, narrow, Table("The numbers behind the figure", "", heads, tuple(rows)))


def _values_at(found: Several, points: Sequence[plots.Point]) -> list[Entry]:
    at = {point.x: point for point in points}
    return [Entry(number(p.y)) if (p := at.get(i + 1)) else Entry(NONE) for i in found.judged[-DRAWN:]]


def _number(found: Several, task: str) -> int:
    return _tasks(found).index(task) + 1


def _who(found: Several, label: str) -> Entry:
    return entries.who(_contestants(found)[label])


def _shown(found: Several) -> list[int]:
    """The oldest run and the newest ones."""
    every = list(range(len(found.members)))
    return every if len(every) <= SHOWN else [0, *every[1 - SHOWN :]]


def _heads(found: Several) -> list[str]:
    return [f"run {i + 1}, {found.members[i].commit}" for i in _shown(found)]


def _latency_table(found: Several, task: str) -> Table:
    changes = {change.workload: change for change in found.slower}
    rows = []
    for track in found.tracks:
        _, label, _, length, batch = track.workload
        if track.workload[0] == task:
            change = changes.get(track.workload)
            last = Entry(number(change.times), ("intervals apart",) if change.apart else ()) if change else Entry(NONE)
            values = [_latency(track.values[i]) for i in _shown(found)]
            rows.append((_who(found, label), Entry(_length(length)), Entry(str(batch)), *values, last))
    note = "Median latency in ms with its 95 % interval and n. The change is last over first, of runs on one machine."
    heads = ("contestant", "length", "batch", *_heads(found), "change, ×")
    return Table(f"Latency on {task}, ms", note, heads, tuple(rows), facets=(("task", task),))


def _bleu_table(found: Several, task: str) -> Table:
    changes = {(one.task, one.label): one for one in found.better}
    rows = []
    for label in _contestants(found):
        values = [_score(found.members[i], task, label) for i in _shown(found)]
        if sum(value is not None for value in values) > 1:
            change = changes.get((task, label))
            last = Entry(fixed(change.difference), (_judged(change.p_value),)) if change else Entry(NONE)
            rows.append((_who(found, label), *(entries.estimate(value, 1) for value in values), last))
    note = "Corpus BLEU with its 95 % interval. The change: last minus first over the same sentences, paired bootstrap."
    heads = ("contestant", *_heads(found), "change")
    return Table(f"BLEU on {task}, points", note, heads, tuple(rows), facets=(("task", task),))


def _runs_table(found: Several) -> Table:
    rows = []
    for i, member in enumerate(found.members):
        done = sum(coverage.ok for coverage in member.summary.coverage)
        facts = (
            member.commit,
            member.start.started_at[:16].replace("T", " "),
            member.summary.info.suite,
            names.clipped(str(member.start.machine.get("cpu", "unknown")), 60),
            str(member.start.threads),
            f"{done:,} / {member.summary.info.expected:,}",
            "yes" if i in found.judged else "no",
        )
        rows.append((Entry(f"{i + 1} · {member.name}"), *map(Entry, facts)))
    heads = ("run", "commit", "started, UTC", "suite", "machine", "threads", "succeeded / planned", "times judged")
    note = (
        "A plus sign behind a commit: with uncommitted changes. Judged: of the newest one's suite, machine and threads."
    )
    return Table("The runs", note, heads, tuple(rows), of_text=True)


def _latency(value: Estimate | None) -> Entry:
    if value is None:
        return Entry(NONE)
    return Entry(number(1000 * value.value), entries.small(interval(value, 1000), value.n))


def _judged(p: float) -> str:
    return "significant" if p < 0.05 else "not significant"


def _score(member: Member, task: str, label: str) -> Estimate | None:
    quality = member.summary.quality(task, label)
    return quality.scores.get("bleu") if quality else None


def _length(length: int | None) -> str:
    return "natural" if length is None else str(length)
