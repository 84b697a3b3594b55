"""Runs with judges, through a real run directory; the model is scripted, everything else is real."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.pipeline.support import GOOD, MISSING, calls
from toolgrade.calibration.trust import TrustReport
from toolgrade.core.verdict import Trust
from toolgrade.errors import CeilingReached, ConfigError, JudgeError, JudgeUnavailable
from toolgrade.formats.cases import load_suite
from toolgrade.llm.limits import Limits, Price
from toolgrade.llm.port import ModelRequest
from toolgrade.llm.scripted import ScriptedModel
from toolgrade.pipeline.judging.options import JudgeOptions, parse_judges
from toolgrade.pipeline.judging.stage import Judging
from toolgrade.pipeline.judging.trusting import TrustOf
from toolgrade.pipeline.run import RunOutcome, RunPlan, plan_judging, run
from toolgrade.pipeline.rundir import read_results
from toolgrade.pipeline.settings import Settings
from toolgrade.report.judging import judging_lines

CASES = """
suite: bookings
tools: tools.json
cases:
  - id: routes
    input: "Cancel A1."
    expected:
      selection: {required: [look, cancel], judge_routes: true}
      arguments: [{tool: look, values: {id: A1}}]
"""
TOOLS = [
    {"name": name, "description": name, "parameters": {"type": "object", "properties": {"id": {"type": "string"}}}}
    for name in ("look", "cancel", "cancel_all", "revoke")
]
REVOKED = calls(("look", {"id": "A1"}), ("revoke", {"id": "A1"}))
CANCELLED_ALL = calls(("look", {"id": "A1"}), ("cancel_all", {"id": "A1"}))


def said(verdict: str, quote: str = '"cancel_all"\n', field: str = "called") -> str:
    evidence = [{"quote": "covers", "field": "rubric"}] if verdict == "fail" else []
    return json.dumps({"reason": "so it is", "evidence": evidence, "verdict": verdict, "unknown_reason": None})


def by_route(request: ModelRequest) -> str:
    """Revoking is defensible, cancelling everything is not."""
    called = request.messages[1].content.split("called:", 1)[1].split("expected:", 1)[0]
    return said("fail" if "cancel_all" in called else "pass")


def trusting(level: Trust) -> TrustOf:
    return lambda dimension, judge: TrustReport(dimension=dimension, judge_id=judge.judge_id, level=level)


class Scene:
    """A folder with three traces of one case: as expected, by a defensible route, by an indefensible one."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "tools.json").write_text(json.dumps(TOOLS))
        (folder / "cases.yaml").write_text(CASES)
        self.trace_file = folder / "traces.jsonl"
        self.write(GOOD, REVOKED, CANCELLED_ALL)

    def write(self, *runs: list[dict[str, Any]]) -> None:
        lines = [
            json.dumps({"id": f"t{n}", "case_id": "routes", "trial": n, "messages": messages})
            for n, messages in enumerate(runs)
        ]
        self.trace_file.write_text("\n".join(lines) + "\n")

    def plan(self, **changes: Any) -> RunPlan:
        settings = Settings(thresholds={"selection": 0.5}, release=changes.pop("release", False))
        options = {"models": {"*": ("scripted/judge",)}, "cache": self.folder / "cache", **changes}
        suite = load_suite(self.folder / "cases.yaml", None)
        judges = JudgeOptions(**options)
        return RunPlan(
            traces=self.trace_file, suite=suite, checks=("selection", "arguments"), settings=settings, judges=judges
        )

    def judged(
        self,
        script: Callable[[ModelRequest], str] | ScriptedModel,
        trust: Trust = "trusted",
        out: str = "out",
        **changes: Any,
    ) -> RunOutcome:
        plan = self.plan(**changes)
        model = script if isinstance(script, ScriptedModel) else ScriptedModel(script)
        assert plan.judges is not None
        return run(plan, self.folder / out, judging=Judging(plan.judges, trusting(trust), lambda: model))

    def statuses(self, check: Any = "selection", out: str = "out") -> list[str]:
        return [result.checks[check].status for result in read_results(self.folder / out)]


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


