"""Where one contestant is ahead of another, in words: every number from a `Line` and its crossings."""

from math import inf, isinf

from reports.formats import listed, number, with_interval
from reports.summary import Crossing, Line, Summary


def line_sentence(summary: Summary, line: Line) -> str:
    """`By its line, 10.1 ms [9.9, 10.3] + 0.45 ms [0.44, 0.46] a token, it overtakes ar from 14.5 tokens [14, 15].`

    Of crossings alone: who is ahead, or not, at every length that was measured needs no line to be seen.
    """
    crossings = [c for c in line.crossings if c.found.answer not in ("always", "never")]
    ahead = listed([phrase(summary, crossing) for crossing in crossings])
    if line.bends:
        return f"Its medians lie on no line; joined to one another, they say that it {ahead}." if ahead else ""
    if line.a_ms is None or line.b_ms is None:
        return ""
    law = f"{with_interval(line.a_ms, unit=' ms')} + {with_interval(line.b_ms, unit=' ms')} a token"
    return f"By its line, {law}, it {ahead}." if ahead else f"Its line is {law}."


def phrase(summary: Summary, crossing: Crossing) -> str:
    """`overtakes ar from 14.5 tokens [13.9, 15.2]`, `is ahead of ar until …` or `is never ahead of ar …`."""
    against, found = summary.name(crossing.against), crossing.found
    grid = f"from {tokens(crossing.grid[0])} to {tokens(crossing.grid[1])} tokens"
    if found.answer in ("always", "never"):
        ahead = "is ahead of" if found.answer == "always" else "is nowhere ahead of"
        return f"{ahead} {against} {grid}"
    if found.undecided:
        return f"may be ahead of {against} or behind it anywhere {grid}: these {crossing.n} repeats do not tell"
    if isinf(found.crossing):
        return f"{_seems(crossing)} {against} {grid}, {_bound(crossing)}"
    verb = "overtakes" if found.answer == "from" else "is ahead of"
    return f"{verb} {against} {found.answer} {tokens(found.crossing)} tokens {bounds(crossing)}".rstrip()


def tokens(length: float) -> str:
    """`8`, `14.5` or `128`: a length that was measured, or one in between."""
    return f"{length:,.0f}" if length == round(length) or length >= 100 else number(length)


def bounds(crossing: Crossing) -> str:
    """`[13.9, 15.2]` in tokens, `[below 8, 15.2]` where it is open, '' where there is nothing to bound."""
    low, high = crossing.found.low, crossing.found.high
    if low is None or high is None or crossing.found.answer in ("always", "never"):
        return ""
    shown = [_place(bound, crossing.grid) for bound in (low, high)]
    return f"[{shown[0]}, {shown[1]}]"


def answer(crossing: Crossing) -> str:
    """The answer as a cell of a table: `always`, `never`, `from 14.5`, `until 60` or `undecided`."""
    found = crossing.found
    if found.answer in ("always", "never"):
        return found.answer
    return "undecided" if found.undecided else f"{found.answer} {_place(found.crossing, crossing.grid)}"


def _seems(crossing: Crossing) -> str:
    """What the sample shows on the whole grid, where the draws do not bear it out."""
    ahead = (crossing.found.crossing == -inf) == (crossing.found.answer == "from")
    return f"seems {'ahead of' if ahead else 'behind'}"


def _bound(crossing: Crossing) -> str:
    """How far the grid supports that."""
    return f"but a crossing {bounds(crossing)} is not excluded" if bounds(crossing) else "from too few repeats to say"


def _place(length: float, grid: tuple[float, float]) -> str:
    if isinf(length):
        return f"below {tokens(grid[0])}" if length < 0 else f"above {tokens(grid[1])}"
    return tokens(length)
