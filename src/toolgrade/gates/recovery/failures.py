"""Which tool results are failures, and of what kind.

An author's rule for a tool (`error_when`) replaces the guesses from text, never the source's own flags.
Text from results is hostile: it is only searched, in bounded pieces, with patterns that cannot backtrack far.
"""

from __future__ import annotations

import json
import re
from typing import Any, Literal, NamedTuple

from toolgrade.core.expected import ErrorRule
from toolgrade.core.trace import ToolResult
from toolgrade.core.view import payload
from toolgrade.errors import ConfigError
from toolgrade.gates.paths import select
from toolgrade.gates.recovery.envelope import unwrap

FailureKind = Literal["invalid_request", "transient", "permission", "empty", "malformed"]

HEAD = 400
"""Characters at the start of a text in which an error may announce itself."""

SHORT = 300
"""A text up to this length may be an error message as a whole."""

RULE_LIMIT = 100_000
"""Characters of a result that an author's regular expression may search."""


class Failure(NamedTuple):
    """A failed result: its kind, the HTTP-like status where one is known, and the error's own words."""

    kind: FailureKind
    message: str
    status: int | None = None


_TRANSIENT = re.compile(
    r"time[sd]?[ -]?out|deadline exceeded|rate[ -]?limit|too many requests|quota exceeded|throttl"
    r"|temporar(?:y|ily)|try again later|service (?:is )?(?:currently )?unavailable|server (?:is )?(?:busy|overloaded)"
    r"|overloaded|internal[ _](?:server[ _])?error|server error|bad gateway|gateway time"
    r"|connection (?:reset|refused|error|aborted|closed|failed|lost)|connect(?:ion)? ?error"
    r"|connection issue|fetch failed|too quickly|network (?:error|is unreachable)|socket hang up|something went wrong"
    r"|econnreset|econnrefused|etimedout|eai_again",
    re.IGNORECASE,
)
_PERMISSION = re.compile(
    r"permission denied|access (?:is )?denied|unauthori[sz]ed|not authori[sz]ed|not permitted|forbidden|authentication"
    r"|(?:invalid|missing|expired) (?:api[ _-]?)?(?:key|token|credentials)|insufficient (?:permission|privilege|scope)"
    r"|eacces|eperm|outside (?:the )?allowed|robots\.txt[^.]{0,40}not allowed|fetching of this page is not allowed",
    re.IGNORECASE,
)
_INVALID = re.compile(
    r"validation error|invalid[ _](?:type|argument|param|input|request)|is a required property|missing required",
    re.IGNORECASE,
)
_STATUS_IN_TEXT = re.compile(
    r"\b(?:http|status|code|error)(?: (?:status|code|error))?\W{1,4}([45]\d\d)\b", re.IGNORECASE
)
_STATUS_FIRST = re.compile(
    r"^\W{0,3}(?:http(?:/\d(?:\.\d)?)?\s+)?([45]\d\d)[:\s-]{1,3}"
    r"(?:bad|unauthori[sz]ed|forbidden|not|method|request|conflict|gone|payload|unprocessable|too|internal|service"
    r"|gateway|client|server|error)\b",
    re.IGNORECASE,
)
_ANNOUNCED = re.compile(
    r"^\W{0,4}(?:"
    r"(?:fatal |unexpected |internal |validation |input validation |tool |api |http |execution )?(?:error|exception)"
    r"(?:\s*[:!(\[]|\s+(?:executing|calling|running|in|at|while|from|occurred|reading|writing|opening|getting"
    r"|fetching|processing|creating|loading|code|message|-?\d))"
    r"|error$|fatal:|failed (?:to|with)\b|failure:|failed:|(?:mcp|api|http|runtime|system|network) error\b"
    r"|traceback \(most recent call last\)"
    r"|(?:[a-z_]\w{0,40}\.){0,6}[a-z_]\w{0,60}(?:error|exception|timeout)\b\s*(?:[:(]|$)"
    r"|[^.\n]{0,60}\b(?:syntax|parse|compilation|runtime) errors?\b"
    r"|(?:the )?(?:tool|request|operation|call|connection|query|command)\b[^.\n]{0,40}\b(?:failed|timed out|was denied)"
    r")",
    re.IGNORECASE,
)
_WHOLE = re.compile(
    r"^\W{0,4}(?:(?:request |read |connection |gateway |operation )?time[d]?[ -]?out\b|rate limit|too many requests"
    r"|permission denied|access denied|unauthori[sz]ed|forbidden|service unavailable|internal server error|bad gateway"
    r"|(?:could not|couldn't|cannot|can't|unable to) \w"
    r"|invalid (?:argument|request|parameter|input|api key)|missing (?:required|argument)|unknown tool\b"
    r"|(?:tool|resource|page|endpoint) not found)",
    re.IGNORECASE,
)
_EXIT = re.compile(r"\bexit(?:ed with)? ?(?:code|status)[: ]{1,3}[1-9]\d{0,2}\b", re.IGNORECASE)
_HTML_ERROR = re.compile(r"<(?:title|h1)>\s*([45]\d\d)\b", re.IGNORECASE)
_FLAGGED = re.compile(r"is_?error\W{1,8}true\b", re.IGNORECASE)
_CUT = re.compile(r"truncated|\.\.\.\W{0,3}$|…\W{0,3}$", re.IGNORECASE)

