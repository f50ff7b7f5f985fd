"""Each strategy at its best: of all ways to compute one decoding, the fastest that does not write worse."""

from collections import defaultdict
from collections.abc import Callable, Sequence

from reports.comparing import timed_at, times_faster
from reports.evidence import Best
from reports.summary import Cell, Contestant, Summary, headline_workload, workload_of
from suites.records import Record

HOW = ("dtype", "threads", "engine")  # knobs that say how a strategy is computed, and not what it decodes
Below = Callable[[str, str, str], bool]  # task, label, other: whether its BLEU is significantly below the other's


def bests(
    records: Sequence[Record], cells: Sequence[Cell], order: Sequence[Contestant], baseline: str | None, below: Below
) -> tuple[Best, ...]:
    """One a task and decoding that was timed in its default and in another setting, at the task's headline workload.

    All AR engines, with whatever weights, are settings of the baseline: nobody who wants AR text cares which it is.
    They stand here only beside another strategy's settings, as a race of AR engines has its own tables.
    """
    found = [
        best
        for task in sorted({cell.task for cell in cells})
        for default, settings in _families(cells, order, baseline, task).items()
        if (best := _best(records, cells, settings, default, task, below))
    ]
    rivals = {best.task for best in found if best.default != baseline}
    return tuple(best for best in found if best.task in rivals)


def line_up(summary: Summary) -> tuple[str, ...]:
    """The labels to race elsewhere: each default, its best, that one's AR rival, and copy; none without any best."""
    found = summary.evidence.bests
    cells = [summary.headline(best.task, best.label) for best in found]
    rivals = [cell.each_at_best.against for cell in cells if cell and cell.each_at_best]
    labels = [best.default for best in found] + [best.label for best in found] + rivals
    return tuple(dict.fromkeys([*labels, "copy"])) if found else ()


def _families(
    cells: Sequence[Cell], order: Sequence[Contestant], baseline: str | None, task: str
) -> dict[str, list[Cell]]:
    """The cells of the headline workload by the label of the default they are settings of."""
    workload = headline_workload(cells, task)
    timed = {cell.label: cell for cell in cells if cell.task == task and workload_of(cell) == workload}
    found: dict[str, list[Cell]] = defaultdict(list)
    for contestant in order:
        default = baseline if contestant.kind == "ar" else _default(contestant.label)
        if contestant.label in timed and default in timed:
            found[default].append(timed[contestant.label])
    return found


def _default(label: str) -> str:
    strategy, *knobs = label.split(":")
    return ":".join([strategy, *(knob for knob in knobs if knob.partition("=")[0] not in HOW)])


def _best(
    records: Sequence[Record], cells: Sequence[Cell], settings: Sequence[Cell], default: str, task: str, below: Below
) -> Best | None:
    if len(settings) < 2:
        return None
    fastest_first = sorted(settings, key=lambda cell: cell.ms_per_token or cell.latency_s.value)
    best = next(c.label for c in fastest_first if c.label == default or not below(task, c.label, default))
    trials = timed_at(records, task, headline_workload(cells, task))
    gain, n = (times_faster(trials, best, default) if best != default else None) or (None, 0)
    return Best(task=task, default=default, label=best, settings=len(settings), gain=gain, n=n)
