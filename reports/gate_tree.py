"""The base's code in a git worktree of its own, which is gone afterwards; the user's checkout is not touched.

The worktree holds `generators` alone, and in it the head's own weights: the gate judges code, so both sides run the
same models. Nothing is written to the repository's configuration, and no hook runs.
"""

import fcntl
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from reports.gate_workers import ROOT, undisturbed

CODE = "generators/registry.py"  # where a commit has this, it has something to compare with
WEIGHTS = "generators/weights"
SPARSE = ("/generators/", f"!/{WEIGHTS}/", "!/generators/training/")
PREFIX = "arnar-gate-"
QUIET = ("--no-optional-locks", "-c", "core.hooksPath=/dev/null")
BY_PATTERNS = ("-c", "core.sparseCheckout=true", "-c", "core.sparseCheckoutCone=false")


class NoBase(Exception):
    """There is nothing to compare with; the message says why and what to do, in one line."""


@dataclass(frozen=True, slots=True)
class Base:
    tree: Path
    commit: str
    notes: tuple[str, ...]  # what a reader of the verdict must know, a sentence each


@contextmanager
def base_tree(revision: str, root: Path = ROOT) -> Iterator[Base]:
    """The code that `revision` and the checkout at `root` have in common: their merge base, in a temporary worktree.

    Raises NoBase without git, without that commit, or where it holds no code to compare with.
    """
    commit = common_commit(revision, root)
    for stale in _stale(root):
        _remove(stale, root)
    folder = Path(tempfile.mkdtemp(prefix=PREFIX))
    lock = _lock(folder)
    try:
        tree = _check_out(commit, folder / "base", root)
        yield Base(tree, commit, notes(commit, root))
    finally:
        _remove(folder, root)
        if lock is not None:
            os.close(lock)


def common_commit(revision: str, root: Path = ROOT) -> str:
    """The merge base of `revision` and HEAD: what is new on the other side since then is not the head's doing."""
    if _git(root, "rev-parse", "--git-dir") is None:
        missing = "git is not installed" if shutil.which("git") is None else f"{root} is no git checkout"
        raise NoBase(f"{missing}, so there is no base to compare with; the exact line alone: --exact")
    base = _git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    common = _git(root, "merge-base", base, "HEAD") if base else None
    if common is None:
        what = f"no commit {revision!r} here" if not base else f"{revision} and HEAD have no common commit here"
        if _git(root, "rev-parse", "--is-shallow-repository") == "true":
            raise NoBase(f"{what}: this is a shallow clone; git fetch --unshallow (in a workflow: fetch-depth: 0)")
        raise NoBase(f"{what}; git fetch it, or name another: --base")
    if _git(root, "cat-file", "-e", f"{common}:{CODE}") is None:
        raise NoBase(f"commit {common[:12]} has no {CODE}: nothing to compare with; the exact line alone: --exact")
    return common


def notes(commit: str, root: Path = ROOT) -> tuple[str, ...]:
    """What is odd about comparing `root` with `commit`."""
    found = []
    if changed := _git(root, "status", "--porcelain", "--", "generators", "suites"):
        found.append(f"the head is the working tree with {len(changed.splitlines())} uncommitted changes")
    elif _git(root, "diff", "--name-only", commit, "HEAD", "--", "generators") == "":
        found.append("base and head hold the same strategies: this run can only show how steady the machine is")
    if _git(root, "diff", "--name-only", commit, "--", WEIGHTS):
        found.append("the weights differ from the base's: both sides run the head's, so code alone is judged")
    return tuple(found)


def _check_out(commit: str, tree: Path, root: Path) -> Path:
    _must(root, "worktree", "add", "--quiet", "--detach", "--no-checkout", str(tree), commit)
    patterns = Path(_must(tree, "rev-parse", "--path-format=absolute", "--git-path", "info/sparse-checkout"))
    patterns.parent.mkdir(exist_ok=True)
    patterns.write_text("".join(f"{pattern}\n" for pattern in SPARSE), encoding="utf-8")
    _must(tree, *BY_PATTERNS, "checkout", "--quiet", "--detach", commit)
    (tree / WEIGHTS).symlink_to((root / WEIGHTS).resolve(), target_is_directory=True)
    return tree


def _remove(folder: Path, root: Path) -> None:
    """Remove the worktree, undisturbed by a second Ctrl-C."""
    with undisturbed():
        if _git(root, "worktree", "remove", "--force", str(folder / "base")) is None:
            shutil.rmtree(folder / "base", ignore_errors=True)
            _git(root, "worktree", "prune")
        shutil.rmtree(folder, ignore_errors=True)


def _stale(root: Path) -> list[Path]:
    """The folders of gates that were killed: their worktrees are still registered, and nobody holds their lock."""
    listed = (_git(root, "worktree", "list", "--porcelain") or "").splitlines()
    folders = [Path(line.removeprefix("worktree ")).parent for line in listed if line.startswith("worktree ")]
    return [folder for folder in folders if folder.name.startswith(PREFIX) and _free(folder)]


def _free(folder: Path) -> bool:
    lock = _lock(folder)
    if lock is not None:
        os.close(lock)
    return lock is not None or not folder.is_dir()


def _lock(folder: Path) -> int | None:
    """A descriptor that holds the folder's lock until it is closed or its process ends; None where another holds it."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor


def _must(root: Path, *arguments: str) -> str:
    done = _run(root, *arguments)
    if done is None or done.returncode:
        reason = " ".join(done.stderr.split()) if done else "git cannot be run"
        raise NoBase(f"git could not make a worktree of the base: {reason}")
    return done.stdout.strip()


def _git(root: Path, *arguments: str) -> str | None:
    done = _run(root, *arguments)
    return done.stdout.strip() if done is not None and done.returncode == 0 else None


def _run(root: Path, *arguments: str) -> subprocess.CompletedProcess[str] | None:
    command = ["git", "-C", str(root), *QUIET, *arguments]
    try:
        return subprocess.run(
            command, capture_output=True, text=True, check=False, start_new_session=True, env=_environment()
        )  # fmt: skip
    except OSError:
        return None


def _environment() -> dict[str, str]:
    """Without what git tells its hooks of a repository: a gate may be run by one, and asks about another worktree."""
    return {name: value for name, value in os.environ.items() if not name.startswith("GIT_") or "CONFIG" in name}


def head_commit(root: Path = ROOT) -> str | None:
    """The commit that is checked out, or None where there is no git."""
    return _git(root, "rev-parse", "HEAD")


def is_dirty(root: Path = ROOT) -> bool | None:
    """Whether the checkout differs from its commit; None where there is no git."""
    changes = _git(root, "status", "--porcelain", "--untracked-files=no")
    return None if changes is None else bool(changes)
