"""Claims of speed that must go on holding: one strategy against another, interleaved in one process.

A claim is a line of the committed file: `ctc is at least 1.5 times faster than ar at 128 tokens`.
"""

import json
import math
import re
from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from metrics.bounds import Bounds, mean_bounds
from reports.gate import HEAD, MIN_BLOCKS, Block
from reports.gate_looks import ALPHA, LOOKS
from reports.gate_session import Session, Unit
from reports.gate_tree import NoBase
from reports.gate_workers import ROOT, Side

CLAIMS = Path("reports/baselines/claims.txt")
FORM = re.compile(r"(\S+) is at least (\d+(?:\.\d+)?) times faster than (\S+) at (\d+) tokens")
REGRESSION, INCONCLUSIVE = 1, 5

Word = Literal["HOLDS", "FAILS", "INCONCLUSIVE"]


@dataclass(frozen=True, slots=True)
class Claim:
    candidate: str
    times: float
    reference: str
    length: int

    def __str__(self) -> str:
        return f"{self.candidate} is at least {self.times:g} times faster than {self.reference} at {self.length} tokens"


@dataclass(slots=True)
class Finding:
    """What is known of a claim so far: log(reference / candidate), one a set of fresh processes."""

    claim: Claim
    logs: list[float] = field(default_factory=list)
    bounds: Bounds | None = None
    word: Word = "INCONCLUSIVE"

    def __str__(self) -> str:
        if self.bounds is None:
            return f"{self.claim}: not measured: {self.word}"
        value, lower, upper = (math.exp(min(one, 50.0)) for one in self.bounds)
        return f"{self.claim}: {value:.2f} [{lower:.2f}, {upper:.2f}]: {self.word}"


def check_claims(options: Namespace, ends_at: float, say: Callable[[str], None], root: Path = ROOT) -> int:
    """The exit code: 0 when no claim fails, 1 when one does, 5 when one is inconclusive under --strict.

    Raises NoBase where the file of claims is missing or holds a line that is none.
    """
    findings = [Finding(claim) for claim in read_claims(root / CLAIMS)]
    lengths = sorted({one.claim.length for one in findings})
    session = Session(
        sides=[Side(HEAD, root)], lengths=lengths, device=options.device, seed=options.seed, ends_at=ends_at, say=say,
        untimed_calls=1,
    )  # fmt: skip
    look_at(findings, session)
    kept = [{"claim": str(one.claim), "verdict": one.word, "log_ratios": one.logs} for one in findings]
    print(json.dumps(kept) if options.json else "\n".join(map(str, findings)), flush=True)
    (options.out / "ratio.json").write_text(json.dumps(kept, indent=1, allow_nan=False) + "\n", encoding="utf-8")
    words = {one.word for one in findings}
    return REGRESSION if "FAILS" in words else INCONCLUSIVE if "INCONCLUSIVE" in words and options.strict else 0


def look_at(findings: Sequence[Finding], session: Session) -> None:
    """Measure until every claim is decided, at most as often as the code gate looks."""
    alpha = ALPHA / (len(LOOKS) * len(findings))
    n_blocks = 0
    for look in LOOKS:
        undecided = [one for one in findings if one.word == "INCONCLUSIVE"]
        names = list(dict.fromkeys(name for one in undecided for name in (one.claim.candidate, one.claim.reference)))
        while undecided and n_blocks < look:
            blocks = session.measure(names, False)
            if blocks is None:
                return
            n_blocks += 1
            for one in undecided:
                note(one, blocks, session.units, alpha)


def note(finding: Finding, blocks: Mapping[str, Block], units: Mapping[tuple[str, int], Unit], alpha: float) -> None:
    """Add a block to what is known of a claim, and judge it once there are enough."""
    claim = finding.claim
    candidate, reference = (
        blocks[name].seconds(HEAD, "cpu_s").get(claim.length, math.nan) / units[name, claim.length].calls
        for name in (claim.candidate, claim.reference)
    )
    if math.isnan(candidate) or math.isnan(reference):  # too long a call to be timed
        return
    finding.logs.append(math.log(reference / candidate))
    finding.bounds = mean_bounds(finding.logs, alpha)
    if len(finding.logs) in LOOKS and len(finding.logs) >= MIN_BLOCKS:
        limit = math.log(claim.times)
        finding.word = (
            "HOLDS" if finding.bounds.lower >= limit else "FAILS" if finding.bounds.upper < limit else "INCONCLUSIVE"
        )


def read_claims(path: Path) -> list[Claim]:
    """The claims of a file, one a line; empty lines and lines that begin with # are none."""
    try:
        lines = [line.strip() for line in path.read_text(encoding="utf-8").splitlines()]
    except OSError as wrong:
        raise NoBase(f"{CLAIMS} cannot be read: {wrong.strerror}") from None
    claims = [read_claim(line) for line in lines if line and not line.startswith("#")]
    if not claims:
        raise NoBase(f"{CLAIMS} holds no claim")
    return claims


def read_claim(line: str) -> Claim:
    """The claim that `line` makes. Raises ValueError for another sentence."""
    found = FORM.fullmatch(line)
    if not found or not float(found[2]):
        raise ValueError(f"{line!r} is no claim; write: A is at least 1.5 times faster than B at 128 tokens")
    return Claim(found[1], float(found[2]), found[3], int(found[4]))
