"""The command line as a shell sees it: exit code, stdout, stderr."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from toolgrade.cli import main


class Ran(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Ran]:
    """Run `toolgrade …` in an empty directory."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: object) -> Ran:
        monkeypatch.setattr(sys, "argv", ["toolgrade", *map(str, arguments)])
        with pytest.raises(SystemExit) as done:
            main()
        told = capsys.readouterr()
        return Ran(int(done.value.code or 0), told.out, told.err)

    return run
