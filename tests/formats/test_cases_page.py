"""docs/cases.md: its example loads, fits tools, and the page names every field that a person can write."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import BaseModel

from toolgrade.core.case import Case
from toolgrade.core.expected import Comparator
from toolgrade.core.tool import ToolSpec
from toolgrade.formats.cases import load_suite
from toolgrade.formats.registry import read_traces
from toolgrade.gates.contract import validate_case

DOCS = Path(__file__).parents[2] / "docs"
PARAMETERS = {name: {} for name in ("reservation_id", "reason", "fee", "notify")}
TOOLS = {
    name: ToolSpec(name=name, parameters={"type": "object", "properties": PARAMETERS})
    for name in (
        "get_reservation_details",
        "cancel_reservation",
        "book_reservation",
        "search_reservations",
        "transfer_to_human_agents",
    )
}


def models_in(annotation: Any) -> set[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return {annotation}.union(*(models_in(field.annotation) for field in annotation.model_fields.values()))
    return set().union(*map(models_in, get_args(annotation)))


def test_the_example_loads_and_uses_every_field(tmp_path: Path) -> None:
    page = (DOCS / "cases.md").read_text()
    (example,) = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    (tmp_path / "cases.yaml").write_text(example)
    suite = load_suite(tmp_path / "cases.yaml", TOOLS)
    for case in suite.cases.values():
        validate_case(case, suite.tools)
    expected = suite.cases["cancel-duplicate-booking"].expected
    assert expected.model_fields_set == set(type(expected).model_fields)
    for check in expected.model_fields_set - {"arguments", "ordering"}:
        field = getattr(expected, check)
        assert field.model_fields_set == set(type(field).model_fields), check
    assert expected.arguments[0].model_fields_set == set(type(expected.arguments[0]).model_fields)


def test_the_page_names_every_field_and_comparator() -> None:
    page = (DOCS / "cases.md").read_text()
    models = models_in(Case) - {ToolSpec}
    fields = {name for model in models for name, field in model.model_fields.items() if not field.exclude}
    kinds = set(get_args(Comparator.model_fields["kind"].annotation))
    assert [word for word in sorted((fields - {"kind"}) | kinds) if not re.search(rf"\b{word}\b", page)] == []


def test_the_native_example_reads(tmp_path: Path) -> None:
    (example,) = re.findall(r"```json\n(.*?)```", (DOCS / "formats" / "native.md").read_text(), re.DOTALL)
    (tmp_path / "t.jsonl").write_text(example.replace("\n", " "))
    (record,) = read_traces(tmp_path / "t.jsonl")
    assert record.trace is not None and len(record.trace.messages) == 4


@pytest.mark.parametrize("name", ["native", "openai-chat", "tau-bench", "tau2-bench", "bfcl"])
def test_each_format_has_its_page(name: str) -> None:
    assert f"(`{name}`" in (DOCS / "formats" / f"{name}.md").read_text().splitlines()[0]
