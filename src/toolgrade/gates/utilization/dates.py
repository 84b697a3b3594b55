"""Dates and times: found in text and read from payload strings, in the usual written forms."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, timedelta
from functools import lru_cache
from typing import NamedTuple

from toolgrade.gates.utilization.words import Word, words

_NAMES = (
    "jan january|feb february|mar march|apr april|may|jun june|jul july|aug august|"
    "sep sept september|oct october|nov november|dec december"
)
MONTHS = {name: number for number, names in enumerate(_NAMES.split("|"), 1) for name in names.split()}
MONTH = rf"(?:{'|'.join(sorted(MONTHS, key=len, reverse=True))})"
_DATE = re.compile(
    r"(?<![\w.-])(?:"
    r"(?P<y>\d{4})[-/_.](?P<m>\d{1,2})[-/_.](?P<d>\d{1,2})(?=[T\s]?\d{2}:|\b)(?![\d/])"
    r"|(?P<a>\d{1,2})(?P<sep>[/_.])(?P<b>\d{1,2})(?P=sep)(?P<y2>\d{4}|\d{2})(?![\w/])"
    rf"|(?P<mn>{MONTH})\.?\s+(?P<d2>\d{{1,2}})(?:st|nd|rd|th)?(?:\s*,?\s+(?P<y3>(?:19|20)\d\d))?(?![\w%]|[.,]?\d|:\d)"
    rf"|(?P<d3>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?(?P<mn2>{MONTH})\.?(?:\s*,?\s+(?P<y4>(?:19|20)\d\d))?(?!\w)"
    r"|(?P<rel>today|tomorrow|yesterday)\b"
    r")",
    re.IGNORECASE,
)
_TIME = re.compile(
    r"(?:(?<![\w.:])|(?<=\dT))(?:"
    r"(?P<h>\d{1,2}):(?P<m>[0-5]\d)(?::(?P<s>[0-5]\d)(?:\.\d+)?)?(?:\s*(?P<ap>[ap])\.?m\b\.?)?"
    r"|(?P<h2>\d{1,2})\s*(?P<ap2>[ap])\.?m\b\.?"
    r")(?![\d:])",
    re.IGNORECASE,
)
RELATIVE = frozenset({"today", "tomorrow", "yesterday"})
_DAY_WORDS = RELATIVE.union(MONTHS)
_RUN = re.compile(r"\d+")
_AFTER_HOUR = frozenset(":apAP \t\u00a0\u202f")
_ISO = re.compile(r"\s*(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2}))?")


class Day(NamedTuple):
    """A calendar day; `year` is None where the text leaves it out."""

    year: int | None
    month: int
    day: int

    def agrees(self, other: Day) -> bool:
        """Say whether both can be the same day."""
        years = self.year is None or other.year is None or self.year == other.year
        return years and (self.month, self.day) == (other.month, other.day)


class Moment(NamedTuple):
    """A day or a time of day (minutes after midnight) at `start:end` of a text; `other` is a second reading.

    Neither is given where the text is written like a day that the calendar lacks.
    """

    start: int
    end: int
    day: Day | None = None
    minutes: int | None = None
    other: Day | None = None


def clock_day(stamp: str | None) -> date | None:
    """Return the calendar day of an ISO time stamp, None where there is none."""
    found = _ISO.match(stamp or "")
    if found is None:
        return None
    try:
        return date(int(found[1]), int(found[2]), int(found[3]))
    except ValueError:
        return None


def runs(text: str) -> list[tuple[int, int]]:
    """Return where digits stand in `text`."""
    return [match.span() for match in _RUN.finditer(text)]


def anchored(pattern: re.Pattern[str], text: str, starts: Iterable[int]) -> Iterator[re.Match[str]]:
    """Yield what `finditer` would, for a pattern of which every match begins at one of `starts` (in order)."""
    end = 0
    for at in starts:
        if at >= end and (match := pattern.match(text, at)) is not None:
            yield match
            end = match.end()


def moments(text: str, parts: Sequence[Word], digits: list[tuple[int, int]], clock: date | None = None) -> list[Moment]:
    """Return the days and times that `text` holds, in order; relative days need the `clock`.

    `parts` are its words, and `digits` is where its digits stand: a day or a time begins at one of these.
    """
    named = [word.start for word in parts if word.norm in _DAY_WORDS]
    dated = [start for start, end in digits if named or text[end : end + 1] in "-/_."]
    timed = [start for start, end in digits if end - start <= 2 and text[end : end + 1] in _AFTER_HOUR]
    found = [m for match in anchored(_DATE, text, sorted(named + dated)) if (m := _day(match, clock))]
    found += [moment for match in anchored(_TIME, text, timed) if (moment := _time(match))]
    return sorted(found, key=lambda moment: moment[:2])


@lru_cache(maxsize=8192)
def payload_moment(text: str) -> tuple[Day | None, int | None]:
    """Return the day and the minutes after midnight that a payload string consists of."""
    if not any(map(str.isdigit, text)):
        return None, None
    iso = _ISO.match(text)
    if iso is not None:
        day = _valid(int(iso[1]), int(iso[2]), int(iso[3]))
        return day, None if iso[4] is None else int(iso[4]) * 60 + int(iso[5])
    day, minutes = None, None
    for moment in moments(text, words(text), runs(text)):
        day = day or moment.day
        minutes = moment.minutes if minutes is None else minutes
    return day, minutes


def _valid(year: int | None, month: int, day: int) -> Day | None:
    try:
        date(year or 2000, month, day)
    except ValueError:
        return None
    return Day(year, month, day)


def _day(match: re.Match[str], clock: date | None) -> Moment | None:
    part = match.groupdict()
    other = None
    if part["rel"]:
        if clock is None:
            return None
        step = {"today": 0, "tomorrow": 1, "yesterday": -1}[part["rel"].lower()]
        on = clock + timedelta(days=step)
        day = _valid(on.year, on.month, on.day)
    elif part["y"]:
        day = _valid(int(part["y"]), int(part["m"]), int(part["d"]))
    elif part["a"]:
        year = int(part["y2"]) + (2000 if len(part["y2"]) == 2 else 0)
        first, second = int(part["a"]), int(part["b"])
        day, other = _valid(year, first, second), _valid(year, second, first)
        day, other = (other, None) if day is None else (day, other)
    else:
        month = MONTHS[(part["mn"] or part["mn2"]).lower()]
        year3 = part["y3"] or part["y4"]
        day = _valid(int(year3) if year3 else None, month, int(part["d2"] or part["d3"]))
    return Moment(match.start(), match.end(), day=day, other=other)


def _time(match: re.Match[str]) -> Moment | None:
    part = match.groupdict()
    hour = int(part["h"] or part["h2"])
    half = (part["ap"] or part["ap2"] or "").lower()
    if hour > 24 or (half and not 1 <= hour <= 12):
        return None
    if half:
        hour = hour % 12 + (12 if half == "p" else 0)
    return Moment(match.start(), match.end(), minutes=hour * 60 + int(part["m"] or 0))
