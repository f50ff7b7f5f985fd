"""Each at its best: the fastest setting of a decoding that does not write worse, and nothing faster than that."""

from pathlib import Path

import pytest

from reports.__main__ import main
from reports.bests import line_up
from reports.evidence_tables import best_table
from reports.summarise import summarise
from reports.summary import Summary
from tests.reports.synthetic import TASK, Made, add_latency, add_quality, race

# label: (seconds before the first token, seconds a token, mode, share of words changed, share doubled)
SETTINGS = {
    "ctc": (0.004, 0.0012, "natural", 0.10, 0.0),
    "ctc:threads=2": (0.004, 0.0007, "natural", 0.10, 0.0),
    "ctc:engine=onnx": (0.004, 0.0005, "natural", 0.10, 0.0),
    "ctc:engine=onnx_int8": (0.004, 0.0001, "natural", 0.90, 0.0),  # the fastest, and it writes worse
    "mask_predict:n_iterations=4": (0.01, 0.0005, "natural", 0.3, 0.0),
    "mask_predict:n_iterations=1:threads=2": (0.01, 0.0001, "natural", 0.3, 0.0),  # decodes otherwise: no setting of it
}
ARS = ("ar", "ctranslate2", "hf_generate")


def tried(settings: tuple[str, ...] = tuple(SETTINGS)) -> Made:
    made = race(ARS, lengths=(128,), rows=60)
    for label in settings:
        add_latency(made, label, SETTINGS[label], (128,), 9)
        add_quality(made, label, SETTINGS[label], 60)
    return made


def run(settings: tuple[str, ...] = tuple(SETTINGS)) -> Summary:
    return summarise(tried(settings).run())


def test_the_fastest_that_writes_no_worse_is_the_best_and_a_faster_worse_one_is_not() -> None:
    summary = run()
    found = {best.default: best for best in summary.evidence.bests}
    assert {default: best.label for default, best in found.items()} == {"ar": "ctranslate2", "ctc": "ctc:engine=onnx"}
    assert {default: best.settings for default, best in found.items()} == {"ar": 3, "ctc": 4}
    times = {label: summary.headline(TASK, label) for label in ("ctc", "ctc:engine=onnx")}
    assert times["ctc"]
    assert times["ctc:engine=onnx"]
    gain = found["ctc"].gain
    assert gain
    assert gain.low <= gain.value <= gain.high
    ratio = times["ctc"].latency_s.value / times["ctc:engine=onnx"].latency_s.value
    assert gain.value == pytest.approx(ratio)
    assert found["ctc"].n == 9


def test_where_every_other_setting_is_slower_or_worse_the_default_is_its_own_best() -> None:
    summary = run(("ctc", "ctc:engine=onnx_int8"))
    (best,) = [best for best in summary.evidence.bests if best.default == "ctc"]
    assert (best.label, best.gain, best.n) == ("ctc", None, 0)


def test_a_race_of_ar_engines_beside_single_settings_has_no_such_table() -> None:
    summary = run(("ctc", "mask_predict:n_iterations=4"))
    assert summary.evidence.bests == ()
    assert line_up(summary) == ()


def test_the_table_divides_the_best_by_its_default_and_by_the_best_ar() -> None:
    summary = run()
    rows = {row[0].text: row for row in best_table(summary, TASK).rows}
    assert rows.keys() == {"ar", "ctc"}
    assert (rows["ctc"][3].text, rows["ctc"][3].detail) == ("ctc onnx", ("of 4 settings",))
    assert rows["ctc"][7].detail[-1].endswith("over ctranslate2")
    assert rows["ar"][7].detail == ("the denominator",)


def test_the_command_prints_whom_to_race(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["best", str(tried().write(tmp_path / "tried"))]) == 0
    assert capsys.readouterr().out == "ar,ctc,ctranslate2,ctc:engine=onnx,copy\n"
    assert main(["best", str(race(ARS).write(tmp_path / "plain"))]) == 2
    assert "timed no strategy in several settings" in capsys.readouterr().err
