"""Latency against length as lines, and from which length on one contestant is ahead of another.

All contestants of a task and batch size are drawn together: a resample takes the same repeats of each, so that a
machine that was slow in one repeat was slow for all. Intervals are of the repeats of this run: a machine that is slow
for longer than a repeat moves every intercept and slope by one factor, which their intervals do not know of, while
slopes over the baseline's and crossings stand as they are.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import NamedTuple

import numpy as np

from metrics import fits
from metrics.base import Array
from metrics.crossovers import crossover
from metrics.resampling import counted_medians
from reports.summary import Cell, Contestant, Crossing, Estimate, Line, Mode, far_from_usual
from suites.records import Record

SEED = 2019  # of every draw here
DRAWN_POINTS = 16  # places at which a line's band is drawn


class Group(NamedTuple):
    """What is drawn together."""

    task: str
    batch_size: int


@dataclass(frozen=True, slots=True)
class Fitted:
    """One contestant's medians and lines in every draw; times in ms."""

    label: str
    mode: Mode
    tokens: Array  # [1 or draws, k]
    medians: Array  # [draws, k]
    line: fits.Line
    curvature: fits.Curvature | None

    @property
    def bends(self) -> bool:
        return self.curvature is not None and self.curvature.curved


def lines(
    records: Iterable[Record], order: Sequence[Contestant], baseline: str | None, cells: Sequence[Cell] = ()
) -> tuple[Line, ...]:
    """One line a task, batch size and contestant with three lengths or more, in that order; copying has none.

    Slopes are set beside the baseline's; crossings are those with the baseline and, where `cells` name it, with the
    strongest AR engine.
    """
    decoding = [contestant.label for contestant in order if contestant.kind != "copy"]
    found = []
    for group, trials in sorted(_groups(records).items()):
        repeats = {repeat: i for i, repeat in enumerate(sorted({trial.repeat for trial in trials}))}
        n_repeats, draws = len(repeats), fits.draw_repeats(len(repeats), SEED)
        fitted = {one.label: one for label in decoding if (one := _fitted(label, trials, repeats, draws))}
        for one in fitted.values():
            own, strongest = (fitted.get(x or "") for x in (baseline, _strongest(group, one.label, cells)))
            found.append(_line(group, one, own, strongest, n_repeats))
    return tuple(found)


def _groups(records: Iterable[Record]) -> dict[Group, list[Record]]:
    groups: dict[Group, list[Record]] = defaultdict(list)
    for record in records:
        timed = record.mode != "batched" and record.status == "ok" and record.latency_s is not None
        if timed and record.length is not None and record.source_length is None:
            groups[Group(record.task, record.batch_size)].append(record)
    return groups


def _fitted(label: str, trials: Sequence[Record], repeats: Mapping[int, int], draws: Array) -> Fitted | None:
    """The contestant's lines through its own of the `trials`; `repeats` gives the place of each repeat in `draws`."""
    own = [trial for trial in trials if trial.label == label]
    lengths = sorted({trial.length or 0 for trial in own})
    columns = {length: i for i, length in enumerate(lengths)}
    latency_ms, kept = np.full((2, len(repeats), len(lengths)), np.nan)
    for trial in own:
        place = repeats[trial.repeat], columns[trial.length or 0]
        latency_ms[place], kept[place] = 1000 * (trial.latency_s or 0.0), fmean(trial.tokens_kept or [0])
    medians = counted_medians(latency_ms, draws)
    whole = ~np.isnan(medians).any(axis=0)  # a length of few trials may be missing from a draw
    medians = medians[:, whole]
    mode: Mode = "natural" if any(trial.mode == "natural" for trial in own) else "exact"
    emerged = counted_medians(kept[:, whole], draws)
    tokens = emerged if mode == "natural" else np.array([lengths], dtype=float)[:, whole]
    if len(set(tokens[0])) < fits.FEWEST_LENGTHS:
        return None
    return Fitted(label, mode, tokens, medians, fits.fit(tokens, medians), fits.curvature(tokens, medians))


def _strongest(group: Group, label: str, cells: Sequence[Cell]) -> str | None:
    """The AR engine that the contestant's each-at-its-best speedup names, at the length nearest to the usual one."""
    own = [c for c in cells if (c.task, c.batch_size, c.label) == (*group, label) and c.length and c.each_at_best]
    nearest = min(own, key=lambda cell: far_from_usual(cell.length or 0), default=None)
    return nearest.each_at_best.against if nearest and nearest.each_at_best else None


def _line(group: Group, one: Fitted, baseline: Fitted | None, strongest: Fitted | None, n_repeats: int) -> Line:
    relative = _estimate(_ratio(one.line.b, baseline.line.b), n_repeats) if baseline else None
    places = np.geomspace(max(one.tokens[0].min(), 1.0), one.tokens[0].max(), DRAWN_POINTS)
    heights = one.line.at(places).T
    drawn = [(float(x), height) for x, ys in zip(places, heights, strict=True) if (height := _estimate(ys, n_repeats))]
    return Line(
        task=group.task,
        label=one.label,
        mode=one.mode,
        batch_size=group.batch_size,
        tokens=tuple(map(float, one.tokens[0])),
        a_ms=_estimate(one.line.a, n_repeats),
        b_ms=_estimate(one.line.b, n_repeats),
        relative_b=relative,
        curvature=one.curvature,
        drawn=tuple(drawn),
        with_baseline=_crossing(one, baseline, n_repeats),
        with_strongest=_crossing(one, strongest, n_repeats),
    )


def _estimate(values: Array, n_repeats: int) -> Estimate | None:
    found = fits.estimate(values, n_repeats)
    return Estimate(*found, n_repeats) if found else None


def _ratio(over: Array, under: Array) -> Array:
    found: Array = np.divide(over, under, out=np.full(over.shape, np.nan), where=under != 0)
    return found


def _crossing(one: Fitted, other: Fitted | None, n_repeats: int) -> Crossing | None:
    """Where on the lengths that both were measured at `one` takes less time than `other`; None without such lengths.

    Between two lines the ends of these lengths say it all. Where one of the two bends, the medians are joined instead.
    """
    if other is None or other is one:
        return None
    low = max(one.tokens[0].min(), other.tokens[0].min())
    high = min(one.tokens[0].max(), other.tokens[0].max())
    straight = not (one.bends or other.bends)
    every = np.union1d(one.tokens[0], other.tokens[0])
    grid = np.array([low, high]) if straight else np.union1d(every[(every > low) & (every < high)], [low, high])
    margins = _times(other, grid, straight) - _times(one, grid, straight)
    if low >= high or np.isnan(margins[0]).any():
        return None
    found = crossover(grid, margins, n_repeats)
    return Crossing(other.label, found, (float(low), float(high)), straight, n_repeats)


def _times(one: Fitted, grid: Array, straight: bool) -> Array:
    if straight:
        return one.line.at(grid)
    tokens = np.broadcast_to(one.tokens, one.medians.shape)
    rising = np.argsort(tokens, axis=-1)  # the tokens that emerged may be in another order than those asked for
    points = zip(*(np.take_along_axis(values, rising, axis=-1) for values in (tokens, one.medians)), strict=True)
    return np.array([np.interp(grid, xs, ys) for xs, ys in points])
