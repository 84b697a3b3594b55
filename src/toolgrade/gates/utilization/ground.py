"""Whether a payload value is what a claim says: literally, normalised, in its unit, rounded, or derived."""

from __future__ import annotations

from typing import Any

from toolgrade.gates.utilization.claims import Claim
from toolgrade.gates.utilization.dates import payload_moment
from toolgrade.gates.utilization.leaves import Field
from toolgrade.gates.utilization.shapes import quantity
from toolgrade.gates.utilization.words import spelling


def comparable(claim: Claim, value: Any, field: Field) -> bool:
    """Say whether a payload value is of the kind that the claim speaks of."""
    if claim.kind == "number":
        number = quantity(value)
        if number is None or claim.unit != "percent":
            return number is not None
        return 0 <= number <= 100 or field.share or _share(value)
    if not isinstance(value, str):
        return claim.kind == "identifier" and isinstance(value, int) and not isinstance(value, bool)
    if claim.kind == "day":
        return len(value) < 40 and payload_moment(value)[0] is not None
    if claim.kind == "time":
        return len(value) < 40 and payload_moment(value)[1] is not None
    return len(value) < 100


def agrees(claim: Claim, value: Any, field: Field) -> bool:
    """Say whether a claim states this value of this field.

    A number agrees when it is the value rounded to the digits that were written; cents are hundredths of
    the unit of a currency, and 0.15 is 15 %.
    """
    if claim.kind == "number":
        number = quantity(value)
        return number is not None and _equal(claim, number, field)
    if claim.kind == "identifier":
        return spelling(str(value)) == spelling(str(claim.value))
    day, minutes = payload_moment(value) if isinstance(value, str) else (None, None)
    if claim.kind == "time":
        return minutes is not None and minutes == claim.value
    read = [moment for moment in (claim.value, claim.other) if isinstance(moment, tuple)]
    return day is not None and any(day.agrees(moment) for moment in read)


def _equal(claim: Claim, number: float, field: Field) -> bool:
    if claim.unit == "money" and field.minor:
        number /= 100
    if _near(claim, number) or (number < 0 <= claim.number and _near(claim, -number) and claim.unit == "money"):
        return True
    whole = not field.share
    if claim.unit == "percent" and (-1 < number < 1 or (not whole and abs(number) == 1)):
        return _near(claim, number * 100)
    return claim.unit == "" and field.minor and claim.step < 1 and _near(claim, number / 100)


def _near(claim: Claim, number: float) -> bool:
    return abs(number - claim.number) <= claim.step / 2 + 1e-9 * max(1.0, abs(number))


def _share(value: Any) -> bool:
    return isinstance(value, str) and "%" in value
