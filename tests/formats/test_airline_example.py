"""The shipped sample is what its README says: a cut of the real runs, with cases that fit their tools."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from toolgrade.formats.cases import load_suite
from toolgrade.formats.join import join_case
from toolgrade.formats.registry import read_traces
from toolgrade.formats.tools import load_tools
from toolgrade.gates.contract import validate_case

SAMPLE = Path(__file__).parents[2] / "examples" / "airline"
TASKS = {
    "upgrade-and-three-bags": "task-5",
    "book-for-a-friend": "task-11",
    "nonstop-instead": "task-20",
    "cancel-the-other-one": "task-31",
    "refuse-uncovered-cancellation": "task-39",
}


def test_every_trace_has_its_case_and_every_case_fits_the_tools() -> None:
    suite = load_suite(SAMPLE / "cases.yaml")
    for case in suite.cases.values():
        validate_case(case, suite.tools)
    records = list(read_traces(SAMPLE / "traces.jsonl"))
    assert all(join_case(record, suite)[0] is not None for record in records)
    rewarded = Counter(record.trace.case_id for record in records if record.trace.final_state == {"reward": 1.0})
    assert len(records) == 20
    assert rewarded == {  # the table in README.md
        "upgrade-and-three-bags": 1,
        "book-for-a-friend": 1,
        "nonstop-instead": 4,
        "cancel-the-other-one": 2,
        "refuse-uncovered-cancellation": 1,
    }


def test_tools_say_whether_they_write() -> None:
    tools = load_tools(SAMPLE / "tools.json")
    assert len(tools) == 14 and all(tool.writes is not None for tool in tools.values())
    assert tools["cancel_reservation"].writes and not tools["get_reservation_details"].writes


@pytest.mark.shared
def test_the_runs_are_those_of_the_source_but_for_their_names(shared: Path) -> None:
    source = read_traces(shared / "data" / "tau_bench_airline" / "gpt-4o-airline.json")
    originals = {record.trace.id: record.trace for record in source}
    for record in read_traces(SAMPLE / "traces.jsonl"):
        name = TASKS[record.trace.case_id]
        original = originals[f"{name}-trial-{record.trace.trial}"]
        assert record.trace == original.model_copy(update={"id": record.trace.id, "case_id": record.trace.case_id})
