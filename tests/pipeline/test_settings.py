from __future__ import annotations

from pathlib import Path

import pytest

from toolgrade.errors import ConfigError
from toolgrade.pipeline.settings import parse_fail_under, read_settings


def test_the_nearest_file_wins_and_is_named(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.toolgrade.thresholds]\nselection = 0.9\n")
    inner = tmp_path / "inner"
    inner.mkdir()
    assert read_settings(inner)[0].thresholds == {"selection": 0.9}
    (inner / "toolgrade.toml").write_text("min_decided = 0.5\n[thresholds]\narguments = 0.7\n")
    settings, source = read_settings(inner)
    assert (settings.thresholds, settings.min_decided, source) == ({"arguments": 0.7}, 0.5, inner / "toolgrade.toml")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[thresholds]\nselektion = 0.9\n", "thresholds.selektion: found text"),
        ("[thresholds]\nselektion = 0.9\n", "Did you mean 'selection'?"),
        ("[thresholds]\nselection = 1.5\n", ": thresholds: selection = 1.5 is no rate; expected a number from 0 to 1."),
        ("min_decidet = 0.9\n", "min_decidet: unknown field. Did you mean 'min_decided'?"),
        ("min_decided = 7\n", "min_decided: found a number 7, expected less than or equal to 1."),
        ("thresholds = [\n", "no valid TOML"),
    ],
)
def test_mistakes_name_the_file_and_the_mend(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "toolgrade.toml").write_text(text)
    with pytest.raises(ConfigError) as caught:
        read_settings(tmp_path)
    assert str(tmp_path / "toolgrade.toml") in str(caught.value)
    assert told in str(caught.value)


def test_fail_under() -> None:
    assert parse_fail_under(("selection=0.9", "outcome=1")) == {"selection": 0.9, "outcome": 1.0}


@pytest.mark.parametrize("text", ["selektion=0.9", "selection", "selection=", "selection=1.1", "selection=x", "=0.5"])
def test_fail_under_refuses(text: str) -> None:
    with pytest.raises(ConfigError, match="--fail-under"):
        parse_fail_under((text,))
