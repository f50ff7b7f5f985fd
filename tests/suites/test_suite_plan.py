"""Claims about which trials make a run, and in which order."""

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suites import iterations, latency, quality, quick, smoke
from suites.plan import Block, Cell, Entrant, Plan, Round, Setup, Trial, interleave, make_plan
from suites.refusal import Refusal
from suites.registry import SUITES, suite_named
from suites.rounds import trials_of
from suites.settings import Settings, parse_budget, parse_numbers
from suites.tasks import Row, Task

TASK = Task("t", tuple(Row("s " * (i % 50 + 1), "r " * (i % 60 + 1), str(i)) for i in range(300)), "")


def setup_of(*labels: str, chosen: bool = True, **changes: object) -> Setup:
    setup = Setup(
        suite="latency",
        seed=0,
        repeats=3,
        lengths=(8, 16),
        batch_sizes=(1,),
        entrants=tuple(Entrant(label=label, exact=label != "ctc") for label in labels),
        chosen=chosen,
        tasks=(TASK,),
        reference_lengths=lambda task: [len(row.reference.split()) for row in task.rows],
        source_lengths=lambda task: [len(row.source.split()) + 1 for row in task.rows],
    )
    return replace(setup, **changes)  # type: ignore[arg-type]


def plan_of(*parts: list[tuple[Block, ...]]) -> Plan:
    return make_plan({}, parts)


def test_keys_differ_when_anything_a_record_is_for_differs() -> None:
    cell = Cell("t", "ar", "exact", 8, 1)
    trial = Trial("latency", cell, 0, (1,))
    others = [
        replace(trial, suite="quick"),
        replace(trial, repeat=1),
        replace(trial, rows=(2,)),
        *(
            replace(trial, cell=replace(cell, **{name: value}))
            for name, value in (("task", "u"), ("label", "ctc"), ("mode", "natural"), ("length", 9), ("batch_size", 2))
        ),
    ]
    assert len({trial.key, *(other.key for other in others)}) == 9
    assert trial.key == Trial("latency", Cell("t", "ar", "exact", 8, 1), 0, (1,)).key


@pytest.mark.parametrize("name", SUITES)
def test_every_suite_plans_each_key_once_and_the_same_for_the_same_seed(name: str) -> None:
    suite = SUITES[name]
    labels = suite.contestants
    setup = setup_of(*labels, chosen=False, suite=name, lengths=suite.lengths, tasks=(TASK,) * len(suite.tasks))
    plan, again = plan_of(*suite.plan(setup)), plan_of(*suite.plan(setup))
    keys = [trial.key for trial in plan.trials]
    assert len(set(keys)) == len(keys) > 0
    assert plan.hash == again.hash
    other = plan_of(*suite.plan(replace(setup, seed=1)))
    assert other.hash != plan.hash


@pytest.mark.parametrize("name", SUITES)
def test_every_round_gives_each_contestant_the_same_work(name: str) -> None:
    suite = SUITES[name]
    setup = setup_of(*suite.contestants, chosen=False, suite=name, lengths=(8,), tasks=(TASK,) * len(suite.tasks))
    for blocks in plan_of(*suite.plan(setup)).rounds:
        work: dict[str, list[tuple[tuple[int, ...], int]]] = {}
        for trial in trials_of(blocks):
            work.setdefault(trial.cell.label, []).append((trial.rows, trial.repeat))
        assert len({tuple(sorted(done)) for done in work.values()}) == 1
        assert all({t.cell.label for t in block.trials} == {block.label} for block in blocks)
        everybody = len(work)  # one after the other, and again only once all others had their turn
        assert all(len(set(labels(blocks[i : i + everybody]))) == everybody for i in range(0, len(blocks), everybody))


def labels(blocks: Round) -> list[str]:
    return [block.label for block in blocks]


def test_the_plans_own_word_on_its_cells_is_the_sum_of_its_rounds() -> None:
    plan = plan_of(*smoke.plan(setup_of("ar", "ctc")))
    told = plan.to_json()
    assert sum(cell["planned"] for cell in told["cells"]) == sum(map(len, told["rounds"])) == len(plan.trials)


def test_where_the_length_emerges_the_sources_are_those_of_the_exact_runs() -> None:
    plan = plan_of(*latency.plan(setup_of("ar", "ctc")))
    rows = {(t.cell.label, t.cell.length, t.repeat): t.rows for t in plan.trials}
    modes = {t.cell.label: t.cell.mode for t in plan.trials}
    assert modes == {"ar": "exact", "ctc": "natural"}
    for (label, length, repeat), chosen in rows.items():
        assert chosen == rows["ar", length, repeat]
        assert abs(len(TASK.rows[chosen[0]].reference.split()) - length) <= 1, label


def test_batches_of_a_length_hold_different_sources() -> None:
    plan = plan_of(*latency.plan(setup_of("ar", batch_sizes=(1, 12), lengths=(20,))))
    for trial in plan.trials:
        assert len(trial.rows) == trial.cell.batch_size == len(set(trial.rows))


def test_an_uncached_decoder_is_spared_long_outputs_unless_asked_for() -> None:
    lengths = {"lengths": (64, 128)}
    default = plan_of(*latency.plan(setup_of("ar", "ar_uncached", chosen=False, **lengths)))
    asked = plan_of(*latency.plan(setup_of("ar", "ar_uncached", chosen=True, **lengths)))
    assert {t.cell.length for t in default.trials if t.cell.label == "ar_uncached"} == {64}
    assert {t.cell.length for t in asked.trials if t.cell.label == "ar_uncached"} == {64, 128}


