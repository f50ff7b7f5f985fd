"""What stands for a run is chosen by quality and by fixed workloads, never by speed."""

from dataclasses import replace

import pytest

from reports import caveats
from reports.choices import lead_cell, representatives
from reports.figures import figures
from reports.html import page
from reports.summarise import summarise
from reports.summary import Summary
from reports.text import as_text
from reports.trust import trust
from reports.verdict import verdict
from tests.reports.synthetic import two_tasks

LABELS = ["ar", "ctranslate2:compute_type=int8", "mask_predict:n_iterations=1", "mask_predict:n_iterations=10", "copy"]
FASTEST_AND_WORST, BEST = LABELS[2:4]
INT8 = LABELS[1]


@pytest.fixture(scope="module")
def grid() -> Summary:
    return summarise(two_tasks(LABELS).run())


@pytest.fixture(scope="module")
def drafted() -> Summary:
    """The same with a speculative contestant that writes what ar writes, in half its time."""
    made = two_tasks(["ar", INT8, BEST, "copy"])
    twins = [r for r in made.records if r.label == "ar"]
    made.records += [
        replace(r, key=f"twin {r.key}", label="speculative", strategy="speculative", latency_s=(r.latency_s or 0) / 2)
        for r in twins
    ]
    made.samples += [replace(s, key=f"twin {s.key}", label="speculative") for s in made.samples if s.label == "ar"]
    made.scores += [replace(s, label="speculative") for s in made.scores if s.label == "ar"]
    return summarise(made.run())


@pytest.fixture(scope="module")
def unscored() -> Summary:
    made = two_tasks(LABELS)
    made.samples, made.scores = [], []
    return summarise(made.run())


def labels(summary: Summary, task: str) -> list[str]:
    return [contestant.label for contestant in representatives(summary, task)]


def test_a_task_without_scores_takes_its_representative_from_the_scored_one(grid: Summary) -> None:
    assert labels(grid, "mixed") == labels(grid, "verse") == [BEST]


def test_the_fastest_and_worst_contestant_does_not_lead(grid: Summary) -> None:
    ratios = {c.label: c.like_for_like.ratio.value for c in grid.cells if c.length == 128 and c.like_for_like}
    assert ratios[FASTEST_AND_WORST] > 5 * ratios[BEST]  # so that speed would choose the other one
    found = verdict(grid)
    assert found.lead.startswith("On mixed at 128 tokens, batch 1, mask_predict T=10, the parallel contestant with the")
    assert "BLEU on verse relative to ar (BLEU at natural lengths with 3 length candidates" in found.lead
    assert all("mask_predict T=1 " not in text for text in [found.lead, *dict(found.findings)["Speed"]])


def test_a_speculative_strategy_is_raced_but_never_called_parallel(drafted: Summary) -> None:
    assert labels(drafted, "mixed") == [BEST, "speculative"]
    found = verdict(drafted)
    assert found.lead.startswith("On mixed at 128 tokens, batch 1, mask_predict T=10 is ")
    (speed,) = [text for text in dict(found.findings)["Speed"] if "speculative takes" in text]
    assert "2.00× [2.00, 2.00] as fast as ar in the same runtime" in speed
    quality = drafted.quality("verse", "speculative")
    assert quality is not None and quality.same_as_ar is not None and quality.same_as_ar.share == 1


def test_where_nothing_is_parallel_another_kind_leads_under_its_own_name() -> None:
    made = two_tasks(["ar", "ctc", "mask_predict"])
    kinds = {"ctc": "semi_ar", "mask_predict": "semi_ar:block_length=4"}

    def renamed(label: str) -> str:
        return kinds.get(label, label)

    made.records = [replace(r, label=renamed(r.label), strategy=renamed(r.label).split(":")[0]) for r in made.records]
    made.samples = [replace(s, label=renamed(s.label)) for s in made.samples]
    made.scores = [replace(s, label=renamed(s.label)) for s in made.scores]
    found = verdict(summarise(made.run()))
    assert ", batch 1, semi_ar, the semi-autoregressive contestant with the best BLEU, is " in found.lead


def test_the_lead_is_at_natural_length_on_the_scored_task_where_timed() -> None:
    summary = summarise(two_tasks(LABELS, natural=True).run())
    assert verdict(summary).lead.startswith("On verse at natural length, batch 1, mask_predict T=10, the parallel")
    assert "BLEU at natural lengths" not in verdict(summary).lead  # what was timed is what was scored


def test_the_speedup_figure_is_titled_by_the_representative(grid: Summary) -> None:
    (title,) = [figure.title for figure in figures(grid) if figure.name.startswith("speedup")]
    assert title.startswith("mask_predict T=10 at 128 tokens is ")


def test_without_any_score_the_first_contestant_stands_for_its_strategy(unscored: Summary) -> None:
    assert labels(unscored, "mixed") == [FASTEST_AND_WORST]
    cell = lead_cell(unscored)
    assert cell is not None and (cell.task, cell.length) == ("mixed", 128)


def test_an_engine_that_writes_worse_on_the_scored_task_is_no_denominator_on_another() -> None:
    made = two_tasks(LABELS)
    turned = {INT8: FASTEST_AND_WORST, FASTEST_AND_WORST: INT8}
    made.scores = [replace(score, label=turned.get(score.label, score.label)) for score in made.scores]
    summary = summarise(made.run())
    best = {c.label: c.each_at_best.against for c in summary.cells if c.task == "mixed" and c.each_at_best}
    assert best[BEST] == "ar"
    assert best[INT8] == INT8
    assert "whose BLEU on verse is not significantly below" in caveats.strongest(summary, "mixed", summary.cells)


def test_where_nothing_was_scored_the_strongest_engine_is_said_to_be_the_fastest(unscored: Summary) -> None:
    text = page(unscored)
    assert "quality not measured here: simply the fastest" in text
    assert "significantly below" not in text


def test_an_engine_that_was_not_scored_is_named_as_taken_by_speed_alone() -> None:
    made = two_tasks(LABELS)
    made.scores = [score for score in made.scores if score.label != INT8]
    summary = summarise(made.run())
    assert "by speed alone, since it was not scored: ctranslate2 int8" in caveats.strongest(
        summary, "mixed", summary.cells
    )


def test_wherever_the_strongest_engine_stands_its_threads_do(grid: Summary) -> None:
    rule = (
        "The strongest AR engine, at the run's threads: the fastest one whose BLEU on verse is not significantly below"
    )
    captions = [figure.caption for figure in figures(grid) if figure.name.startswith("speedup")]
    assert captions and all(rule in caption for caption in captions)
    assert rule in as_text(grid)


def test_one_length_candidate_is_said_wherever_an_exact_latency_stands(grid: Summary) -> None:
    said = "At an exact length mask_predict tries one length candidate"
    (latency,) = [figure for figure in figures(grid) if figure.name.startswith("latency")]
    assert said in latency.caption
    assert said in latency.table.note
    assert any(said in value for fact in trust(grid) for value in fact.values)
    assert said in as_text(grid)


def test_a_strategy_that_tries_one_length_anyway_carries_no_such_note() -> None:
    made = two_tasks(LABELS)
    made.records = [replace(r, config=r.config | {"length_beam": 1}) for r in made.records]
    summary = summarise(made.run())
    assert caveats.exact_lengths(summary, summary.cells) == ""
