"""The pages on reports, CI and pytest: what they tell people to type is typed here."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.examples.test_ci_files import ROOT, project, shell
from tests.pipeline.support import GOOD, SILENT, write_suite
from tests.test_pytest_plugin import pytest_in

__all__ = ["project"]


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", (ROOT / "docs" / page).read_text("utf-8"), re.DOTALL)


@pytest.mark.parametrize("page", ["reports.md", "ci.md"])
def test_the_commands_work(project: Path, page: str) -> None:
    if page == "ci.md":
        (settings,) = blocks(page, "toml")
        (project / "toolgrade.toml").write_text(settings)
    for script in blocks(page, "sh"):
        done = shell(project, script)
        assert done.returncode == 0, (script, done.stdout, done.stderr)


def test_the_code_of_the_pytest_page_passes(tmp_path: Path) -> None:
    write_suite(tmp_path, [("a", GOOD), ("b", SILENT)])
    done = pytest_in(tmp_path, "\n".join(blocks("pytest.md", "python")), "--toolgrade-select", "b")
    assert "3 passed" in done.stdout, done.stdout
