"""How far a rate moved between two versions: by hand, by scipy's bootstrap, by the estimator of one rate."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import bootstrap

from toolgrade.stats.bootstrap import Array
from toolgrade.stats.corrected import DESIGNS
from toolgrade.stats.correction import Judged, prediction_powered
from toolgrade.stats.paired import agresti_min
from toolgrade.stats.versions import PairedTraces, VersionDifference, version_difference


def cells(ff: float, fp: float, pf: float, pp: float) -> Array:
    """One trace for each labelled item."""
    return np.repeat(np.eye(4), [int(ff), int(fp), int(pf), int(pp)], axis=0)


GOOD = cells(18, 2, 5, 95)
"""TPR 95/100, TNR 18/20: J = .85."""


def pairs(base: list[float], candidate: list[float], people: list[float] | None = None) -> PairedTraces:
    n = len(base)
    told = np.full(n, np.nan) if people is None else np.array(people, float)
    return PairedTraces(list(range(n)), np.array(base, float), np.array(candidate, float), told)


def moved(both: int, lost: int, gained: int, neither: int) -> PairedTraces:
    base = [1] * both + [1] * lost + [0] * gained + [0] * neither
    candidate = [1] * both + [0] * lost + [1] * gained + [0] * neither
    return pairs(base, candidate)


def difference(traces: PairedTraces, calibration: Array = GOOD, design: str = "label_stratified") -> VersionDifference:
    return version_difference(traces, calibration, design, np.random.default_rng(1))  # type: ignore[arg-type]


def test_the_judged_difference_is_divided_by_what_the_judge_sees_of_one() -> None:
    found = difference(moved(70, 15, 5, 10))
    assert found.raw.value == pytest.approx(-0.1)
    assert found.corrected.value == pytest.approx(-0.1 / 0.85)
    assert (found.estimator, found.traces, found.labelled) == ("shared_recalls", 100, 0)


def test_weights_of_items_picked_by_verdict_are_used() -> None:
    # 20 + 5 judged FAIL all labelled, 2 + 40 of ten times as many judged PASS: TNR 20/40, TPR 400/405.
    weighted = np.repeat(np.diag([1.0, 10.0, 1.0, 10.0]), [20, 2, 5, 40], axis=0)
    found = difference(moved(85, 10, 5, 0), weighted, "verdict_stratified")
    assert found.corrected.value == pytest.approx(-0.05 / (20 / 40 + 400 / 405 - 1))


@pytest.mark.parametrize("labels", [1, 20])
def test_two_equal_systems_differ_by_nothing_however_uncertain_the_judge_is(labels: int) -> None:
    calibration = np.repeat(cells(9, 1, 1, 9), labels, axis=0)
    found = difference(moved(80, 0, 0, 20), calibration)
    assert found.corrected.value == 0
    assert found.corrected.interval is not None
    # ½ added to each cell of 100 pairs: ±1.96/102, over J = .8
    assert found.corrected.interval.low == pytest.approx(-1.959964 / 102 / 0.8)
    assert found.corrected.interval.high == pytest.approx(1.959964 / 102 / 0.8)


def test_the_interval_is_scipys_of_both_samples() -> None:
    traces, calibration = moved(120, 30, 10, 40), cells(34, 6, 4, 56)
    found = difference(traces, calibration).corrected.interval
    assert found is not None
    step = traces.candidate - traces.base
    kinds = calibration.argmax(axis=1)

    def statistic(steps: Array, kind: Array) -> float:
        ff, fp, pf, pp = (np.sum(kind == number) for number in range(4))
        return float(np.mean(steps) / (ff / (ff + fp) + pp / (pf + pp) - 1))

    rng = np.random.default_rng(2)
    theirs = bootstrap((step, kinds), statistic, vectorized=False, n_resamples=4000, method="BCa", rng=rng)
    limits = theirs.confidence_interval
    assert (found.low, found.high) == (pytest.approx(limits.low, abs=0.008), pytest.approx(limits.high, abs=0.008))


def test_a_perfect_judge_changes_neither_value_nor_interval() -> None:
    found = difference(moved(70, 15, 5, 10), cells(20, 0, 0, 80))
    assert (found.corrected.value, found.corrected.interval) == (found.raw.value, found.raw.interval)


def test_adding_two_variances_would_be_too_wide() -> None:
    """The labels say little of J here, and still a small change is seen: its error scales with the change."""
    found = difference(moved(150, 10, 10, 30), cells(9, 3, 3, 15)).corrected.interval
    assert found is not None
    assert found.width < 0.25


def test_trials_of_a_case_are_one_observation() -> None:
    once = moved(60, 15, 5, 20)
    twice = PairedTraces([*once.clusters, *once.clusters], *(np.concatenate([values, values]) for values in once[1:]))
    alone, both = difference(once).corrected, difference(twice).corrected
    assert (alone.value, alone.interval) == (both.value, both.interval)


def labelled_rate() -> tuple[PairedTraces, Judged, Array]:
    """A base that always fails: the difference is the candidate's rate, of which PPI++ is known right."""
    table = np.array([[20.0, 6.0], [8.0, 26.0]])
    unlabelled = Judged(130, 200)
    said = [0] * 20 + [1] * 6 + [0] * 8 + [1] * 26 + [1] * 130 + [0] * 70
    people = [0.0] * 26 + [1.0] * 34 + [float("nan")] * 200
    return pairs([0] * 260, said, people), unlabelled, table


