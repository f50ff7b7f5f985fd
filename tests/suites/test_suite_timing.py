"""Claims about what a sample holds and what it does not."""

import gc
import signal
import statistics
import threading
from collections import Counter
from typing import Any

import pytest

from generators.base import Exact, Generation, Natural, Prompt, Request, Stopwatch, Unsupported
from suites import trial
from suites.clock import Clock, timed_by
from suites.overhead import Nothing
from suites.plan import Cell, Trial
from suites.trial import Failure, TookTooLong, attempt, failure_of, time_limit, timed_call, warm_up
from tests.suites.conftest import RunIt
from tests.suites.fakes import Echo, Fakes, VirtualClock

REQUEST = Request(prompts=(Prompt(prefix_ids=(5, 6, 0)),), length=Exact(4))


def test_a_latency_is_what_generate_takes(clock: VirtualClock) -> None:
    timing = timed_call(Echo(clock.sleep, 0.25), REQUEST, lambda: None)
    assert timing.latency_s == pytest.approx(1.0)  # 4 tokens of 0.25 s on a clock that only the fake moves
    assert timing.cpu_s == pytest.approx(0.5)  # the fake CPU clock runs at half speed


def test_the_device_is_synchronised_before_both_readings() -> None:
    events: list[str] = []

    class Quiet(Nothing):
        def generate(self, request: Request, stopwatch: Stopwatch) -> Generation:
            events.append("generate")
            return super().generate(request, stopwatch)

    with timed_by(Clock(wall_ns=lambda: events.append("clock") or 0)):
        timed_call(Quiet(), REQUEST, lambda: events.append("synchronize"))
    assert events == ["clock", "synchronize", "clock", "generate", "synchronize", "clock"]  # the first: the stopwatch


def test_steps_are_timed_by_the_clock_of_their_trial(clock: VirtualClock) -> None:
    timing = timed_call(Echo(clock.sleep, 0.25), REQUEST, lambda: None)
    assert [step.seconds for step in timing.generation.steps] == pytest.approx([0.25] * 4)


def test_work_that_the_device_still_does_is_charged(clock: VirtualClock) -> None:
    timing = timed_call(Echo(clock.sleep, 0.0), REQUEST, lambda: clock.sleep(3.0))
    assert timing.latency_s == pytest.approx(3.0)  # the second wait; the first one lies before the clock


def test_the_collector_is_off_inside_and_on_again_after_a_failure(clock: VirtualClock) -> None:
    seen: list[bool] = []

    def look(nth: int, request: Request) -> None:
        seen.append(gc.isenabled())
        raise RuntimeError("no")

    with pytest.raises(RuntimeError):
        timed_call(Echo(clock.sleep, before=look), REQUEST, lambda: None)
    assert seen == [False]
    assert gc.isenabled()


def times(*seconds: float) -> Any:
    calls = iter(seconds)
    return lambda: trial.Timing(None, next(calls), 0.0)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("seconds", "made"),
    [
        ((1.0, 1.0, 1.0), 3),
        ((1.0, 1.09, 1.05), 3),
        ((1.0, 1.0, 1.2, 1.2, 1.2), 5),  # three in a row, not three of all
        ((9.0, 1.0, 1.0, 1.0), 4),
        ((1, 2, 1, 2, 1, 2, 1, 2, 1, 2), 10),  # never: ten and no more
        ((0.0, 0.0, 0.0), 3),
    ],
)
def test_warm_up_ends_when_three_in_a_row_agree_or_after_ten(seconds: tuple[float, ...], made: int) -> None:
    kept, failure = warm_up(times(*seconds))
    assert (len(kept), failure) == (made, None)


def test_warmups_leave_no_record(fakes: Fakes, run_it: RunIt) -> None:
    run = run_it(fakes, "latency", "--lengths", "4,6", "--repeats", "2")
    assert len(run.records) == 2 * 2 * 2
    calls = len(fakes.generators["one"].requests)
    assert calls > len([r for r in run.records if r.label == "one"])  # there were untimed calls
    warmed = [r for r in run.records if r.warmup_s]
    assert Counter((r.label, r.length) for r in warmed) == dict.fromkeys(
        [("one", 4), ("one", 6), ("two", 4), ("two", 6)], 1
    )  # on the first record of each cell, and nowhere else
    assert all(len(r.warmup_s) == 3 for r in warmed)


def test_warm_up_has_the_timed_shape(fakes: Fakes, run_it: RunIt) -> None:
    run_it(fakes, "latency", "--lengths", "4,6", "--batch-sizes", "3", "--repeats", "1")
    shapes = Counter((r.length, len(r.prompts)) for r in fakes.generators["one"].requests)
    # three warm-ups and one sample each; the cheapest one again after the switch
    assert shapes == {(Exact(4), 3): 5, (Exact(6), 3): 4}


def test_a_first_call_that_sleeps_does_not_move_the_median(clock: VirtualClock, run_it: RunIt) -> None:
    def slow_start(nth: int, request: Request) -> None:
        clock.sleep(60.0 if nth == 0 else 0.0)

    run = run_it(
        Fakes({"one": Echo(clock.sleep, 0.01, before=slow_start)}), "latency", "--lengths", "4", strategies="one"
    )
    assert statistics.median(r.latency_s or 0 for r in run.records) == pytest.approx(0.04)
    assert max(r.latency_s or 0 for r in run.records) == pytest.approx(0.04)
    assert run.records[0].warmup_s[0] == pytest.approx(60.04)


