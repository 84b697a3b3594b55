"""Which case a trace belongs to."""

from __future__ import annotations

from itertools import islice
from pathlib import PurePath
from typing import Literal

from toolgrade.core.case import Case, Suite
from toolgrade.errors import suggestion
from toolgrade.formats.record import Record

Join = Literal["case_id", "stem", "index"]


def join_case(record: Record, suite: Suite, how: Join = "case_id") -> tuple[Case | None, str | None]:
    """Return the case of a record, or None and the message that says why there is none.

    `case_id` takes the id that the trace carries; `stem` the name of its file without extension; `index` the
    number of the record in its file, against the order of the cases. A record without trace has its own error.
    """
    if record.trace is None:
        return None, record.error
    if how == "index":
        number = record.origin.index
        case = next(islice(suite.cases.values(), number, None), None)
        if case is not None:
            return case, None
        return None, _unmatched(record, f"record {number + 1} of its file", f"one of the {len(suite.cases)} cases", "")
    wanted = record.trace.case_id if how == "case_id" else PurePath(record.origin.source).stem
    if wanted is None:
        return None, _unmatched(record, "no case_id", "the id of a case", " Record it, or join with stem or index.")
    if wanted in suite.cases:
        return suite.cases[wanted], None
    near = suggestion(wanted, suite.cases)
    return None, _unmatched(record, f"{how} {wanted!r}", f"the id of a case in {suite.source or suite.name}", near)


def _unmatched(record: Record, found: str, expected: str, advice: str) -> str:
    trace = record.trace.id if record.trace else ""
    return f"{record.origin.source}: trace {trace!r} matches no case: found {found}, expected {expected}.{advice}"
