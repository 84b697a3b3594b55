"""Time judging beside bare `litellm.acompletion` against a loopback server; one JSON line.

Run: python benchmarks/judging.py            (about two minutes; --quick for a smaller one)
Both sides send the same messages and the same schema, 64 in flight, after start-up; who goes first changes from
round to round. What the imports left is kept from the garbage collector: one full collection of it takes as long
as sixty calls, and would fall on either side by chance. Our side also renders the prompts, parses the answers,
verifies the quotes and stores the verdicts.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Coroutine
from pathlib import Path
from statistics import median
from typing import Any

from toolgrade.cli.options import tools_from
from toolgrade.core.verdict import Question, Verdict
from toolgrade.judges.asking import Asking
from toolgrade.judges.dimensions import dimension
from toolgrade.judges.judge import Judge, JudgeSettings
from toolgrade.judges.panel import Ask, Panel
from toolgrade.llm import open_model
from toolgrade.llm.cache import VerdictCache
from toolgrade.llm.limits import Limits
from toolgrade.llm.scripted import ScriptedModel
from toolgrade.pipeline.judging.options import JudgeOptions
from toolgrade.pipeline.judging.stage import Judging
from toolgrade.pipeline.run import RunPlan, run
from toolgrade.prompts import load

IN_FLIGHT = 64
ANSWER = {
    "reason": "The refund was issued by the tool that does so.",
    "evidence": [],
    "verdict": "pass",
    "unknown_reason": None,
}
TOOLS = [
    {"name": f"tool_{n}", "description": f"Does the {n}th thing that a user of the shop may need."} for n in range(14)
]


def serve(port: int, delay: float) -> None:
    """Answer every question after `delay` seconds; GET /count says how many there were."""
    import uvicorn
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import JSONResponse, Response
    from starlette.routing import Route

    count = 0
    usage = {"prompt_tokens": 900, "completion_tokens": 40, "total_tokens": 940}
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": json.dumps(ANSWER)}}
    body = {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}
    text = json.dumps(body).encode()

    async def answer(request: Request) -> Response:
        nonlocal count
        count += 1
        await asyncio.sleep(delay)
        return Response(text, media_type="application/json")

    async def counted(request: Request) -> Response:
        return JSONResponse(count)

    routes = [Route("/v1/chat/completions", answer, methods=["POST"]), Route("/count", counted)]
    uvicorn.run(Starlette(routes=routes), port=port, log_level="error", lifespan="off")


class Server:
    """The loopback server, in a process of its own."""

    def __init__(self, port: int, delay: float) -> None:
        self.base = f"http://127.0.0.1:{port}"
        self._process = subprocess.Popen([sys.executable, __file__, "--serve", str(port), str(delay)])
        while True:
            try:
                self.count()
                break
            except OSError:
                time.sleep(0.05)

    def count(self) -> int:
        with urllib.request.urlopen(f"{self.base}/count", timeout=5) as response:
            return int(response.read())

    def stop(self) -> None:
        self._process.terminate()
        self._process.wait()


def asks(count: int, base: str, mark: str) -> list[Ask]:
    settings = JudgeSettings(model="openai/gpt-4o-mini", api_base=f"{base}/v1")
    panel = Panel([Judge(dimension("route_choice"), load("route_choice"), settings)])
    return [ask for number in range(count) for ask in panel.asks(question(f"{mark}-{number}"))]


def question(mark: str) -> Question:
    fields = {
        "request": f"Order {mark}: please refund the second parcel. " + "It arrived late and damaged. " * 20,
        "tools": TOOLS,
        "called": ["tool_3", "tool_5"],
        "expected": ["tool_4"],
    }
    return Question(dimension="route_choice", fields=fields)


async def bare(messages: list[list[dict[str, str]]], base: str, schema: dict[str, Any]) -> None:
    """What a program without any of our parts would do."""
    import litellm

    slots = asyncio.Semaphore(IN_FLIGHT)
    form = {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema, "strict": True}}

    async def one(content: list[dict[str, str]]) -> None:
        async with slots:
            answer = await litellm.acompletion(
                model="openai/gpt-4o-mini",
                api_base=f"{base}/v1",
                api_key="none",
                messages=content,
                response_format=form,
                temperature=0.0,
                max_tokens=1024,
                max_retries=0,
                timeout=60.0,
            )
            assert json.loads(answer.choices[0].message.content)["verdict"] == "pass"

    await asyncio.gather(*map(one, messages))


async def measured(work: Callable[[], Coroutine[Any, Any, None]], calls: int) -> tuple[float, float]:
    """Return calls a second and milliseconds of CPU a call."""
    gc.collect()
    wall, cpu = time.perf_counter(), time.process_time()
    await work()
    return calls / (time.perf_counter() - wall), (time.process_time() - cpu) * 1000 / calls


async def compare(server: Server, count: int, rounds: int) -> dict[str, float]:
    """Return rates and ratios of our way and the bare one, in turns against the same server."""
    ours: list[tuple[float, float]] = []
    theirs: list[tuple[float, float]] = []
    model = open_model(Limits(concurrency=IN_FLIGHT))
    with tempfile.TemporaryDirectory() as folder:

        async def judge(questions: list[Ask]) -> None:
            with VerdictCache(Path(folder) / "cache") as cache:
                answers = await Asking(model, cache, IN_FLIGHT).run(questions)
            assert {verdict.verdict for verdict in answers.verdicts.values()} == {"pass"}, answers

        await judge(asks(IN_FLIGHT, server.base, "warm-up"))
        for turn in range(rounds):
            questions = asks(count, server.base, f"round-{turn}")
            sent = [[m.model_dump() for m in q.judge.prepare(q.question).messages] for q in questions]
            if turn == 0:
                await bare(sent[:IN_FLIGHT], server.base, questions[0].judge.schema)
                gc.collect()
                gc.freeze()
            before = server.count()
            for side in ("theirs", "ours") if turn % 2 == 0 else ("ours", "theirs"):
                if side == "ours":
                    ours.append(await measured(lambda: judge(questions), count))  # noqa: B023
                else:
                    work = lambda: bare(sent, server.base, questions[0].judge.schema)  # noqa: B023, E731
                    theirs.append(await measured(work, count))
            assert server.count() - before == 2 * count
    await model.aclose()
    rate, bare_rate = median(rate for rate, _ in ours), median(rate for rate, _ in theirs)
    cpu, bare_cpu = median(cpu for _, cpu in ours), median(cpu for _, cpu in theirs)
    return {
        "calls_per_s": round(rate, 1),
        "bare_calls_per_s": round(bare_rate, 1),
        "rate_ratio": round(median(a / b for (a, _), (b, _) in zip(ours, theirs, strict=True)), 3),
        "cpu_ms_per_call": round(cpu, 3),
        "bare_cpu_ms_per_call": round(bare_cpu, 3),
        "cpu_ratio": round(median(a / b for (_, a), (_, b) in zip(ours, theirs, strict=True)), 3),
    }


async def identical(server: Server) -> int:
    """Return how many calls 64 identical questions in flight make."""
    before = server.count()
    (ask,) = asks(1, server.base, "the same")
    model = open_model(Limits(concurrency=IN_FLIGHT))
    with tempfile.TemporaryDirectory() as folder, VerdictCache(Path(folder) / "cache") as cache:
        questions = [cache.ask(ask.key, "q", lambda: ask.judge.ask(model, ask.question)) for _ in range(IN_FLIGHT)]
        await asyncio.gather(*questions)
    await model.aclose()
    return server.count() - before


def warm(folder: str, count: int) -> None:
    """Judge `count` questions that are in the cache; the process is timed from outside."""
    with VerdictCache(Path(folder), "replay") as cache:
        model = open_model(Limits())
        answers = asyncio.run(Asking(model, cache).run(asks(count, "http://127.0.0.1:9", "warm")))
    assert len(answers.verdicts) == count and all(verdict.cached for verdict in answers.verdicts.values())
    assert "litellm" not in sys.modules


def warm_judging(count: int) -> float:
    """Return the seconds of a process that judges `count` recorded questions and does nothing else."""
    with tempfile.TemporaryDirectory() as folder:
        with VerdictCache(Path(folder)) as cache:
            for ask in asks(count, "http://127.0.0.1:9", "warm"):
                answer = {"dimension": "route_choice", "question_id": ask.question.id, "verdict": "pass"}
                told = answer | {"reason": ANSWER["reason"], "judge_id": ask.judge.id, "model": "openai/gpt-4o-mini"}
                cache.put(ask.key, Verdict.model_validate(told))
        return timed([__file__, "--warm", folder, str(count)])


GRADE = """
import sys
from toolgrade.cli import main
try:
    main()
