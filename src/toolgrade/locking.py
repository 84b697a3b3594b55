"""A directory held by one process at a time; a killed process lets go."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

log = logging.getLogger("toolgrade.locking")


@contextmanager
def held(folder: Path, *, wait: bool) -> Iterator[None]:
    """Hold an existing directory for this process alone, waiting for another that holds it or not.

    Where the system or its file system has no such locks, nothing is held.

    Raises:
        BlockingIOError: another process holds it, and `wait` is false.
        OSError: the directory cannot be opened.
    """
    if sys.platform == "win32":
        yield
        return
    import fcntl

    file = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            raise
        except OSError:
            log.warning("%s: this file system has no locks; use it with one process only", folder)
        yield
    finally:
        os.close(file)
