"""Claims of one strategy's speed over another."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from reports.gate import HEAD, Block, Reading, Round
from reports.gate_claims import CLAIMS, Finding, look_at, read_claim, read_claims
from reports.gate_looks import LOOKS
from reports.gate_session import Unit
from reports.gate_tree import NoBase
from reports.gate_workers import ROOT
from tests.gate.toys import Repo

CLAIM = "ctc is at least 2 times faster than ar at 128 tokens"


class Timed:
    """Stands in for a session: known seconds, one block after the other."""

    def __init__(self, seconds: Mapping[str, float], limit: int = 100) -> None:
        self.seconds, self.limit, self.n = seconds, limit, 0
        self.units = {(name, 128): Unit(calls, 3) for name, calls in (("ar", 1), ("ctc", 4))}

    def measure(self, names: Sequence[str], needed: bool) -> dict[str, Block] | None:
        if self.n >= self.limit:
            return None
        self.n += 1
        wobble = 1 + 0.01 * (self.n % 3)
        return {
            name: Block((self._round(self.units[name, 128].calls * self.seconds[name] * wobble, name),))
            for name in names
        }

    def _round(self, seconds: float, name: str) -> Round:
        return Round(128, {HEAD: Reading(seconds * (1.02 if name == "ar" and self.n % 2 else 1.0), seconds)})


@pytest.mark.parametrize(
    ("ar_s", "word", "blocks"), [(0.5, "HOLDS", 5), (0.15, "FAILS", 5), (0.1985, "INCONCLUSIVE", LOOKS[-1])]
)
def test_a_claim_holds_fails_or_stays_open(ar_s: float, word: str, blocks: int) -> None:
    finding, session = Finding(read_claim(CLAIM)), Timed({"ar": ar_s, "ctc": 0.1})
    look_at([finding], session)  # type: ignore[arg-type]
    assert finding.word == word
    assert session.n == blocks
    assert math.exp(finding.logs[0]) == pytest.approx(ar_s / 0.1, rel=0.03)  # the four calls of a unit are divided out


def test_without_time_nothing_is_claimed() -> None:
    finding = Finding(read_claim(CLAIM))
    look_at([finding], Timed({"ar": 1.0, "ctc": 0.1}, limit=0))  # type: ignore[arg-type]
    assert str(finding) == f"{CLAIM}: not measured: INCONCLUSIVE"


@pytest.mark.parametrize("line", ["ctc is fast", CLAIM + "!", CLAIM.replace("2", "0"), CLAIM.replace("at least ", "")])
def test_another_sentence_is_no_claim(line: str) -> None:
    with pytest.raises(ValueError, match="is no claim; write"):
        read_claim(line)


def test_the_committed_claims_are_claims() -> None:
    assert [str(claim) for claim in read_claims(ROOT / CLAIMS)] == [
        line for line in (ROOT / CLAIMS).read_text().splitlines() if not line.startswith("#")
    ]


def test_a_missing_file_of_claims_says_so(tmp_path: Path) -> None:
    with pytest.raises(NoBase, match="cannot be read"):
        read_claims(tmp_path / "none.txt")
    (tmp_path / "empty.txt").write_text("# nothing\n\n")
    with pytest.raises(NoBase, match="holds no claim"):
        read_claims(tmp_path / "empty.txt")


@pytest.mark.parametrize(
    ("sentence", "code", "word"), [("at least 0.5 times", 0, "HOLDS"), ("at least 9 times", 1, "FAILS")]
)
def test_the_command_checks_the_claims_of_its_tree(repo: Repo, sentence: str, code: int, word: str) -> Any:
    (repo.path / CLAIMS).write_text(f"ctc is {sentence} faster than ar at 16 tokens\n")
    found, out, error = repo.gate("--ratio")
    assert found == code, error
    assert out == [f"ctc is {sentence} faster than ar at 16 tokens: 1.00 [1.00, 1.00]: {word}"]
    assert repo.traces() == []
