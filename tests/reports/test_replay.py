"""The replay says what the traces and the timed trials say, and says where a pace was not measured."""

import re
from collections.abc import Callable
from dataclasses import replace

import pytest

from reports.html import page
from reports.replay import MAX_CHANGES, Lane, Replay, Replays, replays
from reports.strips import strip
from reports.summarise import summarise
from suites.records import Change, Record, TracedSlot
from tests.reports.hostile import HOSTILE
from tests.reports.synthetic import Made, race
from tests.reports.traces import add_ar, all_ways


def of(made: Made) -> Replays:
    return replays(summarise(made.run()))


def lanes(made: Made) -> dict[str, Lane]:
    (only,) = of(made).shown
    return {lane.contestant.label: lane for lane in only.lanes}


def test_frames_stand_where_the_timed_trial_had_done_their_steps() -> None:
    made = Made()
    add_ar(made, words=3)  # 1 ms of encoding, then 2 ms a word and for the end
    (only,) = of(made).shown
    assert only.unit == "ms" and only.span == pytest.approx(9.5)
    assert only.lanes[0].times == pytest.approx((3, 5, 7, 9))
    assert only.lanes[0].said == "3 tokens in 3 steps, 3.00 to 7.00 ms; done at 9.50 ms"


def test_every_way_of_writing_is_told_as_it_was() -> None:
    said = {label: lane.said for label, lane in lanes(all_ways()).items()}
    assert said == {
        "ar": "7 tokens in 7 steps, 3.00 to 15.0 ms; done at 17.5 ms",
        "ar:beam_size=4": "3 tokens, all at once at 13.0 ms; 1 written over; done at 13.5 ms",
        "ctc": "3 tokens, all at once at 4.10 ms; 1 taken out; done at 4.60 ms",
        "mask_predict": "5 tokens, all at once at 10.2 ms; 2 written over; done at 10.7 ms",
        "blocks": "4 tokens in 4 steps, 3.00 to 9.00 ms; done at 9.50 ms",
        "levenshtein": "3 tokens in 2 steps, 1.00 to 7.00 ms; 1 taken out; done at 7.50 ms",
        "speculative": "3 tokens, all at once at 3.50 ms; 1 taken out; done at 4.00 ms",
    }


def test_the_turns_say_in_which_order_the_tokens_that_stand_were_written() -> None:
    turns = {label: [slot.turn for slot in lane.slots] for label, lane in lanes(all_ways()).items()}
    assert turns["ar"] == [1, 2, 3, 4, 5, 6, 7]
    assert turns["ctc"] == [1, 0, 0, 1, 0, 1]
    assert turns["mask_predict"] == [1, 2, 3, 3, 2]
    assert turns["blocks"] == [1, 2, 4, 3]
    assert turns["levenshtein"] == [1, 2, 2, 0]
    assert turns["speculative"] == [1, 1, 2, 0]


def test_shades_run_from_the_first_turn_to_the_last() -> None:
    shades = {label: [slot.shade for slot in lane.slots] for label, lane in lanes(all_ways()).items()}
    assert (shades["ar"][0], shades["ar"][-1]) == (1, 5)
    assert shades["ar"] == sorted(shades["ar"])
    assert shades["blocks"] == [1, 2, 5, 4]
    assert set(shades["ctc"]) == {3}


def test_what_stood_in_a_slot_is_a_line_a_change() -> None:
    third = lanes(all_ways())["mask_predict"].slots[2]
    assert third.changes.splitlines() == ["0m▢", "1t was", "2m▢", "3t beginning", "4f beginning"]
    assert third.text == " beginning"


def change_trial(made: Made, **changes: object) -> Made:
    made.records = [replace(r, **changes) for r in made.records]  # type: ignore[arg-type]
    return made


@pytest.mark.parametrize(
    "change",
    [
        lambda trial: replace(trial, steps=trial.steps[:-1]),
        lambda trial: replace(trial, steps=(*trial.steps[:-1], replace(trial.steps[-1], positions=8))),
        lambda trial: replace(trial, steps=(*trial.steps[:-1], replace(trial.steps[-1], calls=2))),
        lambda trial: replace(trial, tokens_kept=(6,)),
        lambda trial: replace(trial, status="error", reason="no", latency_s=None, steps=()),
    ],
    ids=["a step less", "other positions", "other calls", "other tokens", "failed"],
)
def test_a_trial_that_did_another_work_lends_no_pace(change: Callable[[Record], Record]) -> None:
    made = Made()
    add_ar(made)
    made.records = [change(trial) for trial in made.records]
    (only,) = of(made).shown
    assert only.unit == "steps" and only.span == 8
    assert only.lanes[0].said == "7 tokens in 7 steps; pace not measured"
    assert "pace not measured" in page(summarise(made.run()))


