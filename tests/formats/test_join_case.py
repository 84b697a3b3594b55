"""A trace without its case is an error that says so, never a pass."""

from __future__ import annotations

import pytest

from toolgrade.core.case import Case, Suite
from toolgrade.core.result import Origin
from toolgrade.core.trace import Trace
from toolgrade.formats.join import Join, join_case
from toolgrade.formats.record import Record

SUITE = Suite(name="s", source="c.yaml", cases={name: Case(id=name) for name in ("refund", "cancel")})


def record(case_id: str | None = None, index: int = 0, source: str = "runs/cancel.json") -> Record:
    return Record(Origin(source=source, index=index, sha256="x"), Trace(id="t", case_id=case_id, messages=()))


@pytest.mark.parametrize(
    ("how", "given", "found"),
    [
        ("case_id", record("refund"), "refund"),
        ("stem", record("refund"), "cancel"),
        ("index", record("refund", index=1), "cancel"),
    ],
)
def test_each_way_finds_its_case(how: Join, given: Record, found: str) -> None:
    assert join_case(given, SUITE, how) == (SUITE.cases[found], None)


@pytest.mark.parametrize(
    ("how", "given", "words"),
    [
        (
            "case_id",
            record("refnd"),
            "found case_id 'refnd', expected the id of a case in c.yaml. Did you mean 'refund'?",
        ),
        ("case_id", record(), "found no case_id, expected the id of a case. Record it, or join with stem or index."),
        ("stem", record(source="a/zzz.json"), "found stem 'zzz', expected the id of a case in c.yaml."),
        ("index", record(index=2), "found record 3 of its file, expected one of the 2 cases."),
    ],
)
def test_an_unmatched_trace_says_so(how: Join, given: Record, words: str) -> None:
    case, message = join_case(given, SUITE, how)
    assert case is None and message == f"{given.origin.source}: trace 't' matches no case: {words}"


def test_a_record_without_trace_keeps_its_own_error() -> None:
    broken = Record(Origin(source="x", index=0, sha256="x"), error="x:1: found no JSON")
    assert join_case(broken, SUITE) == (None, "x:1: found no JSON")
