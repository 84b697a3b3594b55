"""Suites: the whole case format, its mistakes with their places, and the traps of YAML."""

# ruff: noqa: E501 - messages are compared whole
from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from toolgrade.core.case import Suite
from toolgrade.errors import ConfigError, UnreadableError
from toolgrade.formats.cases import load_suite
from toolgrade.formats.yaml_text import read_yaml, write_yaml

WHOLE = """\
suite: airline
tools: tools.json
defaults: {aggregate: {policy: hybrid, must_pass: [outcome], weights: {ordering: 1}, threshold: 0.5}}
cases:
  - id: cancel
    input: "Cancel 4WQ150."
    tags: [misleading_identifier, error:400]
    expected:
      selection:
        required: [get, cancel]
        extras: [search]
      arguments:
        - {tool: cancel, values: {reservation_id: "4WQ150", reason: duplicate}, compare: {$.reason: semantic}}
      ordering:
        - {before: get, after: cancel}
      outcome:
        state: [{path: "$.reservations['4WQ150'].status", equals: cancelled}]
  - id: nothing
    expected:
      selection: {required: []}
    aggregate: {policy: binary}
"""


def write(folder: Path, text: str, name: str = "cases.yaml") -> Path:
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return file


def load(folder: Path, text: str, name: str = "cases.yaml") -> Suite:
    return load_suite(write(folder, text, name))


def test_a_whole_suite_with_its_tools_defaults_and_places(tmp_path: Path) -> None:
    (tmp_path / "tools.json").write_text('[{"name": "get"}, {"name": "cancel"}, {"name": "search"}]')
    suite = load(tmp_path, WHOLE)
    assert (suite.name, list(suite.cases), list(suite.tools or ())) == (
        "airline",
        ["cancel", "nothing"],
        ["get", "cancel", "search"],
    )
    cancel, nothing = suite.cases.values()
    assert (cancel.place, nothing.place) == (f"{tmp_path}/cases.yaml:5", f"{tmp_path}/cases.yaml:18")
    assert (cancel.aggregate.policy, nothing.aggregate.policy) == ("hybrid", "binary")
    assert cancel.expected and cancel.expected.arguments and cancel.expected.selection
    assert cancel.expected.arguments[0].compare["$.reason"].kind == "semantic"
    assert cancel.expected.selection.extras == ("search",)


def test_yaml_json_and_json_lines_say_the_same(tmp_path: Path) -> None:
    value = read_yaml(WHOLE.replace("tools: tools.json\n", ""), "x").value
    header = {key: value[key] for key in ("suite", "defaults")}
    lines = "\r\n".join(json.dumps(item) for item in [header, *value["cases"]])
    suites = [
        load(tmp_path, "\ufeff" + json.dumps(value), "a.json"),
        load(tmp_path, "\ufeff" + lines + "\r\n\r\n", "a.jsonl"),
        load(tmp_path, WHOLE.replace("tools: tools.json\n", "").replace("\n", "\r\n")),
    ]
    assert suites[0].cases == {
        k: v.model_copy(update={"place": suites[0].cases[k].place}) for k, v in suites[2].cases.items()
    }
    assert [case.place for case in suites[1].cases.values()] == [f"{tmp_path}/a.jsonl:{line}" for line in (2, 3)]
    assert [case.place for case in suites[0].cases.values()] == [f"{tmp_path}/a.json: cases[{n}]" for n in (0, 1)]
    assert suites[1].name == "airline"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("cases:\n - id: a\n   expected:\n     selektion: {required: []}\n",
         "c.yaml:4: case 'a': expected.selektion: unknown field. Did you mean 'selection'?"),
        ("cases:\n - id: a\n   expected:\n     selection:\n       requird: [x]\n",
         "c.yaml:5: case 'a': expected.selection.requird: unknown field. Did you mean 'required'?"),
        ("cases:\n - id: a\n   expected: {arguments: [{tool: t, values: {}, extrs: forbid}]}\n",
         "c.yaml:3: case 'a': expected.arguments[0].extrs: unknown field. Did you mean 'extras'?"),
        ("cases:\n - id: a\n - id: b\n - id: a\n",
         "c.yaml:4: case 'a': found the id a second time (first at c.yaml:2), expected each id once. Rename or remove one of them."),
        ("cases:\n - id: 7\n",
         "c.yaml:2: case 7: id: found a number 7, expected text (write it in quotes)."),
        ("cases:\n - input: hello\n", "c.yaml:2: case without id: id: is missing. Add it."),
        ("cases:\n - id: a\n   expected:\n     efficiency: {}\n",
         "c.yaml:4: case 'a': expected.efficiency: is declared but empty; state an expectation or remove the field."),
        ("cases:\n - id: a\n   expected:\n     efficiency:\n",
         "c.yaml:4: case 'a': expected.efficiency: is declared but empty; state an expectation or remove it."),
        ("cases:\n - id: a\n   expected:\n     selection: {required: }\n",
         "c.yaml:4: case 'a': expected.selection.required: found null, expected a value. Remove the field to leave it open."),
        ("cases:\n - id: a\n   expected: {selection: {required: [t], extras: alow}}\n",
         "c.yaml:3: case 'a': expected.selection.extras: found text \"alow\", expected 'allow' or 'forbid'. Did you mean 'allow'?"),
        ("cases:\n - id: a\n   aggregate: {policy: weighted}\n",
         "c.yaml:3: case 'a': aggregate: policy 'weighted' needs weights and a threshold."),
        ("cases:\n - id: a\n   place: x\n", "c.yaml:3: case 'a': place: unknown field. It is set while reading."),
        ("cases:\n - id: a\n   tools: [{name: t, parameters: 3}]\n",
         "c.yaml:3: case 'a': tools[0].parameters: found a number 3, expected an object."),
        ("cases:\n - just text\n", "c.yaml:2: found text \"just text\", expected a case (a mapping with `id`)."),
        ("cases: []\n", "c.yaml: found no case, expected `cases` with at least one."),
        ("case: []\n", "c.yaml: cases: found null, expected a list of cases. Did you mean 'case'?"),
        ("tols: t.json\ncases: [{id: a}]\n", "c.yaml: tols: unknown field. Did you mean 'tools'?"),
        ("defaults: {agregate: {}}\ncases: [{id: a}]\n", "c.yaml: defaults.agregate: unknown field. Did you mean 'aggregate'?"),
        ("hello\n", 'c.yaml: found text "hello", expected a mapping with `cases`.'),
        ("", "c.yaml: found null, expected a mapping with `cases`."),
    ],
)  # fmt: skip
def test_a_mistake_is_named_with_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, text, "c.yaml")
    with pytest.raises(ConfigError) as caught:
        load_suite(Path("c.yaml"))
    assert str(caught.value) == message


