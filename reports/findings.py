"""All the evidence of a run, gathered once."""

from collections.abc import Sequence

from reports.bests import Below, bests
from reports.comparing import Table, comparisons
from reports.evidence import Evidence
from reports.fronts import fronts
from reports.literature import claims
from reports.one_shot import correlations, damages, mixtures
from reports.summary import Cell, Contestant, Difference, Quality
from suites.records import Run


def evidence_of(
    run: Run,
    table: Table,
    order: Sequence[Contestant],
    cells: Sequence[Cell],
    qualities: Sequence[Quality],
    baseline: str | None,
    below: Below,
) -> Evidence:
    """What the run gives reason to believe; each part is empty where the run has nothing for it."""
    return Evidence(
        comparisons=comparisons(table, run.records, cells, order, baseline),
        fronts=fronts(table, run.records, cells, qualities, order),
        claims=claims(run, table, order),
        correlations=correlations(run, order),
        mixtures=mixtures(run, order),
        damages=damages(run, order),
        bests=bests(run.records, cells, order, baseline, below),
    )


def bleu_difference(evidence: Evidence, quality: Quality) -> Difference | None:
    """The BLEU difference of a contestant to the baseline, judged among those of all contestants."""
    for comparison in evidence.comparisons:
        if (comparison.task, comparison.label) == (quality.task, quality.label):
            return comparison.differences.get("bleu")
    return None
