"""Claims about what a person types and gets back."""

import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from suites.__main__ import main
from suites.arguments import parse, settings_of
from suites.progress import BarProgress, LineProgress, progress_on
from suites.records import read_run
from suites.registry import SUITES
from tests.suites.conftest import RunIt
from tests.suites.fakes import Echo, Fakes, VirtualClock

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("speed",), "unknown suite 'speed'; choose from: latency, quality"),
        (("latency", "--strategies", "three"), "unknown strategy 'three'; choose from: one, two"),
        (("latency", "--strategies", "one,one"), "'one' is named twice"),
        (("latency", "--strategies", ""), "one of them is empty"),
        (("latency", "--lengths", "0"), "--lengths must be different numbers of 1 or more, got (0,)"),
        (("latency", "--lengths", "eight"), "expected whole numbers separated by commas, got 'eight'"),
        (("latency", "--lengths", "501"), "length 501 lies beyond the 500 positions of 'one'"),
        (("latency", "--repeats", "0"), "--repeats must be 1 or more, got 0"),
        (("latency", "--budget", "soon"), "--budget must be a time above zero such as 90s, 3m or 1h, got 'soon'"),
        (("latency", "--task", "nowhere.tsv"), "unknown task 'nowhere.tsv'; choose from: verse, passage, mixed"),
        (("latency", "--device", "abacus"), "unknown device 'abacus'"),
        (("latency", "--dtype", "float3"), "unknown dtype 'float3'"),
        (("quality", "--lengths", "8"), "--lengths means nothing to the suite 'quality'"),
        (("latency", "--out", "/proc/nowhere/run"), "cannot create /proc/nowhere/run"),
        (("latency", "--out", "/proc"), "/proc holds other files than a run's"),
    ],
)
def test_bad_input_is_one_line_and_exit_2(
    fakes: Fakes, tmp_path: Path, more: tuple[str, ...], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    defaults = {"--strategies": "one,two", "--out": str(tmp_path / "run")}
    given = [word for flag, value in defaults.items() if flag not in more for word in (flag, value)]
    assert main(["run", *more, *given], registry=fakes) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert len(err.splitlines()) == 1
    assert words in err
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("only one column", ":2: expected source<TAB>reference"),
        ("a\t", ":2: the reference is empty"),
        ("\tb", ":2: the source"),
    ],
)
def test_a_broken_tsv_is_named_by_file_and_line(
    fakes: Fakes, tmp_path: Path, line: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "broken.tsv"
    path.write_text(f"a\tb\n{line}\nc\td\n")
    assert main(["run", "smoke", "--task", str(path), "--strategies", "one", "--out", str(tmp_path / "r")], fakes) == 2
    assert f"{path}{words}" in capsys.readouterr().err


def test_a_run_that_is_there_is_kept_and_the_refusal_tells_how_to_go_on(
    fakes: Fakes, run_it: RunIt, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = run_it(fakes, "latency", "--lengths", "4", "--repeats", "2")
    capsys.readouterr()
    assert run_it(fakes, "latency", "--lengths", "4", "--repeats", "2", code=2) == first
    err = capsys.readouterr().err
    assert "already holds a run; to go on with it: " in err
    assert "--force (make: FORCE=1)" in err
    go_on = shlex.split(err.partition("to go on with it: ")[2].partition(" (make: RESUME=1)")[0])
    assert go_on[:3] == [sys.executable, "-m", "suites"]
    assert main(go_on[3:], registry=fakes) == 0
    assert read_run(tmp_path / "run").records == first.records
    assert len(read_run(tmp_path / "run").info.starts) == 2
    assert run_it(fakes, "latency", "--lengths", "4", "--repeats", "2", "--force").info != first.info


def test_force_and_resume_exclude_each_other(fakes: Fakes) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["run", "latency", "--force", "--resume"], registry=fakes)
    assert stop.value.code == 2


def test_json_is_alone_on_stdout(
    fakes: Fakes, run_it: RunIt, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run_it(fakes, "latency", "--lengths", "4", "--repeats", "2", "--json")
    out, err = capsys.readouterr()
    told = json.loads(out)
    assert told["folder"] == str(tmp_path / "run")
    assert (told["planned"], told["statuses"], told["reduced"]) == (4, {"ok": 4}, "--repeats 2")
    assert "4 of 4 trials" in err


def test_a_dry_run_prints_the_trials_and_an_estimate_and_writes_nothing(
    clock: VirtualClock, tmp_path: Path, task: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("time.monotonic", lambda: clock.now_ns * 1e-9)
    fakes = Fakes({"one": Echo(clock.sleep, 0.1)})
    given = [
        "run",
        "latency",
        "--task",
        str(task),
        "--strategies",
        "one",
        "--lengths",
        "4",
        "--out",
        str(tmp_path / "run"),
    ]
    assert main([*given, "--dry-run", "--json"], registry=fakes) == 0
    told = json.loads(capsys.readouterr().out)
    (cell,) = told["cells"]
    assert (cell["label"], cell["mode"], cell["length"], cell["planned"], cell["failure"]) == (
        "one",
        "exact",
        4,
        30,
        None,
    )
    assert cell["seconds_each"] == pytest.approx(0.4)
    assert told["seconds"] == pytest.approx(0.4 * (3 + 30 * 2))  # warm-up, and an untimed call before each trial
    assert not (tmp_path / "run").exists()
    assert main([*given, "--dry-run", "--budget", "5s"], registry=fakes) == 0
    table = capsys.readouterr().out.splitlines()
    assert table[-1].startswith("4 trials in 4 of 30 rounds, about 4 s")  # (3 + 4 × 2) × 0.4 s, and a rest
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("suite", ["latency", "batch", "prompt", "teacher_forcing"])
def test_a_dry_run_foretells_the_seconds_that_the_run_takes(
    suite: str, clock: VirtualClock, run_it: RunIt, task: Path, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """Where all calls of a cell take equally long: trials, warm-ups and untimed calls, and nothing else."""
    monkeypatch.setattr("time.monotonic", lambda: clock.now_ns * 1e-9)
    fakes = Fakes({"one": Echo(clock.sleep, 0.1), "two": Echo(clock.sleep, 0.03)})
    shape = (suite, "--lengths", "4,8", "--batch-sizes", "1,2", "--repeats", "6", "--budget", "1000h")
    given = ["run", *shape, "--task", str(task), "--strategies", "one,two", "--dry-run", "--json"]
    assert main(given, registry=fakes) == 0
    foretold, tried_s = json.loads(capsys.readouterr().out)["seconds"], clock.now_ns * 1e-9
    run_it(fakes, *shape)
    assert foretold == pytest.approx(clock.now_ns * 1e-9 - tried_s, rel=0.02)


def test_a_dry_run_shows_what_will_fail(clock: VirtualClock, task: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fakes = Fakes({"one": Echo(clock.sleep), "two": ModuleNotFoundError("No module named 'engine'")})
    given = ["run", "latency", "--task", str(task), "--strategies", "one,two", "--lengths", "4", "--dry-run"]
    assert main(given, registry=fakes) == 0
    assert "two  (unsupported: not installed: No module named 'engine')" in capsys.readouterr().out


def test_list_names_every_suite_and_its_contestants(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list"]) == 0
    text = capsys.readouterr().out
    assert main(["list", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["suites"].keys() == SUITES.keys()
    assert all(name in text for name in (*SUITES, "mixed"))


def test_the_suites_readme_names_every_suite() -> None:
    text = (ROOT / "suites" / "README.md").read_text(encoding="utf-8")
    assert [name for name in SUITES if f"| `{name}` | {SUITES[name].summary} |" not in text] == []


def test_validate_accepts_a_whole_run_and_counts_what_is_missing(
    fakes: Fakes, run_it: RunIt, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run_it(fakes, "quality", "--repeats", "2")
    folder = str(tmp_path / "run")
    assert main(["validate", folder]) == 0
    records = tmp_path / "run" / "records.jsonl"
    lines = records.read_text().splitlines(keepends=True)
    records.write_text("".join(lines[:-1]))
    capsys.readouterr()
    assert main(["validate", folder]) == 4
    assert "1 of 6 planned trials have no record" in capsys.readouterr().err
    records.write_text("".join(lines))
    (tmp_path / "run" / "scores.jsonl").write_text("")
    assert main(["validate", folder]) == 4
    assert "12 of 12 outputs have no score" in capsys.readouterr().err


def test_a_strict_validation_refuses_a_trial_that_failed(
    clock: VirtualClock, run_it: RunIt, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run_it(Fakes({"one": Echo(clock.sleep), "two": ModuleNotFoundError("No module named 'engine'")}), "quality")
    assert main(["validate", str(tmp_path / "run")]) == 0
    capsys.readouterr()
    assert main(["validate", str(tmp_path / "run"), "--strict"]) == 4
    assert "7 of 7 trials of 'two' are not ok, the first: not installed: No module" in capsys.readouterr().err
    run_it(Fakes({"one": Echo(clock.sleep)}), "quality", "--force", strategies="one")
    assert main(["validate", str(tmp_path / "run"), "--strict"]) == 0


def test_validate_tells_a_broken_run_from_none(
    fakes: Fakes, run_it: RunIt, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["validate", str(tmp_path / "nothing")]) == 4
    run_it(fakes, "latency", "--lengths", "4", "--repeats", "2")
    with (tmp_path / "run" / "records.jsonl").open("a") as file:
        file.write('{"latency_s": NaN}\n')
    capsys.readouterr()
    assert main(["validate", str(tmp_path / "run")]) == 2
    assert "records.jsonl:5: NaN is not a number a file may hold" in capsys.readouterr().err


def test_a_bug_of_ours_is_70_and_shows_itself(fakes: Fakes, run_it: RunIt, capsys: pytest.CaptureFixture[str]) -> None:
    fakes.parse = lambda text: 1 / 0  # type: ignore[method-assign, assignment, return-value]
    given = ["run", "latency", "--strategies", "one", "--dry-run"]
    assert main(given, registry=fakes) == 70
    assert "ZeroDivisionError" in capsys.readouterr().err


def test_the_default_folder_is_runs_and_latest_points_to_it(
    fakes: Fakes, tmp_path: Path, task: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    given = ["--task", str(task), "--strategies", "one", "--repeats", "1"]
    for suite in ("smoke", "quality"):
        assert main(["run", suite, *given], registry=fakes) == 0
        assert (tmp_path / "runs" / "latest").resolve() == tmp_path / "runs" / suite
        assert read_run(tmp_path / "runs" / "latest").info.suite == suite


def test_every_thread_pool_is_limited_before_torch_is_imported() -> None:
    script = (
        "import sys\nfrom suites import environment\n"
        "environment.limit_threads(1)\nassert 'torch' not in sys.modules\n"
        "import torch\nprint(torch.get_num_threads(), torch.__config__.parallel_info().count('num_threads'))\n"
        "try:\n    environment.limit_threads(1)\nexcept RuntimeError as late:\n    print(late)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[0].startswith("1 ")
    assert done.stdout.splitlines()[1] == "threads must be limited before torch is imported"


class Stream:
    def __init__(self, terminal: bool) -> None:
        self.terminal = terminal

    def isatty(self) -> bool:
        return self.terminal


def test_progress_is_a_bar_on_a_terminal_and_lines_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    stream: Any = Stream(terminal=True)
    monkeypatch.setenv("TERM", "xterm")
    assert isinstance(progress_on(stream), BarProgress)
    monkeypatch.setenv("TERM", "dumb")
    assert isinstance(progress_on(stream), LineProgress)
    pipe: Any = Stream(terminal=False)
    assert isinstance(progress_on(pipe), LineProgress)


def test_the_bar_has_no_thread_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    import threading

    before = threading.active_count()
    bar = BarProgress()
    bar.begin(total=4, done=1)
    assert threading.active_count() == before
    bar.advance(3, 61.0)
    bar.say("[red]markup in a reason[/red] stays text")
    bar.end()
    err = capsys.readouterr().err
    assert "4/4" in err
    assert "about 1:01 left" in err
    assert "[red]markup" in err


def test_no_color_is_honoured(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    seen = {}
    for value in ("", "1"):
        monkeypatch.setenv("NO_COLOR", value)
        monkeypatch.setenv("FORCE_COLOR", "1")
        monkeypatch.setenv("TERM", "xterm-256color")
        bar = BarProgress()
        bar.begin(total=2, done=1)
        bar.advance(1, 0.0)
        bar.end()
        seen[value] = "\x1b[38" in (text := capsys.readouterr().err) or "\x1b[3" in text
    assert seen == {"": True, "1": False}


def settings_file(folder: Path, text: str) -> list[str]:
    (folder / "race.toml").write_text(text, encoding="utf-8")
    return ["--settings", str(folder / "race.toml")]


def test_a_flag_overrules_the_settings_file_and_the_file_the_default(tmp_path: Path) -> None:
    text = 'lengths = [8, 32]\nbudget = "3m"\nseed = 7\nisolate = true\nbatch-sizes = 4\n'
    options = parse(["run", "latency", *settings_file(tmp_path, text), "--seed", "9"])
    settings = settings_of(options)
    assert (settings.lengths, settings.budget, settings.batch_sizes) == ((8, 32), "3m", (4,))
    assert settings.seed == 9
    assert settings.isolate
    assert settings.repeats is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("lengths = ", "cannot read the settings in"),
        ("length = [8]", "--length=8"),
        ("seed = 1.5", "seed must be text, a whole number, true, false or a list of these, got 1.5"),
        ("seed = []", "argument --seed: invalid int value: ''"),
        ('[latency]\nlengths = "8"', "latency must be text"),
    ],
)
def test_a_settings_file_that_means_nothing_is_refused(
    text: str, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        parse(["run", "latency", *settings_file(tmp_path, text)])
    assert ended.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert words in line


def test_a_settings_file_that_is_missing_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert pytest.raises(SystemExit, main, ["run", "latency", "--settings", str(tmp_path / "no.toml")]).value.code == 2
    assert "No such file" in capsys.readouterr().err