def test_one_untimed_call_after_each_switch_is_no_sample(clock: VirtualClock, run_it: RunIt) -> None:
    """The first call after another contestant's is slow, as with cold caches: no sample may show it."""
    last: list[str] = []

    def cold(name: str) -> Any:
        def before(nth: int, request: Request) -> None:
            if last[-1:] != [name]:
                clock.sleep(5.0)
            last.append(name)

        return before

    fakes = Fakes({name: Echo(clock.sleep, before=cold(name)) for name in ("one", "two")})
    run = run_it(fakes, "latency", "--lengths", "4,6", "--repeats", "10")
    assert max(r.latency_s or 0 for r in run.records) < 1.0
    # warm-up of two cells, the first with one call more; ten repeats of one untimed and two timed calls
    assert last.count("one") == 4 + 3 + 10 * (1 + 2)


def test_contestants_are_interleaved_in_an_order_of_the_seed(fakes: Fakes, run_it: RunIt) -> None:
    run = run_it(fakes, "latency", "--lengths", "4,6", "--repeats", "12")
    for repeat in range(12):
        of_repeat = run.records[4 * repeat : 4 * repeat + 4]
        assert {r.repeat for r in of_repeat} == {repeat}
        assert [r.order for r in of_repeat] == [0, 1, 2, 3]
        assert Counter(r.label for r in of_repeat) == {"one": 2, "two": 2}
    first = [run.records[4 * repeat].label for repeat in range(12)]
    assert set(first) == {"one", "two"}  # chance of this failing by luck: 2 in 4,096, and the seed is fixed


def test_loading_and_decoding_stand_outside_the_timed_region(clock: VirtualClock, run_it: RunIt) -> None:
    class SlowWords(type(Fakes({}).codec)):  # type: ignore[misc]
        def encode(self, text: str) -> tuple[int, ...]:
            clock.sleep(7.0)
            return super().encode(text)  # type: ignore[no-any-return]

        def decode(self, ids: Any) -> str:
            clock.sleep(7.0)
            return super().decode(ids)  # type: ignore[no-any-return]

    run = run_it(Fakes({"one": Echo(clock.sleep)}, codec=SlowWords()), "quality", "--repeats", "2", strategies="one")
    assert max(r.latency_s or 0 for r in run.records) < 1.0


def test_a_call_past_its_time_is_a_timeout() -> None:
    def forever() -> None:
        while True:
            try:
                threading.Event().wait(1)
            except Exception:  # noqa: BLE001 - an engine that swallows all it can
                continue

    assert attempt(forever, timeout_s=0.05) == Failure("timeout", "took longer than 0.05 s")
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_a_time_limit_leaves_the_alarm_as_it_was() -> None:
    before = signal.getsignal(signal.SIGALRM)
    with pytest.raises(TookTooLong), time_limit(0.01):
        threading.Event().wait(1)
    assert signal.getsignal(signal.SIGALRM) is before


class OutOfMemoryError(RuntimeError):
    """Named as torch names its own."""


@pytest.mark.parametrize(
    ("exception", "status", "words"),
    [
        (Unsupported("this strategy cannot do: batch"), "unsupported", "cannot do: batch"),
        (ModuleNotFoundError("No module named 'ctranslate2'"), "unsupported", "not installed: No module"),
        (ImportError("cannot import name 'x'"), "unsupported", "installed, but broken: cannot import name"),
        (MemoryError(), "oom", "MemoryError"),
        (OutOfMemoryError("CUDA out of memory"), "oom", "CUDA out of memory"),
        (RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried"), "oom", "allocate"),
        (IndexError("index\nout\nof range"), "error", "IndexError: index out of range"),
    ],
)
def test_a_failure_has_a_status_and_one_line_of_reason(exception: BaseException, status: str, words: str) -> None:
    failure = failure_of(exception)
    assert failure.status == status
    assert words in failure.reason
    assert "\n" not in failure.reason


@pytest.mark.parametrize(
    "bad",
    [lambda r: [r[0][:-1]], lambda r: [(*r[0], 1)], lambda r: [], lambda r: [*r, *r]],
    ids=["a token less", "a token more", "no row", "twice the rows"],
)
def test_another_length_or_row_count_than_asked_is_an_error(clock: VirtualClock, bad: Any, run_it: RunIt) -> None:
    class Cheat(Echo):
        def generate(self, request: Request, stopwatch: Any) -> Any:
            import dataclasses

            honest = super().generate(request, stopwatch)
            return dataclasses.replace(honest, token_ids=tuple(bad(honest.token_ids)))

    run = run_it(
        Fakes({"one": Cheat(clock.sleep)}), "latency", "--lengths", "4", "--repeats", "1", strategies="one", code=2
    )
    assert [r.status for r in run.records] == ["error"]
    assert run.records[0].latency_s is None
    assert "asked for" in (run.records[0].reason or "")


def test_natural_runs_are_cut_at_the_positions_there_are(clock: VirtualClock, run_it: RunIt) -> None:
    fakes = Fakes({"one": Echo(clock.sleep)})
    fakes.codec.max_source_tokens = 40
    run_it(fakes, "quality", "--repeats", "1", strategies="one")
    assert {r.length for r in fakes.generators["one"].requests} == {Natural(40)}


def test_steps_keep_calls_and_positions(fakes: Fakes, run_it: RunIt) -> None:
    run = run_it(fakes, "latency", "--lengths", "4", "--repeats", "1")
    for record in run.records:
        assert [(s.phase, s.calls, s.positions) for s in record.steps] == [("decode", 1, 1)] * 4
        assert record.tokens_kept == (4,)


def test_a_batched_cell_is_not_warmed_up(clock: VirtualClock) -> None:
    assert not Cell("t", "one", "batched", None, 4).timed
    assert Trial("s", Cell("t", "one", "exact", 4, 1), 0, (1,)).cell.timed
