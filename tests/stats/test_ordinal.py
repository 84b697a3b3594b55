"""Ordered levels, against the vectors' reference packages and scipy's bootstrap."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import bootstrap
from sklearn.metrics import cohen_kappa_score

from toolgrade.stats.intervals import add_half
from toolgrade.stats.ordinal import ordinal_agreement
from toolgrade.stats.pairs import pairs

VECTORS = json.loads((Path(__file__).parent / "calibration-vectors.json").read_text(encoding="utf-8"))["cases"]
CASE = next(case for case in VECTORS if case["id"] == "ordinal/ord_declared5_unused4")
LEVELS = tuple(map(str, CASE["input"]["levels"]))
HUMAN, JUDGE = ([str(level) for level in CASE["input"][who]] for who in ("human", "judge"))


def measured(human: list[str], judge: list[str], clusters: list[Any] | None = None) -> dict[str, Any]:
    return ordinal_agreement(pairs(human, judge, LEVELS, clusters), np.random.default_rng(3))


def test_the_values_are_those_of_sklearn_irrcac_and_krippendorff() -> None:
    found, expected = measured(HUMAN, JUDGE), CASE["expected"]
    assert {name: estimate.value for name, estimate in found.items()} == {
        "kappa_linear": pytest.approx(expected["kappa_linear"]),
        "kappa_quadratic": pytest.approx(expected["kappa_quadratic"]),
        "ac2_linear": pytest.approx(expected["ac_linear"]),
        "ac2_quadratic": pytest.approx(expected["ac_quadratic"]),
        "alpha_ordinal": pytest.approx(expected["alpha_ordinal"]),
    }


def test_the_interval_is_scipys_around_sklearns_weighted_kappa() -> None:
    found = measured(HUMAN, JUDGE)["kappa_quadratic"].interval

    def kappa(human: Any, judge: Any) -> float:
        return float(cohen_kappa_score(human, judge, labels=list(LEVELS), weights="quadratic"))

    theirs = bootstrap(
        (HUMAN, JUDGE),
        kappa,
        paired=True,
        vectorized=False,
        n_resamples=1500,
        method="BCa",
        rng=np.random.default_rng(4),
    ).confidence_interval
    assert (found.low, found.high) == (pytest.approx(theirs.low, abs=0.03), pytest.approx(theirs.high, abs=0.03))


def test_whole_traces_are_resampled() -> None:
    """Each trace twice over: no value changes, and no interval gets narrower, as it would by item."""
    once, twice = measured(HUMAN, JUDGE), measured(HUMAN * 2, JUDGE * 2, [*range(40)] * 2)
    assert once["kappa_linear"].interval == twice["kappa_linear"].interval
    assert measured(HUMAN * 2, JUDGE * 2)["kappa_linear"].interval.width < once["kappa_linear"].interval.width


def test_what_is_undefined_says_so_and_a_constant_judge_has_no_agreement() -> None:
    constant = measured(["2"] * 8, ["2"] * 8)
    assert {
        name: constant[name].reason for name in ("kappa_linear", "kappa_quadratic", "alpha_ordinal")
    } == dict.fromkeys(("kappa_linear", "kappa_quadratic", "alpha_ordinal"), "single_class")
    assert all(estimate.reason == "no_items" for estimate in measured([], []).values())
    lazy = measured(HUMAN, ["3"] * 40)["kappa_linear"]
    assert (lazy.value, "judge_constant" in lazy.flags) == (0.0, True)
    weights = 1 - np.abs(np.subtract.outer(np.arange(5), np.arange(5))) / 4
    table = pairs(HUMAN, ["3"] * 40, LEVELS).total
    assert lazy.interval == add_half(table, weights=weights).interval


def test_near_misses_count_less_than_far_ones() -> None:
    human = ["1", "2", "3", "4", "5"] * 8
    near = [str(min(5, int(level) + 1)) if n % 4 == 0 else level for n, level in enumerate(human)]
    far = [
        "5" if level == "1" and n % 4 == 0 else "1" if level == "5" and n % 4 == 0 else level
        for n, level in enumerate(human)
    ]
    close, away = measured(human, near), measured(human, far)
    assert close["kappa_quadratic"].value > close["kappa_linear"].value > 0.85
    assert away["kappa_quadratic"].value < away["kappa_linear"].value
