"""pytest plugin: one test per case and check, from recorded traces or from a fixture that runs an agent.

    @pytest.mark.toolgrade(cases="cases.yaml", traces="traces.jsonl")
    def test_airline(toolgrade):
        toolgrade.assert_check()

    @pytest.mark.toolgrade(cases="cases.yaml", traces_from="agent_run")
    def test_live(toolgrade):
        toolgrade.assert_check()

`traces_from` names a fixture of yours that takes `toolgrade_case` and returns a `Trace`, OpenAI chat messages,
or a list of traces (trials). It runs once a case; with xdist once a worker, so spread with `--dist loadfile`.
Relative paths start at the test file.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from toolgrade.core.case import Case, Suite
    from toolgrade.core.finding import Check
    from toolgrade.core.result import TraceResult

MARK = "toolgrade"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options, all of them prefixed."""
    group = parser.getgroup("toolgrade")
    group.addoption("--toolgrade-check", action="append", default=[], metavar="CHECK", help="only this check")
    group.addoption("--toolgrade-select", action="append", default=[], metavar="PATTERN", help="only matching cases")
    group.addoption(
        "--toolgrade-strict", action="store_true", help="fail where a check is undecided, instead of skipping"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Register the mark."""
    config.addinivalue_line(
        "markers", f"{MARK}(cases, traces=None, tools=None, traces_from=None): grade traces, a test per case and check"
    )


class Sources:
    """The suites and graded results of a test session, each made once; how many tests were made of them."""

    def __init__(self) -> None:
        self.suites: dict[tuple[Path, Path | None], Suite] = {}
        self.recorded: dict[tuple[Path, Path, Path | None], dict[str, list[TraceResult]]] = {}
        self.live: dict[tuple[str, str], list[TraceResult]] = {}
        self.chosen = 0
        self.nothing: str | None = None

    def suite(self, cases: Path, tools: Path | None) -> Suite:
        """Return the suite of a case file; every case is checked against its tools."""
        from toolgrade.formats.cases import load_suite
        from toolgrade.formats.tools import load_tools
        from toolgrade.gates.contract import validate_case

        if (cases, tools) not in self.suites:
            suite = load_suite(cases, load_tools(tools) if tools is not None else None)
            for case in suite.cases.values():
                own = {tool.name: tool for tool in case.tools} if case.tools is not None else suite.tools
                validate_case(case, own)
            self.suites[cases, tools] = suite
        return self.suites[cases, tools]

    def results(self, cases: Path, traces: Path, tools: Path | None) -> dict[str, list[TraceResult]]:
        """Return the graded traces of a file by case id; what cannot be read or joined is an error.

        Raises:
            UnreadableError: a record cannot be read, or belongs to no case.
        """
        from toolgrade.errors import UnreadableError
        from toolgrade.formats.join import join_case
        from toolgrade.formats.registry import read_traces
        from toolgrade.pipeline.grade import grade_trace

        if (cases, traces, tools) not in self.recorded:
            suite = self.suite(cases, tools)
            by_case: dict[str, list[TraceResult]] = {}
            for record in read_traces(traces):
                case, problem = join_case(record, suite)
                if record.trace is None or case is None:
                    raise UnreadableError(record.error or problem or "")
                graded = grade_trace(record.trace, case, suite.tools, origin=record.origin)
                by_case.setdefault(case.id, []).append(graded)
            self.recorded[cases, traces, tools] = by_case
        return self.recorded[cases, traces, tools]


SOURCES = pytest.StashKey[Sources]()


def _sources(config: pytest.Config) -> Sources:
    return config.stash.setdefault(SOURCES, Sources())


def _path(metafunc_path: Path, written: Any) -> Path | None:
    return None if written is None else metafunc_path.parent / str(written)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make one test per case and check that the case states something for."""
    mark = metafunc.definition.get_closest_marker(MARK)
    if mark is None:
        return
    from toolgrade.core.finding import CHECKS
    from toolgrade.errors import ToolgradeError

    config, here = metafunc.config, metafunc.definition.path
    wrong = _mistake(mark) or _misspelt(config.getoption("--toolgrade-check"), CHECKS)
    if "toolgrade" not in metafunc.fixturenames:
        wrong = wrong or f"has @pytest.mark.{MARK} and grades nothing; take the fixture `toolgrade`"
    if wrong:
        raise pytest.UsageError(f"{metafunc.definition.nodeid}: {wrong}")
    try:
        suite = _sources(config).suite(here.parent / str(mark.kwargs["cases"]), _path(here, mark.kwargs.get("tools")))
    except ToolgradeError as error:
        raise pytest.UsageError(f"{metafunc.definition.nodeid}: {error}") from error
    wanted = config.getoption("--toolgrade-check") or CHECKS
    chosen = [
        pytest.param((case, check), id=f"{case.id}-{check}", marks=pytest.mark.xdist_group(f"toolgrade-{case.id}"))
        for case in suite.cases.values()
        if _selected(case, config.getoption("--toolgrade-select"))
        for check in CHECKS
        if check in wanted and case.expected is not None and getattr(case.expected, check) is not None
    ]
    sources = _sources(config)
    sources.chosen += len(chosen)
    if not chosen:
        sources.nothing = f"{metafunc.definition.nodeid}: {suite.source} holds no case {_asked(config)}"
    metafunc.parametrize("toolgrade_item", chosen, indirect=True)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Refuse a session whose marked tests have nothing to grade: nothing selected is no success."""
    sources = session.config.stash.get(SOURCES, None)
    if sources is not None and sources.nothing and not sources.chosen:
        raise pytest.UsageError(sources.nothing)


def _asked(config: pytest.Config) -> str:
    names = ("--toolgrade-select", "--toolgrade-check")
    options = [f"{name} {value}" for name in names for value in config.getoption(name)]
    return f"that {' '.join(options)} picks" if options else "with an expectation"


def _mistake(mark: pytest.Mark) -> str | None:
    """Return what is wrong with a mark, and what to write instead."""
    known = ("cases", "traces", "tools", "traces_from")
    if mark.args:
        return f"@pytest.mark.{MARK} takes names only; write cases={mark.args[0]!r}"
    if unknown := [name for name in mark.kwargs if name not in known]:
        return f"@pytest.mark.{MARK} takes no {unknown[0]!r}.{_hint(unknown[0], known)} It takes {', '.join(known)}."
    if mark.kwargs.get("cases") is None:
        return f"@pytest.mark.{MARK} needs cases=FILE"
    if (mark.kwargs.get("traces") is None) == (mark.kwargs.get("traces_from") is None):
        return f"@pytest.mark.{MARK} needs one of traces=FILE and traces_from=FIXTURE"
    return None


def _misspelt(names: Sequence[str], known: Sequence[str]) -> str | None:
    wrong = [name for name in names if name not in known]
    if not wrong:
        return None
    return f"there is no check {wrong[0]!r}.{_hint(wrong[0], known)} The checks are {', '.join(known)}."


def _hint(name: str, known: Sequence[str]) -> str:
    from toolgrade.errors import suggestion

    return suggestion(name, known)


def _selected(case: Case, patterns: Sequence[str]) -> bool:
    from fnmatch import fnmatchcase

    names = [case.id, *(f"tag:{tag}" for tag in case.tags)]
    return not patterns or any(fnmatchcase(name, pattern) for name in names for pattern in patterns)


@pytest.fixture
def toolgrade_item(request: pytest.FixtureRequest) -> tuple[Case, Check] | None:
    """The case and check of this test; None in a test without the mark."""
    item: tuple[Case, Check] | None = getattr(request, "param", None)
    return item


@pytest.fixture
def toolgrade_case(toolgrade_item: tuple[Case, Check] | None) -> Case:
    """The case of this test, for a fixture that runs an agent on it."""
    if toolgrade_item is None:
        pytest.fail(f"toolgrade_case needs @pytest.mark.{MARK}(cases=…)")
    return toolgrade_item[0]


class Toolgrade:
    """What a test asserts with. `case` and `check` are those of this test, None without the mark."""

    def __init__(self, item: tuple[Case, Check] | None, results: list[TraceResult], strict: bool) -> None:
        self.case: Case | None = item[0] if item is not None else None
        self.check: Check | None = item[1] if item is not None else None
        self.results = results
        self._strict = strict

    def grade(self, trace: Any, case: Any = None, tools: Any = None) -> TraceResult:
        """Return the result of one trace, as `toolgrade.grade`."""
        from toolgrade.pipeline.api import grade

        return grade(trace, case, tools)

    def assert_check(self, result: TraceResult | None = None, check: str | None = None) -> None:
        """Fail the test where the check failed, in `result` or in any trial of this test's case.

        An undecided check skips the test, and fails it under `--toolgrade-strict`: it is never passed.
        """
        __tracebackhide__ = True
        name = check or self.check
        if name is None:
            pytest.fail("name the check: toolgrade.assert_check(result, 'selection')")
        from toolgrade.core.finding import CHECKS

        if wrong := _misspelt([name], CHECKS):
            pytest.fail(wrong, pytrace=False)
        results = [result] if result is not None else self.results
        if not results:
            pytest.fail(f"{name}: no trace of case {self.case.id if self.case else '?'}")
        failed = [told for graded in results if (told := failure(graded, name))]
        if failed:
            pytest.fail("\n".join(failed), pytrace=False)
        undecided = [told for graded in results if (told := undecided_reason(graded, name))]
        if undecided and self._strict:
            pytest.fail("\n".join(undecided), pytrace=False)
        if undecided:
            pytest.skip("; ".join(undecided))


@pytest.fixture
def toolgrade(request: pytest.FixtureRequest, toolgrade_item: tuple[Case, Check] | None) -> Toolgrade:
    """Grades and asserts; under the mark, on the traces of this test's case."""
    strict = bool(request.config.getoption("--toolgrade-strict"))
    mark = request.node.get_closest_marker(MARK)
    if toolgrade_item is None or mark is None:
        return Toolgrade(None, [], strict)
    sources, here = _sources(request.config), request.path
    cases, tools = here.parent / str(mark.kwargs["cases"]), _path(here, mark.kwargs.get("tools"))
    case = toolgrade_item[0]
    traces = _path(here, mark.kwargs.get("traces"))
    if traces is not None:
        return Toolgrade(toolgrade_item, sources.results(cases, traces, tools).get(case.id, []), strict)
    key = (request.node.originalname, case.id)
    if key not in sources.live:
        made = request.getfixturevalue(mark.kwargs["traces_from"])
        sources.live[key] = _graded(made, case, sources.suite(cases, tools))
    return Toolgrade(toolgrade_item, sources.live[key], strict)


def _graded(made: Any, case: Case, suite: Suite) -> list[TraceResult]:
    """Grade what a user's fixture returned: one trace, one list of chat messages, or several of either."""
    from collections.abc import Mapping

    from toolgrade.core.trace import Trace
    from toolgrade.pipeline.api import grade

    tools = list(suite.tools.values()) if suite.tools is not None else None
    one = isinstance(made, Trace) or (isinstance(made, list) and bool(made) and isinstance(made[0], Mapping))
    return [grade(trace, case, tools) for trace in ([made] if one else made)]


def failure(result: TraceResult, check: str) -> str | None:
    """Return the message for a failed or unreadable check: check, trace, then each finding with its advice."""
    checked = result.checks[check]  # type: ignore[index]
    if checked.status in ("trace_error", "judge_error"):
        return f"{check} {checked.status} in {result.trace_id}: {checked.reason}"
    if checked.status != "failed":
        return None
    told = [f"  {finding}\n    {finding.advice}" for finding in checked.findings]
    return "\n".join([f"{check} failed in {result.trace_id} (trial {result.trial})", *told])


def undecided_reason(result: TraceResult, check: str) -> str | None:
    """Return why a check is undecided; None where it passed or does not apply to the trace."""
    checked = result.checks[check]  # type: ignore[index]
    if checked.status in ("passed", "failed"):
        return None
    return f"{check} {checked.status} in {result.trace_id}" + (f": {checked.reason}" if checked.reason else "")
