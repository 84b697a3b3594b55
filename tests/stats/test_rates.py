from __future__ import annotations

import json
from math import comb
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint

from toolgrade.stats.classification import classification, confusion_matrix, route_label
from toolgrade.stats.consistency import pass_at_k, pass_hat_k
from toolgrade.stats.convergence import compounding, path_convergence
from toolgrade.stats.rates import clustered_rate, rate, wilson


def rng() -> np.random.Generator:
    return np.random.default_rng(7)


@given(st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_equals_statsmodels(counts: tuple[int, int]) -> None:
    passed, n = counts
    ours = wilson(passed, n)
    low, high = proportion_confint(passed, n, method="wilson")
    assert ours.low == pytest.approx(low, abs=1e-12)
    assert ours.high == pytest.approx(high, abs=1e-12)


def test_nothing_decided_has_no_rate_and_says_why() -> None:
    assert (rate(0, 0, 5).value, rate(0, 0, 5).reason) == (None, "nothing_decided")
    assert (rate(0, 0, 0).value, rate(0, 0, 0).reason) == (None, "no_items")
    assert rate(1, 2, 4).decided_share == 0.5
    with pytest.raises(ValueError, match="passed <= decided"):
        rate(3, 2, 4)


def test_identical_trials_of_a_case_are_one_observation() -> None:
    """25 cases × 4 equal trials carry the information of 25, not of 100."""
    clusters = [(4, 4)] * 15 + [(0, 4)] * 10
    clustered = clustered_rate(clusters, 100, rng())
    assert clustered.clustered is not None
    assert clustered.interval is not None
    low, high = proportion_confint(15, 25, method="wilson")
    assert clustered.clustered.low == pytest.approx(low, abs=0.04)
    assert clustered.clustered.high == pytest.approx(high, abs=0.04)
    assert clustered.clustered.width > 1.8 * clustered.interval.width


def test_all_passed_falls_back_to_wilson_on_clusters() -> None:
    full = clustered_rate([(4, 4)] * 10, 40, rng())
    assert full.clustered is not None
    assert full.clustered.low == pytest.approx(proportion_confint(10, 10, method="wilson")[0])
    assert (full.clustered.high, full.clustered.method) == (1.0, "wilson_clusters")


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=30), st.randoms())
def test_order_of_clusters_does_not_matter(pairs: list[tuple[int, int]], shuffle: object) -> None:
    clusters = [(min(pair), max(pair)) for pair in pairs]
    mixed = list(clusters)
    shuffle.shuffle(mixed)  # type: ignore[attr-defined]
    assert clustered_rate(clusters, 90, rng()) == clustered_rate(mixed, 90, rng())


@pytest.mark.shared
def test_tau_bench_airline_pass_hat_k_is_the_published_table(shared: Path) -> None:
    """The benchmark's own table for gpt-4o airline: 0.420, 0.273, 0.220, 0.200 (sierra-research/tau-bench)."""
    records = json.loads((shared / "data/tau_bench_airline/gpt-4o-airline.json").read_text())
    cases: dict[int, list[float]] = {}
    for record in records:
        cases.setdefault(record["task_id"], []).append(record["reward"])
    trials = [(len(rewards), int(sum(rewards))) for rewards in cases.values()]
    found = [pass_hat_k(trials, k).value for k in (1, 2, 3, 4)]
    assert found == pytest.approx([0.420, 0.2733, 0.220, 0.200], abs=5e-4)
    assert pass_at_k(trials, 1).value == pytest.approx(0.420)


def test_pass_k_beyond_the_trials_is_undefined() -> None:
    assert pass_at_k([(2, 1), (3, 3)], 4).reason == "fewer_trials_than_k"
    ragged = pass_at_k([(4, 4), (3, 0)], 4)
    assert (ragged.value, ragged.n, ragged.flags) == (1.0, 1, ("left_out:1",))
    always = pass_hat_k([(4, 4)] * 10, 4, rng())
    assert always.interval is not None
    assert always.interval.low == pytest.approx(proportion_confint(10, 10, method="wilson")[0])
    assert pass_hat_k([(2, 2)], 3).value is None
    assert pass_at_k([], 1).reason == "no_items"


@given(st.integers(1, 12).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(1, n))))
def test_pass_k_equals_counting_all_subsets(case: tuple[int, int, int]) -> None:
    n, c, k = case
    at, hat = pass_at_k([(n, c)], k).value, pass_hat_k([(n, c)], k).value
    assert at == pytest.approx(1 - comb(n - c, k) / comb(n, k))
    assert hat == pytest.approx(comb(c, k) / comb(n, k))
    assert hat <= c / n + 1e-12 <= at + 2e-12


def test_path_convergence_of_ten_and_five_steps() -> None:
    """Hand calculation: mean of 5/10 and 5/5."""
    assert path_convergence([10, 5]).value == path_convergence([5, 10]).value == 0.75
    assert path_convergence([3, 0]).reason == "no_steps"
    assert path_convergence([]).reason == "no_items"
    assert path_convergence([4]).flags == ("one_run",)


def test_compounding_is_undefined_where_a_step_is() -> None:
    """0.9 × 0.8 = 0.72."""
    assert compounding({"a": 0.9, "b": 0.8}, 0.7).estimate == pytest.approx(0.72)
    assert compounding({"a": 0.9, "b": None}, 0.7).missing == ("b",)
    assert compounding({}, None).reason == "no_items"


def test_precision_recall_from_counts() -> None:
    """Hand calculation: 6 right, 2 too many, 4 missed: 6/8, 6/10, 12/18."""
    found = classification(6, 2, 4)
    assert (found.precision.value, found.recall.value) == (0.75, 0.6)
    assert found.f1.value == pytest.approx(12 / 18)
    nothing = classification(0, 0, 0)
    assert [nothing.precision.reason, nothing.recall.reason, nothing.f1.reason] == ["zero_denominator"] * 3


def test_confusion_matrix_keeps_the_routes_that_are_no_tool() -> None:
    matrix = confusion_matrix([("a", "a"), ("a", "no_tool"), ("no_tool", "b"), ("b", "malformed")])
    assert matrix.labels == ("a", "b", "no_tool", "unknown_tool", "malformed")
    assert (matrix.total, matrix.diagonal) == (4, 1)
    assert matrix.counts[0] == (1, 0, 1, 0, 0)
    assert matrix.per_label()["a"].recall.value == 0.5
    assert matrix.per_label()["b"].precision.value == 0.0
    assert matrix.per_label()["unknown_tool"].precision.value is None
    assert route_label("no_tool") == "no_tool (tool)"
