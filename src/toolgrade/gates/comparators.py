"""How one value is compared with the expected one, by the comparator that a case names."""

from __future__ import annotations

import re
from datetime import date, datetime, tzinfo
from typing import Any

from toolgrade.core.expected import Comparator
from toolgrade.gates.equality import equal

_LONGEST_DATE = 64
NEEDS_NO_VALUE = frozenset({"one_of", "regex", "ignore", "semantic"})
"""Comparators that say by themselves what is right."""


def matches(comparator: Comparator, expected: Any, actual: Any) -> bool | None:
    """Return whether `actual` is right under the comparator; None where only a judge can say.

    `unordered` and `subset` look at one list or object here; `differences` follows them down.
    """
    kind = comparator.kind
    if kind == "ignore":
        return True
    if kind == "semantic":
        return True if expected is not None and equal(expected, actual) else None
    if kind == "one_of":
        return any(equal(value, actual) for value in comparator.values or ())
    if kind == "regex":
        return isinstance(actual, str) and re.search(comparator.pattern or "", actual) is not None
    if kind == "number":
        return _near(comparator, expected, actual)
    if kind == "text":
        return isinstance(expected, str) and isinstance(actual, str) and _folded(expected) == _folded(actual)
    if kind in ("date", "datetime"):
        return _same_time(expected, actual, whole_days=kind == "date")
    return equal(expected, actual)


def _near(comparator: Comparator, expected: Any, actual: Any) -> bool:
    if not (_is_number(expected) and _is_number(actual)):
        return False
    absolute, relative = comparator.abs, comparator.rel
    if absolute is None and relative is None:
        relative = 1e-9  # as math.isclose: equal but for rounding
    return bool(expected == actual or abs(expected - actual) <= max(absolute or 0.0, (relative or 0.0) * abs(expected)))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()


def _same_time(expected: Any, actual: Any, *, whole_days: bool) -> bool:
    one, two = _moment(expected), _moment(actual)
    if one is None or two is None:
        return False
    if whole_days:
        return one.date() == two.date()
    return one == two  # never so where one has a zone and the other has none: nobody can tell


def _moment(value: Any) -> datetime | None:
    """Return the moment that a text names, None where it is no text or leaves out the year, month or day.

    Numbers alone read as ISO 8601 where they can, else month first. A zone must be UTC or have an offset.
    """
    if isinstance(value, date):  # YAML reads an unquoted date as one
        return value if isinstance(value, datetime) else datetime(value.year, value.month, value.day)  # noqa: DTZ001
    if not isinstance(value, str) or not value.strip() or len(value) > _LONGEST_DATE:
        return None
    from dateutil import parser

    found = []
    # what the text leaves out is taken from the default, so two defaults show whether it names a whole day
    for default in (datetime(2000, 1, 1), datetime(2001, 2, 2)):  # noqa: DTZ001
        try:
            found.append(parser.parse(value, default=default, tzinfos=_zone))
        except (ValueError, OverflowError):
            return None
    return found[0] if found[0] == found[1] else None


def _zone(name: str | None, offset: int | None) -> tzinfo | None:
    from dateutil import tz

    if offset is not None:
        return tz.tzoffset(name, offset)
    if name is None:
        return None
    raise ValueError(f"nobody says how far zone {name} is from UTC")
