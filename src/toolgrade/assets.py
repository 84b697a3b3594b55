"""Where the files that ship with toolgrade lie: in the wheel, or in a checkout."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from toolgrade.errors import UnreadableError

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

Kind = Literal["prompts", "calibration", "examples"]


def root(kind: Kind) -> Traversable:
    """Return the folder of shipped assets of one kind.

    Raises:
        UnreadableError: neither an installed wheel nor a checkout holds it.
    """
    packed = files("toolgrade") / "_assets" / kind
    if packed.is_dir():
        return packed
    checkout = Path(__file__).resolve().parents[2]
    if (checkout / "pyproject.toml").is_file() and (checkout / kind).is_dir():
        return checkout / kind
    raise UnreadableError(
        f"the shipped folder {kind!r} is missing: neither {packed} nor {checkout / kind} exists. "
        "Reinstall toolgrade, or work in a complete checkout"
    )
