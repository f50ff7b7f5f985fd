"""The values a report is made of: plain, frozen, computed once from a run's records and never edited.

Every number that can be uncertain is an `Estimate`, so that nothing is printed without its n. `None` always means
"not measured or not defined", and `Summary.missing` says why.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from metrics.crossovers import Crossover
from metrics.fits import Curvature
from reports.costs import Costs
from reports.evidence import Evidence
from reports.rows import RowFacts
from suites.records import Record, RunInfo, Sample

# ar: token by token, an engine to be divided by. semi-autoregressive: blocks from the left, an output of its own.
# speculative: the very output of its target, sooner. floor and copy decode nothing.
Kind = Literal["ar", "parallel", "semi-autoregressive", "speculative", "floor", "copy"]
CHALLENGERS: tuple[Kind, ...] = ("parallel", "semi-autoregressive", "speculative")  # in the order in which they lead
Mode = Literal["exact", "natural"]
USUAL_LENGTH = 128  # tokens; where one length must stand for a grid, the one nearest to this does, whatever it shows


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value with its 95 % interval, both in the same unit; the interval is None where n is too small for one."""

    value: float
    low: float | None
    high: float | None
    n: int


@dataclass(frozen=True, slots=True)
class Contestant:
    label: str  # as the user spells it; untrusted text
    name: str  # short form for prose and figures, unique in the run
    strategy: str
    kind: Kind
    config: tuple[tuple[str, str], ...]  # sorted knobs
    variant: int  # 0, 1, 2 … among the contestants of its strategy: picks the line style

    @property
    def challenges(self) -> bool:
        """Whether it is raced against the AR engines."""
        return self.kind in CHALLENGERS

    @property
    def length_beam(self) -> str | None:
        """How many lengths it tries where none is given, as the records spell it; None for a strategy without that."""
        return dict(self.config).get("length_beam")


@dataclass(frozen=True, slots=True)
class Speedup:
    """How many times less time a kept token takes than with `against`; paired inside each repeat."""

    ratio: Estimate
    against: str  # label of the denominator


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """What one contestant needed for one workload, from timed trials only (never from a batched quality pass)."""

    task: str
    label: str
    mode: Mode
    length: int | None  # None: natural lengths over a sample of the test set
    batch_size: int
    latency_s: Estimate  # median
    p90_s: float | None  # only where n supports it
    kept_mean: float  # tokens a row
    tokens_per_s: float | None  # ratio of totals
    ms_per_token: float | None  # ratio of totals
    calls: float | None  # mean a trial; None for an engine we cannot look into
    positions: float | None
    wasted: float | None  # mean positions of a canvas, an output, that became no kept token; None without a canvas
    like_for_like: Speedup | None = None
    each_at_best: Speedup | None = None


@dataclass(frozen=True, slots=True)
class Difference:
    """A metric minus the reference contestant's, by paired bootstrap over the sentences both have."""

    value: float
    low: float
    high: float
    p_value: float
    n: int
    against: str
    p_holm: float  # the p-value among those of all contestants that were tested; itself where it was asked alone
    p_sacrebleu: float  # as `sacrebleu --paired-bs` prints it, one-tailed and alone: to be quoted, not judged by

    @property
    def significant(self) -> bool:
        return self.p_holm < 0.05


@dataclass(frozen=True, slots=True)
class SameAsAr:
    """How often an output has the very token ids of plain AR's, over the sentences both have."""

    share: float
    common_prefix: float  # mean leading tokens alike
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Quality:
    task: str
    label: str
    n: int  # sentences scored
    n_expected: int  # sentences of the task that any contestant was asked for
    scores: dict[str, Estimate]  # metric name -> corpus score; a metric undefined here is absent
    bleu_difference: Difference | None
    share_of_ar_gain: Estimate | None  # per cent
    same_as_ar: SameAsAr | None = None  # of who searches with the baseline's weights alone


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """Planned trials of a contestant and what became of them."""

    task: str
    label: str
    ok: int
    planned: int
    failures: tuple[tuple[str, str, int], ...]  # (status, reason, how often)


