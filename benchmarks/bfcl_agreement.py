"""Our verdict next to that of BFCL's own AST checker on real model outputs; one JSON line.

Run: python benchmarks/bfcl_agreement.py [FILE] [--list]
FILE has BFCL results with the checker's verdict in `valid`; BFCL's question files lie beside it.
`--list` prints every disagreement with its class before the JSON line. Explained in docs/bfcl.md.
"""

from __future__ import annotations

import json
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from toolgrade.core.case import Case
from toolgrade.core.expected import ArgumentsExpected
from toolgrade.core.finding import Finding
from toolgrade.core.trace import Trace
from toolgrade.core.view import TraceView
from toolgrade.formats.registry import find_sources, read_traces
from toolgrade.gates.arguments import check_arguments
from toolgrade.gates.equality import equal
from toolgrade.gates.selection import check_selection

FILE = Path(__file__).resolve().parents[2] / "shared/data/bfcl/model_outputs_with_ast_checker_verdicts.jsonl"
FOLDED = str.maketrans("", "", " ,./-_*^")


class Graded(NamedTuple):
    trace: Trace
    case: Case
    theirs: bool
    ours: bool
    findings: tuple[Finding, ...]


def grade(path: Path) -> Iterator[Graded]:
    """Yield every output with the checker's verdict and ours: selection and arguments passed."""
    sources = [(source, reader) for source, reader in find_sources(path) if not isinstance(reader, str)]
    cases = {
        record.case.id: record.case for source, reader in sources for record in reader.cases(source) if record.case
    }
    for record in read_traces(path):
        assert record.trace is not None, record.error
        case = cases[record.trace.case_id]
        view = TraceView(record.trace, {tool.name: tool for tool in case.tools or ()})
        selection = check_selection(case.expected.selection, view)
        arguments = check_arguments(case.expected.arguments, view)
        ours = selection.status == arguments.status == "passed"
        found = (*selection.findings, *arguments.findings)
        yield Graded(record.trace, case, record.trace.metadata["valid"], ours, found)


def classify(one: Graded) -> str:
    """Return the class of a disagreement, from the data and not from the checker's message."""
    return _stricter(one) if one.theirs else _laxer(one)


def _stricter(one: Graded) -> str:
    names = {finding.name for finding in one.findings}
    if names <= {"out_of_range", "hallucinated_parameter"}:
        return "answer_breaks_schema"
    if names == {"wrong_value"}:
        pairs = [_values(one, finding) for finding in one.findings]
        if all(_among(actual, accepted, str.lower) for actual, accepted in pairs):
            return "case_folding"
        if all(_among(actual, accepted, _fold) for actual, accepted in pairs):
            return "punctuation_folding"
    return "unclassified"


def _laxer(one: Graded) -> str:
    calls = {call.name: call.arguments or {} for message in one.trace.messages for call in message.tool_calls}
    tools = {tool.name: tool for tool in one.case.tools or ()}
    classes = set()
    for entry in one.case.expected.arguments:
        given, schema = calls[entry.tool], tools[entry.tool].parameters["properties"]
        for name in entry.values:
            kinds = schema[name]
            if name not in given and equal(kinds.get("default"), entry.values[name]) and not _optional(entry, name):
                classes.add("default_omitted")
            elif given.get(name) == [] and kinds.get("type") == "array":
                classes.add("empty_array")
            elif kinds.get("items", {}).get("type") == "number" and any(type(item) is int for item in given[name]):
                classes.add("integer_in_float_array")
    return classes.pop() if len(classes) == 1 else "unclassified"


def _optional(entry: ArgumentsExpected, name: str) -> bool:
    rule = entry.compare.get(f"$.{name}")
    return rule is not None and rule.or_absent


def _values(one: Graded, finding: Finding) -> tuple[Any, list[Any]]:
    """Return the whole argument that a finding is about, and all that the answer file accepts for its parameter."""
    name = (finding.place.pointer or "/").split("/")[1]
    calls = [call for message in one.trace.messages for call in message.tool_calls]
    accepted: list[Any] = []
    for entry in one.case.expected.arguments:
        if entry.tool == finding.place.tool and name in entry.values:
            rule = entry.compare.get(f"$.{name}")
            accepted += rule.values if rule is not None and rule.values else [entry.values[name]]
    return calls[finding.place.call].arguments[name], accepted


def _among(actual: Any, accepted: Iterable[Any], fold: Callable[[str], str]) -> bool:
    return any(_folded(value, fold) == _folded(actual, fold) for value in accepted)


def _folded(value: Any, fold: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return fold(value)
    if isinstance(value, list):
        return [_folded(item, fold) for item in value]
    return value


def _fold(text: str) -> str:
    return text.translate(FOLDED).lower().replace("'", '"')


def main(arguments: list[str]) -> None:
    paths = [Path(argument) for argument in arguments if not argument.startswith("--")]
    outputs, agreed = 0, 0
    classes: defaultdict[str, Counter[str]] = defaultdict(Counter)
    table: Counter[str] = Counter()
    for one in grade(paths[0] if paths else FILE):
        outputs, agreed = outputs + 1, agreed + (one.ours == one.theirs)
        table[f"theirs_{'valid' if one.theirs else 'invalid'}_ours_{'passed' if one.ours else 'failed'}"] += 1
        if one.ours != one.theirs:
            name = classify(one)
            classes["theirs_valid" if one.theirs else "theirs_invalid"][name] += 1
            if "--list" in arguments:
                print(f"{name} | {one.trace.id} | {'; '.join(map(str, one.findings)) or 'no finding'}")
    line = {
        "benchmark": "bfcl_agreement",
        "outputs": outputs,
        "agree": agreed,
        "agreement": round(agreed / outputs, 5),
        "table": dict(table),
        "disagreements": {side: dict(counts.most_common()) for side, counts in classes.items()},
    }
    print(json.dumps(line))


if __name__ == "__main__":
    main(sys.argv[1:])
