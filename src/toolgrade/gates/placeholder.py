"""Values that stand for a value: `<user_id>`, `YOUR_API_KEY`, `TODO`."""

from __future__ import annotations

import re
from typing import Any

_PLACEHOLDER = re.compile(
    r"""
      <[\w .:/-]+> | \{\{?[\w .:-]+\}?\} | \$\{[A-Z_][A-Z0-9_]*\} | \[(?:your|insert|enter|user|[A-Z]+_)[\w ]*\]
    | (?:your|insert|enter|replace)[_-][\w-]+ | (?:insert|enter)\ your\ [\w ]+ | YOUR\ [A-Z ]+
    | tbd | todo | fixme | placeholder | change_?me | undefined | lorem\ ipsum.* | x{3,} | \?{2,} | \.{3}
    | (?:user|example|test|your|name|email)[\w.]*@(?:example|domain|email|test)\.(?:com|org|net)
    """,
    re.VERBOSE | re.IGNORECASE,
)


_LONGEST = 80
_FIRST = frozenset("<{$[?. yietrfpculxnYIETRFPCULXN")
_SIGNS = frozenset("<{$[?. ")
_LETTERS = frozenset(
    ("yo", "in", "en", "re", "tb", "to", "fi", "pl", "ch", "un", "lo", "xx", "us", "ex", "te", "na", "em")
)
"""What a placeholder can begin with, in one or two characters: looked at first, because most values are none."""


def is_placeholder(text: str) -> bool:
    """Return whether the whole text has the form of a placeholder; it may still be what the user said."""
    return len(text) <= _LONGEST and _PLACEHOLDER.fullmatch(text.strip()) is not None


def holds_placeholder(value: dict[str, Any] | list[Any] | None) -> bool:
    """Return whether some text within a JSON object or array is a placeholder."""
    for item in value.values() if isinstance(value, dict) else value or ():
        if item.__class__ is str:
            if item[:1] in _FIRST and (item[0] in _SIGNS or item[:2].lower() in _LETTERS) and is_placeholder(item):
                return True
        elif isinstance(item, (dict, list)) and holds_placeholder(item):
            return True
    return False
