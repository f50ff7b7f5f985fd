"""What other tools would have said of the same timings: wall time of one process against another's.

Each rule sees one strategy's cells: seconds by length, once of the older and once of the newer code.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

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


@dataclass(frozen=True, slots=True)
class Rival:
    rule: Rule
    stored: bool = False  # whether the older timings are those of the block before, as a stored run's would be
    blocks: int = 1  # whose samples it sees at once


RULES = {
    "pytest-benchmark, min:5%": Rival(compare_fail(min), stored=True),
    "pytest-benchmark, mean:5%": Rival(compare_fail(lambda sample: float(np.mean(sample))), stored=True),
    "pytest-benchmark, median:5%": Rival(compare_fail(lambda sample: float(np.median(sample))), stored=True),
    "sequential t-test": Rival(sequential_t_test),
    "asv": Rival(asv, blocks=5),  # as many as our first look; of fewer samples its test could never say yes
}


def alarms(blocks: Sequence[Mapping[str, Rounds]], scenario: str, name: str) -> Bounds | None:
    """The share of cases, a strategy in one or more blocks, in which the rule calls the scenario's head slower.

    With exact 95 % bounds; None where there are too few blocks for a case.
    """
    rival = RULES[name]
    cases = list(_cases(blocks, SCENARIOS[scenario], rival))
    return share_bounds(sum(rival.rule(old, new) for old, new in cases), len(cases)) if cases else None


def _cases(
    blocks: Sequence[Mapping[str, Rounds]], side: str, rival: Rival
) -> Iterator[tuple[dict[int, list[float]], dict[int, list[float]]]]:
    """Older and newer seconds by length; no block counts twice."""
    size = rival.blocks
    for start in range(rival.stored, len(blocks) - size + 1, size):
        newer = blocks[start : start + size]
        older = [blocks[start - 1]] if rival.stored else newer
        for strategy in newer[0]:
            yield (
                _samples([block[strategy] for block in older], BASE),
                _samples([block[strategy] for block in newer], side),
            )


def _samples(blocks: Sequence[Rounds], side: str) -> dict[int, list[float]]:
    found: dict[int, list[float]] = {}
    for rounds in blocks:
        for one in rounds:
            found.setdefault(one.length, []).append(one.readings[side].wall_s)
    return found
