"""τ-bench results: a list of `{task_id, trial, reward, info, traj}`; `traj` holds OpenAI chat messages.

The recorded reward is kept as final state and marked as a verdict that the source gave: the database itself
is not in the file. The gold actions become required calls with extras allowed, and their argument values.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from toolgrade.core.case import Case
from toolgrade.core.expected import ArgumentsExpected, Expected, OutcomeExpected, SelectionExpected, StateAssertion
from toolgrade.core.trace import Trace
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
from toolgrade.formats.format import Format
from toolgrade.formats.openai_chat import read_messages
from toolgrade.formats.reading import Part, read_cases, read_parts
from toolgrade.formats.record import CaseRecord, Malformed, Record
from toolgrade.formats.source import Source


def rewarded(reward: Any, field: str = "reward") -> dict[str, Any]:
    """Return the trace fields for a recorded reward: final state `{"reward": r}`, marked as a verdict."""
    if reward is None:
        return {}
    if opt_number(reward) is None:
        raise Malformed(field, describe(reward), "a number")
    return {"final_state": {"reward": reward}, "final_state_basis": "recorded_verdict"}


def gold_expected(actions: list[tuple[str, dict[str, Any]]]) -> Expected:
    """Return what gold actions and a reward mean: required calls, their values, and `$.reward` equal to 1.

    An empty gold list says nothing about calls (the task wants the database unchanged, and reading is free),
    so `selection` and `arguments` are absent then.
    """
    arguments = tuple(ArgumentsExpected(tool=name, values=values) for name, values in actions if values)
    fields: dict[str, Any] = {"outcome": OutcomeExpected(state=(StateAssertion(path="$.reward", equals=1),))}
    if actions:
        fields["selection"] = SelectionExpected(required=tuple(name for name, _ in actions))
    if arguments:
        fields["arguments"] = arguments
    return Expected(**fields)


def _build(part: Part) -> Trace:
    item = as_object(part.value, "")
    info = opt_object(item.get("info"), "info")
    task = _task_id(item)
    trial = opt_int(item.get("trial")) or 0
    rest = {key: value for key, value in item.items() if key not in ("task_id", "trial", "reward", "info", "traj")}
    return Trace(
        id=f"task-{task}-trial-{trial}",
        case_id=f"task-{task}",
        trial=trial,
        messages=read_messages(item.get("traj"), "traj"),
        metadata={key: value for key, value in info.items() if key != "task"} | rest,
        **rewarded(item.get("reward")),
    )


def _task_id(item: dict[str, Any]) -> str:
    return as_text(opt_text(item.get("task_id"), "task_id"), "task_id")


def _split(value: Any) -> Iterator[Part]:
    if isinstance(value, dict):
        yield Part(value)
        return
    for number, item in enumerate(as_list(value, "")):
        yield Part(item, f"[{number}]")


def read(source: Source) -> Iterator[Record]:
    """Yield one record a trial."""
    return read_parts(source, _build, _split)


def cases(source: Source) -> Iterator[CaseRecord]:
    """Yield one case a task, in the order in which the tasks first occur."""
    seen: set[str] = set()

    def first_trials(value: Any) -> Iterator[Part]:
        for part in _split(value):
            task = str(as_object(part.value, part.field).get("task_id"))
            if task not in seen:
                seen.add(task)
                yield part

    return read_cases(source, _case, first_trials)


def _case(part: Part, place: str) -> Case:
    item = as_object(part.value, "")
    task = as_object(opt_object(item.get("info"), "info").get("task"), "info.task")
    actions = []
    for number, action in enumerate(opt_list(task.get("actions"), "info.task.actions")):
        field = f"info.task.actions[{number}]"
        written = as_object(action, field)
        name = as_text(written.get("name"), f"{field}.name")
        actions.append((name, opt_object(written.get("kwargs"), f"{field}.kwargs")))
    # τ-bench looks for `outputs` with commas taken out of the answers, and has already put that into the reward.
    metadata = {"tau_bench_outputs": task["outputs"]} if task.get("outputs") else {}
    return Case(
        id=f"task-{_task_id(item)}",
        input=opt_text(task.get("instruction"), "info.task.instruction"),
        expected=gold_expected(actions),
        metadata=metadata,
        place=place,
    )


def _detect(source: Source) -> bool:
    return {"task_id", "traj"} <= source.first_object.keys()


FORMAT = Format(
    name="tau-bench",
    description="τ-bench results: one record a trial, with gold actions and reward",
    looked_for='records with "task_id" and "traj"',
    detect=_detect,
    read=read,
    cases=cases,
)
