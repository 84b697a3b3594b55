"""Figures of single strata and judges on real data, against scikit-learn or published values."""

from __future__ import annotations

import filecmp
import subprocess
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sklearn.metrics import cohen_kappa_score

from tests.calibration.real_sets import label_set, lines, quintd, quintd_verdicts, verdicts
from tests.calibration.test_real_agreement import NEGATIVE, NEITHER, POSITIVE, d2t
from toolgrade.assets import root
from toolgrade.calibration.calibrate import calibrate, recorded_judge
from toolgrade.calibration.label_set import LabelSet
from toolgrade.calibration.run import CalibrationRun

pytestmark = pytest.mark.shared
NOW = datetime(2026, 11, 30, tzinfo=UTC)
ROOT = Path(__file__).parents[2]


def run_of(labels: LabelSet, words: dict[str, str]) -> CalibrationRun:
    return calibrate(labels, verdicts(words), recorded_judge("judge", "1.0"), [], NOW)


def independent(one: Mapping[str, str], two: Mapping[str, str]) -> float:
    both = [i for i in one if two.get(i) in ("fail", "pass")]
    return float(cohen_kappa_score([one[i] for i in both], [two[i] for i in both]))


@pytest.mark.parametrize("judge", ["gpt-4-1106-preview", "gpt-4-1106-preview_temperature1", "gpt-3.5", "llama3"])
def test_quintd_by_domain(shared: Path, judge: str) -> None:
    labels = quintd(shared / "data/quintd")
    words = quintd_verdicts(shared / "data/quintd", judge)
    human = {i: str(one.label) for i, one in labels.resolved.items()}
    run = run_of(labels, words)
    assert set(run.strata) == {"domain=wikidata", "domain=owid", "domain=openweather"}
    for name, part in run.strata.items():
        mine = {i: word for i, word in human.items() if i.startswith(name.partition("=")[2])}
        assert len(mine) == 400
        assert part.measurement.stats["kappa"].value == pytest.approx(independent(mine, words))


def test_d2t_judges_against_both_groups_of_people(shared: Path) -> None:
    """Against group 0 as measured in other software before; against group 1 as scikit-learn has it."""
    groups, judges = d2t(shared)
    expected = {
        "gemini-2-0-flash-thinking": 0.421,
        "o3-mini": 0.391,
        "claude-3-7-sonnet": 0.353,
        "deepseek-r1": 0.338,
        "gpt4o": 0.265,
        "llama3-3": 0.192,
    }
    for group, people in groups.items():
        labels = label_set(
            "d2t", {i: (i.rsplit("/", 1)[0], {}) for i in people}, [(i, "g", w) for i, w in people.items()]
        )
        for name, words in judges.items():
            found = run_of(labels, {i: words[i] for i in people}).measurement.stats["kappa"].value
            assert found == pytest.approx(independent(people, words))
            if group == "0":
                assert found == pytest.approx(expected[name], abs=5e-4)


def test_tau2_four_prompts_in_three_domains(shared: Path) -> None:
    """κ from -.16 (customer_outcome, airline) to .78 (quick_triage, telecom); the prompt makes the judge."""
    records = list(lines(shared / "data/tau2_judge_vs_reward/judge_verdicts.jsonl"))
    assert len(records) == 278 * 4
    truth = {r["simulation_id"]: "pass" if r["tau2_success"] else "fail" for r in records}
    domains = {r["simulation_id"]: (r["simulation_id"], {"domain": r["domain"]}) for r in records}
    labels = label_set("tau2", domains, [(i, "r", w) for i, w in truth.items()], strata=("domain",), human=False)
    meaning = {**POSITIVE, **NEGATIVE, **NEITHER}
    found = {}
    for prompt in {r["judge_prompt_name"] for r in records}:
        mine = {r["simulation_id"]: r["judge_verdict"] for r in records if r["judge_prompt_name"] == prompt}
        words = {i: meaning.get(word, word) for i, word in mine.items()}
        for name, part in run_of(labels, words).strata.items():
            inside = {i: word for i, word in truth.items() if domains[i][1]["domain"] == name.partition("=")[2]}
            found[prompt, name] = part.measurement.stats["kappa"].value
            assert found[prompt, name] == pytest.approx(independent(inside, words))
    assert len(found) == 12
    assert min(found, key=lambda key: found[key] or 0) == ("customer_outcome_v1", "domain=airline")
    assert max(found, key=lambda key: found[key] or 0) == ("quick_triage_v1", "domain=telecom")
    assert min(found.values()) == pytest.approx(-0.16, abs=0.005)
    assert max(found.values()) == pytest.approx(0.78, abs=0.005)


def test_the_shipped_sets_come_out_of_their_script(shared: Path, tmp_path: Path) -> None:
    """Byte for byte: after a change of what a judge may see, run the script again."""
    script = [sys.executable, str(ROOT / "benchmarks/label_sets"), str(shared / "data"), str(tmp_path)]
    subprocess.run(script, check=True, capture_output=True)
    shipped = Path(str(root("calibration")))
    made = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file())
    assert len(made) == 5 * 4 + 4 + 1
    _, different, missing = filecmp.cmpfiles(tmp_path, shipped, made, shallow=False)
    assert (different, missing) == ([], [])
