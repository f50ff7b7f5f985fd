"""Claims about the plans of batch, prompt, teacher_forcing and memory."""

from dataclasses import replace

from suites import batch, memory, prompt, teacher_forcing
from suites.tasks import Row
from tests.suites.test_suite_plan import TASK, plan_of, setup_of


def test_a_batch_suite_finishes_a_size_before_it_begins_the_next() -> None:
    plan = plan_of(*batch.plan(setup_of("ar", "ctc", batch_sizes=(4, 1, 2), lengths=(20,))))
    sizes = [[trial.cell.batch_size for block in blocks for trial in block.trials] for blocks in plan.rounds]
    assert sizes == [[size] * 2 * 3 for size in (1, 2, 4)]  # two contestants, three repeats
    assert [[trial.repeat for block in blocks for trial in block.trials] for blocks in plan.rounds] == [
        [0, 0, 1, 1, 2, 2]
    ] * 3
    assert plan.minimum == 1  # a budget may end it after the smallest size


def test_larger_batches_hold_sources_of_the_same_lengths() -> None:
    plan = plan_of(*batch.plan(setup_of("ar", batch_sizes=(1, 256), lengths=(20,))))
    rows = {row for trial in plan.trials if trial.cell.batch_size == 256 for row in trial.rows}
    assert len(rows) == batch.POOL
    spread = [len(TASK.rows[row].reference.split()) for row in rows]
    assert max(spread) - min(spread) <= 6  # five rows of each length: 32 of them span seven lengths


def test_a_prompt_suite_takes_sources_by_their_own_length() -> None:
    task = replace(TASK, rows=tuple(Row("s " * (i % 250 + 1), "r", str(i)) for i in range(500)))
    plan = plan_of(*prompt.plan(setup_of("ar", "ctc", tasks=(task,))))
    cells = {trial.cell for trial in plan.trials}
    assert {(c.source_length, c.length) for c in cells if c.label == "ar"} == {
        (source, length) for source in prompt.SOURCE_LENGTHS for length in (8, 16)
    }
    assert {(c.source_length, c.length, c.mode) for c in cells if c.label == "ctc"} == {
        (source, None, "natural") for source in prompt.SOURCE_LENGTHS
    }
    for trial in plan.trials:
        for row in trial.rows:
            assert abs(len(task.rows[row].source.split()) + 1 - (trial.cell.source_length or 0)) <= 3


def test_a_scoring_pass_is_timed_beside_the_one_shot_strategies() -> None:
    assert {"teacher_forcing", "ctc", "mask_predict:n_iterations=1"} <= set(teacher_forcing.CONTESTANTS)


def test_memory_asks_one_request_of_each_process() -> None:
    plan = plan_of(*memory.plan(setup_of("ar", "ctc", batch_sizes=(1, 4))))
    assert all(len(block.trials) == 1 for blocks in plan.rounds for block in blocks)
    assert len(plan.trials) == 2 * 2 * 2 * 3  # contestants, lengths, sizes, repeats
