"""What every metric keeps: its name, a signature of its own, sums that do not depend on order, no NaN outside."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import metrics
from metrics.base import corpus_score, skipped, table
from metrics.bootstrap import interval, paired_bootstrap
from metrics.registry import METRICS

BOUNDS = {
    "bleu": (0, 100),
    "chrf": (0, 100),
    "ter": (0, float("inf")),
    "repeated_token_rate": (0, 100),
    "seq_rep_4": (0, 1),
    "length_ratio": (0, float("inf")),
    "short_share": (0, 1),
    "empty_share": (0, 1),
    "name_recall": (0, 1),
}
TEXTS = st.lists(st.sampled_from(["so", "Rome", "went", "Abram", "7", ".", "very"]), max_size=8).map(" ".join)
IDS = st.lists(st.integers(0, 3), max_size=8).map(tuple)


@pytest.fixture(scope="session")
def rows_of(said):
    def statistics(metric, drawn):
        return [
            metric.statistics(
                said(text, reference=reference, source=source, token_ids=ids, reference_ids=reference_ids)
            )
            for text, reference, source, ids, reference_ids in drawn
        ]

    return statistics


DRAWN = st.lists(st.tuples(TEXTS, TEXTS, TEXTS, IDS, IDS), min_size=1, max_size=4)


def test_metrics_go_by_their_own_names():
    assert [metric.name for metric in METRICS.values()] == list(METRICS) == list(BOUNDS)


def test_no_two_metrics_share_a_signature():
    assert len({metric.signature for metric in METRICS.values()}) == len(METRICS)


def test_the_readme_lists_every_metric():
    readme = (Path(metrics.__file__).parent / "README.md").read_text(encoding="utf8")
    listed = re.findall(r"^\| `(\w+)` \| (\S+) \| (\w+) \|", readme, flags=re.MULTILINE)
    assert listed == [(metric.name, metric.unit, metric.direction) for metric in METRICS.values()]


@pytest.mark.parametrize("name", METRICS)
def test_no_outputs_are_refused(name):
    with pytest.raises(ValueError, match="no outputs to score"):
        corpus_score(METRICS[name], [])


def test_rows_that_do_not_fit_each_other_are_refused():
    with pytest.raises(ValueError, match=r"same number of statistics, got \[1, 2\]"):
        table([(1, 2), (1,)])
    with pytest.raises(ValueError, match="finite"):
        table([(1, float("nan"))])


def test_an_output_with_all_zero_statistics_is_skipped():
    assert skipped([(0, 0), (0, 1), (1, 1), (0.0, 0.0)]) == 2


@pytest.mark.parametrize("name", METRICS)
@settings(max_examples=20, deadline=None)
@given(drawn=DRAWN)
def test_scores_and_their_comparisons_hold_no_nan_and_stay_in_bounds(name, rows_of, drawn):
    metric = METRICS[name]
    rows = rows_of(metric, drawn)
    score = corpus_score(metric, rows)
    found = interval(metric, rows, seed=0, n_resamples=20), paired_bootstrap(metric, rows, rows, seed=0, n_resamples=20)
    json.dumps([rows, score, found], allow_nan=False)
    low, high = BOUNDS[name]
    assert score is None or low <= score <= high + 1e-9


@pytest.mark.parametrize("name", METRICS)
@settings(max_examples=20, deadline=None)
@given(drawn=DRAWN, data=st.data())
def test_the_order_of_outputs_does_not_matter(name, rows_of, drawn, data):
    rows = rows_of(METRICS[name], drawn)
    shuffled = data.draw(st.permutations(rows))
    assert corpus_score(METRICS[name], shuffled) == pytest.approx(corpus_score(METRICS[name], rows))


@pytest.mark.parametrize("name", METRICS)
def test_an_aggregate_of_many_sums_is_that_of_each(name, rows_of):
    metric = METRICS[name]
    drawn = [("so Abram went", "so Abram went up", "Abram", (1, 1, 1, 1, 1), (1, 2)), ("", "a", "", (), (3,))]
    rows = table(rows_of(metric, drawn))
    together = metric.aggregate(rows.reshape(1, 2, -1))
    assert together.shape == (1, 2)
    assert together[0].tolist() == pytest.approx([float(metric.aggregate(row)) for row in rows], nan_ok=True)


PERFECT = {
    "bleu": 100,
    "chrf": 100,
    "ter": 0,
    "repeated_token_rate": 0,
    "seq_rep_4": 0,
    "length_ratio": 1,
    "short_share": 0,
    "empty_share": 0,
    "name_recall": 1,
}


@pytest.mark.parametrize("name", METRICS)
def test_the_reference_itself_scores_best(name, said):
    text, ids = "the road to Rome is long", (1, 2, 3, 4, 5, 6)
    output = said("", source=text, reference=text, reference_ids=ids).of_reference()
    assert corpus_score(METRICS[name], [METRICS[name].statistics(output)]) == pytest.approx(PERFECT[name])


def test_importing_the_metrics_brings_no_heavy_library():
    script = "import sys, metrics.registry, metrics.bootstrap, metrics.comparison, metrics.latency; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(metrics.__file__).parents[1],
    )
    assert not {"torch", "pandas", "scipy", "transformers", "matplotlib"} & set(done.stdout.split())
    assert "sacrebleu" in done.stdout.split()