except SystemExit as done:
    assert not done.code, done.code
assert "litellm" not in sys.modules
"""


def warm_grade(count: int, each: int = 20) -> float:
    """Return the seconds of `toolgrade grade` over traces that leave `count` recorded questions open."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        write_traces(home, count // each, each)
        options = JudgeOptions(models={"argument_grounding": ("openai/gpt-4o-mini",)}, cache=home / "cache")
        plan = RunPlan(traces=home / "traces.jsonl", tools=tools_from(home / "tools.json"), judges=options)
        judging = Judging(options, model=lambda: ScriptedModel(lambda request: json.dumps(ANSWER)))
        run(plan, home / "first", judging=judging)
        command = ["-c", GRADE, "grade", home / "traces.jsonl", "--tools", home / "tools.json", "--cache", "replay"]
        command += ["--judge", "argument_grounding=openai/gpt-4o-mini", "--cache-dir", home / "cache", "--out"]
        walls = [timed([*command, home / f"again-{turn}"], 1) for turn in range(4)][1:]
        summary = json.loads((home / "again-0" / "summary.json").read_text())
        judged = summary["judging"]["dimensions"]["argument_grounding"]
        assert (judged["cached"], judged["calls"]) == (count, 0), judged
        return median(walls)


def write_traces(home: Path, count: int, each: int) -> None:
    properties = {"date": {"type": "string"}, "note": {"type": "string"}}
    tool = {"name": "book_table", "parameters": {"type": "object", "properties": properties, "required": ["date"]}}
    (home / "tools.json").write_text(json.dumps([{"type": "function", "function": tool}]))
    with (home / "traces.jsonl").open("w") as out:
        for number in range(count):
            messages: list[dict[str, Any]] = [{"role": "user", "content": f"Tables for next Friday, party {number}."}]
            for call in range(each):
                made = {"name": "book_table", "arguments": json.dumps({"date": f"Freitag {number}-{call}"})}
                calls = [{"id": f"c{call}", "type": "function", "function": made}]
                messages.append({"role": "assistant", "content": None, "tool_calls": calls})
                messages.append({"role": "tool", "tool_call_id": f"c{call}", "content": json.dumps({"ok": True})})
            out.write(json.dumps({"id": f"t{number}", "messages": messages}) + "\n")


