"""Which contestants and which workload stand for a run: rules that no speedup can bend."""

from collections.abc import Sequence

from reports.summary import CHALLENGERS, Cell, Contestant, Summary


def representatives(summary: Summary, task: str) -> tuple[Contestant, ...]:
    """One contestant a challenging strategy that took part in the task: its best by BLEU, or its first without any.

    BLEU is that of the task, or of the run's scored task where this one has none.
    """
    best: dict[str, Contestant] = {}
    for contestant in summary.contestants:
        quality = summary.quality(task, contestant.label)
        takes_part = summary.headline(task, contestant.label) or (quality and "bleu" in quality.scores)
        if contestant.challenges and takes_part:
            held = best.setdefault(contestant.strategy, contestant)
            if bleu(summary, task, contestant) > bleu(summary, task, held):
                best[contestant.strategy] = contestant
    return tuple(best.values())


def lead_cell(summary: Summary) -> Cell | None:
    """The cell of the verdict's first sentence: that of the `leader` of a task; None without a race.

    Its task is the first in which a representative was timed beside an AR engine: scored ones with natural lengths
    first, then scored ones, then the others. Its workload is the task's headline.
    """
    for task in sorted(summary.tasks, key=lambda task: _rank(summary, task)):
        timed = [(c, summary.headline(task, c.label)) for c in representatives(summary, task)]
        racing = [(c, cell) for c, cell in timed if cell and (cell.like_for_like or cell.each_at_best)]
        if racing:
            first = leader(summary, task, [c for c, _ in racing])
            return next(cell for c, cell in racing if c is first)
    return None


def leader(summary: Summary, task: str, racing: Sequence[Contestant]) -> Contestant:
    """Who speaks for challengers: of the parallel ones the best by BLEU, and only without any one of another kind.

    A speculative strategy writes what AR writes, so that by BLEU alone it would always stand for decoding in parallel.
    """
    return min(racing, key=lambda c: (CHALLENGERS.index(c.kind), -bleu(summary, task, c)))


def bleu(summary: Summary, task: str, contestant: Contestant) -> float:
    """The BLEU that speaks for a contestant in a task, minus infinity where it has none."""
    quality = summary.quality(summary.scored_task(task) or task, contestant.label)
    return quality.scores["bleu"].value if quality and "bleu" in quality.scores else float("-inf")


def _rank(summary: Summary, task: str) -> tuple[bool, bool]:
    headline = summary.headline_workload(task)
    return summary.scored_task(task) != task, headline is None or headline[0] is not None
