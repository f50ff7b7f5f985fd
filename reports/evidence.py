"""What was tested and what follows: the values behind significance, fronts, the claims of the literature, and why
decoding all at once must lose. Part of a `Summary`; empty where a run has nothing to test."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from metrics.fronts import Rival
from metrics.significance import Ratio

if TYPE_CHECKING:
    from reports.summary import Difference, Estimate

Judgement = Literal["reproduced", "not reproduced", "undecided"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """One contestant against the like-for-like baseline, on the sentences and in the repeats both have."""

    task: str
    label: str
    against: str
    differences: "dict[str, Difference]"  # metric name -> its difference; Holm's correction is over the contestants
    time: Ratio | None  # the baseline's latency over the contestant's, at the task's headline workload
    time_p_holm: float | None
    time_n: int


@dataclass(frozen=True, slots=True)
class Point:
    label: str
    beaten_by: Rival | None  # for which it leaves the front


@dataclass(frozen=True, slots=True, kw_only=True)
class Front:
    """Quality against latency at a task's headline workload: whom nothing beats."""

    task: str
    scored: str  # the task whose BLEU it is
    points: tuple[Point, ...]
    n_sentences: int
    n_units: int  # repeats, or prompts at natural lengths

    @property
    def standing(self) -> tuple[str, ...]:
        """The labels on the front."""
        return tuple(point.label for point in self.points if point.beaten_by is None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A shape known from the literature, and what this run says of it."""

    claim: str
    source: str
    judgement: Judgement
    what: str  # what the value is, with its unit
    value: "Estimate | None"
    because: str  # the rule that judged, or why nothing could be judged


@dataclass(frozen=True, slots=True, kw_only=True)
class Correlation:
    """Conditional total correlation of a task in nats a token, from what its references cost two contestants."""

    task: str
    one_shot: str
    ar: str
    estimate: "Estimate"
    known: float | None  # where every probability of the task is


@dataclass(frozen=True, slots=True, kw_only=True)
class Mixture:
    """How many pairs of the coupled language a contestant mixed up, and how many a perfect model would."""

    task: str
    label: str
    share: "Estimate"  # per cent
    expected: float | None  # per cent; None where theory is silent


@dataclass(frozen=True, slots=True, kw_only=True)
class Damage:
    """What one wrong token did behind itself, over the outputs long enough to have it."""

    task: str
    label: str
    at: float  # how far into the reference it was put, a share
    edits: "Estimate"  # token edits behind it, in % of the tokens that stood there
    healed: "Estimate | None"  # outputs that took it back, per cent


@dataclass(frozen=True, slots=True, kw_only=True)
class Best:
    """The fastest setting of a decoding whose BLEU is not significantly below its default's."""

    task: str
    default: str  # label
    label: str
    settings: int  # how many were timed, the default among them
    gain: Ratio | None  # the default's latency over its own; None: the same, or too few requests that both ran
    n: int  # those requests


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    comparisons: tuple[Comparison, ...] = ()
    fronts: tuple[Front, ...] = ()
    claims: tuple[Claim, ...] = ()
    correlations: tuple[Correlation, ...] = ()
    mixtures: tuple[Mixture, ...] = ()
    damages: tuple[Damage, ...] = ()
    bests: tuple[Best, ...] = ()
