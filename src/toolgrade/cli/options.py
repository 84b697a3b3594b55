"""What several commands parse alike."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from toolgrade.core.finding import CHECKS, Check
from toolgrade.core.tool import ToolSpec
from toolgrade.errors import ConfigError, suggestion
from toolgrade.formats.tools import load_tools

if TYPE_CHECKING:
    from rich.progress import Progress as Bar


def parse_checks(written: tuple[str, ...]) -> tuple[Check, ...]:
    """Return the named checks in their fixed order; all of them where none is named.

    Raises:
        ConfigError: there is no check of that name.
    """
    names = {name.strip() for text in written for name in text.split(",")}
    for name in names - set(CHECKS):
        raise ConfigError(f"--check: no check {name!r}.{suggestion(name, CHECKS)} Expected one of {', '.join(CHECKS)}.")
    return tuple(check for check in CHECKS if not names or check in names)


def tools_from(path: Path | None) -> dict[str, ToolSpec] | None:
    """Return the tools of a file by name; None where no file was named."""
    return load_tools(path) if path is not None else None


class _Terminal(Console):
    def on_broken_pipe(self) -> None:
        """Say no more where the reader has gone (`| head`), and let the command end with its own exit code."""
        with suppress(SystemExit):
            super().on_broken_pipe()


def terminal() -> Console:
    """Return the console that results are printed on: colours only where a person looks on."""
    return _Terminal(highlight=False, width=None if sys.stdout.isatty() else 120)


class Counter:
    """Shows on stderr how many were done; silent without a bar. Called with the number so far."""

    def __init__(self, bar: Bar | None, what: str) -> None:
        self._bar = bar
        self._task = bar.add_task(what, total=None) if bar is not None else None

    def __call__(self, done: int) -> None:
        """Show the number; not each time, since drawing costs more than grading."""
        if self._bar is not None and self._task is not None and done % 20 == 0:
            self._bar.update(self._task, completed=done)

    def also(self, what: str) -> Counter:
        """Return a counter of something else, in the next line."""
        return Counter(self._bar, what)


@contextmanager
def progress_on_stderr(what: str) -> Iterator[Counter]:
    """Yield a callback that shows how many were done; silent where stderr is no terminal, and in CI."""
    if not sys.stderr.isatty() or os.environ.get("CI"):
        yield Counter(None, what)
        return
    from rich.progress import Progress as Bar
    from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description} {task.completed:,}"), TimeElapsedColumn())
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        yield Counter(bar, what)
