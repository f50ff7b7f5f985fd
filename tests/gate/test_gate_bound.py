"""The bound on false alarms: its lemma by brute force, and the bound against gates that really cry wolf."""

from dataclasses import asdict
from functools import partial
from math import comb

import numpy as np
import pytest

from metrics.bounds import mean_bounds
from reports.gate_bound import false_alarms, needed, strays
from reports.gate_looks import ALPHA, LOOKS
from reports.gate_replay import shares
from tests.gate.synthetic_pairs import block, plain, times

calm = partial(block, between=0.001, within=0.001)


@pytest.mark.parametrize("n", LOOKS)
@pytest.mark.parametrize("alpha", [ALPHA / 9, ALPHA / 36, 0.05])
def test_fewer_values_above_never_lift_the_t_bound_above_and_so_many_can(n: int, alpha: float) -> None:
    least = needed(n, alpha)
    draw = np.random.default_rng(n)
    for above in range(least):  # whatever the values are, at best all above are alike and all others just below
        samples = [np.r_[draw.exponential(scale, above), -draw.exponential(0.1, n - above)] for scale in (0.01, 1, 100)]
        samples += [np.r_[np.full(above, height), np.zeros(n - above)] for height in (1e-9, 1.0, 1e9)]
        assert all(mean_bounds(list(sample), alpha).lower <= 1e-12 for sample in samples)
    assert mean_bounds([1.0] * least + [0.0] * (n - least), alpha).lower > 0


def test_a_block_strays_by_each_of_the_limits_alone() -> None:
    assert not strays(calm(0))
    assert not strays(calm(0, times(1.04)))
    assert strays(calm(0, times(1.06)))
    assert strays(calm(0, lambda n: plain(n) * (1.17 if n == 64 else 1.0)))
    assert strays(calm(0, waiting_s=0.03))
    assert not strays(calm(0, waiting_s=0.001))


def test_the_bound_shrinks_with_blocks_and_grows_with_strays() -> None:
    even, wild = {"ar": calm(0)}, {"ar": calm(0, times(1.2))}
    few, many, one = (false_alarms(blocks) for blocks in ([even] * 20, [even] * 60, [even] * 59 + [wild]))
    assert (few.strayed, many.strayed, one.strayed) == (0, 0, 1)
    assert many.at_most < one.at_most < few.at_most < 0.001
    assert false_alarms([wild] * 20).at_most == 1
    p = 1 - 0.05 ** (1 / 20)  # none of 20, in one case out of 20
    found = sum(comb(n, j) * p**j * (1 - p) ** (n - j) for n, k in few.needed.items() for j in range(k, n + 1))
    assert few.at_most == pytest.approx(found * (1 - (1 - p) ** 5))
    assert set(asdict(few)["needed"]) == set(LOOKS)


def test_gates_on_blocks_that_stray_cry_wolf_less_often_than_the_bound_says() -> None:
    """Two processes in five are a fifth slower, worse than on any machine measured, so that alarms are seen."""
    blocks = [{"ar": calm(nth, times(1.2 if nth < 24 else 1.0))} for nth in range(60)]
    proved = false_alarms(blocks)
    seen = shares(blocks, seed=0, resamples=1, gates=600).alarms.value
    assert 0 < seen < proved.at_most < 1
