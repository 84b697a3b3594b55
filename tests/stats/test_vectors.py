"""The expected values in calibration-vectors.json, computed with the packages that each vector names.

The file's `meta` holds the versions of those packages, each case its own reference and tolerance. Left out are
`quote_verification` (tests/judges), and keys that repeat another package's variant, such
as its bare Wald interval.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from toolgrade.core.identity import canonical_json, content_hash, text_hash
from toolgrade.stats import agreement, budget, drift, panel, selective
from toolgrade.stats.alt_test import _benjamini_yekutieli, alt_test
from toolgrade.stats.bootstrap import Bootstrap, bca_limits
from toolgrade.stats.ceiling import human_ceiling, majority
from toolgrade.stats.clusters import cluster_error
from toolgrade.stats.confidence import confidence_calibration
from toolgrade.stats.correction import Judged, Recalls, post_stratified, prediction_powered, rogan_gladen
from toolgrade.stats.estimate import Estimate
from toolgrade.stats.intervals import add_half, clopper_pearson, no_disagreement
from toolgrade.stats.judging import judge_agreement
from toolgrade.stats.paired import mcnemar
from toolgrade.stats.pairs import pairs
from toolgrade.stats.projection import project
from toolgrade.stats.raters import (
    conger_kappa,
    flip_rate,
    gwet_ac1,
    krippendorff_alpha,
    mean_pair_agreement,
    rating_array,
    unstable_share,
)
from toolgrade.stats.rates import wilson

VECTORS = json.loads((Path(__file__).parent / "calibration-vectors.json").read_text(encoding="utf-8"))["cases"]
LABELS = ("FAIL", "PASS")


def family(name: str) -> list[Any]:
    cases = [case for case in VECTORS if case["family"] == name]
    assert cases
    return [pytest.param(case, id=case["id"]) for case in cases]


def rng() -> np.random.Generator:
    return np.random.default_rng(5)


def close(case: dict[str, Any], found: Any, expected: Any) -> None:
    if expected is None:
        assert found is None
        return
    assert found is not None
    assert found == pytest.approx(expected, abs=case["abs_tol"])


def ends(estimate: Estimate) -> list[float] | None:
    return [estimate.interval.low, estimate.interval.high] if estimate.interval else None


def number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def lower(labels: list[str]) -> list[str]:
    return [label.lower() for label in labels]


@pytest.mark.parametrize("case", family("binary_agreement"))
def test_binary(case: dict[str, Any]) -> None:
    given, expected = case["input"], case["expected"]
    both = pairs(lower(given["human"]), lower(given["judge"]), ("fail", "pass"))
    counts = given["counts"]
    assert both.total.ravel().tolist() == [counts["FF"], counts["FP"], counts["PF"], counts["PP"]]
    found = judge_agreement(both, rng())
    names = {
        "accuracy": "accuracy",
        "fail_precision": "fail_precision",
        "fail_recall": "fail_recall_tnr",
        "fail_f1": "fail_f1",
        "pass_recall": "tpr",
        "mcc": "mcc",
        "kappa": "cohen_kappa",
        "ac1": "ac1",
        "alpha": "krippendorff_alpha_nominal",
    }
    for ours, theirs in names.items():
        close(case, found[ours].value, expected[theirs])
        assert (found[ours].value is None) == (found[ours].reason is not None)
    assert found["kappa"].reason == expected["cohen_kappa_reason"]
    close(case, number(agreement.kappa_error(both.total)), expected["cohen_kappa_se_fce"])
    close(case, number(agreement.gwet_error(both.total)), expected["ac1_se_item"])
    close(case, ends(found["accuracy"]), expected["wilson95_accuracy"])
    for ours, theirs, (hits, n) in (
        ("fail_recall", "wilson95_tnr", (counts["FF"], counts["FF"] + counts["FP"])),
        ("pass_recall", "wilson95_tpr", (counts["PP"], counts["PP"] + counts["PF"])),
    ):
        interval = wilson(hits, n)
        close(case, [interval.low, interval.high], expected[theirs])
        if found[ours].value is not None:
            close(case, ends(found[ours]), expected[theirs])
    exact = clopper_pearson(counts["FF"], counts["FF"] + counts["FP"])
    close(case, [exact.low, exact.high], expected["clopper_pearson95_tnr"])


@pytest.mark.parametrize("case", family("inclusion_weighted"))
def test_weighted(case: dict[str, Any]) -> None:
    given, expected = case["input"], case["expected"]
    human, judge = lower(given["human"]), lower(given["judge"])
    weighted = pairs(human, judge, ("fail", "pass"), weights=[1 / p for p in given["inclusion_prob"]])
    names = {"tnr": "fail_recall", "tpr": "pass_recall", "kappa": "kappa", "fail_precision": "fail_precision"}
    for key, both in (("unweighted", pairs(human, judge, ("fail", "pass"))), ("weighted", weighted)):
        found = judge_agreement(both, rng())
        for theirs, value in expected[key].items():
            close(case, found[names.get(theirs, theirs)].value, value)
    close(case, weighted.effective, expected["kish_n_eff"])


@pytest.mark.parametrize("case", family("ordinal_agreement"))
def test_ordinal(case: dict[str, Any]) -> None:
    given, expected = case["input"], case["expected"]
    levels = [str(level) for level in given["levels"]]
    table = pairs([str(x) for x in given["human"]], [str(x) for x in given["judge"]], levels).total
    for weighting in ("identity", "linear", "quadratic"):
        weights = agreement.agreement_weights(len(levels), weighting)
        close(case, number(agreement.kappa(table, weights)), expected[f"kappa_{weighting}"])
        close(case, number(agreement.kappa_error(table, weights)), expected[f"kappa_se_{weighting}"])
        close(case, number(agreement.gwet(table, weights)), expected[f"ac_{weighting}"])
    for metric in ("nominal", "ordinal", "interval"):
        close(case, number(agreement.alpha_of_tables(table, metric)), expected[f"alpha_{metric}"])


@pytest.mark.parametrize("case", family("selective"))
def test_selective(case: dict[str, Any]) -> None:
    given, expected = case["input"], case["expected"]
    assert given["n_min"] == selective.MIN_ITEMS
    correct = [bool(right) for right in given["correct"]]
    found = selective.certified_threshold(given["confidence"], correct, given["alpha"], given["delta"])
    close(case, found.threshold, expected["lam"])
    if expected["lam"] is None:
        assert found.reason == expected["reason"]
        return
    assert (found.kept, found.errors) == (expected["n"], expected["errors"])
    close(case, found.error_bound, expected["ub"])


@pytest.mark.parametrize("case", family("human_ceiling"))
def test_ceiling(case: dict[str, Any]) -> None:
    humans, judge, expected = case["input"]["raters"], case["input"]["judge"], case["expected"]
    found = human_ceiling(humans, judge, LABELS)
    ratings = rating_array(list(zip(*humans.values(), strict=True)), LABELS)
    close(case, found.alpha.value, expected["krippendorff_alpha_humans"])
    close(case, gwet_ac1(ratings, 2).value, expected["gwet_ac1_humans"])
    close(case, conger_kappa(ratings, 2).value, expected["conger_kappa_humans"])
    for key, pair in expected["pairwise_human_kappa"].items():
        close(case, [found.pairwise[key].value, found.pairwise[key].n], [pair["kappa"], pair["n"]])
    for key, pair in expected["judge_vs_each_human"].items():
        close(case, [found.judge[key].value, found.judge[key].n], [pair["kappa"], pair["n"]])
    close(case, found.mean_kappa.value, expected["mean_pairwise_human_kappa"])
    close(case, found.judge_mean.value, expected["mean_judge_human_kappa"])
    close(case, found.judge_majority.value, expected["judge_vs_majority"]["kappa"])
    assert found.judge_majority.n == expected["judge_vs_majority"]["n"]
    for name, row in expected["loo_majority"].items():
        one = found.leave_one_out[name]
        close(case, [one.n, one.human, one.judge], [row["n"], row["human_acc"], row["judge_acc"]])
    close(case, found.ratio.value, expected["ceiling_ratio"])


@pytest.mark.parametrize("case", family("alt_test"))
def test_alt(case: dict[str, Any]) -> None:
    given, expected = case["input"], case["expected"]
    if "p" in given:
        rejected = _benjamini_yekutieli(given["p"], given["q"])
        assert [index for index, hit in enumerate(rejected) if hit] == expected["rejected_idx"]
        return
    if "n_items" in given:
        mixed = ["PASS", "FAIL"] * (given["n_items"] // 2)
        found = alt_test({"a": mixed, "b": mixed, "c": mixed}, mixed, given["epsilon"])
        assert (found.passes, found.reason) == (None, "insufficient_items")
        return
    found = alt_test(given["raters"], given["judge"], given["epsilon"])
    close(case, found.winning_rate, expected["winning_rate"])
    close(case, found.advantage, expected["advantage_prob"])
    assert found.passes is expected["passes"]
    for name, row in expected["per_annotator"].items():
        one = found.annotators[name]
        close(case, [one.n, one.advantage, one.mean_difference], [row["n"], row["rho_f"], row["mean_d"]])
        close(case, one.p, row["p"])


@pytest.mark.parametrize("case", family("self_consistency"))
def test_self_consistency(case: dict[str, Any]) -> None:
    verdicts, expected = case["input"]["verdicts"], case["expected"]
    ratings = rating_array(verdicts, LABELS)
    close(case, flip_rate(verdicts, LABELS).value, expected["pairwise_flip_rate"])
    close(case, unstable_share(verdicts, LABELS).value, expected["items_not_unanimous_rate"])
    close(case, mean_pair_agreement(ratings, 2), expected["fleiss_pa"])
    close(case, gwet_ac1(ratings, 2).value, expected["gwet_ac1"])
    close(case, krippendorff_alpha(ratings, 2).value, expected["krippendorff_alpha"])


@pytest.mark.parametrize("case", family("confidence_calibration"))
def test_confidence(case: dict[str, Any]) -> None:
    found = confidence_calibration(case["input"]["y_pass"], case["input"]["p_pass"])
    ours = {
        "brier": found.brier.value,
        "brier_skill_vs_base_rate": found.skill.value,
        "ece10": found.ece.value,
        "log_loss": found.log_loss.value,
        "base_rate": found.base_rate,
    }
    for key, value in case["expected"].items():
        if key != "ece10_if_mapie_num_bins_10":
            close(case, ours[key], value)


@pytest.mark.parametrize("case", family("rogan_gladen"))
def test_rogan_gladen(case: dict[str, Any]) -> None:
    given, expected = case["input"], case["expected"]
    if "labels_pass1" in given:
        table = pairs(
            ["pass" if x else "fail" for x in given["labels_pass1"]],
            ["pass" if x else "fail" for x in given["preds_pass1"]],
            ("fail", "pass"),
        ).total
        (ff, fp), (pf, pp) = table
        recalls = Recalls(pp / (pp + pf), pp + pf, ff / (ff + fp), ff + fp)
        found = rogan_gladen(Judged(given["unlabeled_pass"], given["unlabeled_n"]), recalls)
        assert found.value == pytest.approx(expected["theta"], abs=1e-9)
        assert ends(found) == pytest.approx(expected["lee_ci"], abs=1e-9)
        return
    judged = Judged(round(given["p_obs"] * given["n"]), given["n"])
    found = rogan_gladen(judged, Recalls(given["tpr"], given["m1"], given["tnr"], given["m0"]))
    close(case, found.value, expected["theta"])
    close(case, ends(found), expected["ci"])
    assert found.reason == expected.get("reason")


@pytest.mark.parametrize("case", family("ppi"))
def test_prediction_powered(case: dict[str, Any]) -> None:
    given, expected = case["input"], case["expected"]
    words = ("fail", "pass")
    table = pairs([words[y] for y in given["Y_pass"]], [words[f] for f in given["f_labelled"]], words).total
    judged = Judged(given["f_unlabelled_sum"], given["f_unlabelled_n"])
    tuned, plain = prediction_powered(judged, table), prediction_powered(judged, table, tuning=1.0)
    stratified = post_stratified(judged, table)
    human = wilson(sum(given["Y_pass"]), len(given["Y_pass"]))
    ours = {
        "ppi_estimate": plain.estimate.value,
        "ppi_ci": list(plain.wald),
        "ppipp_lambda": tuned.tuning,
        "ppipp_estimate": tuned.estimate.value,
        "ppipp_ci_z": list(tuned.wald),
        "ppipp_ci_logit": ends(tuned.estimate),
        "poststrat_estimate": stratified.value,
        "poststrat_agresti_ci": ends(stratified),
        "classical_mean": sum(given["Y_pass"]) / len(given["Y_pass"]),
        "human_only_wilson": [human.low, human.high],
    }
    for key, value in expected.items():
        close(case, ours[key], value)


@pytest.mark.parametrize("case", family("paired_judges"))
def test_paired(case: dict[str, Any]) -> None:
    given, expected = case["input"], case["expected"]
    found = mcnemar(given["both_right"], given["b"], given["c"], given["both_wrong"])
    ours = {
        "p_exact": found.p_exact,
        "p_midp": found.p,
        "acc_diff_B_minus_A": found.difference.value,
        "agresti_min_ci": ends(found.difference),
        "evalue_two_sided_beta11": found.e_value,
        "evalue_onesided_b_gt_c": found.e_worse,
    }
    for key, value in ours.items():
        close(case, value, expected[key])


@pytest.mark.parametrize("case", family("bootstrap"))
def test_bootstrap(case: dict[str, Any]) -> None:
    given, expected = case["input"], case["expected"]
    if "bootstrap_distribution" in given:
        left_out = np.array(given["jackknife"])
        limits = bca_limits(
            given["theta_hat"], np.array(given["bootstrap_distribution"]), left_out, np.ones_like(left_out)
        )
        close(case, list(limits or ()), expected["ci"])
    elif "counts" in given:
        table = np.array(list(given["counts"].values()), dtype=float).reshape(2, 2)
        found = add_half(table)
        close(case, found.value, expected["kappa_adj"])
        close(case, ends(found), expected["ci"])
        close(case, float(agreement.kappa_error(table + 0.5)), expected["se"])
    elif "pe" in expected:
        table = np.array(given["table"], dtype=float)
        interval = no_disagreement(table, table.sum())
        close(case, [interval.low, interval.high], expected["ci"])
        close(case, float(agreement.kappa_parts(table)[1]), expected["pe"])
    else:
        draws = Bootstrap(np.repeat(np.eye(4), np.array(given["table"]).ravel(), axis=0), rng(), resamples=20000)
        interval = draws.interval(lambda totals: agreement.kappa(totals.reshape(*totals.shape[:-1], 2, 2)))
        assert interval is not None
        close(case, [interval.low, interval.high], expected["ci"])


@pytest.mark.parametrize("case", family("clustered"))
def test_clustered(case: dict[str, Any]) -> None:
    found = cluster_error(case["input"]["correct"], case["input"]["cluster"])
    ours = {
        "mean": found.mean,
        "se_iid": found.independent,
        "se_cluster": found.clustered,
        "deff": found.design_effect,
    }
    for key, value in case["expected"].items():
        close(case, ours[key], value)


@pytest.mark.parametrize("case", family("drift"))
def test_drift(case: dict[str, Any]) -> None:
    given, expected = case["input"], case["expected"]
    if "t" in given:
        close(case, [drift.anytime_radius(t, given["alpha"]) for t in given["t"]], expected["radius"])
    elif "k" in given:
        one_sided = [drift.cusum_run_length(given["k"], h) for h in given["h"]]
        close(case, one_sided, expected["one_sided"])
        close(case, [value / 2 for value in one_sided], expected["two_sided"])
    else:
        start = drift.baseline(given["baseline_correct_KxN"])
        close(
            case,
            [start.mean, start.within_item_variance, start.sigma],
            [expected["mu"], expected["within_item_var"], expected["sd_pred"]],
        )
        if "charts" not in expected:
            return
        close(case, start.binomial, expected["binomial_sd"])
        limits = drift.Charts(
            shewhart=given["shewhart_L"],
            ewma_weight=given["ewma_lambda"],
            ewma_limit=given["ewma_L"],
            cusum_slack=given["cusum_k"],
            cusum_limit=given["cusum_h"],
        )
        for point, row in zip(
            drift.chart(start, given["subsequent_run_accuracy"], limits), expected["charts"], strict=True
        ):
            close(
                case,
                [point.z, point.cusum, point.ewma, point.ewma_limit],
                [row["z"], row["cusum_lower"], row["ewma"], row["ewma_limit"]],
            )
            assert [point.shewhart_alarm, point.cusum_alarm, point.ewma_alarm] == [
                row["shewhart_alarm"],
                row["cusum_alarm"],
                row["ewma_alarm"],
            ]


@pytest.mark.parametrize("case", family("power"))
def test_power(case: dict[str, Any]) -> None:
    given, expected = case["input"]["cases"], case["expected"]
    if case["id"] == "power/wilson_lower":
        close(case, [budget.labels_for_share(share, floor) for share, floor in given], expected["n"])
    elif case["id"] == "power/mcnemar":
        close(case, [budget.items_for_mcnemar(*pair) for pair in given], expected["n"])
    elif case["id"] == "power/lee_allocation":
        ours = [list(budget.allocate_labels(c["m"], c["p"], c["q0"], c["q1"], c["m_pilot"])) for c in given]
        close(case, ours[0], expected["m0_m1"][0])
        assert ours == expected["m0_m1"]
    else:
        tables = [(budget.agreement_table(kappa, share), floor) for kappa, floor, share in given]
        close(case, [budget.labels_for_kappa_wald(*pair) for pair in tables], expected["wald_formula_n"])
        simulated = [budget.labels_for_kappa(*pair, rng()) for pair in tables]
        assert simulated == pytest.approx(expected["judgegate_required"], rel=0.15)


@pytest.mark.parametrize("case", family("panel"))
def test_panel(case: dict[str, Any]) -> None:
    given, expected = case["input"], case["expected"]
    if "errors" in given:
        size = panel.effective_judges(given["errors"])
        close(case, size.mean_correlation, expected["mean_phi"])
        close(case, [size.kish, size.eigen], [expected["n_eff_kish"], expected["n_eff_eigen"]])
        return
    votes = {name: [vote and vote.lower() for vote in given_] for name, given_ in given["votes"].items()}
    found = panel.dawid_skene(votes)
    assert list(found.labels) == lower(expected["labels"])
    close(case, list(found.posterior_fail), expected["posterior_fail"])
    close(case, found.fail_rate, expected["prevalence_fail"])
    close(case, found.fail_recall, expected["sensitivity_fail"])
    close(case, found.pass_recall, expected["specificity_fail"])
    ours = majority(list(given["votes"].values()))
    assert all(label in (None, theirs) for label, theirs in zip(ours, expected["majority"], strict=True))


@pytest.mark.parametrize("case", family("kappa_projection"))
def test_projection(case: dict[str, Any]) -> None:
    given = case["input"]
    found = project(given["tpr"], given["tnr"], given["pi_fail"])
    for key, value in case["expected"].items():
        close(case, getattr(found, key).value, value)


@pytest.mark.parametrize("case", family("hash"))
def test_hash(case: dict[str, Any]) -> None:
    given, expected = case["input"], case["expected"]
    if "canonical" in expected:
        assert canonical_json(given) == expected["canonical"]
        assert content_hash(given) == expected["judge_id"]
    else:
        assert text_hash(given["text"]) == expected["content_hash"]
