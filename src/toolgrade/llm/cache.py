"""What judges answered, kept on disk."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import Literal

from toolgrade.core.verdict import Verdict

CacheMode = Literal["auto", "replay", "refresh", "off"]


class VerdictCache:
    """Verdicts by key (`sha256:` and 64 hex digits), in a directory that several processes may share.

    Modes: `auto` reads and writes; `replay` only reads, a miss is an error; `refresh` only writes; `off`
    does neither. Whatever comes from the cache has `cached=True`. Errors are never stored.
    """

    def __init__(self, directory: Path, mode: CacheMode = "auto") -> None:
        self.directory = directory
        self.mode = mode

    def get_many(self, keys: Iterable[str]) -> dict[str, Verdict]:
        """Return what is known of these keys, in one pass over the file; ask only what is left.

        Empty in the modes `refresh` and `off`.
        """
        raise NotImplementedError

    async def ask(self, key: str, question: str, ask: Callable[[], Awaitable[Verdict]]) -> Verdict:
        """Return the verdict for `key`: from the cache, from a call in flight, else from `ask`, once.

        `question` names the question in messages. An answer with `verdict: error` is handed to everyone
        who waits, and not stored.

        Raises:
            ConfigError: `replay`, and the cache holds no answer.
            Whatever `ask` raises, to everyone who waits for it.
        """
        raise NotImplementedError

    def close(self) -> None:
        """Write what is not yet written; call it also after an error or Ctrl-C."""
        raise NotImplementedError
