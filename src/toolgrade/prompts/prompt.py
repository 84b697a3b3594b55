"""One version of one dimension's prompt: found, read, hashed, rendered."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pydantic import ValidationError

from toolgrade.assets import root
from toolgrade.core.identity import content_hash
from toolgrade.errors import ConfigError, suggestion
from toolgrade.prompts.rubric import Rubric
from toolgrade.prompts.sandbox import render

if TYPE_CHECKING:
    from collections.abc import Mapping
    from importlib.resources.abc import Traversable

FILES = ("rubric.toml", "system.md.j2", "user.md.j2")


class Prompt(NamedTuple):
    """A rubric with its two templates; `place` is the folder they were read from."""

    rubric: Rubric
    system: str
    user: str
    place: str

    @property
    def hash(self) -> str:
        """Hash over the rubric and both templates; line endings do not count."""
        return content_hash({"rubric": self.rubric_hash, "system": self.system, "user": self.user})

    @property
    def rubric_hash(self) -> str:
        """Hash over what the rubric says, apart from how the templates put it and from the examples."""
        return content_hash(self.rubric.model_dump(mode="json", exclude={"examples"}))

    @property
    def examples_hash(self) -> str:
        """Hash over the examples, in order."""
        return content_hash([example.model_dump(mode="json") for example in self.rubric.examples])

    def system_message(self) -> str:
        """Return the system message: the rubric alone, for nothing that was recorded may stand among instructions.

        Raises:
            ConfigError: the template is wrong.
        """
        return render(self.system, {"rubric": self.rubric}, place=f"{self.place}/system.md.j2")

    def user_message(self, fields: Mapping[str, str], tag: str) -> str:
        """Return the user message for fields that are already fenced with `tag`.

        Raises:
            ConfigError: the template is wrong, or uses a field that the rubric does not declare.
        """
        values = {"rubric": self.rubric, "fields": dict(fields), "tag": tag}
        return render(self.user, values, place=f"{self.place}/user.md.j2")


def available(folder: Path | None = None) -> dict[str, tuple[str, ...]]:
    """Return dimension -> versions, oldest first; a user's `folder` comes before the shipped prompts."""
    found: dict[str, tuple[str, ...]] = {}
    for base in _bases(folder):
        for entry in base.iterdir():
            if entry.is_dir() and entry.name not in found:
                versions = [v.name for v in entry.iterdir() if v.is_dir() and (v / "rubric.toml").is_file()]
                if versions:
                    found[entry.name] = tuple(sorted(versions, key=_age))
    return dict(sorted(found.items()))


def load(dimension: str, version: str | None = None, folder: Path | None = None) -> Prompt:
    """Return a dimension's prompt, by default its newest version.

    A dimension that the user's `folder` holds is read from there, else from the prompts that ship with
    toolgrade. Layout: `<dimension>/<version>/` with `rubric.toml`, `system.md.j2`, `user.md.j2`.

    Raises:
        ConfigError: there is no such dimension or version, a file is missing, or the rubric is wrong.
    """
    known = available(folder)
    if dimension not in known:
        where = f" in {folder} or" if folder else ""
        raise ConfigError(
            f"no prompt for the dimension {dimension!r}{where} among the shipped ones; "
            f"there are {', '.join(known)}.{suggestion(dimension, known)}"
        )
    chosen = version or known[dimension][-1]
    if chosen not in known[dimension]:
        raise ConfigError(f"the prompt {dimension!r} has no version {chosen!r}; it has {', '.join(known[dimension])}")
    home = next(base for base in _bases(folder) if (base / dimension / chosen / "rubric.toml").is_file())
    place = home / dimension / chosen
    front, system, user = (_text(place / name) for name in FILES)
    rubric = _rubric(front, f"{place}/rubric.toml")
    for what, found, expected in (("dimension", rubric.dimension, dimension), ("version", rubric.version, chosen)):
        if found != expected:
            raise ConfigError(f"{place}/rubric.toml: {what} is {found!r}; its folder says {expected!r}")
    return Prompt(rubric=rubric, system=system, user=user, place=str(place))


def _bases(folder: Path | None) -> list[Traversable]:
    if folder is None:
        return [root("prompts")]
    if not folder.is_dir():
        raise ConfigError(f"{folder}: no such folder of prompts")
    return [folder, root("prompts")]


def _age(version: str) -> tuple[int, str]:
    digits = version.removeprefix("v")
    return (int(digits), version) if digits.isdecimal() else (-1, version)


def _text(file: Traversable) -> str:
    try:
        return file.read_text(encoding="utf-8").replace("\r\n", "\n")
    except FileNotFoundError:
        raise ConfigError(f"{file}: missing; a prompt needs {', '.join(FILES)}") from None
    except UnicodeDecodeError as error:
        raise ConfigError(f"{file}: not UTF-8: {error}") from error


def _rubric(front: str, place: str) -> Rubric:
    try:
        return Rubric.model_validate(tomllib.loads(front))
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{place}: not TOML: {error}") from error
    except ValidationError as error:
        # A misspelt key shows up twice, as one too many and one missing: the first tells what to mend.
        problems = sorted(error.errors(include_url=False), key=lambda item: item["type"] != "extra_forbidden")
        field = ".".join(str(part) for part in problems[0]["loc"]) or "rubric"
        hint = suggestion(field, Rubric.model_fields) if problems[0]["type"] == "extra_forbidden" else ""
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        raise ConfigError(f"{place}: {field}: {problems[0]['msg']}.{hint}{more}") from error
