"""What a tool does, read from its name: the verb, whether it may write, whether it hands over to people."""

from __future__ import annotations

import re
from functools import lru_cache

from toolgrade.core.tool import ToolSpec
from toolgrade.core.trace import ToolCall

_READING_WORDS = (
    "get list search find read fetch query lookup check show view describe count calculate calc compute think plan"
    " retrieve browse route is has verify validate convert translate summarize summarise analyze analyse extract"
    " geocode estimate compare inspect preview explain scan detect recommend suggest track monitor ask status"
)
READING = frozenset(_READING_WORDS.split())
"""First verbs of tools that only look; every other tool may write."""

SYNONYMS: dict[str, str] = {
    "cancel": "cancel cancelled canceled void abort revoke terminate unsubscribe",
    "delete": "delete remove erase drop destroy clear purge unlink rm uninstall trash",
    "refund": "refund reimburse credit compensate chargeback cancel return exchange update modify downgrade",
    "issue": "issue send grant create give credit refund apply add generate cancel return exchange update modify",
    "book": "book rebook reserve purchase buy order schedule create place update modify change",
    "send": "send email mail message notify post reply forward publish sms share dispatch submit",
    "transfer": "transfer escalate handoff handover connect assign forward move wire",
    "pay": "pay charge purchase book checkout bill transfer update modify exchange order place upgrade",
    "return": "return exchange refund",
    "exchange": "exchange swap replace return modify update",
}
"""For a claimed act: the verbs in a tool's name that could have done it."""

_CHANGING = (
    "update change modify edit set adjust upgrade downgrade switch reschedule move rename replace patch put add remove"
    " insert append assign exchange swap toggle enable disable reset turn activate deactivate cancel delete apply fix"
    " increase decrease extend format convert merge sort resume suspend refuel configure transform rebook book restore"
)
_MAKING = (
    "create make add write save store export generate build register open insert append put upload new draft compose"
    " submit file place schedule book order purchase send post publish publishes copy clone download set record log"
    " render draw plot convert produce merge split update edit execute run init start manage embed deploy install"
)
for _act in ("update", "change"):
    SYNONYMS[_act] = _CHANGING
for _act in ("add", "create", "save"):
    SYNONYMS[_act] = _MAKING + " update modify"
SYNONYMS["submit"] = _MAKING + " update modify change return exchange cancel refund request apply"

_DONE_BY = {act: frozenset(words.split()) | {act} for act, words in SYNONYMS.items()}

_NOUNS_AFTER = frozenset(
    {"order", "book", "schedule", "email", "mail", "message", "note", "post", "log", "record", "plan"}
)
"""Words that are a verb at the start of a tool's name and a thing after it (`cancel_order`)."""

_VERBS = READING.union(*_DONE_BY.values())

_ESCALATING = re.compile(
    r"escalat|hand_?(?:off|over)|transfer_to_(?:a_)?(?:human|agent|support|person)|human_(?:agent|support|operator)"
    r"|(?:contact|notify|call)_(?:human|support|supervisor|operator)|ask_human|live_agent",
    re.IGNORECASE,
)

_THINKING = frozenset({"think", "thought", "plan", "reflect", "reason"})


@lru_cache(maxsize=4096)
def words(name: str) -> tuple[str, ...]:
    """Return the lower-case words of a tool's name, without the server or namespace before it.

    `cancelPendingOrder`, `cancel-pending-order` and `mcp__shop__cancel_pending_order` are alike.
    """
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", re.split(r"__|[/:.]", name.rstrip("_/:."))[-1])
    return tuple(word for word in re.split(r"[^A-Za-z0-9]+", spaced.lower()) if word)


def acting(call: ToolCall) -> str:
    """Return the tool that acts: for a router's call (`tool_name` among its arguments) the tool routed to."""
    inner = (call.arguments or {}).get("tool_name")
    return inner if isinstance(inner, str) and inner and len(inner) <= 200 else call.name


def may_write(name: str, spec: ToolSpec | None) -> bool:
    """Whether a call may change the environment.

    What the tool's author said; else a first word of its name that only looks, or a description that starts
    with one where the name has no known verb.
    """
    if spec is not None and spec.writes is not None:
        return spec.writes
    first = words(name)[:2]
    if spec is not None and not any(word in _VERBS for word in first):
        first = opening(spec.description)[:1]
    return not any(word in READING for word in first)


def could_do(name: str, spec: ToolSpec | None, act: str) -> bool:
    """Whether a tool could have done a claimed act: a verb in its name, or at the start of its description."""
    able = _DONE_BY[act]
    if any(word in able and (at == 0 or word not in _NOUNS_AFTER) for at, word in enumerate(words(name))):
        return True
    return spec is not None and not able.isdisjoint(opening(spec.description))


@lru_cache(maxsize=4096)
def opening(description: str) -> tuple[str, ...]:
    """Return the first four words of a description, lower-case, an ending `-s` taken off ("Cancels" is cancel)."""
    return tuple(word.removesuffix("s") for word in re.findall(r"[a-z]+", description[:100].lower())[:4])


@lru_cache(maxsize=4096)
def nouns(name: str) -> frozenset[str]:
    """Return the words of a tool's name, of four letters or more, that are no known verbs."""
    return frozenset(word for word in words(name) if len(word) > 3 and word not in _VERBS)


def doing(name: str) -> frozenset[str]:
    """Return the known verbs in a tool's name."""
    return _VERBS.intersection(words(name))


def only_thinks(name: str) -> bool:
    """Whether a tool of this name is a place for notes to oneself."""
    return not _THINKING.isdisjoint(words(name)[:1])


def escalates(name: str) -> bool:
    """Whether a tool of this name hands over to people."""
    return _ESCALATING.search("_".join(words(name))) is not None