def test_trusted_verdicts_decide_and_say_why(scene: Scene) -> None:
    outcome = scene.judged(by_route)
    assert scene.statuses() == ["passed", "passed", "failed"]
    results = list(read_results(scene.folder / "out"))
    assert results[1].checks["selection"].score == 1.0
    failed = results[2].checks["selection"]
    assert [finding.name for finding in failed.findings] == ["indefensible_route"]
    assert failed.score == 0.5, "one of two required calls is missing"
    assert failed.verdicts[0].reason == "so it is"
    assert [result.aggregate.status for result in results] == ["passed", "passed", "failed"]
    assert scene.statuses("arguments") == ["passed", "passed", "blocked"], "arguments wait for selection"
    assert outcome.summary.checks["selection"].rates["expected"].value == pytest.approx(2 / 3)
    assert outcome.exit_code == 0


@pytest.mark.parametrize("trust", ["advisory", "refused"])
def test_other_verdicts_leave_the_check_open_and_have_a_rate_of_their_own(scene: Scene, trust: Trust) -> None:
    outcome = scene.judged(by_route, trust)
    assert scene.statuses() == ["passed", "unknown", "unknown"]
    results = list(read_results(scene.folder / "out"))
    assert results[2].checks["selection"].reason == f"open: 1 where its judge is {trust}"
    assert results[2].checks["selection"].findings == ()
    judging = outcome.summary.judging
    assert judging is not None
    route = judging.dimensions["route_choice"]
    assert (route.trust, route.said, route.rate.value) == (trust, {"fail": 1, "pass": 1}, 0.5)
    rate = outcome.summary.checks["selection"].rates["expected"]
    assert (rate.passed, rate.decided, rate.applicable) == (1, 1, 3)
    assert outcome.exit_code == 2, "one of three decided is too little for a threshold"


def test_a_release_does_not_lean_on_a_refused_judge(scene: Scene) -> None:
    scene.write(*[GOOD] * 9, REVOKED)
    assert scene.judged(by_route, "refused").exit_code == 0, "nine of ten are decided, and pass"
    outcome = scene.judged(by_route, "refused", out="release", release=True)
    assert outcome.exit_code == 2
    assert "selection: not for a release: 1 questions for route_choice, whose judge scripted/judge is refused" in (
        outcome.thresholds[0].message
    )
    assert scene.judged(by_route, "trusted", out="trusted", release=True).exit_code == 0


def test_nothing_is_trusted_unless_somebody_says_so(scene: Scene) -> None:
    plan = scene.plan()
    assert plan.judges is not None
    run(plan, scene.folder / "out", judging=Judging(plan.judges, model=lambda: ScriptedModel(by_route)))
    assert scene.statuses() == ["passed", "unknown", "unknown"]


def test_an_error_of_the_judge_is_named_and_exits_3(scene: Scene) -> None:
    def script(request: ModelRequest) -> str:
        raise JudgeError("no answer after 5 attempts")

    outcome = scene.judged(script)
    assert scene.statuses() == ["passed", "judge_error", "judge_error"]
    assert next(r for r in read_results(scene.folder / "out") if r.trace_id == "t1").checks["selection"].reason == (
        "judge: no answer after 5 attempts"
    )
    assert outcome.exit_code == 3
    assert outcome.summary.judging is not None
    assert outcome.summary.judging.dimensions["route_choice"].failed_because == {"no answer after 5 attempts": 2}
    assert "route_choice: no verdict on 2: no answer after 5 attempts" in judging_lines(outcome.summary.judging)
    good = scene.judged(by_route)
    assert scene.statuses() == ["passed", "passed", "failed"], "the same run goes on where the judge failed"
    assert good.exit_code == 0


