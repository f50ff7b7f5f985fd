"""The gate's verdicts in words: a line a strategy, a page for a CI summary, JUnit XML."""

import math
from collections.abc import Mapping, Sequence
from xml.etree import ElementTree

from metrics.bounds import Bounds
from reports.formats import signed
from reports.gate import Judgement
from reports.gate_looks import Verdict
from reports.names import visible

NOTABLE = 0.02  # a slope or intercept moved when its whole interval lies beyond this …
STEADY = 0.05  # … and stayed when its whole interval lies within this
PLAIN = ("slower by more than 5 %", "not slower by more than 5 %")  # reasons that the numbers say themselves


def line(strategy: str, verdict: Verdict) -> str:
    """`mask_predict: +12.4 % [+8.9, +16.1], per-token cost up, fixed cost unchanged: REGRESSION`."""
    judgement = verdict.judgement
    parts = [effect(judgement.effect), f"per-token cost {change(judgement.per_token)}"]
    parts += [f"fixed cost {change(judgement.fixed)}"]
    why = "" if verdict.why in PLAIN else f" ({verdict.why})"
    return visible(f"{strategy}: {', '.join(parts)}: {verdict.word}{why}")


def effect(bounds: Bounds) -> str:
    """A log ratio as `+12.4 % [+8.9, +16.1]`."""
    if math.isinf(bounds.lower):
        return f"{percent(bounds.value)} %"
    return f"{percent(bounds.value)} % [{percent(bounds.lower)}, {percent(bounds.upper)}]"


def percent(log_ratio: float) -> str:
    return signed(100 * math.expm1(min(log_ratio, 50.0)))


def change(bounds: Bounds | None) -> str:
    """What happened to a part of the cost: up, down, unchanged or, where the interval is too wide, unclear."""
    if bounds is None:
        return "unclear"
    if bounds.lower > NOTABLE:
        return "up"
    if bounds.upper < -NOTABLE:
        return "down"
    return "unchanged" if bounds.lower > -STEADY and bounds.upper < STEADY else "unclear"


def resolution(verdicts: Mapping[str, Verdict]) -> str:
    """What could have been found, and how steady the machine was."""
    parts = [f"{name} {percent(v.judgement.findable)} %" for name, v in verdicts.items() if v.judgement.blocks > 1]
    return f"smallest slowdown that would have been found 95 times in 100: {', '.join(parts) or 'none'}"


def markdown(verdicts: Mapping[str, Verdict], said: Sequence[str]) -> str:
    """A table of the verdicts and what else must be known, for a CI summary."""
    head = (
        "## Latency gate\n\n"
        "| strategy | verdict | head / base | by length | wall time | base / base | would be found | blocks |\n"
        "|---|---|--:|---|--:|--:|--:|--:|\n"
    )
    rows = "".join(_row(name, verdict) for name, verdict in verdicts.items())
    notes = "".join(f"- {_cell(one)}\n" for one in said)
    return f"{head if verdicts else '## Latency gate' + chr(10)}{rows}\n{notes}"


def _row(name: str, verdict: Verdict) -> str:
    j: Judgement = verdict.judgement
    lengths = ", ".join(f"{length}: {percent(bounds.value)} %" for length, bounds in j.cells.items())
    found = f"{percent(j.findable)} %" if j.blocks > 1 else "nothing"
    word = f"**{verdict.word}**" if verdict.why in PLAIN else f"**{verdict.word}** {verdict.why}"
    columns = (f"`{name}`", word, effect(j.effect), lengths, effect(j.wall), effect(j.control), found, str(j.blocks))
    return f"| {' | '.join(map(_cell, columns))} |\n"


def _cell(text: str) -> str:
    return visible(" ".join(text.split())).replace("|", "\\|").replace("<", "&lt;")


def junit(verdicts: Mapping[str, Verdict], exact: Sequence[str]) -> str:
    """JUnit XML: a case for the exact line and one for each strategy; inconclusive ones count as skipped."""
    suite = ElementTree.Element("testsuite", name="latency gate")
    case = ElementTree.SubElement(suite, "testcase", classname="gate", name="exact")
    if exact:
        ElementTree.SubElement(case, "failure", message=visible(exact[0])).text = visible("; ".join(exact))
    for name, verdict in verdicts.items():
        case = ElementTree.SubElement(suite, "testcase", classname="gate", name=visible(name))
        kind = {"REGRESSION": "failure", "INCONCLUSIVE": "skipped"}.get(verdict.word)
        if kind:
            ElementTree.SubElement(case, kind, message=line(name, verdict))
    for kind, tag in (("tests", "testcase"), ("failures", "failure"), ("skipped", "skipped")):
        suite.set(kind, str(len(list(suite.iter(tag)))))
    suite.set("errors", "0")
    root = ElementTree.Element("testsuites")
    root.append(suite)
    ElementTree.indent(root)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ElementTree.tostring(root, encoding="unicode")}\n'
