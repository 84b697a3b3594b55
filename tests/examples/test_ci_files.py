"""The CI examples do what they say: their commands are run as a runner would run them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project as the examples expect it: the shipped sample, thresholds that it meets, a baseline."""
    for name in ("cases.yaml", "tools.json", "traces.jsonl"):
        shutil.copy(EXAMPLES / "airline" / name, tmp_path)
    (tmp_path / "toolgrade.toml").write_text("[thresholds]\nselection = 0.5\nordering = 0.9\n")
    bin_ = tmp_path / ".bin"
    bin_.mkdir()
    tool = bin_ / "toolgrade"
    tool.write_text(f'#!/bin/sh\nexec {sys.executable} -m toolgrade "$@"\n')
    tool.chmod(0o755)
    shell(tmp_path, "toolgrade grade traces.jsonl --cases cases.yaml --out first && toolgrade baseline write first")
    return tmp_path


def shell(folder: Path, script: str) -> subprocess.CompletedProcess[str]:
    environment = {
        **os.environ,
        "PATH": f"{folder / '.bin'}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT / "src"),
        "GITHUB_STEP_SUMMARY": str(folder / "step-summary.md"),
        "CI": "true",
    }
    command = ["bash", "-euo", "pipefail", "-c", script]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def steps(name: str) -> list[str]:
    """The shell of each step, without the installation."""
    job: Any = yaml.safe_load((EXAMPLES / "ci" / name).read_text())
    if name == "gitlab.yml":
        found = [*job["toolgrade"]["script"], *job["toolgrade"]["after_script"]]
    else:
        (only,) = job["jobs"].values()
        found = [step["run"] for step in only["steps"] if "run" in step]
    return [script for script in found if "pip install" not in script]


@pytest.mark.parametrize("name", ["github.yml", "gitlab.yml"])
def test_the_commands_pass_and_leave_the_reports(project: Path, name: str) -> None:
    for script in steps(name):
        done = shell(project, script)
        assert done.returncode == 0, (script, done.stdout, done.stderr)
    assert (project / "report.html").stat().st_size > 10_000
    assert (project / "junit.xml").read_text().startswith("<?xml")
    if name == "github.yml":
        assert "| selection | expected |" in (project / "step-summary.md").read_text()


def test_the_build_fails_with_the_name_of_the_check(project: Path) -> None:
    (project / "toolgrade.toml").write_text("[thresholds]\nselection = 0.9\nordering = 0.9\n")
    done = shell(project, steps("github.yml")[0])
    assert done.returncode == 1
    assert "MISSED selection" in done.stdout


def test_a_lowered_threshold_fails_the_build(project: Path) -> None:
    (project / "toolgrade.toml").write_text("[thresholds]\nselection = 0.4\nordering = 0.9\n")
    grade, baseline = steps("github.yml")[:2]
    assert shell(project, grade).returncode == 0
    done = shell(project, baseline)
    assert done.returncode == 1
    assert "LOOSENED threshold of selection: lowered 0.5 → 0.4" in done.stdout


def test_the_schedule_names_a_command_that_exists(project: Path) -> None:
    script = next(step for step in steps("recalibrate.yml") if "recalibrate" in step)
    done = shell(project, f"{script} --dry-run")
    assert done.returncode == 0, done.stdout + done.stderr
