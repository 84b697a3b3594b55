"""Which judge of a dimension is in use, and what it counts for today."""

from __future__ import annotations

from pathlib import Path

from toolgrade.calibration.history import live
from toolgrade.calibration.session import Wanted, identity, panel_of
from toolgrade.calibration.store import Store
from toolgrade.calibration.today import trust_in
from toolgrade.calibration.trust import JudgeNow, TrustReport
from toolgrade.cli.calibrate import now
from toolgrade.errors import ConfigError, suggestion
from toolgrade.judges.dimensions import names
from toolgrade.pipeline.settings import read_settings
from toolgrade.prompts import load


def known_dimension(store: Store, name: str) -> None:
    """Check that there is such a dimension: with a judge, a label set or a history.

    Raises:
        ConfigError: there is none.
    """
    known = sorted({*names(), *store.dimensions()})
    if name not in known:
        raise ConfigError(f"no dimension {name!r}; there are {', '.join(known)}.{suggestion(name, known)}")


def judge_now(store: Store, dimension: str, models: tuple[str, ...], prompts: Path | None) -> JudgeNow | None:
    """Return the judge in use: the models named, else those of the last run; None where there is neither."""
    runs = live(store.history(dimension))
    last = runs[-1] if runs else None
    models = models or (last.models if last else ())
    if models:
        found = identity(panel_of(Wanted(dimension=dimension, set="", models=models, prompts=prompts)))
        return JudgeNow(judge_id=found.judge_id, rubric_version=found.rubric_version)
    if last is None:
        return None
    # Recorded verdicts: nothing but the rubric can have changed since.
    rubric = load(dimension, folder=prompts).rubric.rubric_version if dimension in names() else last.rubric_version
    return JudgeNow(judge_id=last.judge_id, rubric_version=rubric)


def report_on(store: Store, dimension: str, models: tuple[str, ...], prompts: Path | None) -> TrustReport:
    """Return the trust in a dimension's judge today."""
    judge = judge_now(store, dimension, models, prompts) or JudgeNow(judge_id="none", rubric_version="0.0")
    settings, _ = read_settings(Path.cwd())
    return trust_in(store, dimension, judge, now(), settings.fail_rate.get(dimension))
