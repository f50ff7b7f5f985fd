"""The lines a sweep of one knob draws: contestants that differ in nothing else."""

from dataclasses import dataclass

from reports.summary import Contestant, Summary

KNOBS = {"n_iterations": "decoder passes, T", "length_beam": "length candidates"}  # as an axis says it
PHRASES = {"n_iterations": "T = {}", "length_beam": "{} length candidates"}  # as a sentence says a value


@dataclass(frozen=True, slots=True)
class Curve:
    knob: str
    strategy: str
    held: str  # the other knobs, as text
    points: tuple[tuple[int, Contestant], ...]  # by rising knob; two or more


def curves(summary: Summary, task: str, knob: str) -> tuple[Curve, ...]:
    """The curves of `knob` whose contestants have quality in `task`, the longest first."""
    groups: dict[tuple[str, tuple[tuple[str, str], ...]], dict[int, Contestant]] = {}
    for contestant in summary.contestants:
        config = dict(contestant.config)
        value = config.pop(knob, "")
        if value.isdecimal() and summary.quality(task, contestant.label):
            groups.setdefault((contestant.strategy, tuple(config.items())), {})[int(value)] = contestant
    found = [_curve(knob, strategy, config, points) for (strategy, config), points in groups.items() if len(points) > 1]
    return tuple(sorted(found, key=lambda curve: (-len(curve.points), curve.strategy, curve.held)))


def phrase(knob: str, value: int | str) -> str:
    """A knob's value as a sentence says it: `T = 4`, `1 length candidate`."""
    text = PHRASES[knob].format(value)
    return text.removesuffix("s") if str(value) == "1" else text


def _curve(knob: str, strategy: str, config: tuple[tuple[str, str], ...], points: dict[int, Contestant]) -> Curve:
    held = ", ".join(phrase(name, value) for name, value in config if name in KNOBS)
    return Curve(knob, strategy, held, tuple(sorted(points.items(), key=lambda point: point[0])))
