"""What other tools would have said of the same timings: wall time of one process against another's.

Each rule sees one strategy's cells: seconds by length, once of the older and once of the newer code.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from scipy.stats import mannwhitneyu, ttest_1samp

from metrics.bounds import Bounds, share_bounds
from reports.gate import BASE
from reports.gate_replay import SCENARIOS, Rounds

Samples = Mapping[int, Sequence[float]]
Rule = Callable[[Samples, Samples], bool]
ALLOWED = 0.05  # pytest-benchmark: --benchmark-compare-fail=mean:5%
ASV_FACTOR = 1.1  # asv compare's default …
ASV_P = 0.002  # … and the p-value under which its Mann-Whitney test calls two samples different
T_ALPHA = 0.05
T_FIRST = 5  # pairs before the first look


def compare_fail(statistic: Callable[[Sequence[float]], float]) -> Rule:
    """pytest-benchmark's rule on one statistic against a stored run: any cell that grew by more than 5 %."""

    def alarm(old: Samples, new: Samples) -> bool:
        return any(statistic(new[length]) > (1 + ALLOWED) * statistic(old[length]) for length in old)

    return alarm


def sequential_t_test(old: Samples, new: Samples) -> bool:
    """A one-sided t-test on log ratios after each further pair, until one is significant: any cell."""
    for length in old:
        logs = np.log(np.asarray(new[length]) / np.asarray(old[length]))
        for n in range(T_FIRST, len(logs) + 1):
            if np.ptp(logs[:n]) > 0 and ttest_1samp(logs[:n], 0.0, alternative="greater").pvalue < T_ALPHA:
                return True
    return False


def asv(old: Samples, new: Samples) -> bool:
    """asv's rule: any cell whose median grew by the factor and whose samples a Mann-Whitney test tells apart."""
    return any(
        np.median(new[length]) > ASV_FACTOR * np.median(old[length])
        and mannwhitneyu(old[length], new[length]).pvalue < ASV_P
        for length in old
    )


RULES: dict[str, tuple[Rule, bool]] = {  # and whether the older timings are another block's, as a stored run's are
    "pytest-benchmark, min:5%": (compare_fail(min), True),
    "pytest-benchmark, mean:5%": (compare_fail(lambda sample: float(np.mean(sample))), True),
    "pytest-benchmark, median:5%": (compare_fail(lambda sample: float(np.median(sample))), True),
    "sequential t-test": (sequential_t_test, False),
    "asv": (asv, False),
}


def alarms(blocks: Sequence[Mapping[str, Rounds]], scenario: str, rule: str) -> Bounds:
    """The share of blocks and strategies in which the rule calls the scenario's head slower, with exact 95 % bounds.

    A stored run is the base of the block before. Raises ValueError under two blocks.
    """
    if len(blocks) < 2:
        raise ValueError(f"rules are compared on two blocks or more, got {len(blocks)}")
    says, stored = RULES[rule]
    found = [
        says(_samples((earlier if stored else block)[name], BASE), _samples(block[name], SCENARIOS[scenario]))
        for earlier, block in zip(blocks[:-1], blocks[1:], strict=True)
        for name in block
    ]
    return share_bounds(sum(found), len(found))


def _samples(rounds: Rounds, side: str) -> dict[int, list[float]]:
    found: dict[int, list[float]] = {}
    for one in rounds:
        found.setdefault(one.length, []).append(one.readings[side].wall_s)
    return found
