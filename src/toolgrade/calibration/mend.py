"""What each reason for less trust means, and what would mend it: how many labels, which probe, which repeat."""

from __future__ import annotations

import numpy as np

from toolgrade.calibration.measure import MIN_REPLICATES, MIN_STABLE_ITEMS
from toolgrade.calibration.policy import Policy, Standing
from toolgrade.core.model import Frozen
from toolgrade.stats.budget import labels_for_kappa, labels_for_recall
from toolgrade.stats.judging import PASS


class Mend(Frozen):
    """A reason by name, what it means, and what to do about it."""

    reason: str
    meaning: str
    remedy: str


class Evidence(Frozen):
    """What a remedy may count on: the standing, and the point values that label numbers are planned from."""

    standing: Standing
    counts: dict[str, int]
    kappa: float | None = None
    pass_recall: float | None = None
    fail_recall: float | None = None


_FIXED: dict[str, tuple[str, str]] = {
    "uncalibrated": (
        "this judge was never measured against people",
        "run toolgrade calibrate {dimension} --set SET; toolgrade labels status {dimension} lists the sets",
    ),
    "no_labels": (
        "there is no label of this dimension, not even a shipped one",
        "collect items and label them: toolgrade labels add --help",
    ),
    "judge_changed": ("another model, prompt or parameter than was calibrated", "calibrate this judge"),
    "rubric_changed": ("the rubric changed since", "label again where its MAJOR version rose, then calibrate"),
    "label_set_changed": ("the test labels changed since", "calibrate again on the labels as they are"),
    "model_snapshot_changed": ("the provider serves another model under the same name", "calibrate again now"),
    "test_leakage": ("test items occur in the judge's prompt", "take them out of the prompt, or out of the test split"),
    "drift_alarm": (
        "the judge changed on the frozen anchors",
        "calibrate again; discard results since the last good check",
    ),
    "negative_age": ("the calibration lies in the future", "set the clock right"),
    "expired": ("the calibration is older than 90 days", "calibrate again"),
    "stale": ("the calibration is older than 30 days", "calibrate again"),
    "kappa_undefined": ("the test labels hold one class only, or nothing was decided", "label items of both classes"),
    "tpr_lb_undefined": ("no item that people passed was judged", "label items that pass"),
    "tnr_lb_undefined": ("no item that people failed was judged", "label items that fail"),
    "no_better_than_chance": ("the judge may be no better than a coin", "change its prompt or model"),
    "coverage_too_low": ("the judge leaves more than half of the items open", "give it the material it lacks"),
    "coverage_below_gate": ("the judge leaves more than 10 % of the items open", "give it the material it lacks"),
    "parse_errors_too_high": ("more than 10 % of its answers failed", "mend the model's output or its server"),
    "parse_errors_above_gate": ("more than 2 % of its answers failed", "mend the model's output or its server"),
    "unstable": ("its verdicts flip between repeats", "set the temperature to 0, or narrow the question"),
    "rubric_unreliable": (
        "people agree too little with each other: the rubric, not only the judge, is in doubt",
        "sharpen the rubric or split the dimension, then label again",
    ),
    "human_ceiling_unknown": (
        "it is unknown how far people agree",
        "have 30 items labelled by a second person, or 20 repeated blindly by the one expert",
    ),
    "test_set_overused": ("more than 5 judges were tried on this test set", "label fresh test items"),
    "convenience_sample": ("the items were not drawn with known chances", "draw items with toolgrade labels export"),
    "derived_labels": ("a rule made the labels, not a person", "have people label a sample of the items"),
}


def mend(reason: str, evidence: Evidence | None, dimension: str, rng: np.random.Generator) -> Mend:
    """Return what a reason of the policy means and what would lift it. Label numbers assume independent items."""
    name, _, subject = reason.partition(":")
    if name == "probe_failed":
        return Mend(
            reason=reason, meaning=f"the judge fell for the {subject} probe", remedy="harden its prompt, run it again"
        )
    if name == "stratum_refused":
        return Mend(
            reason=reason,
            meaning=f"in {subject} the judge is refused, whatever the whole set says",
            remedy="calibrate and use it apart from there, or mend its prompt for that part",
        )
    if name in _FIXED:
        meaning, remedy = _FIXED[name]
        return Mend(reason=reason, meaning=meaning, remedy=remedy.format(dimension=dimension))
    if evidence is None:
        return Mend(reason=reason, meaning=reason.replace("_", " "), remedy="calibrate again")
    return _counted(name, evidence, Policy(), rng)


