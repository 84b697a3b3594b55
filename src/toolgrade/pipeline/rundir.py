"""The run directory: `run.json`, `cases.json`, `results.jsonl`, `traces.jsonl`, `summary.json`.

Results and traces grow by one line a record, in step, so that a run killed at any moment can go on: what
both files hold completely is kept, a torn tail is cut off. The JSON files are replaced atomically.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import from_json

from toolgrade.core.case import Case
from toolgrade.core.result import TraceResult
from toolgrade.core.tool import ToolSpec
from toolgrade.core.trace import Trace
from toolgrade.errors import ConfigError, UnreadableError
from toolgrade.formats.native import write_trace
from toolgrade.formats.registry import read_traces
from toolgrade.locking import held
from toolgrade.pipeline.summary import Summary
from toolgrade.pipeline.thresholds import ThresholdResult

RUN, RESULTS, TRACES, SUMMARY = "run.json", "results.jsonl", "traces.jsonl", "summary.json"
CASES = "cases.json"
GATED, REVIEW = "gated.jsonl", "review.jsonl"
"""Of a judged run: the results before the judges, and what people should look at."""

BUFFER = 1 << 18

_Listed = TypeVar("_Listed", bound=BaseModel)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold a run directory for this process alone, making it where it is missing; a killed process lets go.

    Where the system or its file system has no such locks, nothing is held.

    Raises:
        UnreadableError: the directory cannot be made.
        ConfigError: another process is grading into it.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UnreadableError(f"{folder}: cannot make the run directory: {error.strerror}") from error
    with ExitStack() as stack:
        try:
            stack.enter_context(held(folder, wait=False))
        except BlockingIOError as error:
            raise ConfigError(
                f"{folder}: another process is grading into it; wait until it ends, or choose another --out"
            ) from error
        yield


class RunWriter:
    """Appends graded traces to a `locked` run directory, going on where an interrupted run of the same inputs stopped.

    `done` is how many records are already there. `results` names the file of results.
    """

    def __init__(self, folder: Path, identity: str, about: dict[str, Any], results: str = RESULTS) -> None:
        self.folder = folder
        self._file = results
        self._check_identity(identity)
        write_json(folder / RUN, {"identity": identity, **about})
        self.done = _trim(folder / results, folder / TRACES)

    def _check_identity(self, identity: str) -> None:
        path = self.folder / RUN
        if path.exists():
            if read_json(path).get("identity") != identity:
                raise ConfigError(
                    f"{self.folder}: holds a run of other inputs (traces, cases, tools or settings differ); "
                    "choose another --out, or delete that directory"
                )
        elif any(self.folder.iterdir()):
            raise ConfigError(f"{self.folder}: is not empty and holds no run; choose another --out")

    def __enter__(self) -> Self:
        self._results: BinaryIO = (self.folder / self._file).open("ab", buffering=BUFFER)
        self._traces: BinaryIO = (self.folder / TRACES).open("ab", buffering=BUFFER)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, where: TracebackType | None
    ) -> None:
        self._traces.close()
        self._results.close()

    def add(self, result: TraceResult, trace: Trace | None) -> None:
        """Append one result and its trace (None where the record could not be read)."""
        self._traces.write(write_trace(trace) if trace is not None else b"null\n")
        self._results.write(result_line(result))

    def existing(self) -> Iterator[TraceResult]:
        """Yield the results that are already there, in order."""
        yield from read_results(self.folder, self.done, self._file)


def _trim(results: Path, traces: Path) -> int:
    """Cut both files to the records that both hold completely; return how many."""
    kept = min(_complete_lines(results), _complete_lines(traces))
    for path in (results, traces):
        if path.exists():
            with path.open("r+b") as file:
                for _ in range(kept):
                    file.readline()
                file.truncate(file.tell())
    return kept


def _complete_lines(path: Path) -> int:
    if not path.exists():
        return 0
    with path.open("rb") as file:
        return sum(line.endswith(b"\n") for line in file)


def result_line(result: TraceResult) -> bytes:
    """Return a result as one line of JSON."""
    return result.__pydantic_serializer__.to_json(result, exclude_defaults=True) + b"\n"


def read_results(folder: Path, most: int | None = None, name: str = RESULTS) -> Iterator[TraceResult]:
    """Yield the results of a run, in order.

    Raises:
        UnreadableError: the file is missing or a line is no result.
    """
    path = folder / name
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file):
                if most is not None and number >= most:
                    return
                try:
                    yield TraceResult.model_validate_json(line)
                except ValueError as error:
                    raise UnreadableError(f"{path}:{number + 1}: no result line: {error}") from error
    except OSError as error:
        raise UnreadableError(f"{path}: {error.strerror}; expected a run directory") from error


def read_traces_of(folder: Path) -> Iterator[Trace | None]:
    """Yield the traces of a run in the order of its results; None for a record that could not be read."""
    for record in read_traces(folder / TRACES, "native"):
        yield record.trace


def read_graded(folder: Path) -> Iterator[tuple[TraceResult, Trace | None]]:
    """Yield each result of a run with its trace, None for a record that could not be read.

    Raises:
        UnreadableError: a file is missing or damaged, or the two hold different numbers of lines.
    """
    traces = read_traces_of(folder)
    for result in read_results(folder):
        try:
            trace = next(traces)
        except StopIteration:
            raise UnreadableError(f"{folder / TRACES}: ends before {RESULTS} does; grade into {folder} again") from None
        yield result, trace
    for _ in traces:
        raise UnreadableError(f"{folder / RESULTS}: ends before {TRACES} does; grade into {folder} again")


def read_run(folder: Path) -> tuple[Summary, tuple[ThresholdResult, ...]]:
    """Return the summary and the threshold results of a finished run.

    Raises:
        UnreadableError: there is no finished run in the directory, or one of another version.
    """
    path = folder / SUMMARY
    if not path.exists():
        begun = (
            "a run that was not finished; the command that began it goes on" if (folder / RUN).exists() else "no run"
        )
        raise UnreadableError(f"{folder}: holds {begun}; expected the directory of a finished run, as `grade` names it")
    whole = read_json(path)
    try:
        thresholds = tuple(ThresholdResult.model_validate(item) for item in whole.pop("thresholds", ()))
        whole.pop("exit_code", None)
        return Summary.model_validate(whole), thresholds
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"]))
        raise UnreadableError(f"{path}: {field}: {first['msg']}; grade again with this version") from error


def write_cases(folder: Path, cases: Iterable[Case], tools: Mapping[str, ToolSpec] | None) -> None:
    """Write the cases that a run is graded against, each with the place where it is written, and the tools on offer."""
    told = [{"place": case.place, **case.model_dump(mode="json", exclude_unset=True)} for case in cases]
    offered = None if tools is None else [tool.model_dump(mode="json") for tool in tools.values()]
    write_json(folder / CASES, {"cases": told, "tools": offered})


def read_tools(folder: Path) -> dict[str, ToolSpec]:
    """Return the tools on offer in a run by name; none where neither the suite nor the user named any.

    Raises:
        UnreadableError: the directory holds no run.
    """
    return {tool.name: tool for tool in _listed(folder / CASES, "tools", ToolSpec)}


def read_cases(folder: Path) -> dict[str, Case]:
    """Return the cases that a run was graded against, by id.

    Raises:
        UnreadableError: the directory holds no run.
    """
    return {case.id: case for case in _listed(folder / CASES, "cases", Case)}


def _listed(path: Path, key: str, model: type[_Listed]) -> list[_Listed]:
    try:
        return [model.model_validate(item) for item in read_json(path).get(key) or ()]
    except (ValidationError, TypeError) as error:
        raise UnreadableError(f"{path}: {key}: {error}; grade again with this version") from error


def read_json(path: Path) -> dict[str, Any]:
    """Return the object in a JSON file.

    Raises:
        UnreadableError: there is no such file, or it holds no JSON object.
    """
    try:
        value = from_json(path.read_bytes())
    except OSError as error:
        raise UnreadableError(f"{path}: {error.strerror}") from error
    except ValueError as error:
        raise UnreadableError(f"{path}: no valid JSON: {error}") from error
    if not isinstance(value, dict):
        raise UnreadableError(f"{path}: expected a JSON object, found {type(value).__name__}")
    return value


def write_lines(path: Path, lines: Iterable[bytes]) -> None:
    """Write a file of lines in one step: a reader sees the old file or the new one, never half of either."""
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    with fresh.open("wb", buffering=BUFFER) as file:
        file.writelines(lines)
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(path)


def write_json(path: Path, value: dict[str, Any]) -> None:
    """Write a JSON file in one step: a reader sees the old file or the new one, never half of either."""
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    with fresh.open("w", encoding="utf-8") as file:
        json.dump(value, file, ensure_ascii=False, indent=1, sort_keys=False)
        file.write("\n")
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(path)
