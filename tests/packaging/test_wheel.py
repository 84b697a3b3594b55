"""The wheel as a stranger gets it: built by `python -m build`, unpacked, run in an empty directory."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel's content; built from what git tracks, so that stray files cannot hide a hole."""
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
    for name in tracked.decode().split("\0"):
        if name and (ROOT / name).is_file():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            (source / name).write_bytes((ROOT / name).read_bytes())
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder / "dist"), str(source)]
    subprocess.run(build, check=True, capture_output=True)
    (wheel,) = (folder / "dist").glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "site")
    return folder / "site"


def test_every_tracked_asset_is_in_the_wheel(unpacked: Path) -> None:
    tracked = subprocess.run(
        ["git", "ls-files", "prompts", "calibration", "examples"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split("\n")
    missing = [name for name in tracked if name and not (unpacked / "toolgrade" / "_assets" / name).is_file()]
    assert missing == []
    assert (unpacked / "toolgrade" / "py.typed").is_file()


def test_the_demo_runs_from_the_wheel_in_an_empty_directory(unpacked: Path, tmp_path: Path) -> None:
    code = "import sys, toolgrade; assert toolgrade.__file__.startswith(sys.argv[1]); from toolgrade.cli import main; "
    code += "sys.argv = ['toolgrade', 'demo']; main()"
    environment = {**os.environ, "PYTHONPATH": str(unpacked), "CI": "true"}
    command = [sys.executable, "-c", code, str(unpacked)]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "20 traces of 5 cases" in done.stdout
    assert "What cost most" in done.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["runs"]
