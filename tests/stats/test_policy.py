"""The trust policy against its vectors: GATE, ADVISORY, REFUSE are trusted, advisory, refused here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from toolgrade.calibration.policy import Now, Standing, decide

VECTORS = json.loads((Path(__file__).parent / "calibration-vectors.json").read_text(encoding="utf-8"))["cases"]
POLICY = [pytest.param(case, id=case["id"]) for case in VECTORS if case["family"] == "trust_policy"]
LEVELS = {"GATE": "trusted", "ADVISORY": "advisory", "REFUSE": "refused"}


def standing(given: dict[str, Any]) -> Standing:
    renamed = {
        "kappa_low": given["kappa_lb"],
        "pass_recall_low": given["tpr_lb"],
        "fail_recall_low": given["tnr_lb"],
        "error_rate": given["parse_error_rate"],
        "flip_high": given["flip_ub"],
        "exposures": given["test_reuse"],
        "convenience": given["sampling_design"] == "convenience",
    }
    same = ("judge_id", "rubric_version", "label_set_hash", "model_reported", "n", "n_fail", "n_pass", "n_clusters")
    kept = {name: given[name] for name in (*same, "coverage", "human_kappa", "probes_failed", "leakage")}
    return Standing(**kept, **renamed)


@pytest.mark.parametrize("case", POLICY)
def test_policy(case: dict[str, Any]) -> None:
    given = case["input"]
    found = decide(standing(given["calibration"]) if given["calibration"] else None, Now(**given["current"]))
    assert found.level == LEVELS[case["expected"]["level"]]
    assert list(found.reasons) == sorted(case["expected"]["reasons"])


GOOD = {**POLICY[1].values[0]["input"]["calibration"]}  # type: ignore[index]
NOW = Now(judge_id="A", rubric_version="3", label_set_hash="L", model_reported="m1", age_days=5)


@pytest.mark.parametrize(
    ("change", "level", "reason"),
    [
        ({"n_clusters": 24}, "advisory", "few_labels"),
        ({"n": 29}, "refused", "too_few_labels"),
        ({"n_fail": 9}, "refused", "too_few_labels"),
        ({"coverage": 0.89}, "advisory", "coverage_below_gate"),
        ({"parse_error_rate": 0.021}, "advisory", "parse_errors_above_gate"),
        ({"parse_error_rate": 0.11}, "refused", "parse_errors_too_high"),
        ({"flip_ub": None}, "advisory", "stability_unmeasured"),
        ({"flip_ub": 0.11}, "advisory", "unstable"),
        ({"test_reuse": 6}, "advisory", "test_set_overused"),
        ({"tpr_lb": 0.69}, "advisory", "tpr_lb_below_gate"),
    ],
)
def test_each_limit_of_the_policy_table(change: dict[str, Any], level: str, reason: str) -> None:
    """One row of the policy table each: the value just beyond the limit that the table names."""
    found = decide(standing({**GOOD, **change}), NOW)
    assert (found.level, found.reasons) == (level, (reason,))


def test_clock_and_judge() -> None:
    assert decide(standing(GOOD), NOW).level == "trusted"
    assert decide(standing(GOOD), NOW.model_copy(update={"age_days": -0.1})).reasons == ("negative_age",)
    assert decide(standing(GOOD), NOW.model_copy(update={"judge_id": "B"})).reasons == ("judge_changed",)


def test_one_steady_expert_may_stand_in_for_the_ceiling() -> None:
    alone = standing({**GOOD, "human_kappa": None})
    steady = alone.model_copy(update={"expert_repeats": 20, "expert_repeat_agreement": 0.9})
    assert decide(alone, NOW).level == "advisory"
    assert decide(steady, NOW).level == "trusted"
    assert decide(steady.model_copy(update={"expert_repeats": 19}), NOW).level == "advisory"