def test_steps_of_an_accelerator_are_no_pace() -> None:
    made = Made()
    add_ar(made)
    run = made.run()
    start = replace(run.info.starts[0], settings={"device": "cuda"})
    run = replace(run, info=replace(run.info, starts=(start,)))
    (only,) = replays(summarise(run)).shown
    assert only.unit == "steps"


def test_one_unmeasured_lane_does_not_stop_the_clock_of_the_others() -> None:
    made = all_ways()
    made.records[0] = replace(made.records[0], steps=())
    found = lanes(made)
    assert found["ar"].times == () and found["ar"].said.endswith("; pace not measured")
    assert found["ctc"].times != ()


def test_sentences_come_in_the_order_they_were_timed() -> None:
    made = Made()
    for repeat, row in enumerate((41, 7, 23)):
        add_ar(made, row=row, repeat=repeat)
    assert [one.row for one in of(made).shown] == [41, 7, 23]


def test_who_is_not_traced_is_named_with_the_reason() -> None:
    made = race(labels=["ar", "ctranslate2", "hf_generate"], repeats=2, rows=2)
    add_ar(made)
    made.untraced = dict.fromkeys(("ctranslate2", "hf_generate"), "this strategy cannot do: trace")
    assert of(made).notes == ("Not traced: ctranslate2, hf_generate (this strategy cannot do: trace).",)


def test_a_run_without_traces_has_no_replay() -> None:
    made = race(labels=["ar", "ctc"], repeats=2, rows=2)
    assert of(made) == Replays((), ())
    assert 'id="replay"' not in page(summarise(made.run()))


def test_long_traces_are_left_out_before_the_page_grows_heavy() -> None:
    made = Made()
    for repeat in range(60):
        add_ar(made, row=repeat, repeat=repeat)
    slots = tuple(TracedSlot(changes=(Change(frame=i % 7, token_id=i % 7),)) for i in range(400))
    made.traced = [
        replace(s, trace=replace(s.trace, slots=slots), token_ids=(0,) * 400) if s.trace else s for s in made.traced
    ]
    found = of(made)
    assert len(found.shown) == MAX_CHANGES // 800
    assert found.notes == (f"Left out, since this page would grow heavy: {60 - MAX_CHANGES // 800} traces.",)
    assert len(page(summarise(made.run())).encode()) < 2_000_000


def test_a_trace_is_text_whatever_it_holds() -> None:
    made = all_ways()
    made.traced = [
        replace(s, source=HOSTILE[0], trace=replace(s.trace, pieces={k: HOSTILE[int(k)] for k in s.trace.pieces}))
        for s in made.traced
        if s.trace
    ]
    text = page(summarise(made.run()))
    assert text.count("<script>") == 1 and "<img" not in text and 'onmouseover="' not in text
    assert re.findall("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", text) == []


def test_an_empty_output_is_an_empty_lane() -> None:
    made = Made()
    add_ar(made, words=0)
    (lane,) = lanes(made).values()
    assert (lane.said, lane.slots) == ("no tokens", ())
    assert "(empty)" in page(summarise(made.run()))


def test_a_strip_draws_each_state_in_a_shape_of_its_own() -> None:
    slot = TracedSlot(
        changes=(
            Change(frame=0, state="masked"),
            Change(frame=1, token_id=1, state="tentative"),
            Change(frame=2, token_id=2),
        )
    )
    found = strip([slot], [4], [0.1, 0.25, 0.5])
    assert dict(found.paths) == {
        "m": "M100 4h150v2h-150z",
        "t": "M250 3h250v4h-250z",
        "f4": "M500 1h500v8h-500z",
    }
    assert found.rows == 1


def test_a_slot_that_came_and_went_at_once_takes_no_row_of_the_strip() -> None:
    brief = TracedSlot(changes=(Change(frame=0, token_id=1, state="tentative"), Change(frame=1, state="gone")))
    stays = TracedSlot(changes=(Change(frame=1, token_id=1),))
    found = strip([brief, stays], [3, 3], [0.5, 0.5])
    assert found.rows == 1 and found.paths == (("f3", "M500 1h500v8h-500z"),)


def test_a_replay_has_an_address_of_its_own() -> None:
    def anchors(found: tuple[Replay, ...]) -> list[str]:
        return [one.anchor for one in found]

    made = all_ways(row=12)
    assert anchors(of(made).shown) == ["replay-1-12"]
    assert '<details class="replay" id="replay-1-12" open>' in page(summarise(made.run()))
