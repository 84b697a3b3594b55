from __future__ import annotations

from toolgrade.errors import ConfigError, JudgeError, ToolgradeError, UnreadableError, suggestion


def test_exit_codes_follow_the_design() -> None:
    assert (ConfigError.exit_code, UnreadableError.exit_code, JudgeError.exit_code) == (2, 3, 3)
    assert all(issubclass(error, ToolgradeError) for error in (ConfigError, UnreadableError, JudgeError))


def test_suggestion_names_the_nearest_word_only() -> None:
    assert suggestion("selektion", ["selection", "ordering"]) == " Did you mean 'selection'?"
    assert suggestion("zzz", ["selection", "ordering"]) == ""
