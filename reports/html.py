"""A summary to one self-contained page. All that came from a run is text: escaped, and shown where it would act."""

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from metrics.registry import METRICS
from reports import names, rankings, samples, tables
from reports.cost_tables import cost_tables
from reports.evidence_tables import evidence_tables
from reports.figures import Figure, figures
from reports.line_table import line_table
from reports.replay import replays
from reports.summary import Summary
from reports.trust import trust
from reports.verdict import Verdict, verdict

PAGE = Path(__file__).parent / "page"
STYLES = ("style.css", "replay.css")
SCRIPTS = ("theme.js", "tables.js", "copy.js", "samples.js", "replay.js")
POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'sha256-{}'; base-uri 'none'; "
    "form-action 'none'"
)
Links = dict[str, list[tuple[str, str]]]  # sentence -> (anchor, words) of what shows it


def page(summary: Summary) -> str:
    """The report as HTML: the same text for the same records."""
    drawn = figures(summary)
    races = [_race(summary, task) for task in summary.tasks]
    found = verdict(summary)
    return rendered(
        "report.html",
        summary=summary,
        verdict=found,
        links=_links(summary, found, drawn, [t for t in races if t]),
        looks=names.looks(contestant.strategy for contestant in summary.contestants),
        figures=[{"value": f, "wide": Markup(f.wide), "narrow": Markup(f.narrow)} for f in drawn],
        races=[t for t in races if t],
        tables=[t for t in tables_of(summary) if t.title not in {figure.table.title for figure in drawn}],
        samples=samples.shown(summary),
        sample_rule=samples.RULE,
        sample_legend=samples.LEGEND,
        replays=replays(summary),
        trust=trust(summary),
        scored=any("bleu" in quality.scores for quality in summary.qualities),
        metrics=list(METRICS.values()),
    )


def rendered(template: str, **values: Any) -> str:
    """A template of the page with its style, its script and the policy that lets nothing else run."""
    environment = Environment(
        loader=FileSystemLoader(PAGE),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_finalized,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    script = "\n" + "".join(_text(name) for name in SCRIPTS)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return environment.get_template(template).render(
        values, style=Markup("".join(map(_text, STYLES))), script=Markup(script), policy=Markup(POLICY.format(digest))
    )


def _text(name: str) -> str:
    return (PAGE / name).read_text(encoding="utf-8")


def _race(summary: Summary, task: str) -> tables.Table | None:
    """The race of a task, with what holds for all its rows."""
    table, headline = rankings.race_table(summary, task), summary.headline_workload(task)
    batch = (("batch", str(headline[1])),) if headline else ()
    anchor = f"race-{summary.tasks.index(task) + 1}"
    return replace(table, anchor=anchor, facets=(("task", task), *batch)) if table else None


def tables_of(summary: Summary) -> list[tables.Table]:
    """Every table but the races, with what a reader can filter it by."""
    found: list[tables.Table] = []
    for task in summary.tasks:
        of_task = [
            rankings.quality_table(summary, task),
            line_table(summary, task),
            tables.latency_table(summary, task),
            tables.speedup_table(summary, task),
        ]
        found += [replace(table, facets=(("task", task),)) for table in of_task if table]
    found += [*evidence_tables(summary), *cost_tables(summary), tables.coverage_table(summary)]
    return [table for table in found if table.rows]


def _links(summary: Summary, said: Verdict, drawn: Sequence[Figure], races: Sequence[tables.Table]) -> Links:
    """For the lead and every paragraph: the figure that shows it, or the task's race where that was not drawn."""
    numbers = {figure.name: f"Figure {i}" for i, figure in enumerate(drawn, start=1)}
    anchors = {race.anchor for race in races}
    links: Links = {text: [] for text in (said.lead, *(text for _, texts in said.findings for text in texts))}
    for text, (kinds, task) in said.shown_by.items():
        number = summary.tasks.index(task) + 1
        found = [(name, numbers[name]) for kind in kinds if (name := f"{kind}-{number}") in numbers]
        if (race := f"race-{number}") in anchors and (not found or text == said.lead):
            found.append((race, "Table of the race"))
        links[text] = found
    return links


def _finalized(value: Any) -> Any:
    return names.visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value