def timed(arguments: list[Any], times: int = 3) -> float:
    """Return the median wall seconds of a Python process, as installed ones run: with bytecode on disk."""
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    walls = []
    for _ in range(times):
        start = time.perf_counter()
        subprocess.run([sys.executable, *map(str, arguments)], check=True, capture_output=True, env=env)
        walls.append(time.perf_counter() - start)
    return median(walls)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--serve", nargs=2)
    parser.add_argument("--warm", nargs=2)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    if options.serve:
        serve(int(options.serve[0]), float(options.serve[1]))
    elif options.warm:
        warm(options.warm[0], int(options.warm[1]))
    else:
        print(json.dumps(report(options.quick)))


def report(quick: bool) -> dict[str, Any]:
    result: dict[str, Any] = {"benchmark": "judging", "in_flight": IN_FLIGHT}
    for name, port, delay, count, rounds in (
        ("answers_in_100_ms", 8821, 0.1, 500 if quick else 2000, 4),
        ("answers_in_1_s", 8822, 1.0, 192 if quick else 640, 2),
    ):
        server = Server(port, delay)
        try:
            result[name] = asyncio.run(compare(server, count, rounds))
            if delay < 1:
                result["calls_for_64_identical"] = asyncio.run(identical(server))
        finally:
            server.stop()
    count = 1000 if quick else 10_000
    judging, grade = warm_judging(count), warm_grade(count)
    result["warm_rerun"] = {
        "questions": count,
        "judging_process_s": round(judging, 2),
        "grade_process_s": round(grade, 2),
    }
    return result


if __name__ == "__main__":
    main()
