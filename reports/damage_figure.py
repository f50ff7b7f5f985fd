"""Damage by one wrong token against where it was put: what followed from it, and who took it back."""

from collections.abc import Callable

from reports import plots
from reports.batch_figure import Drawing, series
from reports.drawing import Canvas
from reports.evidence import Damage
from reports.evidence_tables import damage_table
from reports.evidence_words import damage_sentence
from reports.summary import Estimate, Summary

PLACE = "wrong token at, % of the reference"


def damage_drawing(summary: Summary) -> Drawing | None:
    """Two panels over the place, a line a contestant; None where fewer than two places were tried."""
    if len({damage.at for damage in summary.evidence.damages}) < 2:
        return None
    panels = [
        ("damage behind it, % of tokens", _series(summary, lambda damage: damage.edits)),
        ("healed, % of outputs", _series(summary, lambda damage: damage.healed)),
    ]
    caption = (
        "Left: token edits between the text behind a wrong token and what the same contestant writes undisturbed, in % "
        "of those tokens, a ratio of totals; right: outputs that have the undisturbed token there again, in % of those "
        "long enough; both against the place of the wrong token, in % of the reference's tokens. Bars: 95 % intervals "
        "by bootstrap over sentences, n in the table. The later the place, the fewer tokens are left to be changed. "
        "Nothing here is timed."
    )
    return Drawing(
        "damage",
        damage_sentence(summary),
        caption,
        damage_table(summary),
        2,
        plots.knob(panels, [("", None), ("", None)], PLACE),
        (Canvas(800, 380, 150, 2), Canvas(360, 330, 146, 1)),
    )


def _series(summary: Summary, of: Callable[[Damage], Estimate | None]) -> list[plots.Series]:
    found = [(c, [d for d in summary.evidence.damages if d.label == c.label]) for c in summary.contestants]
    return [
        series(summary, contestant, [plots.point(100 * d.at, e) for d in own if (e := of(d))])
        for contestant, own in found
        if own
    ]
