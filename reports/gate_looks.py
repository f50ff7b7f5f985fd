"""How often the gate looks, when it stops, and that a regression is found twice before it is called one.

At most three looks at growing numbers of fresh processes; what is decided is measured no further. Each look and each
strategy has its share of one hundredth (Bonferroni), so that looking often and at many cannot cry wolf.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from reports.gate import Block, Clock, Judgement, confirms, judge

LOOKS = (5, 9, 14)  # sets of fresh processes seen at each look
CONFIRMING = 5  # fresh sets in which a regression must show once more: as large, and surely above nothing …
CONFIRM_ALPHA = 0.05  # … with a bound that misses this often
ALPHA = 0.01  # of the whole gate

Word = Literal["PASS", "REGRESSION", "INCONCLUSIVE"]
WORDS: dict[str, Word] = {"fine": "PASS", "slower": "REGRESSION", "open": "INCONCLUSIVE"}
Measure = Callable[[Sequence[str], bool], Mapping[str, Block] | None]
"""A block for each of the strategies from one set of fresh processes.

None when there is no time left, which is no answer where the second argument says that the block must be had.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    word: Word
    why: str
    judgement: Judgement
    confirmation: Judgement | None  # of the fresh blocks alone, where a slowdown was found
    blocks: tuple[Block, ...]
    confirming: tuple[Block, ...]


def verdicts(
    strategies: Sequence[str], measure: Measure, clock: Clock = "cpu_s", looks: Sequence[int] = LOOKS
) -> dict[str, Verdict]:
    """The verdict on each strategy, measured as far as needed; a strategy without a single block is left out."""
    alpha = ALPHA / (len(looks) * len(strategies))
    blocks: dict[str, list[Block]] = {name: [] for name in strategies}
    judged: dict[str, Judgement] = {}
    undecided = list(strategies)
    for look in looks:
        in_time = _collect(undecided, blocks, look, measure, needed=False)
        judged |= {name: judge(blocks[name], alpha, clock) for name in undecided if blocks[name]}
        undecided = [name for name in undecided if name in judged and judged[name].outcome == "open"]
        if not undecided or not in_time:
            break
    slower = [name for name, judgement in judged.items() if judgement.outcome == "slower"]
    again: dict[str, list[Block]] = {name: [] for name in slower}
    _collect(slower, again, CONFIRMING, measure, needed=True)
    return {name: _verdict(judged[name], blocks[name], again.get(name, []), clock) for name in judged}


def _collect(
    names: Sequence[str], blocks: dict[str, list[Block]], wanted: int, measure: Measure, *, needed: bool
) -> bool:
    """Whether every name has the wanted number of blocks; False when the time ran out before."""
    while names and any(len(blocks[name]) < wanted for name in names):
        fresh = measure(names, needed)
        if fresh is None:
            return False
        for name in names:
            blocks[name].append(fresh[name])
    return True


def _verdict(judgement: Judgement, blocks: Sequence[Block], again: Sequence[Block], clock: Clock) -> Verdict:
    confirmation = judge(again, CONFIRM_ALPHA, clock) if again else None
    word, why = WORDS[judgement.outcome], judgement.reason
    if judgement.found and not (confirmation and confirms(judgement.found, confirmation)):
        word, why = "INCONCLUSIVE", f"{why}, but fresh processes did not confirm it"
    return Verdict(
        word=word, why=why, judgement=judgement, confirmation=confirmation, blocks=tuple(blocks),
        confirming=tuple(again),
    )  # fmt: skip
