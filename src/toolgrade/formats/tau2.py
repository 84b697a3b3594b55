"""τ²-bench results: `{info, tasks, simulations}`, with messages of agent, user and both sides' tools.

In τ² the simulated user has tools of its own. Those calls are the user's, not the agent's: the agent neither
makes them nor sees their results. They are left out of `messages` and kept in `metadata.user_tool_calls`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from toolgrade.core.case import Case
from toolgrade.core.trace import Message, ToolResult, Trace
from toolgrade.formats.access import (
    as_list,
    as_object,
    as_text,
    describe,
    opt_int,
    opt_list,
    opt_number,
    opt_object,
    opt_text,
)
from toolgrade.formats.calls import read_call, read_text, read_usage
from toolgrade.formats.format import Format
from toolgrade.formats.reading import Part, read_cases, read_parts
from toolgrade.formats.record import CaseRecord, Malformed, Record
from toolgrade.formats.source import Source
from toolgrade.formats.tau_bench import gold_expected, rewarded

_ROLES = {"system": "system", "user": "user", "assistant": "assistant"}


def _domain(value: dict[str, Any]) -> str:
    info = opt_object(value.get("info"), "info")
    environment = opt_object(info.get("environment_info"), "info.environment_info")
    return opt_text(environment.get("domain_name"), "info.environment_info.domain_name") or "task"


def _model(value: dict[str, Any]) -> str | None:
    agent = opt_object(opt_object(value.get("info"), "info").get("agent_info"), "info.agent_info")
    return opt_text(agent.get("llm"), "info.agent_info.llm")


def _split(value: Any) -> Iterator[Part]:
    whole = as_object(value, "")
    context = (_domain(whole), _model(whole))
    for number, item in enumerate(as_list(whole.get("simulations"), "simulations")):
        yield Part(item, f"simulations[{number}]", context)


def _build(part: Part) -> Trace:
    item = as_object(part.value, "")
    domain, model = part.context
    task = as_text(opt_text(item.get("task_id"), "task_id"), "task_id")
    trial = opt_int(item.get("trial")) or 0
    messages, by_user = _messages(item.get("messages"))
    reward = opt_object(item.get("reward_info"), "reward_info")
    duration = opt_number(item.get("duration"))
    left = ("task_id", "trial", "messages", "duration", "start_time")
    metadata = {key: value for key, value in item.items() if key not in left and value is not None}
    return Trace(
        id=f"{domain}-{task}-trial-{trial}",
        case_id=f"{domain}-{task}",
        trial=trial,
        messages=messages,
        model=model,
        started_at=opt_text(item.get("start_time"), "start_time"),
        latency_ms=None if duration is None else duration * 1000,
        metadata=metadata | ({"user_tool_calls": by_user} if by_user else {}),
        **rewarded(reward.get("reward"), "reward_info.reward"),
    )


def _messages(value: Any) -> tuple[tuple[Message, ...], list[dict[str, Any]]]:
    """Return the agent's conversation, and the user's own tool calls and results as they were recorded."""
    out: list[Message] = []
    by_user: list[dict[str, Any]] = []
    for number, written in enumerate(as_list(value, "messages")):
        field = f"messages[{number}]"
        item = as_object(written, field)
        role = as_text(item.get("role"), f"{field}.role")
        if role == "tool":
            for result in item.get("tool_messages") or [item]:
                result = as_object(result, field)
                if result.get("requestor") == "user":
                    by_user.append(result)
                else:
                    out.append(_result(result, field))
        elif role in _ROLES:
            calls = opt_list(item.get("tool_calls"), f"{field}.tool_calls")
            mine = [call for call in calls if as_object(call, field).get("requestor", role) != "user"]
            by_user += [call for call in calls if call not in mine]
            if len(mine) == len(calls) or read_text(item.get("content")):
                out.append(_message(item, role, mine, field))
        else:
            raise Malformed(f"{field}.role", describe(role), "system, user, assistant or tool")
    return tuple(out), by_user


def _message(item: dict[str, Any], role: Any, calls: list[dict[str, Any]], field: str) -> Message:
    return Message(
        role=role,
        content=read_text(item.get("content")),
        tool_calls=tuple(
            read_call(call.get("name"), call.get("arguments"), call.get("id"), f"{field}.tool_calls[{number}]")
            for number, call in enumerate(calls)
        ),
        timestamp=opt_text(item.get("timestamp"), f"{field}.timestamp"),
        usage=read_usage(item.get("usage")) if role == "assistant" else None,
    )


def _result(item: dict[str, Any], field: str) -> Message:
    failed = item.get("error")
    return Message(
        role="tool",
        timestamp=opt_text(item.get("timestamp"), f"{field}.timestamp"),
        result=ToolResult(
            call_id=opt_text(item.get("id"), f"{field}.id"),
            content=item.get("content"),
            is_error=failed if isinstance(failed, bool) else None,
        ),
    )


def read(source: Source) -> Iterator[Record]:
    """Yield one record a simulation."""
    return read_parts(source, _build, _split)


def cases(source: Source) -> Iterator[CaseRecord]:
    """Yield one case a task."""
    return read_cases(source, _case, _split_tasks)


def _split_tasks(value: Any) -> Iterator[Part]:
    whole = as_object(value, "")
    domain = _domain(whole)
    for number, task in enumerate(as_list(whole.get("tasks"), "tasks")):
        yield Part(task, f"tasks[{number}]", domain)


def _case(part: Part, place: str) -> Case:
    task = as_object(part.value, "")
    criteria = opt_object(task.get("evaluation_criteria"), "evaluation_criteria")
    actions, by_user = [], []
    for number, written in enumerate(opt_list(criteria.get("actions"), "evaluation_criteria.actions")):
        field = f"evaluation_criteria.actions[{number}]"
        action = as_object(written, field)
        if action.get("requestor") == "user":
            by_user.append(action)
            continue
        values = opt_object(action.get("arguments"), f"{field}.arguments")
        compared = action.get("compare_args")
        if compared is not None:
            values = {name: value for name, value in values.items() if name in as_list(compared, field)}
        actions.append((as_text(action.get("name"), f"{field}.name"), values))
    kept = {name: value for name, value in criteria.items() if name != "actions" and value}
    return Case(
        id=f"{part.context}-{as_text(opt_text(task.get('id'), 'id'), 'id')}",
        input=_input(opt_object(task.get("user_scenario"), "user_scenario")),
        expected=gold_expected(actions),
        metadata=kept | ({"user_actions": by_user} if by_user else {}),
        place=place,
    )


def _input(scenario: dict[str, Any]) -> str | None:
    """Return what the simulated user was told: the text itself, or the parts of the instructions as lines."""
    told = scenario.get("instructions")
    if isinstance(told, dict):
        wanted = ("reason_for_call", "known_info", "unknown_info", "task_instructions")
        return "\n".join(str(told[key]) for key in wanted if told.get(key)) or None
    return read_text(told)


def _detect(source: Source) -> bool:
    return isinstance(source.first, dict) and {"tasks", "simulations"} <= source.first.keys()


FORMAT = Format(
    name="tau2-bench",
    description="τ²-bench results: tasks and simulations of one run",
    looked_for='an object with "tasks" and "simulations"',
    detect=_detect,
    read=read,
    cases=cases,
)