def test_labelled_pairs_correct_as_ppi_does_for_one_rate() -> None:
    traces, unlabelled, table = labelled_rate()
    known = prediction_powered(unlabelled, table)
    found = difference(traces, design="random")
    assert found.estimator == "ppi_plus_plus"
    assert (found.labelled, found.people.value) == (60, pytest.approx(34 / 60))
    assert found.corrected.value == pytest.approx(known.estimate.value, abs=1e-12)
    assert found.corrected.interval is not None
    assert found.corrected.interval.low == pytest.approx(known.wald[0], abs=0.015)
    assert found.corrected.interval.high == pytest.approx(known.wald[1], abs=0.015)


def test_where_people_labelled_everything_their_difference_counts() -> None:
    people = [-1.0] * 20 + [0.0] * 20
    found = difference(pairs([1] * 40, [0] * 8 + [1] * 32, people), design="random")
    assert (found.raw.value, found.corrected.value) == (pytest.approx(-0.2), pytest.approx(-0.5))


@pytest.mark.parametrize("design", DESIGNS)
def test_only_random_labels_may_stand_for_the_pairs(design: str) -> None:
    traces, *_ = labelled_rate()
    found = difference(traces._replace(base=np.ones(260)), cells(40, 20, 10, 60), design)
    expected = {"random": "ppi_plus_plus", "convenience": None}
    assert found.estimator == expected.get(design, "shared_recalls")
    if design == "convenience":
        assert found.corrected.reason == "design_forbids_correction"
        assert found.drop(0.05) is None


def test_few_labelled_pairs_or_few_that_differ_are_not_built_on() -> None:
    few = pairs([1] * 100, [0] * 10 + [1] * 90, [-1.0] * 9 + [0.0] * 20 + [float("nan")] * 71)
    agreeing = pairs([1] * 100, [0] * 10 + [1] * 90, [-1.0] * 10 + [0.0] * 50 + [float("nan")] * 40)
    assert [difference(one, design="random").estimator for one in (few, agreeing)] == ["shared_recalls"] * 2


@pytest.mark.parametrize(
    ("calibration", "reason"),
    [
        (cells(0, 0, 5, 60), "missing_class"),
        (np.zeros((0, 4)), "missing_class"),
        (cells(10, 30, 15, 45), "judge_at_or_below_chance"),
        # Of PASS items .6 pass and of FAIL items .4: no mix of both makes .85.
        (cells(240, 160, 160, 240), "assumption_violation"),
    ],
)
def test_a_judge_that_cannot_correct_is_refused_with_the_reason(calibration: Array, reason: str) -> None:
    found = difference(moved(70, 15, 5, 10), calibration)
    assert (found.corrected.value, found.corrected.reason, found.drop(0.1)) == (None, reason, None)


def test_what_the_interval_says_of_a_drop() -> None:
    found = difference(moved(140, 30, 10, 20))
    assert found.corrected.interval is not None
    low, high = found.corrected.interval.low, found.corrected.interval.high
    assert low < -0.12 < high < 0
    assert [found.drop(tolerance) for tolerance in (-low + 0.001, 0.1, -high - 0.001)] == [
        "excluded",
        "possible",
        "shown",
    ]


def test_everything_moved_the_same_way() -> None:
    found = difference(moved(0, 50, 0, 0), cells(20, 0, 0, 20))
    plain = agresti_min(50, 0, 50)
    assert found.corrected.value == -1
    assert found.corrected.interval is not None
    assert (found.corrected.interval.low, found.corrected.interval.high) == (plain.low, plain.high)


def test_sequences_must_be_equally_long() -> None:
    with pytest.raises(ValueError, match="at least one pair"):
        difference(moved(0, 0, 0, 0))
    with pytest.raises(ValueError, match="equally long"):
        difference(moved(5, 0, 0, 0)._replace(base=np.ones(4)))
