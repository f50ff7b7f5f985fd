"""What a reader needs to believe a run or to make it again."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from reports import caveats, quality
from reports.names import clipped
from reports.summary import Summary
from suites.records import Start

EXCLUDED = (
    "Loading, tokenising, detokenising and scoring stand outside every latency, and so do warm-up calls and the one "
    "untimed call after each switch of contestant. Inside it: encoder, length prediction, every decoder pass, search, "
    "and the pass that wrote the end of the text. Batched quality passes are never latency samples."
)
LONGEST = 600  # characters of one value


@dataclass(frozen=True, slots=True)
class Fact:
    name: str
    values: tuple[str, ...]
    code: bool = False
    copied: bool = False  # the page offers it to the clipboard


def trust(summary: Summary) -> tuple[Fact, ...]:
    """The facts of a run, those of every start and resume among them; a run that never started has fewer."""
    starts = summary.info.starts
    facts = [Fact("Command", _distinct(start.command for start in starts), code=True, copied=True)]
    facts += _facts_of(starts[-1]) if starts else []
    facts += [
        Fact("Starts", tuple(_span(start) for start in starts)),
        Fact("Seeds", (f"run: {_seed(summary)}", f"bootstraps of this report: {quality.SEED}")),
        Fact("Plan", (f"{summary.info.expected:,} trials planned, sha256 {summary.info.plan_hash}",)),
        Fact("Failures", (_failures(summary),)),
        Fact("Warm-ups", (f"{summary.warmups:,} untimed calls, {summary.warmup_s:.1f} s, in no latency",)),
        Fact("Timing excludes", (EXCLUDED,)),
        Fact("Exact lengths", tuple(filter(None, [caveats.exact_lengths(summary, summary.cells)]))),
    ]
    return tuple(fact for fact in facts if fact.values)


def _failures(summary: Summary) -> str:
    """How many trials failed, by kind; the coverage table has the reasons."""
    kinds: Counter[str] = Counter()
    for coverage in summary.coverage:
        kinds.update({status: count for status, _, count in coverage.failures})
    listed = ", ".join(f"{count:,} × {status}" for status, count in sorted(kinds.items()))
    return f"{listed or 'none'}, of {summary.recorded:,} recorded trials"


def _facts_of(start: Start) -> list[Fact]:
    return [
        Fact("Commit", (f"{start.commit or 'unknown'}{_dirty(start)}", f"sources: sha256 {start.code_sha256}")),
        Fact("Machine", _pairs(start.machine)),
        Fact("Threads", (str(start.threads),)),
        Fact("Versions", _pairs(start.versions)),
        Fact("Settings", _pairs(start.settings)),
        Fact("Weights, sha256", _hashes(start.weights), code=True),
        Fact("Corpora, sha256", _hashes(start.corpora), code=True),
        Fact("Loading", _loading(start.load_s)),
    ]


def _hashes(found: Mapping[str, str]) -> tuple[str, ...]:
    """A line a hash, with all that share it."""
    return tuple(
        clipped(f"{sha256}  {', '.join(sorted(name for name in found if found[name] == sha256))}", LONGEST)
        for sha256 in sorted(set(found.values()))
    )


def _loading(load_s: Mapping[str, float]) -> tuple[str, ...]:
    each = ", ".join(f"{label} {seconds:.2f} s" for label, seconds in sorted(load_s.items()))
    return (each,) if each else ()


def _dirty(start: Start) -> str:
    return {True: ", with uncommitted changes (dirty)", False: ", clean", None: ", unknown whether clean"}[start.dirty]


def _span(start: Start) -> str:
    return f"{start.started_at} to {start.ended_at or 'an end that was not written: the run was cut off'}"


def _seed(summary: Summary) -> str:
    settings = summary.info.plan.get("settings", {})
    seed = settings.get("seed") if isinstance(settings, dict) else None
    return "not recorded" if seed is None else clipped(str(seed), 40)


def _pairs(values: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(clipped(f"{name}: {_plain(value)}", LONGEST) for name, value in sorted(values.items()))


def _plain(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(_plain, value))
    return str(value)


def _distinct(commands: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(clipped(command, LONGEST) for command in commands))
