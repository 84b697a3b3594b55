"""The README is true: its commands and programs run, its excerpt is what the demo prints, its links lead somewhere."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
SHELL = re.findall(r"```sh\n(.*?)```", README, re.DOTALL)
ANSWER = {"reason": "it is as it says", "evidence": [], "verdict": "pass", "unknown_reason": None}


def block(language: str) -> str:
    (found,) = re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)
    return str(found)


def commands(number: int) -> list[str]:
    """The lines of the shell block of that number, without their comments."""
    return [line.split("  #")[0].strip() for line in SHELL[number].strip().splitlines()]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Traces and tools as the README's reader has them; no cases yet."""
    made = tmp_path_factory.mktemp("reader")
    for name in ("traces.jsonl", "tools.json"):
        shutil.copy(ROOT / "examples" / "airline" / name, made)
    (made / "answers.jsonl").write_text(json.dumps({"answer": ANSWER}) + "\n")
    return made


def toolgrade(folder: Path, line: str) -> subprocess.CompletedProcess[str]:
    """Run a command line that begins with `toolgrade`."""
    program, *arguments = shlex.split(line)
    assert program == "toolgrade"
    path = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    environment = os.environ | {"PYTHONPATH": path, "TOOLGRADE_CACHE": str(folder / "cache")}
    given = [sys.executable, "-m", "toolgrade", *arguments]
    done = subprocess.run(given, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr
    return done


def test_it_opens_with_the_two_commands_that_the_makefile_has() -> None:
    assert [line.split()[:2] for line in commands(0)] == [["make", "demo"], ["make", "test"]]
    makefile = (ROOT / "Makefile").read_text()
    assert "$(BIN)/toolgrade demo" in makefile
    assert re.search(r"^test:.*\n(\t.*\n)*\t\$\(BIN\)/python -m pytest", makefile, re.MULTILINE)


def test_the_excerpt_is_what_the_demo_prints(tmp_path: Path) -> None:
    """Line by line in order; `…` stands for what was left out. When this fails, paste the new output."""
    printed = toolgrade(tmp_path, "toolgrade demo").stdout
    place = 0
    for line in block("text").splitlines():
        if line in ("", "…"):
            continue
        pattern = ".*?".join(map(re.escape, line.rstrip().split("…")))
        found = re.compile(rf"^{pattern} *$", re.MULTILINE).search(printed, place)
        assert found is not None, f"not printed (or not in this order): {line!r}\n{printed}"
        place = found.end()


def test_the_five_lines_of_shell_run_in_their_order(folder: Path) -> None:
    lines = commands(1)
    assert len(lines) == 5
    assert lines[0] == "pip install ."  # the wheel is built, installed and run in tests/packaging
    done = [toolgrade(folder, line) for line in lines[1:]]
    assert [one.returncode for one in done] == [0, 0, 0, 1], [one.stderr for one in done]
    assert "openai-chat" in done[0].stdout
    assert "20 traces, no cases: only intrinsic rules ran" in done[1].stdout
    assert (folder / "cases.yaml").exists()
    assert re.search(r"^MISSED selection: 0\.\d+ < 0\.9", done[3].stdout, re.MULTILINE)


def test_the_five_lines_of_python_find_what_the_readme_says(folder: Path) -> None:
    program = block("python")
    assert len([line for line in program.splitlines() if line]) == 5
    given = [sys.executable, "-c", program]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(given, cwd=folder, env=environment, capture_output=True, text=True, check=True)
    (said,) = re.findall(r"`(wrong_value at [^`]*)`", README)
    assert said in done.stdout


def test_the_thresholds_can_fail_a_build(folder: Path) -> None:
    settings = folder / "toolgrade.toml"
    settings.write_text(block("toml"))
    try:
        done = toolgrade(folder, "toolgrade grade traces.jsonl --tools tools.json")
    finally:
        settings.unlink()
    assert "selection: " in done.stdout and "0.95" in done.stdout
    assert "NO THRESHOLDS SET" not in done.stdout
    assert done.returncode in (1, 2)


def test_the_lines_about_judges_run(folder: Path) -> None:
    """The dry run is run as it stands, without a key; what would ask a provider asks the answers of a file."""
    dry, ask, trust = commands(2)
    done = toolgrade(folder, dry)
    assert done.returncode == 0 and "Nothing was asked (--dry-run)." in done.stdout, done.stderr
    asked = toolgrade(folder, ask.replace("openai/gpt-4.1-mini", "scripted:answers.jsonl").replace("--max-cost 2", ""))
    assert asked.returncode == 0, asked.stderr
    assert "decides nothing, refused: uncalibrated" in asked.stdout
    assert toolgrade(folder, trust).returncode == 0


def test_commands_in_the_text_run(folder: Path) -> None:
    inline = re.findall(r"`(toolgrade [a-z]+ [^`]*)`", README)
    assert inline
    for line in inline:
        assert toolgrade(folder, line).returncode == 0


def test_links_lead_somewhere() -> None:
    links = re.findall(r"\]\(([^)]+)\)", README)
    assert links
    for link in links:
        assert "://" in link or (ROOT / link.split("#")[0]).exists(), link
    pages = {path.name for path in (ROOT / "docs").glob("*.md")}
    missing = {page for page in pages if f"docs/{page}" not in README}
    linked_by_others = "".join((ROOT / "docs" / page).read_text(encoding="utf-8") for page in pages - missing)
    assert all(f"({page}" in linked_by_others for page in missing), missing
