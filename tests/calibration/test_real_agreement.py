"""Agreement on real data whose figures were published or measured before."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from tests.calibration.real_sets import (
    D2T_JUDGES,
    d2t_words,
    flagged,
    label_set,
    lines,
    quintd,
    quintd_key,
    quintd_verdicts,
    verdicts,
)
from toolgrade.calibration.calibrate import calibrate, recorded_judge
from toolgrade.calibration.label_set import LabelSet
from toolgrade.calibration.recorded import read_verdicts
from toolgrade.calibration.run import CalibrationRun
from toolgrade.calibration.trust import labelled as labelled_sample
from toolgrade.errors import ConfigError
from toolgrade.stats.agreement import kappa
from toolgrade.stats.paired import compare_judges
from toolgrade.stats.pairs import pairs

pytestmark = pytest.mark.shared
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


def of_both(one: Mapping[str, str], two: Mapping[str, str]) -> float:
    shared = sorted(set(one) & set(two))
    return float(kappa(pairs([one[i] for i in shared], [two[i] for i in shared], ("fail", "pass")).total))


def run_of(labels: LabelSet, words: dict[str, str], name: str) -> CalibrationRun:
    return calibrate(labels, verdicts(words), recorded_judge(name, "1.0"), [], NOW)


def test_pandalm_pairwise_kappa(shared: Path) -> None:
    """README of WeOpenML/PandaLM: 0.85, 0.88, 0.86 for its three annotators."""
    items = json.loads((shared / "data/pandalm/testset-v1.json").read_text())
    columns = [[str(item[f"annotator{i}"]) for item in items] for i in (1, 2, 3)]
    found = [float(kappa(pairs(a, b, ("0", "1", "2")).total)) for a, b in combinations(columns, 2)]
    assert sorted(found) == pytest.approx([0.852, 0.862, 0.879], abs=5e-4)


def test_livemcpbench_published_agreement_of_all_ten_judges(shared: Path) -> None:
    """human_agreement.csv of icip-cas/LiveMCPBench, from the recorded rewards."""
    folder = shared / "data/livemcpbench"
    with (folder / "human_agreement.csv").open() as file:
        published = {row["Model"]: float(row["human_agreement"]) for row in csv.DictReader(file)}
    records = list(lines(folder / "judge_verdicts.jsonl"))
    human = {r["task_id"]: "pass" if r["human"] == "success" else "fail" for r in records}
    labels = label_set("livemcp", {i: (i, {}) for i in human}, [(i, "human", word) for i, word in human.items()])
    judges = sorted({r["judge_model"] for r in records})
    assert len(judges) == 10
    for judge in judges:
        words = {r["task_id"]: "pass" if r["reward"] else "fail" for r in records if r["judge_model"] == judge}
        run = run_of(labels, words, judge)
        assert 100 * (run.measurement.stats["accuracy"].value or 0) == pytest.approx(published[judge], abs=0.005)


def test_quintd_kappas(shared: Path) -> None:
    """Measured on the three domains: judge against itself .792, against people .403, .369, .010, .004; people .406."""
    folder = shared / "data/quintd"
    human = {quintd_key(record): flagged(record) for record in lines(folder / "human.jsonl")}
    cold, warm = (quintd_verdicts(folder, f"gpt-4-1106-preview{t}") for t in ("", "_temperature1"))
    assert len(cold) == len(warm) == 1200
    assert of_both(cold, warm) == pytest.approx(0.792, abs=5e-4)
    assert of_both(human, cold) == pytest.approx(0.403, abs=5e-4)
    assert of_both(human, warm) == pytest.approx(0.369, abs=5e-4)
    double: dict[str, list[str]] = {}
    for record in lines(folder / "human_double.jsonl"):
        double.setdefault(quintd_key(record), []).append(flagged(record))
    one, two = ({key: words[i] for key, words in double.items()} for i in (0, 1))
    assert (len(double), of_both(one, two)) == (60, pytest.approx(0.406, abs=5e-4))


@pytest.mark.parametrize(("judge", "value"), [("gpt-3.5", 0.010), ("llama3", 0.004)])
def test_quintd_judges_that_flag_almost_everything_are_refused(shared: Path, judge: str, value: float) -> None:
    folder = shared / "data/quintd"
    run = run_of(quintd(folder), quintd_verdicts(folder, judge), judge)
    assert run.measurement.stats["kappa"].value == pytest.approx(value, abs=5e-4)
    assert (run.measurement.stats["accuracy"].value or 0) > 0.69
    assert run.decision.level == "refused"
    assert {"kappa_below_floor", "no_better_than_chance"} <= set(run.decision.reasons)


def test_quintd_pooled_figure_hides_the_strata(shared: Path) -> None:
    folder = shared / "data/quintd"
    run = run_of(quintd(folder), quintd_verdicts(folder, "gpt-4-1106-preview"), "gpt-4")
    parts = {name: part.measurement.stats["kappa"].value or 0 for name, part in run.strata.items()}
    pooled = run.measurement.stats["kappa"].value or 0
    assert parts["domain=wikidata"] > pooled + 0.1
    assert max(parts["domain=owid"], parts["domain=openweather"]) < pooled - 0.2
    assert "stratum_refused:domain=openweather" in run.decision.reasons


POSITIVE = {"satisfied": "pass", "satisfactory": "pass", "compliant": "pass", "correct": "pass"}
NEGATIVE = {"unsatisfactory": "fail", "failure": "fail", "unsatisfied": "fail"}
NEITHER = {"partially_satisfied": "unknown", "partially satisfied": "unknown"}


def tau2_file(records: list[dict[str, object]], path: Path) -> Path:
    with path.open("w") as file:
        for record in records:
            file.write(json.dumps({"item_id": record["simulation_id"], "verdict": record["judge_verdict"]}) + "\n")
    return path


def test_tau2_judge_under_four_prompts(shared: Path, tmp_path: Path) -> None:
    """278 runs × 4 prompts; quick_triage on retail: PASS recall 1.00, FAIL recall .04, refused there."""
    records = list(lines(shared / "data/tau2_judge_vs_reward/judge_verdicts.jsonl"))
    truth = {r["simulation_id"]: "pass" if r["tau2_success"] else "fail" for r in records}
    domains = {r["simulation_id"]: r["domain"] for r in records}
    labels = label_set(
        "tau2",
        {i: (i, {"domain": domains[i]}) for i in truth},
        [(i, "reward", word) for i, word in truth.items()],
        strata=("domain",),
        human=False,
        single_roles=("expert", "crowd"),
        sampling_design="convenience",
    )
    mine = [r for r in records if r["judge_prompt_name"] == "quick_triage_v1"]
    path = tau2_file(mine, tmp_path / "quick.jsonl")
    assert len(mine) == 278
    with pytest.raises(ConfigError, match=r"line \d+: verdict: found '(satisf|unsat|compl|fail)"):
        read_verdicts(tau2_file(records, tmp_path / "all.jsonl"))
    said = read_verdicts(path, {**POSITIVE, **NEGATIVE, **NEITHER})
    run = calibrate(labels, said, recorded_judge("quick_triage", "1.0"), [], NOW)
    retail = run.strata["domain=retail"]
    stats = retail.measurement.stats
    assert (stats["pass_recall"].value, stats["fail_recall"].value) == (1.0, pytest.approx(0.04, abs=0.005))
    assert retail.decision.level == "refused"
    assert run.strata["domain=telecom"].measurement.stats["kappa"].value == pytest.approx(0.78, abs=0.005)
    assert "stratum_refused:domain=retail" in run.decision.reasons
    assert "derived_labels" in run.decision.reasons


def test_tau2_corrected_pass_rates_cover_the_true_reward_rate(shared: Path) -> None:
    """Label 60 of 114 runs at random, correct the judge's rate on all of them, look at the reward of all of them."""
    records = [r for r in lines(shared / "data/tau2_judge_vs_reward/judge_verdicts.jsonl") if r["domain"] == "telecom"]
    mine = [r for r in records if r["judge_prompt_name"] == "quick_triage_v1"]
    words = {**POSITIVE, **NEGATIVE, **NEITHER, "pass": "pass", "fail": "fail"}
    said = {r["simulation_id"]: words[str(r["judge_verdict"])] for r in mine}
    truth = {r["simulation_id"]: "pass" if r["tau2_success"] else "fail" for r in mine}
    rng = np.random.default_rng(3)
    decided = [i for i, word in said.items() if word in ("pass", "fail")]
    rate = sum(truth[i] == "pass" for i in decided) / len(decided)
    covered = []
    for _ in range(40):
        labelled = [str(i) for i in rng.choice(sorted(truth), 60, replace=False)]
        labels = label_set("telecom", {i: (i, {}) for i in labelled}, [(i, "reward", truth[i]) for i in labelled])
        run = run_of(labels, {i: said[i] for i in labelled}, "quick").model_copy(update={"sampling_design": "random"})
        found = labelled_sample(run).corrected(sum(said[i] == "pass" for i in decided), len(decided))
        assert found is not None
        assert found.corrected.interval is not None
        covered.append(found.corrected.interval.low <= rate <= found.corrected.interval.high)
    assert np.mean(covered) >= 0.9