def test_all_mistakes_are_named_at_once(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, "cases:\n - {id: a, tag: []}\n - {id: b, expcted: {}}\n")
    assert str(caught.value).count("unknown field") == 2


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: [1\nb: 2", ":2: no YAML"),
        ("a: 1\na: 2", ":2: found the key 'a' a second time"),
        ("a: !!python/object/apply:os.system ['x']", "found the tag 'tag:yaml.org,2002:python/object/apply:os.system'"),
        ("a: 1\n---\nb: 2", "found a second document"),
        ("? [1]\n: 2", "found a key that is no text"),
        ("a: &x [*x]", "found the alias *x"),
        ("[" * 10_000, "nesting depth"),
        ("[" * 200 + "]" * 200, "more than 100 levels"),
        ("a: \x07", "no YAML"),
    ],
)
def test_yaml_that_is_refused(text: str, words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read_yaml(text, "x.yaml")
    assert words in str(caught.value)


def test_a_billion_laughs_are_refused() -> None:
    bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
        f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 10)
    )
    with pytest.raises(ConfigError, match="aliases that expand to more than 1,000,000 values"):
        read_yaml(bomb, "x.yaml")


def test_plain_scalars_have_json_types_and_all_else_is_text() -> None:
    text = "[no, on, 2024-05-01, 007, 0x1F, 0o17, .inf, 1_000, 12:30, <<, =, 1e3, -0.5, 12, true, ~, null, '1']"
    assert read_yaml(text, "x").value == [
        "no", "on", "2024-05-01", "007", "0x1F", "0o17", ".inf", "1_000", "12:30", "<<", "=",
        1000.0, -0.5, 12, True, None, None, "1",
    ]  # fmt: skip


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(JSON)
def test_what_is_written_as_yaml_reads_back_equal(value: Any) -> None:
    again = read_yaml(write_yaml(value), "x").value
    assert json.dumps(again) == json.dumps(value)


@pytest.mark.parametrize(
    "text", ["no", "On", "2024-05-01", "12:30", "0x1F", "1_000", "007", "=", "<<", "null", "~", ""]
)
def test_text_is_written_so_that_other_yaml_readers_see_text_too(text: str) -> None:
    assert yaml.safe_load(write_yaml({"k": text, text: 1})) == {"k": text, text: 1}


@given(st.text() | st.binary().map(lambda raw: raw.decode("utf-8", "replace")))
def test_any_text_is_read_or_refused_clearly(text: str) -> None:
    try:
        read_yaml(text, "x.yaml")
    except ConfigError as error:
        assert str(error).startswith("x.yaml")


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(UnreadableError, match="No such file"):
        load_suite(tmp_path / "none.yaml")
    (tmp_path / "c.yaml").write_bytes(b"cases:\n  - id: \xff\n")
    with pytest.raises(ConfigError, match=r"c\.yaml:2: found bytes that are no UTF-8"):
        load_suite(tmp_path / "c.yaml")


def test_tools_that_a_case_file_names_and_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(UnreadableError, match=r"cases\.yaml: tools: .*tools\.json: cannot be read: No such file"):
        load(tmp_path, WHOLE)