@dataclass(frozen=True, slots=True)
class Crossing:
    """From which length on a contestant takes less time than another, over the lengths that both were timed at."""

    against: str  # label
    found: Crossover  # in tokens
    grid: tuple[float, float]  # tokens; minus infinity and infinity in `found` lie before and beyond it
    of_lines: bool  # between fitted lines; False: one of the two is no line, so its medians were joined instead
    n: int  # repeats


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One contestant's latency against length at one batch size, t(L) = a + bL; see `metrics.fits`."""

    task: str
    label: str
    mode: Mode
    batch_size: int
    tokens: tuple[float, ...]  # where its medians stand: given lengths, or the median of what was kept
    a_ms: Estimate | None  # None: undefined, as where all outputs are equally long
    b_ms: Estimate | None  # a token
    relative_b: Estimate | None  # over the b of the like-for-like baseline, repeat by repeat
    curvature: Curvature | None  # None: too few lengths to tell
    drawn: tuple[tuple[float, Estimate], ...]  # (tokens, ms) along the line
    with_baseline: Crossing | None  # None: it is itself the one, or they have no lengths in common
    with_strongest: Crossing | None  # the AR engine of its each-at-its-best speedup

    @property
    def crossings(self) -> tuple[Crossing, ...]:
        """Those with different rivals."""
        return tuple(dict.fromkeys(filter(None, (self.with_baseline, self.with_strongest))))

    @property
    def bends(self) -> bool:
        """Whether it is no line: then a and b describe nothing, and the medians must speak for themselves."""
        return self.curvature is not None and self.curvature.curved


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    info: RunInfo
    tasks: tuple[str, ...]
    contestants: tuple[Contestant, ...]
    cells: tuple[Cell, ...]
    lines: tuple[Line, ...]
    qualities: tuple[Quality, ...]
    reference_scores: dict[str, dict[str, float]]  # task -> metric name -> the references' own value
    coverage: tuple[Coverage, ...]
    recorded: int
    warmups: int  # untimed calls kept beside the records
    warmup_s: float
    baseline: str | None  # label of the like-for-like denominator
    missing: tuple[str, ...]  # plain sentences: which numbers this run cannot give, and why
    warnings: tuple[str, ...]  # plain sentences for the banner: dirty, reduced, incomplete, torn
    samples: tuple[Sample, ...]
    traced: tuple[tuple[Sample, Record], ...]  # outputs with a trace, each with the trial of the same request
    rows: dict[tuple[str, str, int], RowFacts]  # (task, label, row) -> what is known of that one output
    evidence: Evidence = Evidence()
    costs: Costs = Costs()

    def contestant(self, label: str) -> Contestant:
        return next(c for c in self.contestants if c.label == label)

    def name(self, label: str) -> str:
        return self.contestant(label).name

    def quality(self, task: str, label: str) -> Quality | None:
        return next((q for q in self.qualities if (q.task, q.label) == (task, label)), None)

    def headline(self, task: str, label: str) -> Cell | None:
        """The cell that stands for a contestant where one number must: the task's headline workload."""
        workload = self.headline_workload(task)
        return next((c for c in self.cells if (c.task, c.label) == (task, label) and workload == workload_of(c)), None)

    def line(self, task: str, label: str, batch_size: int) -> Line | None:
        return next((x for x in self.lines if (x.task, x.label, x.batch_size) == (task, label, batch_size)), None)

    def headline_workload(self, task: str) -> "Workload | None":
        """Natural lengths where they were timed, else the length nearest to 128; always the smallest batch."""
        return headline_workload(self.cells, task)

    def scored_task(self, task: str) -> str | None:
        """The task whose BLEU speaks for `task`; see the function of that name."""
        return scored_task(self.qualities, task)


Workload = tuple[int | None, int]  # length or None for natural lengths, batch size


def workload_of(cell: Cell) -> Workload:
    """The (length, batch size) at which a cell may be compared with others of its task."""
    return cell.length, cell.batch_size


def headline_workload(cells: Iterable[Cell], task: str) -> Workload | None:
    """Natural lengths where they were timed, else the length nearest to 128; always the smallest batch."""
    workloads = {workload_of(cell) for cell in cells if cell.task == task}
    return min(workloads, key=lambda w: (w[1], w[0] is not None, *far_from_usual(w[0] or 0)), default=None)


def far_from_usual(length: int) -> tuple[int, int]:
    """A sort key: the length nearest to the usual one first, the shorter of two as near."""
    return abs(length - USUAL_LENGTH), length


def scored_task(qualities: Iterable[Quality], task: str) -> str | None:
    """The task whose BLEU speaks for `task`: itself, or else the one where most contestants have BLEU.

    None where the run has no BLEU at all.
    """
    counts = Counter(quality.task for quality in qualities if "bleu" in quality.scores)
    if task in counts:
        return task
    return min(counts, key=lambda name: (-counts[name], name), default=None)
