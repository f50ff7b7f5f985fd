"""A repository of toy strategies under the real suites and reports, in which a gate runs end to end within seconds."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
QUIET = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}


@dataclass(frozen=True)
class Repo:
    path: Path

    def git(self, *arguments: str) -> str:
        who = ("-c", "user.name=Toy", "-c", "user.email=toy@example.org", "-c", "protocol.file.allow=always")
        done = subprocess.run(
            ["git", "-C", str(self.path), *who, *arguments], env=os.environ | QUIET, capture_output=True, text=True,
            check=True,
        )  # fmt: skip
        return done.stdout.strip()

    def commit(self) -> None:
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", "Change the toys")

    def change(self, **values: object) -> "Repo":
        """The repository with constants of its registry set anew."""
        registry = self.path / "generators" / "registry.py"
        lines = registry.read_text().splitlines()
        for name, value in values.items():
            (at,) = [i for i, line in enumerate(lines) if line.startswith(f"{name} = ")]
            lines[at] = f"{name} = {value!r}"
        registry.write_text("\n".join(lines) + "\n")
        return self

    def start(self, *arguments: str, **environment: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "reports", "gate", *arguments]
        around = os.environ | QUIET | {"TMPDIR": str(self.path.parent)} | environment
        out = subprocess.PIPE
        return subprocess.Popen(command, cwd=self.path, env=around, stdout=out, stderr=subprocess.PIPE, text=True)

    def gate(self, *arguments: str, **environment: str) -> tuple[int, list[str], list[str]]:
        """Exit code, lines on standard output, lines on standard error."""
        process = self.start(*arguments, **environment)
        try:
            out, error = process.communicate()
        finally:
            process.send_signal(signal.SIGINT)
        return process.returncode, out.splitlines(), error.splitlines()

    def traces(self) -> list[str]:
        """What a gate left: worktrees but the checkout itself, running workers of either side, temporary folders."""
        trees = self.git("worktree", "list", "--porcelain").split("worktree ")[2:]
        home = str(self.path.parent)
        workers = [line for line in running() if "gate-worker" in line and f"--tree={home}" in line]
        return trees + workers + [str(path) for path in self.path.parent.glob("arnar-gate-*")]


def running() -> list[str]:
    """The command lines of all processes, where there is /proc without `ps`, which bare machines lack."""
    if not Path("/proc/self").exists():
        return subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout.splitlines()
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):  # it may end while we look
            found.append(path.read_bytes().replace(b"\0", b" ").decode("utf-8", "replace"))
    return found


def make_repo(path: Path) -> Repo:
    """A committed repository of toys with a baseline of its counters."""
    for package in ("suites", "reports", "metrics"):
        shutil.copytree(ROOT / package, path / package, ignore=shutil.ignore_patterns("__pycache__", "exact.json"))
    (path / "generators" / "weights").mkdir(parents=True)
    (path / "generators" / "weights" / "toy.txt").write_text("weights\n")
    (path / "generators" / "__init__.py").touch()
    shutil.copy(ROOT / "generators" / "base.py", path / "generators")
    shutil.copy(Path(__file__).with_name("toy_registry.py"), path / "generators" / "registry.py")
    (path / ".gitignore").write_text("__pycache__/\n/runs/\n")
    repo = Repo(path)
    repo.git("init", "--quiet", "--initial-branch=main")
    assert repo.gate("--write-baseline")[0] == 0
    repo.commit()
    return repo
