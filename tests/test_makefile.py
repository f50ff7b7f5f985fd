"""The Makefile, run for real in a folder of its own with a Python that only writes down what it was asked."""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
RECORDER = f"""#!/bin/sh
for word; do printf '<%s>' "$word"; done >>asked; echo >>asked
case "$*" in *"${{BREAK:-nothing breaks}}"*) exit 1;; esac
case "$1 $2" in
    "-c "*) exec "{sys.executable}" "$@";;
    "-m venv") mkdir -p "$3/bin"; cp "$0" "$3/bin/python";;
    "-m suites") for word; do case "$word" in --out=*) mkdir -p "${{word#--out=}}";; esac; done;;
esac
"""


@dataclass
class House:
    folder: Path

    def make(self, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS", "TORCH"))}
        clean |= {"PYTHON": str(self.folder / "recorder")} | environment
        return subprocess.run(
            ["make", "NEED_GB=0", "NEED_CUDA_GB=0", *words],
            cwd=self.folder,
            env=clean,
            capture_output=True,
            text=True,
            check=False,
        )

    def asked(self) -> list[str]:
        """What the recorder was asked since the last call, one line a command."""
        log = self.folder / "asked"
        lines = log.read_text().splitlines() if log.exists() else []
        log.write_text("")
        return [line for line in lines if not line.startswith("<-c>")]

    def stamps(self) -> list[Path]:
        return list(self.folder.glob(".venv/complete-*"))


@pytest.fixture
def house(tmp_path: Path) -> House:
    folder = tmp_path / "a clone"  # with a space, as some have
    folder.mkdir()
    for name in ("Makefile", "constraints.txt", "pyproject.toml"):
        shutil.copy(ROOT / name, folder)
    (folder / "recorder").write_text(RECORDER)
    (folder / "recorder").chmod(0o755)
    return House(folder)


@pytest.fixture
def ready(house: House) -> House:
    assert house.make("setup").returncode == 0
    house.asked()
    return house


def test_make_alone_lists_every_target(house: House) -> None:
    (phony,) = re.findall(r"^\.PHONY: (.*) always$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    listed = re.findall(r"^make ([\w-]+) +\S", house.make().stdout, re.MULTILINE)
    assert listed == phony.split()
    assert listed[0] == "help"
    assert house.asked() == []


@pytest.mark.parametrize("target", ["setup", "bench", "test"])
def test_set_up_happens_once(house: House, target: str) -> None:
    assert house.make(target).returncode == 0
    assert any("<venv>" in line for line in house.asked())
    assert house.make(target).returncode == 0
    assert not any("<venv>" in line or "<pip>" in line for line in house.asked())


@pytest.mark.parametrize("harm", ["stamp", "python", "pins"])
def test_a_half_made_or_outdated_environment_is_rebuilt(ready: House, harm: str) -> None:
    if harm == "stamp":
        ready.stamps()[0].unlink()
    elif harm == "python":
        (ready.folder / ".venv/bin/python").unlink()
    else:
        (ready.folder / "constraints.txt").write_text("torch==2.6.0\n")
    (ready.folder / ".venv/left_over").touch()
    ready.make("setup")
    assert len(ready.stamps()) == 1
    assert not (ready.folder / ".venv/left_over").exists()


def test_a_failed_install_leaves_no_stamp_and_is_tried_again(house: House) -> None:
    assert house.make("setup", BREAK="-e .[dev]").returncode == 2
    assert house.stamps() == []
    assert house.make("setup").returncode == 0
    assert len(house.stamps()) == 1


@pytest.mark.parametrize(("package", "named"), [("ctranslate2", "CTranslate2"), ("onnxruntime", "ONNX Runtime")])
def test_a_missing_engine_is_one_warning(house: House, package: str, named: str) -> None:
    done = house.make("setup", BREAK=package)
    assert done.returncode == 0
    assert [line for line in done.stderr.splitlines() if "WARNING" in line and named in line] == [done.stderr.strip()]
    assert len(house.stamps()) == 1


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["PYTHON=/no/such/python"], "Python 3.11 to 3.13 is missing (tried /no/such/python)"),
        (["NEED_GB=99999999"], "disk space is missing"),
        (["TORCH=gpu"], "unknown TORCH 'gpu'; choose from: cpu"),
    ],
)
def test_what_is_missing_is_said_before_anything_is_made(house: House, words: list[str], complaint: str) -> None:
    done = house.make("setup", *words)
    said = [line for line in done.stderr.splitlines() if not line.startswith("make")]
    assert done.returncode == 2
    assert len(said) == 1
    assert complaint in said[0]
    assert not (house.folder / ".venv").exists()


@pytest.mark.parametrize("words", [[], ["TORCH=cpu"]])
def test_room_that_cuda_would_not_fit_into_is_a_warning_where_pip_may_bring_it(house: House, words: list[str]) -> None:
    done = house.make("setup", "NEED_CUDA_GB=99999999", *words)
    assert done.returncode == 0
    said = [line for line in done.stderr.splitlines() if "where pip brings CUDA, 99999999 GB are needed" in line]
    assert len(said) == (sys.platform == "linux" and not words)


