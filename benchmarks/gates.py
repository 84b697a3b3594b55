"""Speed and memory of the deterministic gates on the shipped sample, beside DeepEval where it is installed.

    python benchmarks/gates.py [--peer]

Prints one JSON line. `--peer` also runs DeepEval's `evaluate()` with ToolCorrectnessMetric (names and
arguments) on the same traces in the same process (`pip install deepeval` first). CPU times are process times.
"""

from __future__ import annotations

import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from toolgrade.core.case import Suite
from toolgrade.core.finding import CHECKS, Check
from toolgrade.core.trace import Trace
from toolgrade.formats.cases import load_suite
from toolgrade.formats.native import write_trace
from toolgrade.formats.registry import read_traces
from toolgrade.pipeline.grade import grade_trace
from toolgrade.pipeline.run import RunPlan, run

SAMPLE = Path(__file__).parents[1] / "examples" / "airline"
FIVE: tuple[Check, ...] = ("selection", "arguments", "ordering", "efficiency", "outcome")


def main() -> None:
    if "--memory" in sys.argv:
        print(peak_memory(int(sys.argv[-1])))
        return
    suite = load_suite(SAMPLE / "cases.yaml")
    traces = [record.trace for record in read_traces(SAMPLE / "traces.jsonl") if record.trace is not None]
    repeated = traces * (200 // len(traces))
    calls = sum(len(message.tool_calls) for trace in repeated for message in trace.messages)
    gates = {name: best(lambda c=checks: grade_all(repeated, suite, c)) for name, checks in sets().items()}
    report: dict[str, Any] = {
        "benchmark": "gates",
        "python": platform.python_version(),
        "traces": len(repeated),
        "calls": calls,
        "gates_traces_per_s": round(len(repeated) / gates["five"][1]),
        "gates_calls_per_s": round(calls / gates["five"][1]),
        "gates_cpu_us_per_trace": {name: round(cpu / len(repeated) * 1e6, 1) for name, (cpu, _) in gates.items()},
        **from_file(traces, suite),
        "peak_mb_at_1000": memory_of(1_000),
        "peak_mb_at_100000": memory_of(100_000),
    }
    if "--peer" in sys.argv:
        report |= peer(repeated, suite, gates["five"][1], report["file_to_graded_cpu_us_per_trace"])
    print(json.dumps(report))


def sets() -> dict[str, tuple[Check, ...]]:
    return {"five": FIVE, "all": CHECKS, **{check: (check,) for check in CHECKS}}


def grade_all(traces: list[Trace], suite: Suite, checks: tuple[Check, ...]) -> None:
    for trace in traces:
        grade_trace(trace, suite.cases[trace.case_id or ""], suite.tools, checks)


def best(job: Callable[[], object], times: int = 9) -> tuple[float, float]:
    """Return the least CPU and the least wall seconds of several runs."""
    cpu, wall = [], []
    for _ in range(times):
        started, at = time.process_time(), time.perf_counter()
        job()
        cpu.append(time.process_time() - started)
        wall.append(time.perf_counter() - at)
    return min(cpu), min(wall)


def from_file(traces: list[Trace], suite: Suite) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        file = repeated_file(Path(folder), traces, 2_000)

        def graded() -> None:
            for record in read_traces(file):
                if record.trace is not None:
                    grade_trace(record.trace, suite.cases[record.trace.case_id or ""], suite.tools, FIVE, record.origin)

        def read() -> None:
            for _ in read_traces(file):
                pass

        reading, _ = best(read, 5)
        cpu, _ = best(graded, 7)
        runs = iter(range(100))

        def whole(checks: tuple[Check, ...]) -> None:
            run(RunPlan(traces=file, suite=suite, checks=checks), Path(folder) / f"run{next(runs)}")

        _, five = best(lambda: whole(FIVE), 3)
        _, everything = best(lambda: whole(CHECKS), 3)
    return {
        "file_to_trace_cpu_us_per_trace": round(reading / 2_000 * 1e6, 1),
        "file_to_graded_cpu_us_per_trace": round(cpu / 2_000 * 1e6, 1),
        "file_to_run_directory_traces_per_s": round(2_000 / five),
        "file_to_run_directory_all_checks_traces_per_s": round(2_000 / everything),
    }


def repeated_file(folder: Path, traces: list[Trace], count: int) -> Path:
    file = folder / f"{count}.jsonl"
    with file.open("wb") as out:
        for number in range(count):
            trace = traces[number % len(traces)]
            out.write(write_trace(trace.model_copy(update={"id": f"{trace.id}-{number}"})))
    return file


def memory_of(count: int) -> float:
    done = subprocess.run(
        [sys.executable, __file__, "--memory", str(count)], capture_output=True, text=True, check=True
    )
    return float(done.stdout)


def peak_memory(count: int) -> float:
    """Return the peak resident memory, in MB, of grading `count` traces into a run directory."""
    suite = load_suite(SAMPLE / "cases.yaml")
    traces = [record.trace for record in read_traces(SAMPLE / "traces.jsonl") if record.trace is not None]
    with tempfile.TemporaryDirectory() as folder:
        file = repeated_file(Path(folder), traces, count)
        run(RunPlan(traces=file, suite=suite, checks=FIVE), Path(folder) / "run")
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1)


