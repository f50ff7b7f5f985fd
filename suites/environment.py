"""Where a run happens: everything outside the plan that could explain a difference between two runs."""

import hashlib
import os
import platform
import subprocess
import sys
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any

from suites.records import Start
from suites.refusal import Refusal

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("torch", "transformers", "ctranslate2", "onnxruntime", "sentencepiece", "sacrebleu", "numpy")
THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "RAYON_NUM_THREADS",
)


def limit_threads(threads: int) -> None:
    """Limit every thread pool to `threads`. Raises RuntimeError once torch is imported: its pools are then made."""
    if "torch" in sys.modules:
        raise RuntimeError("threads must be limited before torch is imported")
    os.environ.update(dict.fromkeys(THREAD_VARIABLES, str(threads)))
    os.environ["TOKENIZERS_PARALLELISM"] = "false"


def synchronizer(device: str) -> Callable[[], None]:
    """What waits until `device` has done all its work: nothing on a CPU. Refuses a device that is not there."""
    if device == "cpu":
        return lambda: None
    import torch

    if device.split(":")[0] != "cuda":
        raise Refusal(f"unknown device {device!r}; choose from: cpu, cuda, cuda:N")
    if not torch.cuda.is_available():
        raise Refusal(f"--device {device}: this machine has no CUDA device that torch can use")
    return lambda: torch.cuda.synchronize(device)


def machine(device: str) -> dict[str, Any]:
    """The processor, cores, memory and platform, and the accelerator's name when `device` is one."""
    found: dict[str, Any] = {
        "cpu": cpu_name(),
        "cores": os.cpu_count(),
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "platform": f"{platform.system()} {platform.release()} {platform.machine()}",
    }
    if device != "cpu":
        import torch

        found["accelerator"] = torch.cuda.get_device_name(device)
    return found


def versions() -> dict[str, str]:
    """Versions of Python and of the installed packages that could change a result, without importing them."""
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = "not installed"
    return found


def commit(root: Path = ROOT) -> tuple[str | None, bool | None]:
    """The commit and whether the tree differs from it; (None, None) where there is no git or no repository."""
    head = _git(root, "rev-parse", "HEAD")
    if head is None:
        return None, None
    changes = _git(root, "status", "--porcelain", "--untracked-files=no")
    return head, None if changes is None else bool(changes)


def code_sha256(root: Path = ROOT) -> str:
    """Of all Python sources that take part in a run, so that two dirty trees are told apart."""
    total = hashlib.sha256()
    paths = [path for package in ("generators", "metrics", "suites") for path in (root / package).rglob("*.py")]
    for path in sorted(paths):
        if "training" not in path.parts:  # imported by nobody in a run
            total.update(f"{path.relative_to(root)}\0".encode() + path.read_bytes() + b"\0")
    return total.hexdigest()


def differences(old: Start, new: Start) -> list[str]:
    """What keeps `new` from going on with the run that `old` began, in words; empty when nothing does."""
    found = [] if old.threads == new.threads else [f"threads {old.threads} then, {new.threads} now"]
    if old.code_sha256 != new.code_sha256:
        found.append(f"code {old.code_sha256[:12]} (commit {old.commit}) then, {new.code_sha256[:12]} now")
    for what in ("machine", "versions", "weights", "corpora"):
        then, now = getattr(old, what), getattr(new, what)
        for key in sorted(then.keys() | now.keys()):
            if then.get(key) != now.get(key):
                found.append(f"{what} {key}: {_short(then.get(key))} then, {_short(now.get(key))} now")
    return found


def _short(value: Any) -> str:
    return str(value)[:40]


def cpu_name() -> str:
    """What the processor calls itself."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    named = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return named[0] if named else platform.processor() or platform.machine()


def _git(root: Path, *arguments: str) -> str | None:
    command = ["git", "-C", str(root), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