def _counted(name: str, evidence: Evidence, limits: Policy, rng: np.random.Generator) -> Mend:
    if name in ("too_few_labels", "few_labels"):
        return _labels(name, evidence.standing, limits)
    if name.startswith("kappa_below"):
        return _kappa(name, evidence, limits, rng)
    if name.endswith("_lb_below_gate"):
        return _recall(name, evidence, limits)
    return Mend(
        reason=name,
        meaning="it is unknown how often its verdicts flip",
        remedy=f"calibrate with --replicates {MIN_REPLICATES} on at least {MIN_STABLE_ITEMS} items, uncached",
    )


def missing_labels(standing: Standing, limits: Policy) -> dict[str, int]:
    """Return how many more labels of each kind `trusted` needs: fail, pass, in all, traces."""
    return {
        "fail": max(0, limits.min_class_gate - standing.n_fail),
        "pass": max(0, limits.min_class_gate - standing.n_pass),
        "all": max(0, limits.min_n_gate - standing.n),
        "traces": max(0, limits.min_clusters_gate - standing.n_clusters),
    }


def _labels(name: str, standing: Standing, limits: Policy) -> Mend:
    missing = {kind: count for kind, count in missing_labels(standing, limits).items() if count}
    told = ", ".join(f"{count} more {'in all' if kind == 'all' else kind}" for kind, count in missing.items())
    have = f"{standing.n_fail} fail, {standing.n_pass} pass, {standing.n_clusters} traces"
    return Mend(reason=name, meaning=f"{standing.n} labels count ({have})", remedy=f"label {told}")


def _kappa(name: str, evidence: Evidence, limits: Policy, rng: np.random.Generator) -> Mend:
    standing, goal = evidence.standing, limits.kappa_gate
    meaning = f"κ is {_number(evidence.kappa)}, its lower limit {_number(standing.kappa_low)}; {goal:g} is needed"
    if evidence.kappa is None or evidence.kappa <= goal:
        return Mend(reason=name, meaning=meaning, remedy="no number of labels helps: mend the judge's prompt or model")
    total = sum(evidence.counts.values())
    table = np.array([evidence.counts[cell] for cell in ("FF", "FP", "PF", "PP")], dtype=np.float64).reshape(2, 2)
    needed = labels_for_kappa(table / total, goal, rng)
    if needed is None:
        return Mend(
            reason=name, meaning=meaning, remedy="more than 5000 labels at this agreement: mend the judge first"
        )
    more = max(0, needed - total)
    return Mend(reason=name, meaning=meaning, remedy=f"about {more} more labels ({needed} in all) if it keeps this up")


def _recall(name: str, evidence: Evidence, limits: Policy) -> Mend:
    passes = name.startswith("tpr")
    value = evidence.pass_recall if passes else evidence.fail_recall
    low = evidence.standing.pass_recall_low if passes else evidence.standing.fail_recall_low
    have = evidence.standing.n_pass if passes else evidence.standing.n_fail
    word = PASS if passes else "fail"
    meaning = (
        f"{word.upper()} recall is {_number(value)}, its lower limit {_number(low)}; {limits.recall_gate:g} is needed"
    )
    needed = labels_for_recall(value, limits.recall_gate) if value is not None and value > limits.recall_gate else None
    if needed is None:
        return Mend(reason=name, meaning=meaning, remedy="no number of labels helps: mend the judge's prompt or model")
    return Mend(
        reason=name,
        meaning=meaning,
        remedy=f"about {max(0, needed - have)} more items that people {word}, if it keeps this up",
    )


def _number(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.2f}"
