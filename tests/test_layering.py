"""Who may import whom, read from the code, and what an import or a `--help` may cost."""

import ast
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("generators", "metrics", "suites", "reports")
HEAVY = {"torch", "transformers", "ctranslate2"}
# importer -> the only prefixes of ours it may import; the longest importer that fits counts
ALLOWED = {
    "generators": {"generators"},
    "metrics": {"metrics"},
    "suites": {"suites", "metrics", "generators"},
    "suites.records": {"suites.records", "suites.strict_json", "suites.trace"},
    "suites.trace": {"suites.trace"},
    "reports": {"reports", "metrics", "suites.records"},
}
TORCH_FREE = ("metrics", "suites.records", "reports")


def module_name(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


MODULES = {module_name(path): path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))}


def within(name: str, prefix: str) -> bool:
    return name == prefix or name.startswith(f"{prefix}.")


def imports(text: str, module: str, is_package: bool) -> Iterator[str]:
    """Every dotted name that `text` imports, at its top or late: `from a import b` gives a.b."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = origin(node, module, is_package)
            yield from (f"{base}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Call) and "import" in ast.unparse(node.func):
            literals = (argument.value for argument in node.args if isinstance(argument, ast.Constant))
            yield from (value for value in literals if isinstance(value, str))


def origin(node: ast.ImportFrom, module: str, is_package: bool) -> str:
    """What a `from … import` takes from, its dots resolved against the importing module."""
    if not node.level:
        return node.module or ""
    parts = module.split(".")
    parents = parts[: len(parts) - node.level + is_package]
    return ".".join([*parents, *(node.module or "").split(".")]).rstrip(".")


def foreign(module: str, names: Iterator[str]) -> list[str]:
    """Those of `names` that `module` may not import: ours but not in ALLOWED, torch where it is banned, or training."""
    allowed = ALLOWED[max((importer for importer in ALLOWED if within(module, importer)), key=len)]
    torch_free = any(within(module, prefix) for prefix in TORCH_FREE)
    return [
        name
        for name in names
        if (name.split(".")[0] in PACKAGES and not any(within(name, prefix) for prefix in allowed))
        or (torch_free and name.split(".")[0] in HEAVY)
        or (within(name, "generators.training") and not within(module, "generators.training"))
    ]


@pytest.mark.parametrize("module", MODULES)
def test_a_module_imports_only_what_its_layer_may(module: str) -> None:
    path = MODULES[module]
    assert foreign(module, imports(path.read_text(encoding="utf-8"), module, path.stem == "__init__")) == []


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("generators.strategies.ar", "from metrics import base"),
        ("generators.registry", "import suites.records"),
        ("generators.registry", "def late():\n    import generators.training.loop"),
        ("metrics.registry", "from generators.base import Step"),
        ("metrics.registry", "import torch.nn"),
        ("suites.runner", "from reports.summary import summarise"),
        ("suites.records", "from . import runner"),
        ("reports.html", "from suites.runner import run"),
        ("reports.html", "from suites import *"),
        ("reports.html", "import importlib\nimportlib.import_module('generators.registry')"),
        ("reports.html", "from ..generators import base"),
    ],
)
def test_the_rule_finds_a_breach(module: str, line: str) -> None:
    assert len(foreign(module, imports(line, module, is_package=False))) == 1


@pytest.mark.parametrize(
    "line", ["from suites.records import Record", "from suites import records", "from . import names"]
)
def test_the_rule_lets_a_report_read_records(line: str) -> None:
    assert foreign("reports.html", imports(line, "reports.html", is_package=False)) == []


def test_suites_itself_is_empty() -> None:
    assert MODULES["suites"].read_text() == ""


def loaded_after(code: str) -> set[str]:
    """The top-level modules a fresh interpreter holds after `code`, which may end in SystemExit 0."""
    script = (
        "import runpy, sys\n"
        f"try:\n    {code}\n"
        "except SystemExit as stop:\n    assert not stop.code, stop.code\n"
        "print('\\n', *(name for name in sys.modules if '.' not in name))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.splitlines()[-1].split())


@pytest.mark.parametrize("package", ["metrics", "suites", "reports"])
def test_importing_a_package_leaves_torch_alone(package: str) -> None:
    loaded = loaded_after(f"import {package}")
    assert package in loaded
    assert not loaded & HEAVY


@pytest.mark.parametrize(
    "command", ["suites", "suites run", "suites list", "reports", "reports html", "reports summary"]
)
def test_help_loads_nothing_heavy(command: str) -> None:
    package, *arguments = command.split()
    loaded = loaded_after(
        f"sys.argv[1:] = {[*arguments, '--help']}; runpy.run_module({package!r}, run_name='__main__')"
    )
    assert "argparse" in loaded
    assert not loaded & (HEAVY | {"pandas", "matplotlib"})


def test_every_package_is_named_for_the_installer() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"]
    folders = {module_name(path.parent / "__init__.py") for path in MODULES.values()}
    assert set(declared) == folders


def test_every_pattern_of_package_data_matches_a_file() -> None:
    patterns = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["package-data"]
    matched = {
        (package, pattern): any(path.is_file() for path in (ROOT / package.replace(".", "/")).glob(pattern))
        for package, globs in patterns.items()
        for pattern in globs
    }
    assert [place for place, found in matched.items() if not found] == []