_ERROR_KEYS = ("error", "errors", "exception", "err", "error_message", "errorMessage", "error_msg")
_DATA_KEYS = ("data", "result", "results", "items")
_STATUS_KEYS = ("status", "status_code", "statusCode", "http_status", "code")
_EXIT_KEYS = ("exit_code", "exitCode", "returncode", "return_code")
_TELLING = frozenset({*_ERROR_KEYS, *_STATUS_KEYS, *_EXIT_KEYS, "isError", "is_error", "success", "ok"})
"""An object without any of these keys tells of no failure."""

_MESSAGE_KEYS = ("message", "detail", "details", "reason", "msg", "description")


def recognise(
    result: ToolResult | None, rule: ErrorRule | None = None, *, empty_is_error: bool = False
) -> Failure | None:
    """Return the failure that a result is, or None.

    A missing result is no failure: nothing was recorded. An empty one is only where `empty_is_error`.

    Raises:
        ConfigError: the rule's regular expression or JSONPath cannot be read.
    """
    if result is None:
        return None
    content = unwrap(payload(result))
    flagged = _flagged(result, content)
    if flagged is not None:
        return flagged
    if is_empty(content):
        return Failure("empty", "") if empty_is_error else None
    if rule is not None:
        return Failure(*_classified(as_text(content))) if matches(rule, content) else None
    return _from_content(content)


def _flagged(result: ToolResult, content: Any) -> Failure | None:
    """Return the failure that the source itself declares: a flag, an error text, a status."""
    declared = result.is_error or bool(result.error) or (result.status is not None and result.status >= 400)
    if not declared:
        return None
    message = result.error or as_text(content)
    return Failure(*_classified(message, result.status))


def _from_content(content: Any) -> Failure | None:
    if isinstance(content, list) and len(content) == 1:
        content = content[0]
    if isinstance(content, dict):
        return _from_object(content)
    if isinstance(content, str):
        return _from_text(content)
    return None


def _from_object(content: dict[str, Any]) -> Failure | None:
    if _TELLING.isdisjoint(content):
        return None
    if any(content.get(key) for key in _DATA_KEYS):
        return None  # partial results with errors beside them are for the reader of the results
    status = next((content[key] for key in _STATUS_KEYS if _is_status(content.get(key))), None)
    told = next((content[key] for key in _ERROR_KEYS if _is_error_value(content.get(key))), None)
    word = str(content.get("status", "")).casefold()
    message = next((content[key] for key in _MESSAGE_KEYS if isinstance(content.get(key), str)), None)
    failed = (
        told is not None
        or (status is not None and ("code" not in content or message is not None))
        or content.get("isError") is True
        or content.get("is_error") is True
        or content.get("success") is False
        or content.get("ok") is False
        or word == "error"
        or any(_is_exit(content.get(key)) for key in _EXIT_KEYS)
        or (word in ("failed", "failure", "fail") and message is not None)
    )
    if not failed:
        return None
    words = told if isinstance(told, str) else message or as_text(told if told is not None else content)
    return Failure(*_classified(words, status))


