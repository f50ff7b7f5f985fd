"""Claims about what time and memory went into, on records whose every second and byte is chosen here."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from metrics.roofline import Shape, decoder_pass, encoder_pass
from reports.batch_figure import batch_drawing, batch_table, rate
from reports.cost_figures import cost_drawings
from reports.cost_tables import cost_tables, floor_table, memory_table, parts_table, roofline_table
from reports.figures import figures
from reports.html import page
from reports.passes import passes_of, shape_of
from reports.summarise import summarise
from reports.summary import Summary
from reports.verdict import verdict
from suites.records import Bandwidth, MachineSpeed, Record, Run, StepRecord
from tests.reports.synthetic import Made, record

SIZES = {
    "d_model": 8, "encoder_layers": 1, "decoder_layers": 2, "encoder_ffn_dim": 16, "decoder_ffn_dim": 16,
    "vocab_size": 100, "weight_bytes": 4, "value_bytes": 4,
}  # fmt: skip
SHAPE = Shape(**SIZES)
SOURCE, MS = 5, 1e-3


def steps(*seconds: float, positions: Sequence[int] = (), phase: str = "decode") -> tuple[StepRecord, ...]:
    """An encoder pass over 5 positions of the first seconds, then a decoder pass each of the rest."""
    found = [StepRecord(phase="encode", seconds=seconds[0], calls=1, positions=SOURCE)]
    for i, s in enumerate(seconds[1:]):
        found.append(StepRecord(phase=phase, seconds=s, calls=1, positions=positions[i] if positions else 1))
    return tuple(found)


def trial(label: str, latency_ms: float, repeat: int = 0, **changes: Any) -> Record:
    length = changes.get("length", 8)
    made = record(label, mode="exact", length=length, repeat=repeat, latency_s=latency_ms * MS, kept=length or 8)
    made = replace(made, **changes)
    made = replace(made, tokens_kept=(length or 8,) * made.batch_size, prompt_rows=tuple(range(made.batch_size)))
    return replace(made, key=f"{made.key}|{made.batch_size}|{made.source_length}")


def summary_of(*records: Record, device: str = "cpu", known: bool = True) -> Summary:
    made = Made(records=list(records))
    run: Run = made.run()
    speed = MachineSpeed(bandwidths=(Bandwidth(working_set_bytes=1024, bytes_per_s=1e7),), flop_per_s=1e8)
    start = replace(
        run.info.starts[0],
        settings={"device": device},
        models={r.label: SIZES for r in records} if known else {},
        speed=speed if known else None,
    )
    return summarise(replace(run, info=replace(run.info, starts=(start,))))


def repeated(label: str, *latencies_ms: float, **changes: Any) -> list[Record]:
    return [trial(label, ms, i, **changes) for i, ms in enumerate(latencies_ms)]


def test_parts_of_a_request_add_up_to_its_latency() -> None:
    found = summary_of(
        trial("ar", 10.0, steps=steps(1 * MS, 2 * MS, 3 * MS)), trial("ar", 10.0, 1, steps=steps(3 * MS, 5 * MS))
    )
    (parts,) = found.costs.parts
    assert parts.n == 2
    # prefill 1 and 3, steps 5 and 5, overhead 4 and 2 of 10 ms each
    assert parts.shares == pytest.approx({"prefill": 4 / 20, "steps": 10 / 20, "overhead": 6 / 20})
    assert {name: e.value for name, e in parts.seconds.items()} == pytest.approx(
        {"prefill": 2 * MS, "steps": 5 * MS, "overhead": 3 * MS}
    )


def test_an_engine_is_one_part_and_a_device_tells_none() -> None:
    engine = (StepRecord(phase="engine", seconds=9 * MS, calls=0, positions=0),)
    assert summary_of(trial("ctranslate2", 10.0, steps=engine)).costs.parts[0].shares == pytest.approx(
        {"engine": 0.9, "overhead": 0.1}
    )
    assert summary_of(trial("ar", 10.0, steps=steps(1 * MS, 2 * MS)), device="cuda").costs.parts == ()


def test_cached_steps_look_at_one_position_more_each() -> None:
    made = trial("ar", 10.0, steps=steps(1 * MS, 2 * MS, 3 * MS), cache="exact")
    found = passes_of(made, SHAPE, SOURCE, True)
    assert found is not None
    assert (found.n, found.seconds, found.whole) == (2, pytest.approx(5 * MS), False)
    assert found.work == decoder_pass(SHAPE, 1, 1, 1, SOURCE) + decoder_pass(SHAPE, 1, 1, 2, SOURCE)


def test_a_beam_is_so_many_rows_of_one_position() -> None:
    made = trial("ar:beam_size=3", 10.0, steps=steps(1 * MS, 2 * MS, positions=[3]), cache="exact")
    found = passes_of(made, SHAPE, SOURCE, True)
    assert found is not None
    assert found.work == decoder_pass(SHAPE, 3, 1, 1, SOURCE)


def test_a_cached_block_of_positions_adds_them_all() -> None:
    made = trial("ar", 10.0, steps=steps(1 * MS, 2 * MS, 2 * MS, positions=[4, 2]), cache="exact")
    found = passes_of(made, SHAPE, SOURCE, True)
    assert found is not None
    assert found.work == decoder_pass(SHAPE, 1, 4, 4, SOURCE) + decoder_pass(SHAPE, 1, 2, 6, SOURCE)


@pytest.mark.parametrize(
    ("canvas", "batch", "positions", "rows", "each"),
    [((8,), 1, 8, 1, 8), ((8,), 1, 24, 3, 8), ((6, 8), 2, 16, 2, 8), (None, 2, 14, 2, 7)],
    ids=["one canvas", "a length beam", "padded rows", "no canvas"],
)
def test_a_parallel_pass_looks_at_its_own_positions(
    canvas: tuple[int, ...] | None, batch: int, positions: int, rows: int, each: int
) -> None:
    made = trial("ctc", 10.0, batch_size=batch, steps=steps(1 * MS, 2 * MS, positions=[positions]))
    found = passes_of(replace(made, canvas_positions=canvas), SHAPE, SOURCE, True)
    assert found is not None
    assert found.work == decoder_pass(SHAPE, rows, each, each, SOURCE)


def test_an_engine_is_charged_with_its_whole_time_and_its_encoder() -> None:
    engine = (StepRecord(phase="engine", seconds=9 * MS, calls=0, positions=0),)
    made = trial("ctranslate2", 10.0, steps=engine, tokens_raw=(3,))
    found = passes_of(made, SHAPE, SOURCE, True)
    assert found is not None
    cached = [decoder_pass(SHAPE, 1, 1, n, SOURCE) for n in (1, 2, 3)]
    assert (found.n, found.seconds, found.whole) == (3, pytest.approx(10 * MS), True)
    assert found.work == cached[0] + cached[1] + cached[2] + encoder_pass(SHAPE, 1, SOURCE)


def test_without_a_pass_there_is_no_roofline() -> None:
    assert passes_of(trial("copy", 1.0, steps=()), SHAPE, SOURCE, True) is None
    assert summary_of(trial("ar", 10.0, steps=steps(1 * MS, 2 * MS)), known=False).costs.rooflines == ()


def test_a_shape_that_is_none_names_the_file() -> None:
    with pytest.raises(ValueError, match=r"run\.json: 'models' holds no shape"):
        shape_of({"width": 3})


def roofline_of(seconds_a_pass: float) -> Any:
    made = [trial("ar", 1000.0, i, steps=steps(1 * MS, seconds_a_pass), cache="exact") for i in range(2)]
    (found,) = summary_of(*made).costs.rooflines
    return found


def test_shares_are_the_pass_against_the_machine_of_the_run() -> None:
    work = decoder_pass(SHAPE, 1, 1, 1, SOURCE)
    at_roof = work.bytes / 1e7  # seconds that moving the bytes takes at the measured bandwidth
    found = roofline_of(at_roof / 0.8)
    assert found.roof.bandwidth_share == pytest.approx(0.8)
    assert found.roof.flop_share == pytest.approx(work.flop / 1e8 / (at_roof / 0.8))
    assert (found.roof.bound, found.passes, found.bytes, found.flop) == ("memory-bound", 1, work.bytes, work.flop)
    assert roofline_of(at_roof / 0.3).roof.bound == "dispatch-bound"


def test_memory_is_the_largest_of_its_processes_and_makes_no_latency() -> None:
    peaks = [(30, 100), (31, 120), (30, 110)]
    found = summary_of(
        *(
            trial("ar", 0.0, i, latency_s=None, memory={"loaded_bytes": a << 20, "peak_bytes": b << 20})
            for i, (a, b) in enumerate(peaks)
        )
    )
    (memory,) = found.costs.memories
    assert (memory.n, memory.peak_bytes >> 20, memory.least_peak_bytes >> 20, memory.loaded_bytes >> 20) == (
        3,
        120,
        100,
        31,
    )
    assert found.cells == ()
    assert found.missing == (
        "No latency, no speedup and no quality: each request was made once, for its memory alone.",
    )
    assert verdict(found).lead == "Peak memory is 120 MB with ar, the only contestant measured."
    (row,) = memory_table(found).rows
    assert [entry.text for entry in row[4:]] == ["120.0", "31.0", "89.0"]
    assert row[4].detail == ("from 100.0", "n = 3")


def test_a_contestant_stands_above_the_scoring_pass_of_its_own_length() -> None:
    found = summary_of(
        *repeated("teacher_forcing", 2.0, 4.0, 2.0, length=8, strategy="teacher_forcing"),
        *repeated("teacher_forcing", 7.0, 7.0, 7.0, length=16, strategy="teacher_forcing"),
        *repeated("ctc", 3.0, 6.0, 3.0, length=8, mode="natural"),
        *repeated("ar", 14.0, 28.0, 14.0, length=16),
    )
    ratios = {(o.place.label, o.place.length): (o.ratio.value, o.ratio.n, o.floor) for o in found.costs.over_floor}
    assert ratios == {("ctc", 8): (1.5, 3, "teacher_forcing"), ("ar", 16): (2.0, 3, "teacher_forcing")}
    assert "n = 3 over teacher_forcing" in floor_table(found, "verse").rows[0][3].detail
    said = dict(verdict(found).findings)["Floor"]
    assert said == (
        "On verse at 16 tokens, batch 1, of the time of one parallel scoring pass (teacher_forcing): ar 2.00× (n = 3); "
        "no interval lies wholly below 1.",
    )


def test_who_surely_takes_less_than_a_scoring_pass_is_said_to_make_a_smaller_one() -> None:
    floor = repeated("teacher_forcing", *[4.0, 4.1, 4.2] * 3, length=8, strategy="teacher_forcing")
    found = summary_of(*floor, *repeated("ctc", *[2.0, 2.05, 2.1] * 3, length=8, mode="natural"))
    assert dict(verdict(found).findings)["Floor"][0].endswith("(n = 9); ctc made a smaller pass.")


def test_a_scoring_pass_competes_with_nobody() -> None:
    found = summary_of(*repeated("teacher_forcing", 1.0, 1.0, strategy="teacher_forcing"), *repeated("ar", 9.0, 9.0))
    assert found.contestant("teacher_forcing").kind == "floor"
    said = verdict(found)
    assert "teacher_forcing" not in said.lead


def batch_run(sizes: Sequence[int] = (1, 4, 16)) -> Summary:
    """`ar` takes 10 ms however many rows, `ctc` 2 ms a row: S1 is 5, and from batch 5 on `ar` is ahead."""
    made = []
    for size in sizes:
        made += repeated("ar", *[10.0 + i / 100 for i in range(7)], batch_size=size)
        made += repeated("ctc", *[2.0 * size + i / 100 for i in range(7)], batch_size=size, mode="natural")
    return summary_of(*made)


def test_throughput_is_the_tokens_of_a_request_over_its_median_time() -> None:
    cells = {(cell.label, cell.batch_size): rate(cell) for cell in batch_run().cells}
    assert cells["ar", 16].value == pytest.approx(8 * 16 / 0.01003)
    assert cells["ar", 16].low == pytest.approx(8 * 16 / 0.01006)
    assert cells["ar", 16].high == pytest.approx(8 * 16 / 0.01)
    assert cells["ar", 16].n == 7


def test_s1_and_smax_stand_side_by_side_with_their_batches() -> None:
    table = batch_table(batch_run(), "verse")
    row = dict(zip(table.heads, next(row for row in table.rows if row[0].text == "ctc"), strict=True))
    s1, smax = row["S1, × like for like"], row["Smax, × like for like"]
    assert (s1.text, s1.detail[-1]) == ("4.94", "batch 1")  # 10.03 over 2.03 ms
    assert (smax.text, smax.detail[-1]) == ("0.313", "batch 16")  # 10.03 over 32.03 ms
    assert any("n = 7 over ar" in line for line in s1.detail)
    drawing = batch_drawing(batch_run(), "verse")
    assert drawing is not None
    assert drawing.title == "ctc is 4.9 times as fast as ar at batch 1 (S1) and 0.31 times at batch 16 (Smax)"


def test_one_batch_size_is_no_figure_of_batches() -> None:
    assert batch_drawing(batch_run((4,)), "verse") is None
    assert batch_table(batch_run((4,)), "verse").rows == ()


def prompt_run() -> Summary:
    """Reading takes 1 ms a source token, writing 1 ms a token."""
    made = [
        trial("ar", float(s + n), i, length=n, source_length=s, steps=steps(s * MS, *[MS] * n), cache="exact")
        for s in (2, 32)
        for n in (4, 16)
        for i in range(2)
    ]
    return summary_of(*made)


def test_sources_of_several_lengths_are_a_surface_and_no_race() -> None:
    found = prompt_run()
    assert found.cells == ()
    shares = {(p.place.source_length, p.place.length): p.shares["prefill"] for p in found.costs.parts}
    assert shares == pytest.approx({(s, n): s / (s + n) for s in (2, 32) for n in (4, 16)})
    (drawing,) = [d for d in cost_drawings(found) if d.name == "prompt-1"]
    said = "Prefill takes over half of the time at some pairs of source and output length: 2 of 4 for ar"
    assert drawing.title == said
    assert len(parts_table(found, "verse", by_source=True).rows) == 4
    assert parts_table(found, "verse", by_source=False).rows == ()
    assert verdict(found).lead == f"{drawing.title}."


def whole_run() -> Summary:
    made = []
    for label in ("ar", "ctc", "mask_predict"):
        for size in (1, 4):
            made += repeated(label, *[10.0 + i for i in range(7)], batch_size=size, steps=steps(2 * MS, 7 * MS))
    made += prompt_run_records()
    return summary_of(*made)


def prompt_run_records() -> list[Record]:
    return [
        trial("ar", 9.0, i, length=n, source_length=s, steps=steps(4 * MS, 4 * MS))
        for s in (2, 32) for n in (4, 16) for i in range(2)
    ]  # fmt: skip


def test_every_figure_of_costs_says_what_it_shows() -> None:
    """Formula, unit, n, interval, denominator where there is one, and what the timing leaves out: all in reach."""
    found = {figure.name: figure for figure in figures(whole_run())}
    drawn = {name: found[name] for name in ("batch-1", "prompt-1", "parts-1", "roofline-1")}
    for name, figure in drawn.items():
        text = f"{figure.caption} {figure.table.note}"
        assert "Timing leaves out" in text, name
        assert "95 % interval" in text, name
        assert " over " in text, name  # a formula
        assert figure.table.rows, name
        assert any(unit in text for unit in ("ms", "GFLOP/s", "tokens/s")), name
        assert any("n" in " ".join(entry.detail).split() for row in figure.table.rows for entry in row), name
        assert figure.wide.startswith("<svg") and figure.narrow.startswith("<svg")
    assert "over ar" in drawn["batch-1"].caption
    assert figures(whole_run()) == tuple(found.values())  # the same records, the same bytes


def test_every_table_of_costs_is_on_the_page_once() -> None:
    found = whole_run()
    text = page(found)
    for table in cost_tables(found):
        assert text.count(f"<h3>{table.title}</h3>") <= 1
    for name in ("batch-1", "prompt-1", "parts-1", "roofline-1"):
        assert text.count(f'id="{name}"') == 1
    assert "dispatch-bound" in text or "memory-bound" in text
    assert len(roofline_table(found, "verse").rows) == 10  # three contestants at two sizes, and four pairs of lengths
