"""The workflow for pull requests: what GitHub will be asked to do."""

from typing import Any

import pytest
import yaml

from reports.gate_workers import ROOT


@pytest.fixture(scope="module")
def workflow() -> dict[Any, Any]:
    loaded: dict[Any, Any] = yaml.safe_load((ROOT / ".github/workflows/gate.yml").read_text())
    return loaded


@pytest.fixture(scope="module")
def steps(workflow: dict[Any, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = workflow["jobs"]["gate"]["steps"]
    return found


def test_a_fork_is_judged_without_secrets_or_rights(workflow: dict[Any, Any]) -> None:
    assert list(workflow[True]) == [
        "pull_request"
    ]  # YAML reads `on` as true; pull_request_target would hand out rights
    assert workflow["permissions"] == {"contents": "read"}
    assert "secrets." not in (ROOT / ".github/workflows/gate.yml").read_text()


def test_the_whole_history_is_there_and_the_environment_is_cached(steps: list[dict[str, Any]]) -> None:
    by_action = {step["uses"].partition("@")[0]: step.get("with", {}) for step in steps if "uses" in step}
    assert by_action["actions/checkout"]["fetch-depth"] == 0
    assert by_action["actions/cache"]["path"] == ".venv"
    assert by_action["actions/upload-artifact"]["path"] == "runs/gate/"


def test_without_a_base_the_exact_line_alone_is_run_and_said(steps: list[dict[str, Any]]) -> None:
    (gate,) = [step["run"] for step in steps if step.get("name", "").startswith("gate")]
    condition, with_base, _, notice, alone, _ = (line.strip() for line in gate.strip().splitlines())
    assert condition.startswith('if git cat-file -e "$BASE:generators/registry.py"')
    assert "--base" in with_base
    assert notice.startswith('echo "::notice::') and "exact line only" in notice
    assert "--exact" in alone and "--base" not in alone


def test_files_are_kept_and_the_summary_is_shown_whatever_the_verdict(steps: list[dict[str, Any]]) -> None:
    assert [step.get("if") for step in steps[-2:]] == ["always()", "always()"]
    assert "runs/gate/gate.md" in steps[-2]["run"] and "$GITHUB_STEP_SUMMARY" in steps[-2]["run"]
