"""The search over data types, engines and threads: whom it races, on what, and that an entry's own settings hold."""

import pytest
import torch

from generators.base import Natural, Placement
from generators.registry import build, parse
from suites import tune
from suites.tasks import load_task
from tests.generators.asking import ask


def test_it_searches_validation_verses_that_no_test_set_holds() -> None:
    valid = {row.ref_id for row in load_task(tune.TASK).rows}
    assert len(valid) >= tune.VERSES
    assert not valid & {row.ref_id for row in load_task("verse").rows}


def test_every_kind_is_raced_on_one_thread_and_on_more() -> None:
    assert len(set(tune.CONTESTANTS)) == len(tune.KINDS) * len(tune.THREADS)
    assert set(tune.KINDS) <= set(tune.CONTESTANTS)
    assert {dict(parse(label).knobs).get("threads", "1") for label in tune.CONTESTANTS} == set(map(str, tune.THREADS))
    assert 1 in tune.THREADS


def test_an_entry_has_the_data_type_and_threads_it_names() -> None:
    before = torch.get_num_threads()
    plain, own = build(parse("ctc")), build(parse("ctc:dtype=bfloat16:threads=2"), Placement(threads=1))
    assert (own.config["dtype"], own.config["threads"]) == ("bfloat16", 2)
    assert not plain.config.keys() & {"dtype", "threads"}
    assert own.generator.model.positions.dtype == torch.bfloat16  # type: ignore[attr-defined]
    try:
        for loaded, n in ((plain, 1), (own, 2), (plain, 1)):
            loaded.take_over()
            assert torch.get_num_threads() == n
    finally:
        torch.set_num_threads(before)
    assert ask(own.generator, [(5, 9, 0)], Natural(5)).finish_reasons


@pytest.mark.parametrize("knob", ["threads=many", "threads=0", "dtype=int3"])
def test_bad_settings_are_refused(knob: str) -> None:
    with pytest.raises(ValueError, match=knob.partition("=")[0]):
        build(parse(f"ctc:{knob}"))
