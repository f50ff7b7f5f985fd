"""What several runs show, in plain sentences with numbers, and what else differs between them."""

from collections.abc import Mapping
from typing import Any

from reports.formats import listed, number, p_value, signed, with_interval, workload
from reports.names import clipped, visible
from reports.several import Better, Several, Slower

MOST = 5  # sentences of a kind


def lead(several: Several) -> str:
    """How many workloads changed between the oldest and the newest comparable run."""
    old, new = several.ends
    if len(several.judged) < 2:
        return (
            f"No two of these {len(several.members)} runs share suite, machine and threads with the newest, "
            f"{visible(new.name)}: their numbers stand side by side and are not judged."
        )
    before, after = ends(several)
    apart = [change for change in several.slower if change.apart]
    longer = sum(change.times > 1 for change in apart)
    parts = [f"{longer or 'none'} of {len(several.slower)} timed workloads take longer"] if several.slower else []
    parts += [f"{len(apart) - longer or 'none'} less time"] if several.slower else []
    better = [one for one in several.better if one.p_value < 0.05]
    up = sum(one.difference > 0 for one in better)
    if better:
        of = f"{len(better) - up or 'none'} of {len(several.better)} contestants"
        parts.append(f"BLEU rose for {up or 'none'} and fell for {of}")
    elif several.better:
        parts.append("no contestant's BLEU changed significantly")
    return f"From {before} to {after}, {listed(parts) or 'nothing was timed or scored twice'}."


def ends(several: Several) -> tuple[str, str]:
    """What the oldest and newest comparable run are called: by commit, or by folder where that is the same."""
    old, new = several.ends
    return (old.commit, new.commit) if old.commit != new.commit else (visible(old.name), visible(new.name))


def sentences(several: Several) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """(topic, sentences): the largest changes that are more than chance, and what else differs."""
    slower = [_slower(several, change) for change in several.slower if change.apart]
    better = [_better(several, one) for one in several.better if one.p_value < 0.05]
    topics = (
        ("Time", _first(slower, "workloads") or _calm(several)),
        ("Quality", _first(better, "contestants")),
        ("Also different", _differences(several)),
        ("Left out", several.left_out),
    )
    return tuple((topic, tuple(texts)) for topic, texts in topics if texts)


def _first(texts: list[str], what: str) -> list[str]:
    more = len(texts) - MOST
    return texts[:MOST] + ([f"So do {more} more {what}; the tables have them all."] if more > 0 else [])


def _calm(several: Several) -> list[str]:
    if not several.slower:
        return []
    return [f"All {len(several.slower)} medians have 95 % intervals that overlap, or too few samples for one."]


def _slower(several: Several, change: Slower) -> str:
    task, label, _, length, batch = change.workload
    before, after = ends(several)
    now, then = (with_interval(e, 1000, unit=" ms") for e in (change.last, change.first))
    return (
        f"On {task} at {workload(length, batch)}, {name(several, label)} takes {now} in {after} and took {then} "
        f"in {before}: {number(change.times)}× the time."
    )


def _better(several: Several, one: Better) -> str:
    bounds = f"[{signed(one.low)}, {signed(one.high)}]"
    before, after = ends(several)
    return (
        f"On {one.task} ({one.n:,} sentences), {name(several, one.label)} scores {signed(one.difference)} {bounds} "
        f"BLEU in {after} against {before} ({p_value(one.p_value)}, of this pair alone)."
    )


def name(several: Several, label: str) -> str:
    """The short name of a contestant in the newest run that has it."""
    for member in reversed(several.members):
        for contestant in member.summary.contestants:
            if contestant.label == label:
                return contestant.name
    return clipped(visible(label), 60)


def _differences(several: Several) -> list[str]:
    """What could explain a change besides the commit: settings, versions, weights and corpora of the two ends."""
    old, new = (member.start for member in several.ends)
    pairs: list[tuple[str, Mapping[str, Any], Mapping[str, Any]]] = [
        ("settings", old.settings, new.settings),
        ("version of", old.versions, new.versions),
        ("weights of", old.weights, new.weights),
        ("corpus of", old.corpora, new.corpora),
    ]
    found = [
        f"{what} {key}: {clipped(str(before.get(key, 'none')), 60)}, then {clipped(str(after.get(key, 'none')), 60)}"
        for what, before, after in pairs
        for key in sorted(before.keys() | after.keys())
        if before.get(key) != after.get(key)
    ]
    places = {str(member.place) for member in several.members}
    apart = [f"{len(places)} combinations of suite, machine and threads; times are judged in the newest run's alone"]
    return found[:40] + (apart if len(places) > 1 else [])
