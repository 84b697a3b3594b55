"""The judge in use, and the options that name it and the folder it was calibrated in."""

from __future__ import annotations

from pathlib import Path

import click

from toolgrade.calibration.history import live
from toolgrade.calibration.session import Wanted, identity, panel_of
from toolgrade.calibration.store import Store
from toolgrade.calibration.trust import JudgeNow
from toolgrade.judges.dimensions import names
from toolgrade.prompts import load

folder_option = click.option(
    "--folder", type=click.Path(path_type=Path), help="Calibration folder.  [default: ./calibration]"
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON, and nothing else, on stdout.")
judge_option = click.option(
    "--judge",
    "judges",
    multiple=True,
    metavar="[DIMENSION=]MODEL",
    help="Judge in use.  [default: the last calibrated]",
)
prompts_option = click.option("--prompts", type=click.Path(path_type=Path), help="Your own folder of prompts.")


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