def _is_status(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 400 <= value < 600


def _is_exit(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value != 0


def _is_error_value(value: Any) -> bool:
    if isinstance(value, str):
        return value.strip().casefold() not in ("", "none", "null", "false", "no", "ok", "0", "no error")
    return value is True or _is_status(value) or (isinstance(value, dict | list) and bool(value))


def _from_text(text: str) -> Failure | None:
    stripped = text.strip()
    head = stripped[:HEAD]
    status = _STATUS_FIRST.search(head) or _HTML_ERROR.search(head)
    if status:
        return Failure(*_classified(head, int(status[1])))
    if _ANNOUNCED.search(head) or "Traceback (most recent call last)" in head:
        return Failure(*_classified(head))
    if _EXIT.search(head) or (len(stripped) <= SHORT and _WHOLE.search(head)):
        return Failure(*_classified(head))
    if _FLAGGED.search(head[:80]) or _FLAGGED.search(stripped[-80:]):
        return Failure(*_classified(head))
    return Failure("malformed", head) if is_malformed(stripped) else None


def is_malformed(text: str) -> bool:
    """Whether a text starts as a JSON object or array of JSON and breaks off or breaks down.

    What follows a whole JSON value is a comment on it, and a text that says that it was cut was cut by
    whoever recorded it: neither is malformed.
    """
    text = text.strip()
    if not re.match(r'\{\s*"|\[\s*[{\["]|\{\s*\w+:', text) or _CUT.search(text[-60:]):
        return False
    try:
        json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return True
    return False


def is_empty(content: Any) -> bool:
    """Whether a payload holds nothing: null, an empty or blank text, `{}`, `[]`."""
    if isinstance(content, str):
        return content.strip() in ("", "[]", "{}", "null", "None")
    return content is None or (isinstance(content, dict | list) and not content)


def as_text(content: Any) -> str:
    """Return text as it is and any other JSON value as its JSON text; what is nested too deep to write is empty."""
    if isinstance(content, str):
        return content
    try:
        return json.dumps(content, ensure_ascii=False, default=str)
    except RecursionError:
        return ""


def _classified(message: str, status: int | None = None) -> tuple[FailureKind, str, int | None]:
    """Return kind, message and status; the status decides where there is one."""
    message = " ".join(message[: 2 * HEAD].split())
    if status is None:
        found = _STATUS_IN_TEXT.search(message[:HEAD])
        status = int(found[1]) if found else None
    return _kind(message, status), message, status


def _kind(message: str, status: int | None) -> FailureKind:
    if status in (401, 403):
        return "permission"
    if status is not None and (status in (408, 425, 429) or (status >= 500 and status not in (501, 505))):
        return "transient"
    if status is not None and status >= 400:
        return "invalid_request"
    if _INVALID.search(message):
        return "invalid_request"
    if _TRANSIENT.search(message):
        return "transient"
    return "permission" if _PERMISSION.search(message) else "invalid_request"


def matches(rule: ErrorRule, content: Any) -> bool:
    """Whether an author's rule selects something truthy in a payload, or is found in its text.

    Raises:
        ConfigError: the rule cannot be read.
    """
    if rule.regex is not None:
        try:
            return re.search(rule.regex, as_text(content)[:RULE_LIMIT]) is not None
        except re.error as problem:
            raise ConfigError(
                f"error_when: {rule.regex!r} is no regular expression: {problem}; expected one that Python compiles"
            ) from None
    nodes = select(rule.path or "$", content) if isinstance(content, dict | list) else {}
    return any(nodes.values())
