"""What a failed call means: a repeat may help, this question is lost, or the model is."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from toolgrade.errors import JudgeError, JudgeUnavailable
from toolgrade.llm.port import ModelRequest
from toolgrade.llm.retry import TransientError, retry_after_seconds

_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL", re.IGNORECASE)
_SECRET_SHAPE = re.compile(
    r"\b(?:sk|pk|rk|gsk|xai|hf|key)[-_][\w*-]{6,}|\bAIza[\w-]{20,}|\bBearer\s+[\w.+/=-]+", re.IGNORECASE
)
_SETUP = re.compile(r"missing [\w ]*(?:api key|credentials)|no module named", re.IGNORECASE)
_CONNECTION = re.compile(r"connection error|connect to host|connect call failed|disconnected", re.IGNORECASE)
_LONGEST = 300


def failure(request: ModelRequest, error: Exception) -> TransientError | JudgeError:
    """Return what to raise for an error that litellm or the provider gave."""
    said = words_of(error)
    status = status_of(error)
    if _SETUP.search(said):
        return JudgeUnavailable(f"{request.model}: cannot be asked: {said}. Set what is missing, then run again")
    if status in _FATAL_FOR_MODEL:
        return JudgeUnavailable(
            f"{request.model}: {_FATAL_FOR_MODEL[status].format(request=request)} (HTTP {status}: {said})"
        )
    if _CONNECTION.search(said):
        return TransientError(f"no connection to {request.api_base or 'the provider'} ({said}); is the server running?")
    if status == 408:
        return TransientError(f"timed out ({said})", may_be_billed=True)
    if status is None or status == 429 or status >= 500:
        return TransientError(f"HTTP {status or '?'}: {said}", retry_after=retry_after_seconds(headers_of(error)))
    if is_too_long(error):
        return JudgeError(
            f"{request.model}: the question is too long for this model ({said}); "
            "use a model with a larger context window, or serve it with one"
        )
    return JudgeError(f"{request.model}: the request was refused (HTTP {status}: {said})")


_FATAL_FOR_MODEL = {
    401: "the key was not accepted; set the provider's key in the environment",
    402: "the account has no credit left",
    403: "the key may not use this model",
    404: "no such model or address; check the name after the provider's prefix, and that api_base "
    "({request.api_base}) is the part before /chat/completions",
}


def is_too_long(error: Exception) -> bool:
    """Return whether the request did not fit the model's context window."""
    return type(error).__name__ == "ContextWindowExceededError" or status_of(error) == 413


def is_policy(error: Exception) -> bool:
    """Return whether the provider declined the content of the request."""
    codes = ("content_policy_violation", "content_filter")
    return type(error).__name__ == "ContentPolicyViolationError" or getattr(error, "code", None) in codes


def status_of(error: Exception) -> int | None:
    """Return the HTTP status that an error carries, None where it has none."""
    status = getattr(error, "status_code", None)
    return status if isinstance(status, int) else None


def headers_of(error: Exception) -> Mapping[str, str]:
    """Return the response headers that an error carries."""
    headers = getattr(getattr(error, "response", None), "headers", None) or {}
    return {str(name).lower(): str(value) for name, value in headers.items()}


def words_of(error: Exception) -> str:
    """Return what the provider said, on one line, short, without secrets."""
    text = str(error).split("Traceback (most recent call last)")[0]
    text = re.sub(r"^(?:litellm\.)?(?:\w+(?:Error|Exception): )*(?:\w+Exception - )?", "", " ".join(text.split()))
    return without_secrets(text)[:_LONGEST] or type(error).__name__


def without_secrets(text: str) -> str:
    """Return the text with the values of secret-looking environment variables and key-shaped words masked."""
    for name, value in os.environ.items():
        if len(value) >= 8 and _SECRET_NAME.search(name):
            text = text.replace(value, f"<{name}>")
    return _SECRET_SHAPE.sub("<secret>", text)