@pytest.mark.parametrize("name", ["latency", "quick"])
def test_every_decoder_is_raced_against_the_strongest_and_the_plainest_autoregressive_ones(name: str) -> None:
    suite = SUITES[name]
    setup = setup_of(*suite.contestants, chosen=False, lengths=suite.lengths, tasks=(TASK,) * len(suite.tasks))
    lengths: dict[str, set[int | None]] = {}
    for trial in plan_of(suite.plan(setup)[0]).trials:
        lengths.setdefault(trial.cell.label, set()).add(trial.cell.length)
    for engine in ("ctranslate2", "ctranslate2:compute_type=int8"):
        shallow = engine.replace("ctranslate2", "ctranslate2:weights=ar_shallow")
        assert lengths[engine] == lengths[shallow] == set(suite.lengths)
    assert lengths["ar_uncached"] == {8, 16, 32, 64}


def test_quality_covers_every_row_once_for_every_contestant() -> None:
    plan = plan_of(*quality.plan(setup_of("ar", "ctc")))
    for label in ("ar", "ctc"):
        trials = [t for t in plan.trials if t.cell.label == label and t.cell.mode == "batched"]
        assert sorted(row for t in trials for row in t.rows) == list(range(300))  # the last, smaller batch too
        assert all(t.cell.batch_size == len(t.rows) for t in trials)


def test_latency_at_natural_length_is_taken_one_sentence_at_a_time() -> None:
    plan = plan_of(*quality.plan(setup_of("ar", repeats=25)))
    sentences = [t for t in plan.trials if t.cell.mode == "natural"]
    assert len({t.rows for t in sentences}) == 25
    assert {t.cell for t in sentences} == {Cell("t", "ar", "natural", None, 1)}
    assert sorted(t.repeat for t in sentences) == list(range(25))  # so that repeats pair up between contestants


def test_a_quality_run_cut_short_has_a_fair_sample() -> None:
    order = quality.spread(setup_of("ar"), TASK)
    assert sorted(order) == list(range(300))
    assert order[:20] != sorted(order)[:20]
    assert order != quality.spread(setup_of("ar", seed=1), TASK)


def test_iterations_are_two_lines_and_no_grid() -> None:
    lines = {label for label in iterations.CONTESTANTS if label.startswith("mask_predict")}
    assert len(lines) == 10 + 5 - 1  # they cross at T = 4, length beam 3
    assert "mask_predict:n_iterations=4:length_beam=3" in lines


def test_quick_times_the_race_and_scores_more_than_it_times() -> None:
    setup = setup_of(*quick.CONTESTANTS, chosen=False, tasks=(TASK, replace(TASK, name="verses")))
    timed, scored, sentences = quick.plan(setup)
    assert {b.label for r in timed for b in r} == {*latency.CONTESTANTS, "ar_uncached"}
    assert {b.label for r in scored for b in r} == {b.label for r in sentences for b in r} == set(quick.SCORED)
    assert {*quick.TIMED, *quick.SCORED} == set(quick.CONTESTANTS)
    assert sum(len(t.rows) for r in scored for t in r[0].trials) == quick.VERSES


@given(st.lists(st.integers(1, 40), min_size=1, max_size=4))
def test_interleaved_parts_keep_step_wherever_they_are_cut(sizes: list[int]) -> None:
    parts = [
        [(Block(str(which), (Trial("s", Cell("t", str(which), "exact", i, 1), i, (i,)),)),) for i in range(size)]
        for which, size in enumerate(sizes)
    ]
    rounds = interleave(*parts)
    assert len(rounds) == sum(sizes)
    for cut in range(len(sizes), len(rounds) + 1):
        done = Counter(block.label for blocks in rounds[:cut] for block in blocks)
        shares = [done[str(which)] / size for which, size in enumerate(sizes)]
        assert min(done.values()) >= 1
        assert max(shares) - min(shares) <= 1 / min(sizes) + 1e-9


@pytest.mark.parametrize(("text", "seconds"), [("90s", 90), ("3m", 180), ("2.5m", 150), ("1h", 3600)])
def test_a_budget_is_read_with_its_unit(text: str, seconds: float) -> None:
    assert parse_budget(text) == seconds


@pytest.mark.parametrize("text", ["3", "m", "-3m", "0s", "3 m", "3M", "nan", "1e3s", "", "infs", "9" * 400 + "h", "٣m"])
def test_a_budget_that_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(Refusal, match="--budget must be a time"):
        parse_budget(text)


@pytest.mark.parametrize("text", ["", "a", "1,,2", "1.5", "1,"])
def test_numbers_that_are_none_are_refused(text: str) -> None:
    with pytest.raises(Refusal, match="expected whole numbers"):
        parse_numbers(text)


@pytest.mark.parametrize(
    "changes",
    [
        {"lengths": (0,)},
        {"lengths": (8, -1)},
        {"lengths": (8, 8)},
        {"batch_sizes": (0,)},
        {"repeats": 0},
        {"threads": 0},
        {"strategies": ("",)},
        {"dtype": "float3"},
        {"budget": "soon"},
    ],
)
def test_settings_that_cannot_be_meant_are_refused(changes: dict[str, object]) -> None:
    with pytest.raises(Refusal):
        Settings(suite="latency", **changes)  # type: ignore[arg-type]


def test_an_unknown_suite_is_answered_with_those_there_are() -> None:
    with pytest.raises(Refusal, match=f"unknown suite 'speed'; choose from: {', '.join(SUITES)}"):
        suite_named("speed")
