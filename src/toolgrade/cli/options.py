"""What several commands parse alike."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console

from toolgrade.core.finding import CHECKS, Check
from toolgrade.core.tool import ToolSpec
from toolgrade.errors import ConfigError, suggestion
from toolgrade.formats.tools import load_tools
from toolgrade.pipeline.run import Progress


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


def terminal() -> Console:
    """Return the console that results are printed on: colours only where a person looks on."""
    return Console(highlight=False, width=None if sys.stdout.isatty() else 120)


@contextmanager
def progress_on_stderr(what: str) -> Iterator[Progress]:
    """Yield a callback that shows how many were done; silent where stderr is no terminal, and in CI."""
    if not sys.stderr.isatty() or os.environ.get("CI"):
        yield lambda _: None
        return
    from rich.progress import Progress as Bar
    from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description} {task.completed:,}"), TimeElapsedColumn())
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done: bar.update(task, completed=done) if done % 20 == 0 else None
