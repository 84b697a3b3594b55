"""A model whose answers are written down: for users' own tests, and for ours."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

import orjson
from pydantic import ValidationError

from toolgrade.errors import ConfigError, JudgeError, suggestion
from toolgrade.llm.port import ModelRequest, ModelResponse

Script = Callable[[ModelRequest], ModelResponse | str]


class ScriptedModel:
    """Answers from a function, through the same path as any model: parsing, evidence, cache.

    The function gets the request and returns the response, or only its text. `requests` keeps what was
    asked, in order. `revision` is the hash of the file that the answers come from, None for a function.
    """

    def __init__(self, script: Script, revision: str | None = None) -> None:
        self._script = script
        self.revision = revision
        self.requests: list[ModelRequest] = []

    @classmethod
    def from_jsonl(cls, path: Path) -> ScriptedModel:
        """Return a model that answers by the first line of the file that fits.

        Each line is an object: `text` (or `answer`, an object that is sent as JSON), and `contains`, the
        texts that must all occur in the request's messages; without `contains` a line fits every request.

        Raises:
            ConfigError: the file is missing, or a line is no such object.
        """
        try:
            raw = path.read_bytes()
        except OSError as error:
            raise ConfigError(f"{path}: cannot read scripted answers: {error.strerror}") from error
        return cls(_Lines(path, raw), hashlib.sha256(raw).hexdigest())

    async def complete(self, request: ModelRequest) -> ModelResponse:
        """Return the scripted answer."""
        self.requests.append(request)
        answer = self._script(request)
        return ModelResponse(text=answer, model_reported=request.model) if isinstance(answer, str) else answer

    async def aclose(self) -> None:
        """Do nothing: a script holds no connection."""


class _Lines:
    def __init__(self, path: Path, raw: bytes) -> None:
        self._path = path
        self._lines = [_line(path, n, text) for n, text in enumerate(raw.splitlines(), 1) if text.strip()]

    def __call__(self, request: ModelRequest) -> ModelResponse:
        asked = "\n".join(message.content for message in request.messages)
        for contains, response in self._lines:
            if all(text in asked for text in contains):
                return response
        raise JudgeError(f"{self._path}: no scripted answer fits this request to {request.model}: {asked[:200]!r}")


def _line(path: Path, number: int, raw: bytes) -> tuple[list[str], ModelResponse]:
    where = f"{path}:{number}"
    try:
        record = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        raise ConfigError(f"{where}: not JSON: {error}") from error
    if not isinstance(record, dict):
        raise ConfigError(f"{where}: found {type(record).__name__}, expected an object with `text` or `answer`")
    contains = record.pop("contains", [])
    contains = [contains] if isinstance(contains, str) else contains
    if not isinstance(contains, list) or not all(isinstance(text, str) for text in contains):
        raise ConfigError(f"{where}: contains: found {contains!r}, expected a text or a list of texts")
    if "answer" in record:
        record["text"] = orjson.dumps(record.pop("answer")).decode()
    try:
        return contains, ModelResponse.model_validate(record)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"])) or "record"
        if first["type"] == "extra_forbidden":
            near = suggestion(field, ("answer", "contains", *ModelResponse.model_fields))
            raise ConfigError(
                f"{where}: unknown key {field!r}; expected `answer` or `text` and, optionally, `contains`.{near}"
            ) from error
        raise ConfigError(f"{where}: {field}: {first['msg'].lower()}") from error
