"""A summary to one self-contained page. All that came from a run is text: escaped, and shown where it would act."""

from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from metrics.registry import METRICS
from reports import names, rankings, tables
from reports.figures import figures
from reports.samples import RULE, shown
from reports.summary import Summary
from reports.trust import trust
from reports.verdict import verdict


def page(summary: Summary) -> str:
    """The report as HTML: the same text for the same records."""
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_finalized,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    drawn = figures(summary)
    return environment.get_template("template.html").render(
        summary=summary,
        verdict=verdict(summary),
        looks=names.looks(contestant.strategy for contestant in summary.contestants),
        figures=[{"value": f, "wide": Markup(f.wide), "narrow": Markup(f.narrow)} for f in drawn],
        races=[t for task in summary.tasks if (t := rankings.race_table(summary, task))],
        tables=_tables(summary, {figure.table.title for figure in drawn}),
        samples=shown(summary),
        sample_rule=RULE,
        trust=trust(summary),
        scored=any("bleu" in quality.scores for quality in summary.qualities),
        metrics=list(METRICS.values()),
    )


def _tables(summary: Summary, behind_figures: set[str]) -> list[tables.Table]:
    """The tables that stand behind no figure already."""
    found: list[tables.Table | None] = []
    for task in summary.tasks:
        found += [
            rankings.quality_table(summary, task),
            tables.latency_table(summary, task),
            tables.speedup_table(summary, task),
        ]
    found.append(tables.coverage_table(summary))
    return [table for table in found if table and table.rows and table.title not in behind_figures]


def _finalized(value: Any) -> Any:
    return names.visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value
