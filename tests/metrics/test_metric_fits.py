"""Lines through medians: values by hand, what a bootstrap must and must not do, and how often its intervals hold."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from metrics.fits import curvature, draw_repeats, estimate, fit, theil_sen
from metrics.resampling import counted_medians

LENGTHS = np.array([8.0, 16, 32, 64, 128, 192])


def one(values):
    return np.array([values], dtype=float)


def noisy(law, n_repeats, seed, noise=0.05, drift=0.0):
    """[repeats, lengths]: the law times a noise with the median 1, and a drift that a repeat's lengths share."""
    rng = np.random.default_rng(seed)
    shared = np.exp(drift * rng.standard_normal((n_repeats, 1)))
    return law(LENGTHS) * shared * np.exp(noise * rng.standard_normal((n_repeats, len(LENGTHS))))


def test_theil_sen_by_hand():
    line = theil_sen(one([1, 2, 4]), one([1, 3, 5]))
    # slopes 2, 4/3 and 1; then 1 - 4/3, 3 - 8/3 and 5 - 16/3
    assert line.b == pytest.approx([4 / 3])
    assert line.a == pytest.approx([-1 / 3])


def test_a_pair_of_lengths_weighs_as_much_as_they_are_apart():
    ys = one([1, 2, 2.5, 4, 8])  # slopes between neighbours: 1, 0.25, 0.375, 0.5
    xs = one([1, 2, 4, 8, 16])
    pairs = [(ys[0, j] - ys[0, i], int(xs[0, j] - xs[0, i])) for i in range(5) for j in range(i + 1, 5)]
    repeated = [rise / run for rise, run in pairs for _ in range(run)]  # each slope once for every token between
    assert theil_sen(xs, ys).b == pytest.approx([np.median(repeated)])


def test_short_lengths_that_lie_off_the_line_hardly_tilt_it():
    ys = 2 + 0.5 * LENGTHS
    ys[:2] *= 0.7
    assert theil_sen(LENGTHS[None], ys[None]).b[0] == pytest.approx(0.5, rel=0.02)


def test_one_wild_median_leaves_the_line_where_it_is():
    ys = 2 + 0.5 * LENGTHS
    ys[2] *= 40
    line = theil_sen(LENGTHS[None], ys[None])
    assert (line.a[0], line.b[0]) == pytest.approx((2, 0.5))


def test_equal_lengths_have_no_slope_between_them():
    line = theil_sen(one([4, 4, 8]), one([1, 3, 6]))
    assert line.b == pytest.approx([1.0])  # of 5/4 and 3/4; the pair at 4 has none
    assert np.isnan(theil_sen(one([4, 4, 4]), one([1, 2, 3])).b).all()


@given(values=arrays(float, (7, 3), elements=st.one_of(st.floats(0, 9), st.just(np.nan))), seed=st.integers(0, 99))
def test_medians_leave_failed_trials_out(values, seed):
    draws = draw_repeats(7, seed, n_resamples=5)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "All-NaN slice", RuntimeWarning)
        drawn = [np.repeat(values, draw.astype(int), axis=0) for draw in draws]
        expected = [np.nanmedian(rows, axis=0) for rows in drawn]
    assert counted_medians(values, draws) == pytest.approx(np.array(expected), nan_ok=True)


def test_the_sample_itself_is_the_first_draw():
    values = noisy(lambda x: 2 + x, 9, seed=1)
    draws = draw_repeats(9, seed=1)
    assert draws.shape == (1001, 9)
    medians = counted_medians(values, draws)
    assert medians[0] == pytest.approx(np.median(values, axis=0))
    own, line = theil_sen(LENGTHS[None], medians[:1]), fit(LENGTHS[None], medians)
    assert (line.a[0], line.b[0]) == pytest.approx((own.a[0], own.b[0]))


def test_drift_that_two_strategies_share_cancels_in_the_ratio_of_their_slopes():
    shared = np.linspace(1, 2, 20)[:, None]
    draws = draw_repeats(20, seed=3)
    slow, fast = (fit(LENGTHS[None], counted_medians(shared * y, draws)) for y in (2 + LENGTHS, 1 + 0.25 * LENGTHS))
    low, high = estimate(slow.b, 20)[1:]
    assert high - low > 0.2  # each slope alone is unsure
    assert estimate(fast.b / slow.b, 20) == pytest.approx((0.25, 0.25, 0.25))


def test_lengths_that_emerge_are_drawn_with_their_times():
    # each repeat writes a text of another length, all of them on one line: the line is sure although times are not
    kept = LENGTHS + np.arange(12)[:, None]
    draws = draw_repeats(12, seed=0)
    line = fit(counted_medians(kept, draws), counted_medians(3 + 2 * kept, draws))
    assert estimate(line.a, 12) == pytest.approx((3, 3, 3))
    assert estimate(line.b, 12) == pytest.approx((2, 2, 2))


def test_there_is_no_interval_under_six_repeats_and_no_value_where_the_sample_has_none():
    values = np.arange(10.0)
    assert estimate(values, 5) == (0.0, None, None)
    assert estimate(values, 6)[1] is not None
    assert estimate(np.array([np.nan, 1.0, 2.0]), 30) is None
    assert estimate(np.array([1.0, np.nan, 2.0]), 30) == (1.0, None, None)


@pytest.mark.parametrize(("n_repeats", "drift"), [(10, 0.0), (30, 0.05)])
def test_intervals_hold_the_truth_about_as_often_as_they_say(n_repeats, drift):
    held = {"a": 0, "b": 0}
    for seed in range(200):
        values = noisy(lambda x: 2 + x, n_repeats, seed, drift=drift)
        line = fit(LENGTHS[None], counted_medians(values, draw_repeats(n_repeats, seed, n_resamples=300)))
        for name, drawn, truth in (("a", line.a, 2.0), ("b", line.b, 1.0)):
            _, low, high = estimate(drawn, n_repeats)
            held[name] += low <= truth <= high
    # 95 % of 200 is 190; three standard errors of chance are 9
    assert min(held.values()) >= 181
    assert max(held.values()) <= 199


def test_a_bend_is_found_and_a_line_is_none():
    draws = draw_repeats(20, seed=0)
    line = curvature(LENGTHS, counted_medians(noisy(lambda x: 2 + x, 20, seed=2), draws))
    bend = curvature(LENGTHS, counted_medians(noisy(lambda x: 2 + x + 0.02 * x**2, 20, seed=2), draws))
    assert not line.curved
    assert bend.curved
    assert bend.quadratic_error < 0.1 < bend.line_error


def test_a_bend_too_small_to_matter_is_a_line():
    draws = draw_repeats(20, seed=0)
    values = noisy(lambda x: 2 + x + 0.0002 * x**2, 20, seed=0, noise=1e-4)
    found = curvature(LENGTHS, counted_medians(values, draws))
    assert found.quadratic_error < found.line_error < 0.03
    assert not found.curved


def test_noise_alone_seldom_looks_like_a_bend():
    draws = draw_repeats(10, seed=0, n_resamples=200)
    found = [curvature(LENGTHS, counted_medians(noisy(lambda x: 2 + x, 10, seed, 0.1), draws)) for seed in range(100)]
    assert sum(one.curved for one in found) <= 5


def test_three_lengths_cannot_show_a_bend():
    medians = counted_medians(noisy(lambda x: 2 + x, 8, seed=0)[:, :3], draw_repeats(8, seed=0))
    assert curvature(LENGTHS[:3], medians) is None