def test_a_missing_key_is_told_once(scene: Scene) -> None:
    def script(request: ModelRequest) -> str:
        raise JudgeUnavailable("scripted/judge: no key: set X_API_KEY")

    outcome = scene.judged(script)
    assert outcome.summary.judging is not None
    assert outcome.summary.judging.unavailable == {"scripted/judge": "scripted/judge: no key: set X_API_KEY"}
    assert outcome.exit_code == 3


def test_the_ceiling_leaves_the_rest_unknown(scene: Scene) -> None:
    asked = 0

    def script(request: ModelRequest) -> str:
        nonlocal asked
        asked += 1
        if asked > 1:
            raise CeilingReached("spending ceiling of $1 reached")
        return by_route(request)

    scene.judged(script)
    assert scene.statuses() == ["passed", "passed", "unknown"]
    last = list(read_results(scene.folder / "out"))[-1].checks["selection"]
    assert last.reason == "open: 1 where spending ceiling of $1 reached"


def test_identical_questions_are_asked_once(scene: Scene) -> None:
    scene.write(*[REVOKED] * 30)
    model = ScriptedModel(by_route)
    outcome = scene.judged(model)
    assert len(model.requests) == 1
    assert scene.statuses() == ["passed"] * 30
    assert outcome.summary.judging is not None
    route = outcome.summary.judging.dimensions["route_choice"]
    assert (route.questions, route.distinct, route.calls, route.cached) == (30, 1, 1, 0)


def test_a_warm_rerun_makes_no_calls_and_gives_the_same_results(scene: Scene) -> None:
    scene.judged(by_route)
    model = ScriptedModel(by_route)
    outcome = scene.judged(model, out="again")
    assert model.requests == []
    first, second = (list(read_results(scene.folder / out)) for out in ("out", "again"))
    for one, two in zip(first, second, strict=True):
        assert one.checks["selection"].findings == two.checks["selection"].findings
        assert [v.cached for v in two.checks["selection"].verdicts] == [True] * len(two.checks["selection"].verdicts)
        assert one.aggregate == two.aggregate
    assert outcome.summary.judging is not None
    route = outcome.summary.judging.dimensions["route_choice"]
    assert (route.calls, route.cached, route.cost) == (0, 2, 0)


def test_only_what_is_new_is_asked(scene: Scene) -> None:
    scene.write(GOOD, REVOKED)
    scene.judged(by_route)
    model = ScriptedModel(by_route)
    scene.write(GOOD, REVOKED, CANCELLED_ALL)
    outcome = scene.judged(model, out="again")
    assert ["cancel_all" in request.messages[1].content for request in model.requests] == [True]
    assert scene.statuses(out="again") == ["passed", "passed", "failed"]
    assert outcome.summary.judging is not None
    route = outcome.summary.judging.dimensions["route_choice"]
    assert (route.distinct, route.calls, route.cached) == (2, 1, 1)


def test_replay_works_without_a_model_and_fails_on_a_miss(scene: Scene) -> None:
    scene.judged(by_route)
    model = ScriptedModel(by_route)
    scene.judged(model, out="replayed", cache_mode="replay")
    assert (model.requests, scene.statuses(out="replayed")) == ([], ["passed", "passed", "failed"])
    scene.write(GOOD, calls(("revoke", {"id": "A1"})))
    with pytest.raises(ConfigError, match=r"route_choice question at step 1 for scripted/judge: no recorded verdict"):
        scene.judged(model, out="missed", cache_mode="replay")


