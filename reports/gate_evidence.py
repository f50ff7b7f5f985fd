"""What a study of the gate has shown, as JSON, as a page with tables, and as a figure."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import median
from typing import Any

from metrics.bounds import Bounds
from reports.gate_bound import false_alarms
from reports.gate_replay import GATES_OF_EQUALS, SCENARIOS, Pool, Shares, Study, effects, pool, read_study, shares
from reports.gate_rivals import RULES, alarms

POWER = 0.95
SEED = 0
TARGETS = {  # (load, scenario, share): a bound that must hold (of alarms: for what is proved), whether an upper one
    ("quiet", "aa", "alarms"): (0.015, True),
    ("bursty", "aa", "alarms"): (0.015, True),
    ("quiet", "plus10", "found"): (0.95, False),
    ("bursty", "plus10", "found"): (0.90, False),
    **{("quiet", scenario, "inconclusive"): (0.05, True) for scenario in ("aa", "plus10")},
    **{("bursty", scenario, "inconclusive"): (0.15, True) for scenario in ("aa", "plus10")},
}
WORDS = {
    "aa": "the same code", "plus5": "+5 % a step", "plus10": "+10 % a step", "plus20": "+20 % a step",
    "fixed": "+10 % as a fixed cost a call", "sleep": "40 % of a call slept away",
}  # fmt: skip

PAGE = """# Does the latency gate find what it should, and nothing else?

Written by `make gate-study` from the blocks in `{stem}.jsonl`; how they were made stands in `reports/README.md`.
{begun} Brackets are two one-sided 95 % bounds: of the gate from a bootstrap over blocks, of the other rules exact
binomial ones. A gate is an alarm when it calls any of its strategies slower; the other columns count verdicts. Blocks
without an alarm, drawn again, never hold one: how rare false alarms are is judged by what single blocks prove instead.

