"""Whatever a file holds, reading ends in traces or in errors that name the file: it never raises and never hangs."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolgrade.formats.convert import convert
from toolgrade.formats.registry import FORMATS, find_sources, read_traces

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=12,
)
ODD: tuple[Any, ...] = (
    None,
    True,
    0,
    -1.5,
    "",
    "x",
    [],
    {},
    [None],
    [[]],
    {"": None},
    "\x00",
    10**30,
    ["x"],
    {"role": 5},
)

SEEDS: dict[str, Any] = {
    "native": {
        "schema": "toolgrade.trace/1",
        "id": "a",
        "messages": [{"role": "assistant", "tool_calls": [{"name": "f", "arguments": {"x": 1}}]}],
    },
    "openai-chat": {
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "hi"}, {"type": "image_url"}]},
            {"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "f", "arguments": "{}"}}]},
            {"role": "tool", "tool_call_id": "c", "content": "1"},
        ],
        "tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}],
        "metadata": {"case_id": "k"},
        "usage": {"prompt_tokens": 3},
    },
    "tau-bench": [
        {
            "task_id": 1,
            "trial": 0,
            "reward": 1.0,
            "info": {"task": {"actions": [{"name": "f", "kwargs": {"a": 1}}], "instruction": "do", "outputs": ["4"]}},
            "traj": [{"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}}],
        }
    ],
    "tau2-bench": {
        "info": {"environment_info": {"domain_name": "d"}, "agent_info": {"llm": "m"}},
        "tasks": [
            {
                "id": "1",
                "user_scenario": {"instructions": {"known_info": "x"}},
                "evaluation_criteria": {"actions": [{"name": "f", "arguments": {"a": 1}, "compare_args": ["a"]}]},
            }
        ],
        "simulations": [
            {
                "task_id": "1",
                "trial": 0,
                "duration": 1.5,
                "reward_info": {"reward": 1.0},
                "messages": [
                    {"role": "assistant", "tool_calls": [{"id": "c", "name": "f", "arguments": {"a": 1}}]},
                    {"role": "tool", "id": "c", "content": "1", "error": False, "requestor": "assistant"},
                    {"role": "user", "tool_calls": [{"id": "u", "name": "g", "requestor": "user"}]},
                ],
            }
        ],
    },
    "bfcl": {"id": "simple_1", "result": [{"f": '{"a": 1}'}], "latency": 2, "input_token_count": 1},
    "bfcl-questions": {
        "id": "simple_1",
        "question": [[{"role": "user", "content": "q"}]],
        "function": [{"name": "f", "parameters": {"type": "dict", "properties": {"a": {"type": "float"}}}}],
    },
}


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield (container, key) of everything in a JSON value."""
    for key, item in value.items() if isinstance(value, dict) else enumerate(value):
        yield value, key
        if isinstance(item, dict | list):
            yield from places(item)


def drain(path: Path, format: str | None = None) -> None:
    for record in read_traces(path, format):
        assert (record.trace is None) != (record.error is None)
        assert record.error is None or record.error.startswith(str(path))
    for source, found in find_sources(path, format):
        if not isinstance(found, str) and found.cases is not None:
            for case in found.cases(source):
                assert (case.case is None) != (case.error is None)


@given(st.binary(max_size=400))
def test_arbitrary_bytes(tmp_path_factory: pytest.TempPathFactory, raw: bytes) -> None:
    file = tmp_path_factory.getbasetemp() / "bytes.json"
    file.write_bytes(raw)
    drain(file)


@given(JSON, st.sampled_from([format.name for format in FORMATS]))
def test_arbitrary_json_read_as_every_format(tmp_path_factory: pytest.TempPathFactory, value: Any, name: str) -> None:
    file = tmp_path_factory.getbasetemp() / "value.json"
    file.write_text(json.dumps(value))
    drain(file, name)


@pytest.mark.parametrize("name", SEEDS)
def test_a_wrong_value_anywhere_in_a_good_file(tmp_path: Path, name: str) -> None:
    file = tmp_path / "seed.json"
    count = sum(1 for _ in places(SEEDS[name]))
    for number in range(count):
        for odd in (*ODD, "removed"):
            value = copy.deepcopy(SEEDS[name])
            container, key = list(places(value))[number]
            if odd == "removed":
                del container[key]
            else:
                container[key] = odd
            file.write_text(json.dumps(value))
            drain(file, name)


@pytest.mark.parametrize("name", SEEDS)
def test_a_file_cut_anywhere(tmp_path: Path, name: str) -> None:
    raw = json.dumps(SEEDS[name]).encode()
    file = tmp_path / "cut.json"
    for end in range(0, len(raw), 7):
        file.write_bytes(raw[:end])
        (record,) = read_traces(file)
        assert record.trace is None and record.error is not None


def test_nesting_of_ten_thousand_levels_in_arguments_is_a_parse_error_of_that_call(tmp_path: Path) -> None:
    value = copy.deepcopy(SEEDS["openai-chat"])
    value["messages"][1]["tool_calls"][0]["function"]["arguments"] = '{"a":' * 10_000
    file = tmp_path / "deep.json"
    file.write_text(json.dumps(value))
    (record,) = read_traces(file)
    (call,) = record.trace.messages[1].tool_calls
    assert call.arguments is None and call.arguments_raw == '{"a":' * 10_000 and "recursion" in call.parse_error


def test_a_number_that_json_lacks_costs_only_the_trace_that_holds_it_where_it_counts(tmp_path: Path) -> None:
    value = copy.deepcopy(SEEDS["tau2-bench"])
    value["simulations"] = [copy.deepcopy(value["simulations"][0]) for _ in range(3)]
    first, second, _ = value["simulations"]
    first["agent_cost"] = float("nan")
    second["messages"][1]["content"] = {"price": float("inf")}
    file = tmp_path / "nan.json"
    file.write_text(json.dumps(value))
    assert [record.error for record in read_traces(file)] == [
        None,
        f"{file}: simulations[1]: content: holds a number that is NaN or infinite, which JSON does not have.",
        None,
    ]


def test_one_bad_record_never_costs_the_batch(tmp_path: Path) -> None:
    good = SEEDS["tau-bench"][0]
    file = tmp_path / "runs.json"
    file.write_text(json.dumps([good, {"task_id": 2, "traj": [{"role": "robot"}]}, 7, good]))
    records = list(read_traces(file))
    assert [record.trace is not None for record in records] == [True, False, False, True]
    assert records[1].error == (
        f'{file}: [1].traj[0].role: found text "robot", expected system, developer, user, assistant, tool or function.'
    )
    assert records[2].error == f"{file}: [2]: found a number 7, expected an object."
    done = convert(file, tmp_path / "out")
    assert (done.trace_count, done.case_count) == (2, 1) and len(done.errors) == 4
