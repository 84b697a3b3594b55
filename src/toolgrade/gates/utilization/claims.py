"""Claims that code can check: numbers, days, times and identifiers, found in one sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import date
from operator import attrgetter
from typing import Literal, NamedTuple

from toolgrade.gates.utilization.dates import MONTH, RELATIVE, Day, anchored, moments, runs
from toolgrade.gates.utilization.words import NUMBER_WORDS, Word

Kind = Literal["number", "day", "time", "identifier", "status", "text"]
Unit = Literal["money", "percent", "year", ""]

_SKIP = re.compile(r"https?://\S+|www\.\S+|[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_IDENTIFIER = re.compile(
    r"(?<![\w.$€£-])(?:"
    r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
    r"|#\s?[A-Za-z]*\d[\w-]*"
    r"|(?=[\w-]*[A-Za-z])(?=[\w-]*\d)[A-Za-z0-9]+(?:[_-][A-Za-z0-9]+)*"
    r")(?![\w])"
)
_QUANTITY = re.compile(
    r"\d+(?:[.,]\d+)*-?(?:[A-Za-z]{1,4}|[A-Za-z]+(?:-[A-Za-z]+)*)"
    r"|\d+(?:-\d+)*-[a-z]+(?:-[a-z]+)*|\d+-(?:for|of)-\d+"
)
_UNITS = (
    "km|kg|g|mg|lbs?|oz|m|cm|mm|mi|ft|in|h|hrs?|mins?|s|secs?|ms|[kmgt]b|[cfk]|mph|kph|kmh|hpa|px|x|bn|kwh?|w|v"
    "|usd|eur|gbp|pp"
)
_ATTACHED = re.compile(rf"(?!(?:{_UNITS})\b)[A-Za-z]", re.IGNORECASE)
_CURRENCY = r"(?:(?:US|CA|AU|NZ|HK)?\$|[€£¥₹₩₺]|\b(?:USD|EUR|GBP|CAD|AUD|CHF|JPY|INR|CNY)\b)"
_SPACE = "\u00a0\u202f’'"
_DIGITS = (
    r"\d{1,3}(?:,\d{3})+(?:\.\d+)?"
    r"|\d{1,3}(?:\.\d{3})+,\d{1,2}(?!\d)"
    rf"|\d{{1,3}}(?:[{_SPACE}]\d{{3}})+(?!\d)"
    r"|\d+,\d{2}(?=\s?€)"
    r"|\d+(?:\.\d+)?|\.\d+"
)
_NUMBER = re.compile(
    rf"(?P<pre>{_CURRENCY})?\s?(?<![\w.,/])(?P<sign>(?<![\w)\d])[-−+](?={_CURRENCY}?[\d.]))?(?P<pre2>{_CURRENCY})?"
    rf"(?P<num>{_DIGITS})"
    r"(?:(?P<short>[kKM]|bn)(?![\w/])|\s?(?P<scale>million|billion|thousand|hundred)\b)?"
    rf"(?:\s?(?P<post>%|percent\b|per\s+cent\b|{_CURRENCY}"
    r"|(?:US\s+)?dollars?\b|euros?\b|pounds?\s+sterling\b|cents?\b))?",
)
_TENS = "twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety"
_SPELT = re.compile(
    rf"(?<![\w-])(?:(?P<tens>{_TENS})[-\s](?P<ones>one|two|three|four|five|six|seven|eight|nine)"
    rf"|(?P<word>{'|'.join(sorted(NUMBER_WORDS, key=len, reverse=True))})"
    r"|(?P<pair>a\s+pair\s+of|a\s+couple\s+of)|(?P<article>an?))"
    r"(?:\s(?P<post>percent|dollars?|cents?)\b)?(?!\w)",
    re.IGNORECASE,
)
_PRONOUN = re.compile(
    r"(?:\b(?:this|that|which|the|each|no|every|any|another|last|next|first|second|third|new|only)\s+)$", re.IGNORECASE
)
_ENDING = re.compile(r"\bending\s+(?:in|with)\s+[*#]*$", re.IGNORECASE)
_HEAD = re.compile(r"[\s*_(#]*(?:[A-Z][a-z]+\s){0,2}#?")
_NAME = re.compile(r"[a-z] [A-Z][\w'-]* ")
_NO_NOUN = re.compile(r"\s*(?:$|[.;)]|(?:in|at|on|and|to|for|with|was|is|had)\b)")
_YEAR = re.compile(
    rf"\b(?:{MONTH},?|in|since|by|from|to|until|till|through|during|of|and|year|season|early|late|mid)\s(?:19|20)\d\d$",
    re.IGNORECASE,
)
_HASH = re.compile("#")
_HEADED = re.compile(r"\s*(?:[:).*]|$)")
_COUNTED = re.compile(r"\s+(?:\w+\s*-\s*)?(?:\d|" + "|".join(NUMBER_WORDS) + r"\b)")
_ALONE = re.compile(r"\s+of\b|\s*[.,;!?]|\s*$")
_COUNTS = frozenset(NUMBER_WORDS) | {"a", "an"}
_START = attrgetter("start")
_LEAD = 9
_LONGEST = 40
_CODE = 7
_SCALE = {"k": 1e3, "m": 1e6, "bn": 1e9, "hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9}


class Claim(NamedTuple):
    """Something checkable at `start:end` of a sentence.

    `value` is a number, a `Day`, minutes after midnight, or an identifier (folded, without `#`). `step` is
    the unit of the last digit that was written: a payload value within half of it rounds to the claim.
    `weak` marks an article read as one (`a steal`): a claim only where a field is linked to it.
    """

    kind: Kind
    text: str
    start: int
    end: int
    value: float | Day | str
    unit: Unit = ""
    step: float = 1.0
    weak: bool = False
    other: Day | None = None

    @property
    def number(self) -> float:
        """The value of a claim that is a number or a time."""
        assert isinstance(self.value, int | float)  # noqa: S101
        return float(self.value)


def claims(text: str, parts: Sequence[Word], clock: date | None = None) -> list[Claim]:
    """Return the claims in one sentence, in order; digits inside identifiers and addresses are no numbers.

    `parts` are the words of the sentence, `clock` is the day that it is said on.
    """
    taken: list[tuple[int, int]] = []
    out: list[Claim] = []
    digits = runs(text)
    if digits or "@" in text or not RELATIVE.isdisjoint([word.norm for word in parts]):
        out = _written(text, parts, digits, clock, taken)
    out += _spelt(text, parts, taken)
    return sorted(out, key=_START) if len(out) > 1 else out


def _written(
    text: str,
    parts: Sequence[Word],
    digits: list[tuple[int, int]],
    clock: date | None,
    taken: list[tuple[int, int]],
) -> list[Claim]:
    """Return the claims that are written with digits or signs; the spans that are read go to `taken`."""
    out: list[Claim] = []
    for found in _SKIP.finditer(text) if "@" in text or "://" in text or "www." in text else ():
        taken.append(found.span())
        if "@" in found.group() and "//" not in found.group():
            out.append(Claim("identifier", found.group(), *found.span(), found.group().casefold()))
    for moment in moments(text, parts, digits, clock):
        if _free(taken, moment.start, moment.end):
            taken.append((moment.start, moment.end))
            written = text[moment.start : moment.end]
            if moment.day is not None:
                out.append(Claim("day", written, moment.start, moment.end, moment.day, other=moment.other))
            elif moment.minutes is not None:
                out.append(Claim("time", written, moment.start, moment.end, moment.minutes))
    for found in anchored(_IDENTIFIER, text, _codes(text, digits)):
        if _free(taken, *found.span()) and not _QUANTITY.fullmatch(found.group()):
            taken.append(found.span())
            value = found.group().lstrip("# ").casefold()
            out.append(Claim("identifier", found.group(), *found.span(), value))
    return out + _numbers(text, digits, taken)


def _codes(text: str, digits: list[tuple[int, int]]) -> list[int]:
    """Return where codes may begin: at a `#`, and where letters, digits and dashes in one piece begin."""
    out = [match.start() for match in _HASH.finditer(text)] if "#" in text else []
    start = last = -1
    for first, end in digits:
        at = first
        while at > last and at and (text[at - 1] in "-_" or text[at - 1].isalnum()):
            at -= 1
        start = start if at == last else at
        last = end
        if start < first or text[end : end + 1] in "-_" or text[end : end + 1].isalpha():
            out.append(start)
    return sorted(out)


def _free(taken: list[tuple[int, int]], start: int, end: int) -> bool:
    return not any(start < stop and begin < end for begin, stop in taken)


def _numbers(text: str, digits: list[tuple[int, int]], taken: list[tuple[int, int]]) -> list[Claim]:
    out = []
    for found in _written_numbers(text, digits):
        start, end = found.span("num")
        if not _free(taken, start, end) or (text[end : end + 1].isalpha() and _ATTACHED.match(text, end)):
            continue
        start = min(found.start(g) for g in ("pre", "sign", "pre2", "num") if found[g])
        if end - start > _LONGEST:
            taken.append((start, end))
            continue
        code = end - start >= _CODE and found["num"].isdigit() and not (found["pre"] or found["post"])
        if code or ("nding" in text and _ENDING.search(text, 0, start)):
            out.append(Claim("identifier", found["num"], found.start("num"), end, found["num"]))
            taken.append((start, end))
            continue
        if not (found["pre"] or found["post"] or "." in found["num"]) and _labelled(text, start, end):
            taken.append((start, end))
            continue
        claim = _number(found, text[start : found.end()].strip(), start)
        taken.append((start, found.end()))
        out.append(claim)
    return out


def _written_numbers(text: str, digits: list[tuple[int, int]]) -> Iterator[re.Match[str]]:
    """Yield the numbers that are written in digits; the search leaps over what holds none."""
    end = 0
    for start, _ in digits:
        if start >= end:
            found = _NUMBER.search(text, max(end, start - _LEAD))
            if found is None:
                return
            yield found
            end = found.end()


def _labelled(text: str, start: int, end: int) -> bool:
    """Say whether a number only counts off a heading: `Flight 2:`, `Option 1`, `1)`."""
    name = text.rfind(" ", 0, start - 1) if text[start - 1 : start] == " " else 0
    if name > 0 and _NAME.fullmatch(text, name - 1, start) and _NO_NOUN.match(text, end):
        return True
    return bool(_HEAD.fullmatch(text, 0, start)) and bool(_HEADED.match(text, end))


def _number(found: re.Match[str], written: str, start: int) -> Claim:
    digits, decimals = plain(found["num"])
    scale = _SCALE.get((found["scale"] or found["short"] or "").lower(), 1.0)
    post = (found["post"] or "").lower()
    unit: Unit = ""
    if post == "%" or post.startswith("per"):
        unit = "percent"
    elif found["pre"] or found["pre2"] or post:
        unit = "money"
    four = len(found["num"]) == 4 and found["num"].isdigit()
    if four and not unit and _YEAR.search(found.string, 0, found.end("num")):
        unit = "year"
    step = 10.0**-decimals * scale
    if post.startswith("cent"):
        scale, step = scale / 100, step / 100
    value = digits * scale * (-1 if found["sign"] and found["sign"][0] in "-−" else 1)
    return Claim("number", written, start, start + len(written), value, unit, step)


def plain(written: str) -> tuple[float, int]:
    """Return the value and the number of decimals of a number with separators of any usual kind."""
    if written.isdigit():
        return float(written), 0
    if re.fullmatch(r"\d{1,3}(?:\.\d{3})+,\d+|\d+,\d{2}", written):
        written = written.replace(".", "").replace(",", ".")
    written = re.sub(rf"[,{_SPACE}]", "", written)
    return float(written), len(written.partition(".")[2])


def _spelt(text: str, parts: Sequence[Word], taken: list[tuple[int, int]]) -> list[Claim]:
    out = []
    for found in anchored(_SPELT, text, [word.start for word in parts if word.norm in _COUNTS]):
        start, end = found.span()
        if not _free(taken, start, end):
            continue
        if found["article"] and _COUNTED.match(text, end):
            continue
        one = (found["word"] or "").lower() == "one"
        if one and (_PRONOUN.search(text, 0, start) or _ALONE.match(text, end)):
            continue
        if found["tens"]:
            value = NUMBER_WORDS[found["tens"].lower()] + NUMBER_WORDS[found["ones"].lower()]
        elif found["word"]:
            value = NUMBER_WORDS[found["word"].lower()]
        else:
            value = 2 if found["pair"] else 1
        post = (found["post"] or "").lower()
        unit: Unit = "percent" if post.startswith("per") else "money" if post else ""
        amount = value / 100 if post.startswith("cent") else float(value)
        weak = found["article"] is not None or found["pair"] is not None
        out.append(Claim("number", found.group(), start, end, amount, unit, 1.0, weak))
    return out