def d2t(shared: Path) -> tuple[dict[str, dict[str, str]], dict[str, dict[str, str]]]:
    folder = shared / "data/d2t_eval/annotations"
    human = folder / "human/test/annotations.jsonl"
    groups = {str(g): d2t_words([human], lambda r, g=g: r["annotator_group"] == g) for g in (0, 1)}
    judges = {j: d2t_words([folder / f"model/test/{j}/annotations.jsonl"], lambda _: True) for j in D2T_JUDGES}
    return groups, judges


def test_d2t_people_disagree_too_and_the_report_says_so(shared: Path) -> None:
    """Two domains, 800 texts: judges .192 to .421 against group 0, people .243 on the 316 that two groups did."""
    groups, judges = d2t(shared)
    assert {name: len(words) for name, words in groups.items()} == {"0": 800, "1": 316}
    found = {name: of_both(groups["0"], words) for name, words in judges.items()}
    assert found["llama3-3"] == min(found.values()) == pytest.approx(0.192, abs=5e-4)
    assert found["gemini-2-0-flash-thinking"] == max(found.values()) == pytest.approx(0.421, abs=5e-4)
    assert of_both(groups["0"], groups["1"]) == pytest.approx(0.243, abs=5e-4)
    items = {i: (i.rsplit("/", 1)[0], {}) for i in groups["1"]}
    given = [(i, f"group {g}", groups[g][i]) for i in items for g in groups]
    run = run_of(
        label_set("d2t", items, given),
        judges["gemini-2-0-flash-thinking"] and {i: judges["gemini-2-0-flash-thinking"][i] for i in items},
        "gemini",
    )
    assert run.measurement.humans.kappa == pytest.approx(0.243, abs=5e-4)
    assert "rubric_unreliable" in run.decision.reasons


def test_d2t_panel_gains_less_than_the_interval(shared: Path) -> None:
    """k-of-6 votes: 4 of 6 gives κ about .458 against .421 for the best single judge; the gain may be 0."""
    groups, judges = d2t(shared)
    items = sorted(groups["0"])
    votes = {i: sum(words[i] == "fail" for words in judges.values()) for i in items}
    panel = {i: "fail" if votes[i] >= 4 else "pass" for i in items}
    assert of_both(groups["0"], panel) == pytest.approx(0.458, abs=5e-3)
    best = judges["gemini-2-0-flash-thinking"]
    found = compare_judges(
        [groups["0"][i] for i in items],
        [best[i] for i in items],
        [panel[i] for i in items],
        [i.rsplit("/", 1)[0] for i in items],
        np.random.default_rng(1),
    )
    assert found.kappa.value == pytest.approx(0.037, abs=5e-3)
    assert found.kappa.interval is not None
    assert found.kappa.interval.low < 0 < found.kappa.interval.high
