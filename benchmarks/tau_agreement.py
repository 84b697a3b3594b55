"""Our gates next to the recorded reward of τ-bench airline; one JSON line.

Run: python benchmarks/tau_agreement.py [FILE] [--list]
FILE has τ-bench results. `--list` prints every disagreement with its class. Explained in docs/tau-bench.md.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from toolgrade.core.case import Case
from toolgrade.core.expected import SelectionExpected
from toolgrade.core.finding import Finding
from toolgrade.core.trace import Trace
from toolgrade.core.view import TraceView
from toolgrade.formats.registry import find_sources, read_traces
from toolgrade.gates.arguments import check_arguments
from toolgrade.gates.selection import check_selection

FILE = Path(__file__).resolve().parents[2] / "shared/data/tau_bench_airline/gpt-4o-airline.json"
WRITES = {
    "book_reservation",
    "cancel_reservation",
    "send_certificate",
    "update_reservation_baggages",
    "update_reservation_flights",
    "update_reservation_passengers",
}


class Graded(NamedTuple):
    trace: Trace
    case: Case
    rewarded: bool
    complete: bool
    """Every gold call is there, by name and value; so it is where there is no gold call."""
    more_writes: bool
    """The trace changed the database by a call that no gold call asks for."""
    findings: tuple[Finding, ...]


def grade(path: Path) -> Iterator[Graded]:
    """Yield every trace with its recorded reward and what our gates say of its calls."""
    sources = [(source, reader) for source, reader in find_sources(path) if not isinstance(reader, str)]
    cases = {
        record.case.id: record.case for source, reader in sources for record in reader.cases(source) if record.case
    }
    for record in read_traces(path):
        assert record.trace is not None, record.error
        case, view = cases[record.trace.case_id], TraceView(record.trace)
        expected = case.expected
        # without gold calls there is nothing to be incomplete; the reward is recorded all the same
        gold = expected.selection if expected is not None else None
        checks = [] if gold is None else [check_selection(gold, view), check_arguments(expected.arguments, view)]
        required = gold.required if gold is not None else ()
        reads = tuple({made.call.name for made in view.calls} - WRITES) or ("think",)
        writes = tuple(name for name in required or () if name in WRITES)
        strict = check_selection(SelectionExpected(required=writes, extras=reads), view)
        yield Graded(
            record.trace,
            case,
            record.trace.final_state["reward"] == 1,
            all(check.status == "passed" for check in checks),
            any(found.name in ("unexpected_call", "call_when_none_expected") for found in strict.findings),
            tuple(found for check in checks for found in check.findings),
        )


def classify(one: Graded) -> str:
    """Return why the gold calls and the reward disagree."""
    if not one.rewarded:
        if one.trace.metadata["reward_info"] is None:
            return "run_cut_off"
        return "write_beyond_gold" if one.more_writes else "unclassified"
    missing = {found.place.tool for found in one.findings if found.name == "missing_call"}
    wrong = {found.place.tool for found in one.findings} - missing
    if (missing | wrong) & WRITES:
        extra = all((found.note or "").startswith("not expected") for found in one.findings)
        return "extra_keys" if extra else "unclassified"
    if "transfer_to_human_agents" in missing:
        return "hand_over_missing"
    return "read_or_calculation_missing" if missing else "other_wording"


def main(arguments: list[str]) -> None:
    paths = [Path(argument) for argument in arguments if not argument.startswith("--")]
    table: Counter[tuple[bool, bool]] = Counter()
    strict: Counter[tuple[bool, bool]] = Counter()
    classes: dict[bool, Counter[str]] = {True: Counter(), False: Counter()}
    gold = calls = 0
    for one in grade(paths[0] if paths else FILE):
        table[one.rewarded, one.complete] += 1
        strict[one.rewarded, one.complete and not one.more_writes] += 1
        calls += sum(len(message.tool_calls) for message in one.trace.messages)
        expected = one.case.expected.selection if one.case.expected is not None else None
        gold += len(expected.required or ()) if expected is not None else 0
        if one.rewarded != one.complete:
            name = classify(one)
            classes[one.rewarded][name] += 1
            if "--list" in arguments:
                print(f"{name} | {one.trace.id} | {'; '.join(map(str, one.findings)) or 'no finding'}")
    print(
        json.dumps(
            {
                "benchmark": "tau_agreement",
                "calls": calls,
                "gold_calls": gold,
                "gold_complete": _named(table),
                "gold_complete_and_no_other_write": _named(strict),
                "rewarded_but_incomplete": dict(classes[True].most_common()),
                "complete_but_unrewarded": dict(classes[False].most_common()),
            }
        )
    )


def _named(table: Counter[tuple[bool, bool]]) -> dict[str, int]:
    return {
        f"{'rewarded' if rewarded else 'unrewarded'}_{'yes' if holds else 'no'}": count
        for (rewarded, holds), count in sorted(table.items(), reverse=True)
    }


if __name__ == "__main__":
    main(sys.argv[1:])