def peer(traces: list[Trace], suite: Suite, ours: float, from_file: float) -> dict[str, Any]:
    """Time DeepEval's evaluate(), and its bare metric, with names and arguments on the same traces and expectations.

    The bare metric is one object that measures case after case: making one takes far longer than measuring.
    """
    os.environ.setdefault("OPENAI_API_KEY", "unused")  # it wants one even where no model is called
    os.environ.setdefault("DEEPEVAL_TELEMETRY_OPT_OUT", "YES")
    from deepeval import evaluate
    from deepeval.evaluate import AsyncConfig, CacheConfig, DisplayConfig
    from deepeval.metrics import ToolCorrectnessMetric
    from deepeval.test_case import LLMTestCase, ToolCall, ToolCallParams

    cases = [
        LLMTestCase(
            input=trace.id,
            actual_output="",
            tools_called=[
                ToolCall(name=call.name, input_parameters=call.arguments)
                for message in trace.messages
                for call in message.tool_calls
            ],
            expected_tools=expected_tools(suite, trace.case_id or "", ToolCall),
        )
        for trace in traces
    ]
    display = DisplayConfig(show_indicator=False, print_results=False)

    def bare() -> None:
        metric = ToolCorrectnessMetric(evaluation_params=[ToolCallParams.INPUT_PARAMETERS])
        for case in cases:
            metric.measure(case, _show_indicator=False)

    def job() -> None:
        metric = ToolCorrectnessMetric(evaluation_params=[ToolCallParams.INPUT_PARAMETERS])
        # Its quickest way: concurrent, and without the record of every result that it otherwise rewrites.
        cache = CacheConfig(write_cache=False, use_cache=False)
        evaluate(cases, [metric], display_config=display, async_config=AsyncConfig(run_async=True), cache_config=cache)

    quiet, sys.stdout = sys.stdout, sys.stderr
    try:
        _, wall = best(job, 2)
        metric, _ = best(bare, 5)
    finally:
        sys.stdout = quiet
    rate, alone = len(traces) / wall, metric / len(traces) * 1e6
    return {
        "deepeval_evaluate_traces_per_s": round(rate),
        "times_deepeval": round(len(traces) / ours / rate, 1),
        "deepeval_metric_cpu_us_per_trace": round(alone, 1),
        "file_to_graded_of_deepeval_metric": round(from_file / alone, 2),
    }


def expected_tools(suite: Suite, case: str, call: Any) -> list[Any]:
    expected = suite.cases[case].expected
    if expected is None:
        return []
    valued = list(expected.arguments or ())
    named = {entry.tool for entry in valued}
    bare = [name for name in (expected.selection.required or () if expected.selection else ()) if name not in named]
    return [call(name=entry.tool, input_parameters=entry.values) for entry in valued] + [call(name=n) for n in bare]


if __name__ == "__main__":
    main()