![Share called slower]({stem}.svg)
"""


def render(file: Path) -> list[Path]:
    """The files now beside `file`: its results, a page, a figure. Raises ValueError where it holds under two blocks."""
    study = read_study(file)
    results = evaluate(study)
    if not results["loads"]:
        raise ValueError(f"{file} holds fewer than two blocks; collect some: make gate-study")
    from reports.gate_figure import figure

    written = {
        file.with_suffix(".json"): json.dumps(results, indent=1, allow_nan=False) + "\n",
        file.with_suffix(".md"): page(results, file.stem),
        file.with_suffix(".svg"): figure(results),
    }
    for path, text in written.items():
        path.write_text(text, encoding="utf-8")
    return list(written)


def evaluate(study: Study, seed: int = SEED, **sizes: int) -> dict[str, Any]:
    """All numbers of a study: by load, by scenario, of the gate and of the other rules."""
    loads = {}
    for load, blocks in study.blocks.items():
        if len(blocks) < 2:
            continue
        pools = {scenario: pool(blocks, scenario) for scenario in SCENARIOS}
        many = {"aa": {"gates": GATES_OF_EQUALS, **sizes}}
        scenarios = {scenario: _scenario(one, seed, many.get(scenario, sizes)) for scenario, one in pools.items()}
        scenarios["aa"]["false_alarms"] = asdict(false_alarms(pools["aa"]))
        rivals = {rule: {s: alarms(blocks, s, rule) for s in SCENARIOS} for rule in RULES}
        loads[load] = {
            "blocks": len(blocks),
            "scenarios": scenarios,
            "rivals": rivals,
            "found_at_95_percent": smallest_found(scenarios),
        }
    return {
        "setup": dict(study.setup),
        "torn_lines": study.torn,
        "loads": loads,
        "whole_gates": whole_gates(study.gates),
    }


def _scenario(blocks: Pool, seed: int, sizes: Mapping[str, int]) -> dict[str, Any]:
    found: Shares = shares(blocks, seed, **sizes)
    numbers = {name: list(value) if isinstance(value, Bounds) else value for name, value in asdict(found).items()}
    if not found.gates_in_order:
        numbers["alarms_in_order"] = None
    return {**numbers, "log_effects": effects(blocks)}


def smallest_found(scenarios: Mapping[str, Any]) -> float | None:
    """The slowdown (0.08 for +8 %) found 95 times in 100, on a line between those measured; None beyond them."""
    points = sorted(
        (_mean_effect(scenarios[name]), scenarios[name]["found"][0]) for name in ("aa", "plus5", "plus10", "plus20")
    )
    for (left, low), (right, high) in zip(points[:-1], points[1:], strict=True):
        if low < POWER <= high:
            return math.expm1(left + (POWER - low) / (high - low) * (right - left))
    return None


def whole_gates(gates: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """How often whole gates said what and how long they took, by load, scenario and the strategies they judged."""
    found: dict[tuple[str, str, str], dict[str, Any]] = {}
    for gate in gates:
        load, scenario, strategies = key = gate["load"], gate["scenario"], ", ".join(gate["words"])
        row = {"load": load, "scenario": scenario, "strategies": strategies, "gates": 0, "alarms": 0}
        row = found.setdefault(key, {**row, "words": {}, "seconds": []})
        row["gates"] += 1
        row["alarms"] += "REGRESSION" in gate["words"].values()
        row["seconds"] += [gate["seconds"]] if "seconds" in gate else []  # older studies did not clock their gates
        for word in gate["words"].values():
            row["words"][word] = row["words"].get(word, 0) + 1
    return list(found.values())


def page(results: Mapping[str, Any], stem: str) -> str:
    """The study as Markdown, beside the files `stem`.jsonl and `stem`.svg."""
    setup = results["setup"]
    begun = f"Begun {setup['at'][:10]} at commit {str(setup['commit'])[:12]} on {setup['machine']}."
    parts = [PAGE.format(stem=stem, begun=begun)]
    for load, found in results["loads"].items():
        parts += [
            f"\n## {load}: {found['blocks']} blocks\n\n",
            _gate_table(load, found),
            f"\n{_proof(found['scenarios']['aa']['false_alarms'])}\n\n",
            _rival_table(found),
            "\n",
        ]
        smallest = found["found_at_95_percent"]
        text = "not reached by the slowdowns tried" if smallest is None else f"+{100 * smallest:.1f} %"
        parts += [f"Smallest slowdown found 95 times in 100 (a line between those tried): {text}.\n"]
    return "".join(parts) + _whole_table(results["whole_gates"])


def _gate_table(load: str, found: Mapping[str, Any]) -> str:
    head = "| the head is | really | alarms | called slower | inconclusive | passed | alarms on blocks of their own |\n"
    rows = [
        f"| {WORDS[name]} | {_percent(math.expm1(_mean_effect(one)), 1)} | {_share(load, name, 'alarms', one)} "
        f"| {_share(load, name, 'found', one)} | {_share(load, name, 'inconclusive', one)} | {_bounds(one['passed'])} "
        f"| {_bounds(one['alarms_in_order'])} of {one['gates_in_order']} |\n"
        for name, one in found["scenarios"].items()
    ]
    return f"{head}|---|--:|--:|--:|--:|--:|--:|\n{''.join(rows)}"


def _rival_table(found: Mapping[str, Any]) -> str:
    names = list(SCENARIOS)
    head = f"| called slower by | {' | '.join(WORDS[name] for name in names)} |\n|---|{'--:|' * len(names)}\n"
    rows = [
        f"| {rule} | {' | '.join(_bounds(row[name]) for name in names)} |\n" for rule, row in found["rivals"].items()
    ]
    return head + "".join(rows)


def _whole_table(rows: Sequence[Mapping[str, Any]]) -> str:
    if not rows:
        return ""
    lines = [
        f"| {row['load']} | {WORDS[row['scenario']]} | {row['strategies']} | {row['gates']} | {row['alarms']} | "
        f"{', '.join(f'{n} {word}' for word, n in sorted(row['words'].items()))} | {_took(row['seconds'])} |\n"
        for row in rows
    ]
    head = (
        "| load | the head is | strategies | gates | alarms | verdicts | seconds, median (least to most) |\n"
        "|---|---|---|--:|--:|---|--:|\n"
    )
    return f"\n## Whole gates\n\n{head}{''.join(lines)}"


def _took(seconds: Sequence[float]) -> str:
    return f"{median(seconds):.0f} ({min(seconds)} to {max(seconds)})" if seconds else "–"


def _share(load: str, scenario: str, what: str, one: Mapping[str, Any]) -> str:
    """The share with its bounds and, where a target is set, whether it is met."""
    text = _bounds(one[what])
    if (load, scenario, what) not in TARGETS:
        return text
    target, upper = TARGETS[load, scenario, what]
    value = one["false_alarms"]["at_most"] if what == "alarms" else one[what][0]
    holds = value <= target if upper else value >= target
    return f"{text} ({'≤' if upper else '≥'} {_percent(target, 1)}: {'holds' if holds else '**not reached**'})"


def _proof(found: Mapping[str, Any]) -> str:
    needed = ", ".join(f"{k} of {n}" for n, k in found["needed"].items())
    return (
        f"In {found['strayed']} of {found['blocks']} blocks of the same code something lies beyond one of the gate's "
        f"limits, so in at most {_percent(found['strays_at_most'], 1)} of all. An alarm takes as many as {needed}, and "
        f"one of those that confirm: at most {_percent(found['at_most'], 2)} of gates on the same code are alarms."
    )


def _mean_effect(one: Mapping[str, Any]) -> float:
    values = list(one["log_effects"].values())
    return float(sum(values) / len(values))


def _bounds(bounds: Sequence[float] | None) -> str:
    if bounds is None:
        return "–"
    value, low, high = bounds
    return f"{_percent(value, 1)} [{_percent(low, 1)}, {_percent(high, 1)}]"


def _percent(share: float, decimals: int) -> str:
    return f"{100 * share:.{decimals}f} %"
