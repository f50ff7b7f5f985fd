"""Claims about calls that want too much memory or time: each is a record with its reason, and the run goes on."""

import resource
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from generators.base import Request
from suites import process_memory
from suites.__main__ import main
from suites.plan import Cell
from suites.process_memory import free_bytes, memory_limit, peak_bytes, resident_bytes, virtual_bytes
from suites.records import Record, Run, read_run
from suites.refusal import Refusal
from suites.runner import cost, doomed
from suites.settings import Settings, parse_memory
from suites.trial import Failure, failure_of
from tests.suites.apart import MB, contestants
from tests.suites.conftest import RunIt
from tests.suites.fakes import Echo, Fakes, VirtualClock, write_task

ROOT = Path(__file__).parents[2]
SIZES = ("--batch-sizes", "1,2,4,8", "--lengths", "4", "--repeats", "2")


def run_apart(folder: Path, *words: str, code: int = 0) -> tuple[Run, str]:
    """A run in a process of its own, whose limits end with it."""
    task = write_task(folder / "tiny.tsv")
    given = ["run", *words, "--task", str(task), "--out", str(folder / "run")]
    done = subprocess.run(
        [sys.executable, "-m", "tests.suites.apart", *given], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == code, done.stderr
    return read_run(folder / "run"), done.stderr


def by_size(records: tuple[Record, ...], label: str) -> dict[int, set[str]]:
    found: dict[int, set[str]] = {}
    for record in records:
        if record.label == label:
            found.setdefault(record.batch_size, set()).add(record.status)
    return found


@pytest.mark.parametrize("hog", ["hog", "torch_hog"])
def test_a_real_memory_limit_ends_a_contestants_batches_and_not_the_run(tmp_path: Path, hog: str) -> None:
    run, said = run_apart(tmp_path, "batch", *SIZES, "--strategies", f"light,{hog}", "--memory-limit", "300m")
    assert by_size(run.records, "light") == {1: {"ok"}, 2: {"ok"}, 4: {"ok"}, 8: {"ok"}}
    sizes = by_size(run.records, hog)  # 100 MB a row: two rows fit under 300 MB, four never do
    assert (sizes[1], sizes[4], sizes[8]) == ({"ok"}, {"oom"}, {"oom"})
    reasons = {r.batch_size: r.reason or "" for r in run.records if r.label == hog and r.status == "oom"}
    assert {"hog": "MemoryError", "torch_hog": "can't allocate memory"}[hog] in reasons[4]
    assert reasons[8].startswith(f"not tried after batch {min(reasons)}: ")
    assert len(run.records) == run.info.expected == 2 * 4 * 2  # every planned trial is there
    assert f"failed: {hog}: 2 oom: " in said


def test_a_batch_suite_may_take_what_is_free_and_no_more(monkeypatch: pytest.MonkeyPatch, run_it: RunIt) -> None:
    monkeypatch.setattr("suites.prepare.free_bytes", lambda: 300 * MB)
    before = resource.getrlimit(resource.RLIMIT_AS)
    run = run_it(contestants(), "batch", *SIZES, strategies="light,hog")
    assert by_size(run.records, "hog")[8] == {"oom"}
    assert by_size(run.records, "light")[8] == {"ok"}
    assert resource.getrlimit(resource.RLIMIT_AS) == before  # the limit ends with the race


def test_other_suites_have_no_limit_of_their_own(monkeypatch: pytest.MonkeyPatch, run_it: RunIt) -> None:
    monkeypatch.setattr("suites.prepare.free_bytes", lambda: 1)
    run = run_it(contestants(), "latency", "--lengths", "4", "--repeats", "1", strategies="hog")
    assert {r.status for r in run.records} == {"ok"}


def test_a_real_timeout_ends_a_contestants_batches_and_not_the_run(
    run_it: RunIt, capsys: pytest.CaptureFixture[str]
) -> None:
    run = run_it(contestants(), "batch", *SIZES, "--timeout", "0.5s", strategies="light,sleeper")
    assert by_size(run.records, "light") == {1: {"ok"}, 2: {"ok"}, 4: {"ok"}, 8: {"ok"}}
    sizes = by_size(run.records, "sleeper")  # 0.15 s a row: 0.6 s at four
    assert (sizes[1], sizes[4], sizes[8]) == ({"ok"}, {"timeout"}, {"timeout"})
    reasons = {r.batch_size: r.reason for r in run.records if r.label == "sleeper" and r.status == "timeout"}
    assert reasons[4] in ("took longer than 0.5 s", "not tried after batch 2: took longer than 0.5 s")
    assert reasons[8] == f"not tried after batch {min(reasons)}: took longer than 0.5 s"
    assert all(r.latency_s is None for r in run.records if r.status == "timeout")
    assert "failed: sleeper: 2 timeout: took longer than 0.5 s" in capsys.readouterr().err


def cell(size: int, label: str = "one", **more: object) -> Cell:
    return Cell("t", label, "exact", 8, size, **more)  # type: ignore[arg-type]


def test_only_want_of_memory_or_time_dooms_larger_batches_of_the_same_work() -> None:
    lost = {cell(4): Failure("oom", "full"), cell(8): Failure("oom", "fuller")}
    assert doomed(cell(16), lost) == Failure("oom", "not tried after batch 4: full")
    assert doomed(cell(8), lost) == Failure("oom", "not tried after batch 4: full")
    assert doomed(cell(4), lost) is None
    assert doomed(cell(2), lost) is None
    assert doomed(cell(16, "two"), lost) is None
    assert doomed(cell(16, source_length=3), lost) is None
    assert doomed(cell(16), {cell(4): Failure("error", "broken")}) is None


def test_a_batch_never_tried_costs_what_its_rows_did_in_the_next_smaller_one() -> None:
    costs = {cell(1): 1.0, cell(4): 2.0}
    assert cost(costs, {cell(16): 3}) == 3 * 2.0 * 4
    assert cost(costs, {cell(2): 1, cell(4): 1}) == 2.0 + 2.0
    assert cost(costs, {cell(16, "two"): 5}) == 0.0


def test_a_limit_is_beyond_what_is_mapped_and_ends_with_its_block() -> None:
    before = resource.getrlimit(resource.RLIMIT_AS)
    with memory_limit(200 * MB):
        with pytest.raises(MemoryError):
            bytearray(400 * MB)
        assert len(bytearray(20 * MB)) == 20 * MB
    assert resource.getrlimit(resource.RLIMIT_AS) == before
    assert len(bytearray(400 * MB)) == 400 * MB


def test_no_limit_is_no_limit() -> None:
    with memory_limit(None):
        assert resource.getrlimit(resource.RLIMIT_AS)[0] == resource.getrlimit(resource.RLIMIT_AS)[1]


def test_a_system_that_does_not_say_is_not_limited(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("STATUS", "MEMINFO"):
        monkeypatch.setattr(process_memory, name, tmp_path / "nothing")
    assert (virtual_bytes(), free_bytes()) == (0, None)
    before = resource.getrlimit(resource.RLIMIT_AS)
    with memory_limit(MB):
        assert resource.getrlimit(resource.RLIMIT_AS) == before
    assert peak_bytes() >= 10 * MB  # from getrusage
    assert resident_bytes() == peak_bytes()


def test_a_container_may_leave_less_than_the_machine_has(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(process_memory, "CGROUP", tmp_path)
    of_machine = free_bytes()
    (tmp_path / "memory.max").write_text(f"{64 * MB}\n")
    (tmp_path / "memory.current").write_text(f"{16 * MB}\n")
    assert free_bytes() == 48 * MB
    (tmp_path / "memory.max").write_text("max\n")
    assert free_bytes() == pytest.approx(of_machine, rel=0.5)


@pytest.mark.parametrize(("text", "size"), [("500m", 500 * MB), ("4g", 4096 * MB), ("1.5g", 1536 * MB)])
def test_a_size_is_read_with_its_unit(text: str, size: int) -> None:
    assert parse_memory(text) == size
    assert parse_memory(None) is None


@pytest.mark.parametrize("text", ["", "4", "0m", "-1g", "4G", "4gb", "nan", "1e3m", "9999999g"])
def test_a_size_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(Refusal, match="--memory-limit must be a size"):
        parse_memory(text)


@pytest.mark.parametrize(
    ("flag", "words"),
    [
        (("--timeout", "soon"), "--timeout must be a time above zero"),
        (("--memory-limit", "much"), "--memory-limit must be a size above zero"),
    ],
)
def test_a_limit_that_cannot_be_meant_is_one_line_and_exit_2(
    flag: tuple[str, str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "batch", "--strategies", "light", *flag], registry=contestants()) == 2
    assert words in capsys.readouterr().err


def test_an_accelerator_needs_no_limit_of_ours() -> None:
    with pytest.raises(Refusal, match="--memory-limit is for --device cpu"):
        Settings(suite="batch", device="cuda", memory_limit="4g")


@pytest.mark.parametrize(
    "text", ["CUDA failed with error out of memory", "std::bad_alloc", "DefaultCPUAllocator: can't allocate memory"]
)
def test_an_engines_own_words_for_want_of_memory_are_understood(text: str) -> None:
    assert failure_of(RuntimeError(text)).status == "oom"


@pytest.mark.parametrize(("budget", "sizes"), [("1s", (1,)), ("40s", (1, 2, 4)), ("60s", (1, 2, 4, 8))])
def test_the_batch_suite_ends_with_its_budget_at_a_whole_size(
    budget: str, sizes: tuple[int, ...], run_it: RunIt, monkeypatch: pytest.MonkeyPatch, clock: VirtualClock
) -> None:
    monkeypatch.setattr("time.monotonic", lambda: clock.now_ns * 1e-9)

    def slower(nth: int, request: Request) -> None:
        clock.sleep(0.1 * len(request.prompts))

    fakes = Fakes({name: Echo(clock.sleep, 0.0, before=slower) for name in ("one", "two")})
    run = run_it(fakes, "batch", "--lengths", "4", "--budget", budget, "--repeats", "7")
    counts = Counter((r.label, r.batch_size) for r in run.records)
    # a size: 2 contestants × (3 warm-ups + 7 × (1 untimed + 1 timed)) × 0.1 s a row = 3.4 s a row: 1 + 2 + 4 + 8 rows
    # take 51 s; the first size is run whatever the budget says
    assert counts == {(label, size): 7 for label in ("one", "two") for size in sizes}
    assert run.info.reduced == f"budget {budget}: {len(sizes)} of 13 rounds"
    assert clock.now_ns * 1e-9 == pytest.approx(3.4 * sum(sizes))
