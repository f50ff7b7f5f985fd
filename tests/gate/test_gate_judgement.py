"""The gate's pure verdict on pairs whose truth is known."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reports.gate import AGAIN, BASE, HEAD, Block, Found, Reading, Round, confirms, judge
from reports.gate_looks import CONFIRMING, LOOKS, verdicts
from reports.gate_words import change, line
from tests.gate.synthetic_pairs import Cost, block, plain, times

ALPHA = 0.01 / 9


def blocks(n: int, head: Cost = plain, **how: float) -> list[Block]:
    return [block(seed, head, **how) for seed in range(n)]


@pytest.mark.parametrize(("factor", "outcome"), [(0.8, "fine"), (1.0, "fine"), (1.1, "slower"), (1.3, "slower")])
def test_a_clear_truth_is_judged_as_it_is(factor: float, outcome: str) -> None:
    found = judge(blocks(12, times(factor)), ALPHA)
    assert found.outcome == outcome
    assert found.effect.value == pytest.approx(math.log(factor), abs=0.015)
    assert found.effect.lower < math.log(factor) < found.effect.upper


def test_four_blocks_decide_nothing_however_clear() -> None:
    found = judge(blocks(4, times(2.0), between=0.0, within=0.0), ALPHA)
    assert (found.outcome, found.reason) == ("open", "4 of at least 5 sets of processes measured")


def test_one_block_is_judged_open_without_bounds() -> None:
    found = judge(blocks(1), ALPHA)
    assert found.outcome == "open"
    assert math.isinf(found.effect.lower)


def test_five_percent_itself_is_tolerated_and_undecided() -> None:
    assert judge(blocks(12, times(1.05)), ALPHA).outcome == "open"


def test_what_slows_base_and_head_alike_cancels() -> None:
    calm, wild = judge(blocks(8), ALPHA), judge(blocks(8, drift=0.5), ALPHA)
    assert wild.effect.value == pytest.approx(calm.effect.value, abs=0.03)
    assert wild.outcome == "fine"


def test_a_control_that_strays_forbids_any_verdict() -> None:
    found = judge(blocks(12, times(1.3), control=1.07), ALPHA)
    assert found.outcome == "open"
    assert found.reason.startswith("the machine is unfit")


def test_one_length_alone_may_not_grow_by_fifteen_percent() -> None:
    found = judge(blocks(12, lambda n: plain(n) * (1.3 if n == 16 else 0.97)), ALPHA)
    assert (found.outcome, found.reason) == ("slower", "at 16 tokens alone slower by more than 15 %")


def test_waiting_is_found_by_wall_time_alone() -> None:
    waits = blocks(12, waiting_s=0.03)
    assert judge(waits, ALPHA).reason == "wall time grew by more than 25 %: waiting, not work"
    assert judge(waits, ALPHA).effect.upper < math.log(1.05)


def test_on_an_accelerator_wall_time_decides() -> None:
    assert judge(blocks(12, waiting_s=0.01), ALPHA, "wall_s").reason == "slower by more than 5 %"


@pytest.mark.parametrize(
    ("head", "per_token", "fixed"),
    [
        (lambda n: 0.004 + 0.0012 * n, "up", "unchanged"),
        (lambda n: 0.010 + 0.001 * n, "unchanged", "up"),
        (lambda n: 0.004 + 0.0008 * n, "down", "unchanged"),
        (plain, "unchanged", "unchanged"),
    ],
)
def test_slope_and_intercept_say_what_regressed(head: Cost, per_token: str, fixed: str) -> None:
    found = judge(blocks(12, head, within=0.005, between=0.002), ALPHA)
    assert (change(found.per_token), change(found.fixed)) == (per_token, fixed)


def test_a_line_needs_two_lengths() -> None:
    short = [Block(tuple(one for one in made.rounds if one.length == 16)) for made in blocks(5)]
    found = judge(short, ALPHA)
    assert (found.per_token, found.fixed) == (None, None)
    assert change(None) == "unclear"


def test_the_findable_effect_shrinks_with_more_and_with_quieter_blocks() -> None:
    few, many, noisy = blocks(5), blocks(12), blocks(12, between=0.05)
    assert math.log(1.05) < judge(many, ALPHA).findable < judge(few, ALPHA).findable
    assert judge(many, ALPHA).findable < judge(noisy, ALPHA).findable


@pytest.mark.parametrize("seconds", [0.0, -1.0, math.nan, math.inf])
def test_a_time_that_is_none_is_refused(seconds: float) -> None:
    bad = Round(16, {BASE: Reading(1.0, 1.0), HEAD: Reading(seconds, 1.0), AGAIN: Reading(1.0, 1.0)})
    with pytest.raises(ValueError, match="must take more than 0 s"):
        judge([Block((bad,))] * 5, ALPHA)


@pytest.mark.parametrize("given_blocks", [[], [Block(())], [block(0), Block(block(1).rounds[:1])]])
def test_blocks_that_do_not_fit_are_refused(given_blocks: list[Block]) -> None:
    with pytest.raises(ValueError, match="blocks of the same lengths"):
        judge(given_blocks, ALPHA)


shapes = st.tuples(st.integers(0, 10**6), st.floats(0.7, 1.5), st.floats(0.0, 0.05), st.integers(5, 12))


@settings(max_examples=40)
@given(shapes, st.floats(1e-3, 1e3))
def test_the_unit_of_time_changes_no_judgement(shape: tuple[int, float, float, int], unit: float) -> None:
    seed, factor, between, n = shape
    made = [block(seed + i, times(factor), between=between, rounds=3) for i in range(n)]
    scaled = [
        Block(
            tuple(
                Round(r.length, {s: Reading(t.cpu_s * unit, t.wall_s * unit) for s, t in r.readings.items()})
                for r in b.rounds
            )
        )
        for b in made
    ]
    first, second = judge(made, ALPHA), judge(scaled, ALPHA)
    assert first.outcome == second.outcome
    assert first.effect == pytest.approx(second.effect)


@settings(max_examples=40)
@given(shapes)
def test_the_order_of_blocks_and_rounds_changes_nothing(shape: tuple[int, float, float, int]) -> None:
    seed, factor, between, n = shape
    made = [block(seed + i, times(factor), between=between, rounds=3) for i in range(n)]
    mixed = [Block(tuple(reversed(one.rounds))) for one in reversed(made)]
    assert judge(made, ALPHA).effect == pytest.approx(judge(mixed, ALPHA).effect)
    assert judge(made, ALPHA).outcome == judge(mixed, ALPHA).outcome


@settings(max_examples=40)
@given(shapes)
def test_the_two_processes_of_the_base_are_alike_to_the_head_and_the_control_turns_around(
    shape: tuple[int, float, float, int],
) -> None:
    seed, factor, between, n = shape
    made = [block(seed + i, times(factor), between=between, rounds=3) for i in range(n)]
    turned = [
        Block(
            tuple(Round(r.length, {**r.readings, BASE: r.readings[AGAIN], AGAIN: r.readings[BASE]}) for r in b.rounds)
        )
        for b in made
    ]
    there, back = judge(made, ALPHA), judge(turned, ALPHA)
    assert back.effect == pytest.approx(there.effect)
    assert back.control.value == pytest.approx(-there.control.value)
    assert back.control.upper == pytest.approx(-there.control.lower)


def measured(head: Mapping[str, Cost], asked: list[tuple[str, ...]], limit: int = 10**6):  # type: ignore[no-untyped-def]
    """A measure that makes blocks up and writes down what it was asked for."""

    def measure(names: Sequence[str], needed: bool) -> Mapping[str, Block] | None:
        if len(asked) >= limit and not needed:
            return None
        asked.append(tuple(names))
        return {name: block(1000 * len(asked) + len(name), head[name]) for name in names}

    return measure


def test_what_is_decided_is_measured_no_further_and_a_regression_is_found_twice() -> None:
    asked: list[tuple[str, ...]] = []
    found = verdicts(["same", "slow"], measured({"same": plain, "slow": times(1.4)}, asked))
    assert {name: verdict.word for name, verdict in found.items()} == {"same": "PASS", "slow": "REGRESSION"}
    assert asked[-CONFIRMING:] == [("slow",)] * CONFIRMING
    assert found["slow"].confirmation is not None and found["same"].confirmation is None
    assert len(asked) <= LOOKS[-1] + CONFIRMING


def test_an_undecided_strategy_is_looked_at_three_times_and_no_more() -> None:
    asked: list[tuple[str, ...]] = []
    found = verdicts(["edge"], measured({"edge": times(1.05)}, asked))
    assert found["edge"].word == "INCONCLUSIVE"
    assert len(asked) == LOOKS[-1]


def test_a_slowdown_that_fresh_processes_do_not_show_is_no_regression() -> None:
    calls: list[int] = []

    def measure(names: Sequence[str], needed: bool) -> Mapping[str, Block]:
        calls.append(needed)
        return {name: block(len(calls), plain if needed else times(1.5)) for name in names}

    (verdict,) = verdicts(["ar"], measure).values()
    assert verdict.word == "INCONCLUSIVE"
    assert verdict.why == "slower by more than 5 %, but fresh processes did not confirm it"


@pytest.mark.parametrize(
    ("found", "again", "holds"),
    [
        (Found("effect", math.log(1.05)), blocks(5, times(1.12)), True),
        (Found("effect", math.log(1.05)), blocks(5, times(1.03)), False),
        (Found("cell", math.log(1.15), 16), blocks(5, lambda n: plain(n) * (1.3 if n == 16 else 1.0)), True),
        (Found("cell", math.log(1.15), 32), blocks(5, lambda n: plain(n) * (1.3 if n == 16 else 1.0)), False),
        (Found("wall", math.log(1.25)), blocks(5, waiting_s=0.03), True),
        (Found("wall", math.log(1.25)), blocks(5, times(1.2)), False),
    ],
)
def test_a_confirmation_is_of_the_very_thing_that_was_found(found: Found, again: list[Block], holds: bool) -> None:
    assert confirms(found, judge(again, 0.05)) is holds


def test_when_time_runs_out_the_blocks_so_far_are_judged_and_a_confirmation_is_still_made() -> None:
    asked: list[tuple[str, ...]] = []
    found = verdicts(["slow"], measured({"slow": times(1.5)}, asked, limit=6))
    assert found["slow"].word == "REGRESSION"
    assert verdicts(["slow"], measured({"slow": plain}, [], limit=3))["slow"].word == "INCONCLUSIVE"
    assert verdicts(["slow"], measured({"slow": plain}, [], limit=0)) == {}


def test_equal_code_is_called_a_regression_less_than_once_in_a_hundred_gates() -> None:
    asked: list[tuple[str, ...]] = []
    measure = measured({"ar": plain, "ctc": plain, "mask_predict": plain}, asked)
    words = [v.word for _ in range(60) for v in verdicts(["ar", "ctc", "mask_predict"], measure).values()]
    assert words.count("REGRESSION") == 0
    assert words.count("PASS") / len(words) > 0.95


def test_ten_percent_is_found_nearly_always() -> None:
    measure = measured({"ar": times(1.1)}, [])
    words = [verdicts(["ar"], measure)["ar"].word for _ in range(60)]
    assert words.count("REGRESSION") >= 57


def test_the_line_for_people_reads_as_promised() -> None:
    asked: list[tuple[str, ...]] = []
    verdict = verdicts(["x"], measured({"x": lambda n: 0.004 + 0.00113 * n}, asked))["x"]
    said = line("mask_predict", verdict)
    assert said.startswith("mask_predict: +1")
    assert said.endswith(", per-token cost up, fixed cost unchanged: REGRESSION") or "unclear: REGRESSION" in said
    odd = replace(verdict, word="INCONCLUSIVE", why="the machine is unfit")
    assert line("a\x1b[31mb", odd).endswith("INCONCLUSIVE (the machine is unfit)")
    assert "\x1b" not in line("a\x1b[31mb", odd)