def test_a_python_without_venv_is_named(house: House) -> None:
    done = house.make("setup", BREAK="import venv, ensurepip")
    assert done.returncode == 2
    assert "setup: python3-venv is missing" in done.stderr
    assert not (house.folder / ".venv").exists()


def test_only_torch_comes_from_the_small_index(house: House) -> None:
    house.make("setup", "TORCH=cpu")
    installs = [line for line in house.asked() if "<pip>" in line]
    assert ["<--index-url>" in line for line in installs] == [True, False, False, False]
    assert installs[0].endswith("<torch>")


AWKWARD = """it's "a" `touch made` $(touch made) $HOME; touch made #\\ -x"""


def test_what_a_person_types_arrives_as_typed(ready: House) -> None:
    names = ("SUITE", "STRATEGIES", "LENGTHS", "DEVICE", "TASK", "BUDGET", "REPEATS", "OUT")
    assert ready.make("suite", *(f"{name}={AWKWARD}" for name in names)).returncode == 0
    flags = "".join(f"<--{name.lower()}={AWKWARD}>" for name in names[1:])
    assert ready.asked() == [f"<-m><suites><run><{AWKWARD}>{flags}"]
    assert not (ready.folder / "made").exists()


def test_what_is_not_typed_is_no_flag(ready: House) -> None:
    ready.make("suite", "SUITE=latency", DEVICE="cuda", OUT="elsewhere", BUDGET="1s")
    assert ready.asked() == ["<-m><suites><run><latency>"]


def test_the_gates_ask_what_was_typed_and_nothing_else(ready: House) -> None:
    awkward = ("BASE", "STRATEGIES", "DEVICE", "BUDGET", "OUT")
    ready.make("gate", *(f"{name}={AWKWARD}" for name in awkward))
    flags = "".join(f"<--{name.lower()}={AWKWARD}>" for name in awkward)
    assert ready.asked() == [f"<-m><reports><gate>{flags}"]
    ready.make("gate", "gate-exact", "gate-ratio", "baseline", BASE="elsewhere", DEVICE="cuda")
    assert ready.asked() == [
        "<-m><reports><gate><--base=origin/main>",
        *(f"<-m><reports><gate><--{what}>" for what in ("exact", "ratio", "write-baseline")),
    ]
    ready.make("gate-study", "LOAD=bursty", "BLOCKS=3")
    assert ready.asked() == [
        "<-m><reports><gate-study><collect><--load=bursty><--blocks=3>",
        "<-m><reports><gate-study><render>",
    ]
    ready.make("gate-study", f"FILE={AWKWARD}")
    assert ready.asked() == [f"<-m><reports><gate-study><{what}><--file={AWKWARD}>" for what in ("collect", "render")]


def test_bench_reports_the_run_it_made(ready: House) -> None:
    done = ready.make("bench", "OUT=runs/my run", "BUDGET=60s")
    assert ready.asked() == [
        "<-m><suites><run><quick><--budget=60s><--out=runs/my run>",
        "<-m><reports><html><runs/my run>",
    ]
    assert done.stdout.endswith(f"report: {ready.folder}/runs/my run/report.html\n")


@pytest.mark.parametrize(("typed", "flag"), [("RESUME=1", "<--resume>"), ("FORCE=1", "<--force>"), ("FORCE=0", "")])
def test_a_run_that_is_there_is_gone_on_with_or_replaced_when_asked(ready: House, typed: str, flag: str) -> None:
    assert ready.make("bench", "OUT=runs/x", typed, RESUME="1").returncode == 0
    assert ready.make("suite", "SUITE=latency", typed, FORCE="1").returncode == 0
    assert ready.asked() == [
        f"<-m><suites><run><quick>{flag}<--out=runs/x>",
        "<-m><reports><html><runs/x>",
        f"<-m><suites><run><latency>{flag}",
    ]


def test_bench_wants_to_know_which_run_to_go_on_with(ready: House) -> None:
    done = ready.make("bench", "RESUME=1")
    assert done.returncode == 2
    assert "say which run: make bench RESUME=1 OUT=" in done.stderr
    assert ready.asked() == []


def test_bench_does_not_report_a_failed_run(ready: House) -> None:
    assert ready.make("bench", "OUT=runs/x", BREAK="-m suites").returncode == 2
    assert ready.asked() == ["<-m><suites><run><quick><--out=runs/x>"]


def test_clean_keeps_what_was_measured(ready: House) -> None:
    for name in ("runs", "checkpoints", "generators", "metrics", "suites", "reports", "tests"):
        (ready.folder / name).mkdir()
    assert ready.make("clean").returncode == 0
    assert (ready.folder / "runs").exists()
    assert (ready.folder / "checkpoints").exists()
    assert not (ready.folder / ".venv").exists()