def test_a_split_panel_is_unknown_and_goes_to_people(scene: Scene) -> None:
    def script(request: ModelRequest) -> str:
        return said("pass") if request.model == "b/two" else by_route(request)

    outcome = scene.judged(script, models={"*": ("a/one", "b/two")}, replicates=2)
    assert scene.statuses() == ["passed", "passed", "unknown"]
    queue = [json.loads(line) for line in (scene.folder / "out" / "review.jsonl").read_text().splitlines()]
    first = queue[0]
    assert (first["rank"], first["why"], first["trace_id"]) == (1, "split: 2 fail, 2 pass", "t2")
    assert first["fields"]["called"] == ["look", "cancel_all"], "a person needs what the judge saw"
    assert len(first["verdicts"]) == 4
    assert outcome.summary.judging is not None
    agreement = outcome.summary.judging.dimensions["route_choice"].agreement
    assert agreement is not None
    assert (agreement.questions, agreement.unanimous, agreement.splits, agreement.flips) == (2, 1, 1, 0)


def test_dimensions_can_have_models_of_their_own() -> None:
    assert parse_judges(["openai/a", "recovery_quality=openai/b", "recovery_quality=c/d=e"]) == {
        "*": ("openai/a",),
        "recovery_quality": ("openai/b", "c/d=e"),
    }
    panels = JudgeOptions(models=parse_judges(["recovery_quality=openai/b"])).panels()
    assert list(panels) == ["recovery_quality"]
    for wrong, message in (
        ("recovery_qality=x/y", "Did you mean 'recovery_quality'?"),
        ("recovery_quality=", "names no model"),
    ):
        with pytest.raises(ConfigError) as caught:
            parse_judges([wrong])
        assert message in str(caught.value)
    with pytest.raises(ConfigError, match="named twice"):
        parse_judges(["a/b", "a/b"])


def test_a_dimension_without_a_judge_stays_open(scene: Scene) -> None:
    model = ScriptedModel(by_route)
    scene.judged(model, models={"recovery_quality": ("scripted/judge",)})
    assert (model.requests, scene.statuses()) == ([], ["passed", "unknown", "unknown"])


def test_the_plan_counts_and_asks_nothing(scene: Scene) -> None:
    scene.write(GOOD, REVOKED, REVOKED, CANCELLED_ALL, MISSING)
    plan = scene.plan(replicates=2)
    assert plan.judges is not None
    model = ScriptedModel(by_route)
    judging = Judging(plan.judges, model=lambda: model)
    made = plan_judging(plan, judging, lambda _: Price(input=0.001, output=0.01))
    route = made.dimensions["route_choice"]
    assert (route.questions, route.distinct, route.calls, route.cached) == (3, 2, 4, 0)
    assert made.settled == made.units - 3
    assert route.cost == pytest.approx(route.input_tokens * 0.001 + route.output_tokens * 0.01)
    assert 4 * 300 < route.input_tokens < 4 * 3000, "a prompt of a page or two, four times"
    assert model.requests == []
    assert plan_judging(plan, judging, lambda _: None).cost is None
    scene.judged(by_route, replicates=2)
    again = plan_judging(plan, judging, lambda _: None).dimensions["route_choice"]
    assert (again.calls, again.cached, again.cost) == (0, 4, 0.0)


def test_ctrl_c_keeps_what_was_judged(scene: Scene) -> None:
    scene.write(*[calls(*[("look", {"id": "A1"})] * n, ("revoke", {"id": "A1"})) for n in range(1, 9)])
    asked = 0

    def script(request: ModelRequest) -> str:
        nonlocal asked
        asked += 1
        if asked == 3:
            signal.raise_signal(signal.SIGINT)
        return by_route(request)

    with pytest.raises(KeyboardInterrupt):
        scene.judged(script, limits=Limits(concurrency=1))
    kept = scene.statuses().count("passed")
    assert 2 <= kept <= 3
    assert scene.statuses() == ["passed"] * kept + ["unknown"] * (8 - kept)
    left = list(read_results(scene.folder / "out"))[-1].checks["selection"]
    assert left.reason == "open: 1 where interrupted"
    model = ScriptedModel(by_route)
    scene.judged(model)
    assert len(model.requests) == 8 - kept, "what was judged is not asked again"
    assert scene.statuses() == ["passed"] * 8
