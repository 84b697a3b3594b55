"""Every way to make a case or a run easier to pass, one at a time, and none where it became harder or stayed."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolgrade.core.case import Case
from toolgrade.pipeline.baseline import Baseline, compare
from toolgrade.pipeline.loosening import loosened

SELECTION = {"required": ["look", "cancel"], "forbidden": ["book"], "extras": ["note"], "alternatives": [["cancel"]]}
ENTRY = {"tool": "cancel", "values": {"id": "A1"}}
RECOVERY = {
    "fallbacks": {"look": ["search"]},
    "must_escalate": "hand_over",
    "may_give_up": False,
    "error_when": {"look": {"path": "$.error"}},
    "empty_is_error": ["look"],
    "faults": [{"tool": "look", "kind": "timeout"}],
}
HYBRID = {"policy": "hybrid", "must_pass": ["outcome", "arguments"], "weights": {"ordering": 1}, "threshold": 0.5}


def entry(**changes: Any) -> list[dict[str, Any]]:
    return [ENTRY | changes]


def comparing(**rules: Any) -> list[dict[str, Any]]:
    return entry(compare={"$.id": rules})


LOOSER: list[tuple[str, Any, Any, str]] = [
    ("selection", SELECTION, SELECTION | {"required": ["cancel"]}, "required: look removed"),
    ("selection", SELECTION, SELECTION | {"required": ["cancel"], "alternatives": []}, "required: look removed"),
    ("selection", SELECTION, SELECTION | {"forbidden": []}, "forbidden: book removed"),
    ("selection", SELECTION, SELECTION | {"extras": ["note", "think"]}, "extras: ['note'] → ['note', 'think']"),
    ("selection", SELECTION, SELECTION | {"extras": "allow"}, "extras: ['note'] → allow"),
    ("selection", SELECTION | {"extras": "forbid"}, SELECTION, "extras: forbid → ['note']"),
    ("selection", SELECTION, SELECTION | {"alternatives": [["cancel"], ["look"]]}, "alternatives: ['look'] added"),
    ("selection", SELECTION, SELECTION | {"judge_routes": True}, "judge_routes: turned on"),
    ("selection", {"required": []}, {"forbidden": ["book"]}, "no longer says that no tool may be called"),
    ("selection", SELECTION, None, "expected.selection: removed"),
    ("arguments", entry(), entry(values={"note": "x"}), "cancel.id: removed"),
    ("arguments", [ENTRY, {**ENTRY, "tool": "look"}], [ENTRY], "expected.arguments look: removed"),
    ("arguments", [ENTRY, entry(values={"id": "A2"})[0]], [ENTRY], "expected.arguments cancel: removed"),
    ("arguments", entry(), comparing(kind="text"), "loosened (exact → text)"),
    ("arguments", comparing(kind="number"), comparing(kind="ignore"), "loosened (number → ignore)"),
    ("arguments", comparing(kind="number", abs=1), comparing(kind="number", abs=2), "{'abs': 1.0} → number {'abs': 2"),
    ("arguments", comparing(kind="number"), comparing(kind="number", rel=0.1), "loosened (number → number {'rel': 0.1"),
    ("arguments", comparing(kind="one_of", values=["a", "b"]), comparing(kind="one_of", values=["a", "c"]), "loosened"),
    ("arguments", comparing(kind="regex", pattern="^A1$"), comparing(kind="regex", pattern="A"), "loosened"),
    ("arguments", comparing(kind="text"), comparing(kind="text", or_absent=True), "{'or_absent': True}"),
    (
        "arguments",
        entry(compare={"$.note": {"kind": "regex", "pattern": "."}}),
        entry(),
        "compare $.note: removed (regex {'pattern': '.'})",
    ),
    (
        "arguments",
        entry(values={"id": [1, 2]}, compare={"$.id": {"kind": "subset"}}),
        entry(values={"id": [1]}, compare={"$.id": {"kind": "subset"}}),
        "what `subset` asks for changed",
    ),
    ("arguments", entry(extras="forbid"), entry(), "extras: forbid → allow"),
    ("arguments", entry(default_is_absent=False), entry(), "default_is_absent: false → true"),
    ("arguments", entry(), entry(null_is_absent=True), "null_is_absent: false → true"),
    (
        "ordering",
        [{"before": "look", "after": "cancel"}, {"before": "look", "after": "book"}],
        [{"before": "look", "after": "book"}],
        "expected.ordering",
    ),
    ("efficiency", {"max_calls": 3}, {"max_calls": 4}, "max_calls: 3 → 4"),
    ("efficiency", {"max_calls": 3, "max_steps": 3}, {"max_calls": 3}, "max_steps: 3 → none"),
    (
        "utilization",
        {"must_use": [{"tool": "look", "path": "$.a"}, {"tool": "look", "path": "$.b"}]},
        {"must_use": [{"tool": "look", "path": "$.a"}]},
        "$.b",
    ),
    ("recovery", RECOVERY, RECOVERY | {"max_retries": 9}, "max_retries: 3 → 9"),
    ("recovery", RECOVERY, RECOVERY | {"must_escalate": None}, "must_escalate: removed"),
    ("recovery", RECOVERY, RECOVERY | {"may_give_up": True}, "may_give_up: false → true"),
    ("recovery", RECOVERY, RECOVERY | {"fallbacks": {"look": ["search", "ask"]}}, "fallbacks.look: ask added"),
    ("recovery", RECOVERY, RECOVERY | {"fallbacks": {}}, "fallbacks.look: removed"),
    ("recovery", RECOVERY, RECOVERY | {"error_when": {}}, "error_when.look: removed or changed"),
    ("recovery", RECOVERY, RECOVERY | {"empty_is_error": []}, "empty_is_error: look removed"),
    ("recovery", RECOVERY, RECOVERY | {"faults": []}, "recovery.faults"),
    ("outcome", {"outputs": ["a", "b"]}, {"outputs": ["a"]}, "outputs b removed or changed"),
    ("outcome", {"state": [{"path": "$.a", "equals": 1}]}, {"state": [{"path": "$.a", "exists": True}]}, "removed or"),
]


def case(check: str, field: Any, **more: Any) -> dict[str, Case]:
    expected = {check: field} if field is not None else {"efficiency": {"max_tokens": 1}}
    return {"a": Case.model_validate({"id": "a", "expected": expected, **more})}


@pytest.mark.parametrize(("check", "old", "new", "told"), LOOSER)
def test_one_loosening_is_one_sentence(check: str, old: Any, new: Any, told: str) -> None:
    found = list(loosened(case(check, old), case(check, new)))
    assert len(found) == 1, found
    assert found[0].startswith("case a: ")
    assert told in found[0]


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ({}, HYBRID, ["aggregate.policy: binary → hybrid"]),
        (HYBRID, {}, []),
        (HYBRID, HYBRID | {"threshold": 0.4}, ["aggregate.threshold: 0.5 → 0.4"]),
        (HYBRID, HYBRID | {"must_pass": ["outcome"]}, ["aggregate.must_pass: arguments removed"]),
        (HYBRID, HYBRID | {"must_pass": ["outcome", "arguments", "selection"]}, []),
        (
            HYBRID,
            HYBRID | {"weights": {"efficiency": 1}},
            ["aggregate.weights: {'ordering': 1.0} → {'efficiency': 1.0}"],
        ),
    ],
)
def test_the_aggregate_policy(old: Any, new: Any, told: list[str]) -> None:
    field = {"max_calls": 1}
    found = loosened(case("efficiency", field, aggregate=old), case("efficiency", field, aggregate=new))
    assert list(found) == [f"case a: {line}" for line in told]


@pytest.mark.parametrize(("check", "old", "new", "_"), [row for row in LOOSER if row[2] is not None])
def test_no_case_is_looser_than_itself(check: str, old: Any, new: Any, _: str) -> None:
    for field in (old, new):
        assert list(loosened(case(check, field), case(check, field))) == []


REQUIREMENTS: list[tuple[str, Any, Any]] = [
    ("selection", {"required": ["look"]}, {"required": ["look", "cancel"], "forbidden": ["book"], "extras": "forbid"}),
    ("selection", {"required": ["look"], "extras": ["a", "b"]}, {"required": ["look"], "extras": ["a"]}),
    ("selection", {"required": ["look"]}, {"required": ["look"], "extras": ["a"]}),
    ("arguments", entry(), [entry(values={"id": "A2"})[0], *entry()]),
    ("arguments", entry(), entry(values={"id": "A1", "note": "x"}, extras="forbid", default_is_absent=False)),
    ("arguments", comparing(kind="semantic"), comparing(kind="text")),
    ("arguments", comparing(kind="one_of", values=["a", "b"]), comparing(kind="one_of", values=["b"])),
    ("ordering", [{"before": "a", "after": "b"}], [{"before": "c", "after": "b"}, {"before": "a", "after": "b"}]),
    ("efficiency", {"max_calls": 4}, {"max_calls": 3, "max_steps": 9}),
    ("recovery", {"max_retries": 3}, RECOVERY | {"max_retries": 2}),
    ("outcome", {"outputs": ["a"]}, {"outputs": ["a", "b"], "state": [{"path": "$.a", "exists": True}]}),
]


@pytest.mark.parametrize(("check", "old", "new"), REQUIREMENTS)
def test_a_further_requirement_is_no_loosening(check: str, old: Any, new: Any) -> None:
    assert list(loosened(case(check, old), case(check, new))) == []


@given(st.lists(st.sampled_from([(check, old) for check, old, _, _ in LOOSER]), max_size=6), st.randoms())
def test_neither_is_a_suite_in_another_order(rows: list[tuple[str, Any]], random: Any) -> None:
    cases = {
        str(n): Case.model_validate({"id": str(n), "expected": {check: field}}) for n, (check, field) in enumerate(rows)
    }
    shuffled = list(cases.items())
    random.shuffle(shuffled)
    assert list(loosened(cases, dict(shuffled))) == []


def baseline(tags: list[str], **settings: Any) -> Baseline:
    about = {"id": "a", "tags": tags, "expected": {"efficiency": {"max_calls": 1}}}
    return Baseline(settings=settings, checks=("selection", "efficiency"), rates={}, cases=(about,))  # type: ignore[arg-type]


SLICE = {"selection": {"k": 4, "rate": 0.5, "tag": "steady"}}


@pytest.mark.parametrize(
    ("settings", "tags", "told"),
    [
        ({}, ["steady"], ["consistency threshold of selection: removed"]),
        (
            {"consistency": {"selection": {"k": 2, "rate": 0.5, "tag": "steady"}}},
            ["steady"],
            [
                "consistency threshold of selection: changed pass^4 >= 0.5 over tag steady → "
                "pass^2 >= 0.5 over tag steady"
            ],
        ),
        ({"consistency": SLICE}, [], ["case a: tag steady removed, over which a consistency threshold is set"]),
        ({"consistency": {"selection": {"k": 5, "rate": 0.6, "tag": "steady"}}}, ["steady"], []),
    ],
)
def test_the_consistency_slice(settings: Any, tags: list[str], told: list[str]) -> None:
    assert list(compare(baseline(["steady"], consistency=SLICE), baseline(tags, **settings))) == told


def test_coverage_release_and_checks() -> None:
    old = baseline([], require_coverage=["tool:*", "tag:no_tool"], release=True)
    new = baseline([], require_coverage=["tool:*"]).model_copy(update={"checks": ("efficiency",)})
    assert list(compare(old, new)) == [
        "release: turned off",
        "required coverage tag:no_tool: removed",
        "check selection: no longer run",
    ]
    assert list(compare(new, old)) == []
