"""One number as a table shows it: the value, and its interval, n and denominator in small print below."""

from dataclasses import dataclass

from reports.formats import NONE, fixed, interval, number, signed
from reports.summary import Cell, Contestant, Estimate, Quality, SameAsAr, Speedup, Summary


@dataclass(frozen=True, slots=True)
class Entry:
    text: str
    detail: tuple[str, ...] = ()  # interval, n, or a denominator: lines of small print
    best: bool = False
    strategy: str = ""  # set where the entry names a contestant: its colour and marker go before the name


def who(contestant: Contestant) -> Entry:
    """A contestant's name, behind its colour and marker."""
    return Entry(contestant.name, strategy=contestant.strategy)


def latency(cell: Cell | None) -> Entry:
    """The median in ms."""
    if cell is None:
        return Entry(NONE)
    return Entry(number(1000 * cell.latency_s.value), small(interval(cell.latency_s, 1000), cell.latency_s.n))


def speedup(summary: Summary, speedup: Speedup | None, label: str, named: bool = True) -> Entry:
    """The ratio; 1 where the contestant of that label is itself the denominator."""
    if speedup is None:
        return Entry(NONE)
    if speedup.against == label:
        return Entry("1", ("the denominator",))
    over = f"over {summary.name(speedup.against)}" if named else ""
    return Entry(number(speedup.ratio.value), small(interval(speedup.ratio), speedup.ratio.n, over))


def estimate(estimate: Estimate | None, decimals: int) -> Entry:
    """Any estimate, with a fixed number of decimals."""
    if estimate is None:
        return Entry(NONE)
    return Entry(fixed(estimate.value, decimals), small(interval(estimate, 1, decimals), estimate.n))


def small(bounds: str, n: int | None = None, over: str = "") -> tuple[str, ...]:
    """The small print below a value: its interval, then its n and what it was divided by."""
    count = "" if n is None else f"n = {n:,}"
    return tuple(line for line in (bounds, f"{count} {over}".strip()) if line)


def sentences(quality: Quality) -> Entry:
    """Sentences scored of those asked for."""
    return Entry(f"{quality.n:,} / {quality.n_expected:,}")


def difference(quality: Quality) -> Entry:
    """BLEU against the baseline, and whether that is more than chance."""
    if (difference := quality.bleu_difference) is None:
        return Entry(NONE)
    judged = "significant" if difference.significant else "not significant"
    return Entry(signed(difference.value), (f"[{signed(difference.low)}, {signed(difference.high)}] {judged}",))


def same_as_ar(same: SameAsAr | None) -> Entry:
    """The share of outputs with AR's very token ids, in per cent."""
    if same is None:
        return Entry(NONE)
    return Entry(fixed(100 * same.share), (f"{fixed(same.common_prefix)} tokens alike", f"n = {same.n:,}"))


def share(quality: Quality | None) -> Estimate | None:
    """The share of AR's gain, in per cent."""
    return quality.share_of_ar_gain if quality else None
