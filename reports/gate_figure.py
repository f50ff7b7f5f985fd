"""The study's figure: how often a slowdown is called one, by its size, for the gate and for the other rules."""

import io
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SIZES = ("aa", "plus5", "plus10", "plus20")
GATE, OTHERS = "#0072b2", "#8a8a8a"


def figure(results: Mapping[str, Any]) -> str:
    """SVG, the same bytes for the same results: a panel a load."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    loads = results["loads"]
    with mpl.rc_context({"svg.hashsalt": "gate", "svg.fonttype": "none", "font.size": 10}):
        drawn = Figure(figsize=(4.6 * len(loads), 3.6), layout="constrained")
        panels = drawn.subplots(1, len(loads), squeeze=False, sharey=True)[0]
        for ax, (load, found) in zip(panels, loads.items(), strict=True):
            _panel(ax, load, found)
        panels[0].set_ylabel("called slower, share")
        text = io.StringIO()
        drawn.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    return text.getvalue()


def _panel(ax: "Axes", load: str, found: Mapping[str, Any]) -> None:
    scenarios = found["scenarios"]
    x = [100 * math.expm1(sum(e := list(scenarios[name]["log_effects"].values())) / len(e)) for name in SIZES]
    styles = iter(("--", "-.", ":", (0, (6, 2)), (0, (1, 3))))
    for rule, row in found["rivals"].items():
        if row["aa"] is None:  # too few blocks for this rule
            continue
        ax.plot(x, [row[name][0] for name in SIZES], color=OTHERS, linestyle=next(styles), linewidth=1.2, label=rule)
    values = [scenarios[name]["found"] for name in SIZES]
    ax.plot(x, [value for value, _, _ in values], color=GATE, marker="o", linewidth=2, label="this gate")
    ax.fill_between(x, [low for _, low, _ in values], [high for _, _, high in values], color=GATE, alpha=0.2)
    ax.axvline(5, color=OTHERS, linewidth=0.8)
    ax.set(title=f"{load}, {found['blocks']} blocks", xlabel="true slowdown, % of CPU time", ylim=(-0.03, 1.03))
    ax.legend(fontsize=7, frameon=False)
