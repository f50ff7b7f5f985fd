"""Who leaves the front of quality against latency, and who stays for want of evidence."""

import numpy as np
import pytest

from metrics.bootstrap import PairedDifference
from metrics.fronts import Rival, Sampled, displacer, front
from metrics.significance import Ratio


def rival(bleu, speed, *, label="rival", bleu_p=0.001, speed_p=0.001, bleu_sd=0.05, speed_sd=0.01):
    difference = PairedDifference(bleu, bleu - 2 * bleu_sd, bleu + 2 * bleu_sd, bleu_p, bleu_p)
    return Rival(label, difference, Ratio(speed, speed - 2 * speed_sd, speed + 2 * speed_sd, speed_p))


@pytest.mark.parametrize(
    ("bleu", "speed", "leaves"),
    [
        (2.0, 2.0, True),  # better on both axes
        (2.0, 1.0, True),  # better, and as fast
        (0.0, 2.0, True),  # as good, and faster
        (-0.15, 2.0, True),  # worse by less than 0.3 BLEU, faster
        (-0.4, 2.0, False),  # worse by more
        (2.0, 0.995, True),  # slower by less than 3 %, better
        (2.0, 0.96, False),  # slower by more
        (-2.0, 0.5, False),
    ],
)
def test_a_point_leaves_when_another_is_better_on_one_axis_and_within_the_margin_on_the_other(bleu, speed, leaves):
    p_bleu, p_speed = (0.001 if abs(bleu) > 0.1 else 1.0), (0.001 if abs(speed - 1) > 0.01 else 1.0)
    found = displacer([rival(bleu, speed, bleu_p=p_bleu, speed_p=p_speed, speed_sd=0.001)])
    assert (found is not None) is leaves


def test_within_the_margin_means_the_whole_interval():
    assert displacer([rival(-0.15, 2.0, bleu_sd=0.05)]) is not None
    assert displacer([rival(-0.15, 2.0, bleu_sd=1.0)]) is None  # so few sentences cannot show it


def test_no_significant_gain_no_displacement():
    assert displacer([rival(1.0, 1.0, bleu_p=0.06, speed_p=1.0)]) is None


def test_several_rivals_are_tested_at_once():
    weak = rival(1.0, 1.0, bleu_p=0.02, speed_p=1.0)
    assert displacer([weak]) is not None  # 2 tests: 0.04
    assert displacer([weak, rival(-5.0, 0.5, bleu_p=1.0, speed_p=1.0)]) is None  # 4 tests: 0.08


def test_of_two_that_beat_each_other_the_one_that_gains_more_stays():
    # 0.2 BLEU is two thirds of its margin, 1 % of the time a third of its
    better, faster = rival(0.2, 1 / 1.01, speed_sd=0.001), rival(-0.2, 1.01, speed_sd=0.001)
    assert displacer([better]) is not None
    assert displacer([faster]) is None


def test_the_strongest_displacer_is_named():
    assert displacer([rival(1.0, 1.5, label="some"), rival(3.0, 2.0, label="most")]).label == "most"


def test_alone_everyone_stands_on_the_front():
    assert displacer([]) is None


def sampled(observed, sd, seed):
    rng = np.random.default_rng(seed)
    return Sampled(np.array(observed), np.array(observed) + rng.normal(scale=sd, size=(2000, len(observed))))


def test_the_front_of_known_contestants_is_found():
    # greedy is beaten by the engine (as good, faster); the middle one by nobody; the bad one by all, most by the engine
    labels = ["greedy", "engine", "one-shot", "bad"]
    bleu = sampled([60.0, 60.0, 50.0, 40.0], 0.05, seed=1)
    seconds = sampled([1.0, 0.5, 0.2, 1.0], 0.002, seed=2)
    assert [rival and rival.label for rival in front(labels, bleu, seconds)] == ["engine", None, None, "engine"]


def test_equal_contestants_all_stay():
    same = sampled([50.0] * 5, 0.5, seed=3)
    assert front(list("abcde"), same, sampled([1.0] * 5, 0.01, seed=4)) == [None] * 5


@pytest.mark.parametrize("seed", range(20))
def test_a_front_is_never_empty(seed):
    rng = np.random.default_rng(seed)
    bleu = sampled(50 + rng.normal(scale=0.2, size=6), 0.01, seed)
    seconds = sampled(1 + rng.normal(scale=0.02, size=6), 0.001, seed)
    assert None in front(list("abcdef"), bleu, seconds)
