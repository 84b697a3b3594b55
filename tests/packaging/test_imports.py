"""What an import costs, asserted on the modules that it loads."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = {"litellm", "sklearn", "scipy", "matplotlib", "jinja2", "diskcache"}
SOURCE = Path(__file__).parents[2] / "src"


def loaded_by(code: str) -> set[str]:
    script = f"import sys; sys.path.insert(0, {str(SOURCE)!r})\n{code}\nprint(*sys.modules, file=sys.__stderr__)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return {name.partition(".")[0] for name in done.stderr.split()}


@pytest.mark.parametrize(
    "code",
    [
        "import toolgrade",
        "from toolgrade import grade, Case, Trace, Expected, Finding, ToolSpec, read_traces, load_suite",
        "from toolgrade.cli import toolgrade\ntry: toolgrade(['--help'])\nexcept SystemExit: pass",
    ],
)
def test_no_heavy_module_is_loaded(code: str) -> None:
    assert loaded_by(code) & HEAVY == set()


def test_help_loads_no_models() -> None:
    code = "from toolgrade.cli import toolgrade\ntry: toolgrade(['--help'])\nexcept SystemExit: pass"
    assert loaded_by(code) & {"pydantic", "numpy", "rich", "yaml", "orjson"} == set()


def test_every_public_name_is_there() -> None:
    import toolgrade

    for name in toolgrade.__all__:
        assert getattr(toolgrade, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = toolgrade.nothing


def test_every_command_is_there() -> None:
    from click.testing import CliRunner

    from toolgrade.cli import COMMANDS, toolgrade

    for name in COMMANDS:
        done = CliRunner().invoke(toolgrade, [name, "--help"])
        assert done.exit_code == 0, (name, done.output)
        assert "Example" in done.output, name
