"""One judge: one dimension, one versioned prompt, one model; from a question to a verdict."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from toolgrade.core.identity import content_hash
from toolgrade.core.model import Frozen
from toolgrade.core.verdict import Evidence, Question, Verdict
from toolgrade.errors import CeilingReached, ConfigError, JudgeError, JudgeUnavailable
from toolgrade.judges.answer import Answer, BadAnswer, read, schema
from toolgrade.judges.evidence import MIN_CHARS, verify
from toolgrade.judges.fence import Fenced, fence, new_tag
from toolgrade.judges.tally import Tally
from toolgrade.llm.port import ChatMessage, Model, ModelParams, ModelRequest

if TYPE_CHECKING:
    from toolgrade.judges.dimension import Dimension
    from toolgrade.prompts import Prompt

UNREADABLE = (
    "An earlier answer could not be read: {problem}. "
    "Answer again: one JSON object with the keys that are named above, and not a word before or after it."
)
UNPROVEN = (
    "An earlier answer was fail, and none of its quotes counts: {problem}. Look again. If it fails, copy at "
    f"least one quote of {MIN_CHARS} or more characters exactly from the part you name, or name the clause of an "
    "omission; if nothing there shows a failure, answer pass or unknown."
)
HALF_ASKED = "half asked"
"""How the error of a question begins that the spending ceiling cut short."""

POSTPROCESS = {"answer": 1, "evidence": 1, "fence": 1, "present": 1, "repair": UNREADABLE, "proof": UNPROVEN}
"""What happens around the model, as part of a judge's identity: a change here makes it another judge."""


class JudgeSettings(Frozen):
    """The model that a judge asks: a litellm model string, its address if not the provider's, how it answers.

    The address is where a model is served, not which model it is: it is no part of the judge's identity.
    `revision` tells apart what answers under one name: the hash of scripted answers, None for other models.
    """

    model: str
    revision: str | None = None
    api_base: str | None = None
    params: ModelParams = ModelParams()
    timeout_s: float = 60.0


class Prepared(NamedTuple):
    """A question made ready: the two messages, each field as shown (quotes are looked up there), warnings."""

    messages: tuple[ChatMessage, ChatMessage]
    shown: dict[str, str]
    warnings: tuple[str, ...]


class Judge:
    """Answers questions of one dimension with one prompt and one model; keeps no state between them."""

    def __init__(self, dimension: Dimension, prompt: Prompt, settings: JudgeSettings) -> None:
        self.dimension = dimension
        self.prompt = prompt
        self.settings = settings
        self.schema = schema(prompt.rubric)

    @cached_property
    def id(self) -> str:
        """Hash over all that shapes a verdict: model, prompt, rubric, examples, schema, parameters, post-processing."""
        revision = {} if self.settings.revision is None else {"revision": self.settings.revision}
        return content_hash(
            revision
            | {
                "dimension": self.dimension.name,
                "model": self.settings.model,
                "prompt": self.prompt.hash,
                "rubric": self.prompt.rubric_hash,
                "examples": self.prompt.examples_hash,
                "schema": self.schema,
                "params": self.settings.params.model_dump(mode="json"),
                "postprocess": POSTPROCESS,
            }
        )

    @cached_property
    def _system(self) -> ChatMessage:
        return ChatMessage(role="system", content=self.prompt.system_message())

    def key(self, question_id: str, replicate: int = 0) -> str:
        """Return the cache key: this judge, the question's fields before fencing (by its id), the replicate."""
        return content_hash({"judge": self.id, "question": question_id, "replicate": replicate})

    def prepare(self, question: Question, tag: str | None = None) -> Prepared:
        """Return the question's fields, cleaned, cut and fenced with a fresh tag, in the prompt.

        Raises:
            ConfigError: the fields are not those that the prompt declares.
        """
        inputs = self.prompt.rubric.inputs
        if set(question.fields) != {item.name for item in inputs}:
            raise ConfigError(
                f"{self.prompt.place}: the prompt declares the inputs {', '.join(i.name for i in inputs)}; "
                f"the question has {', '.join(question.fields) or 'none'}"
            )
        tag = tag or new_tag()
        parts: dict[str, Fenced] = {}
        for item in inputs:
            text = self.dimension.text(item.name, question.fields[item.name], item.max_chars)
            parts[item.name] = fence(item.name, text, tag, item.max_chars)
        user = self.prompt.user_message({name: part.text for name, part in parts.items()}, tag)
        return Prepared(
            messages=(self._system, ChatMessage(role="user", content=user)),
            shown={name: part.shown for name, part in parts.items()},
            warnings=tuple(warning for part in parts.values() for warning in part.warnings),
        )

    async def ask(self, model: Model, question: Question, replicate: int = 0) -> Verdict:
        """Return the verdict; `error` where the model did not answer, or twice not as asked.

        An unreadable answer is asked for once more; so is a `fail` without a verified quote, which becomes
        `unknown` if it still has none.

        Raises:
            JudgeUnavailable: no question to this model will be answered.
            CeilingReached: the spending ceiling left no room, and this question had cost nothing yet.
            ConfigError: the question does not fit the prompt, or the model's price is unknown under a ceiling.
        """
        tally = Tally()
        told: dict[str, Any]
        try:
            told = _told(*await self._proven(model, question, tally))
        except JudgeUnavailable:
            raise
        except CeilingReached as error:
            if not tally.attempts:
                raise
            told = {"verdict": "error", "error": f"{HALF_ASKED}: {error}"}
        except (JudgeError, BadAnswer) as error:
            told = {"verdict": "error", "error": str(error)}
        return Verdict(
            dimension=self.dimension.name,
            question_id=question.id,
            judge_id=self.id,
            model=self.settings.model,
            replicate=replicate,
            **told,
            **tally.sums(),
        )

    async def _proven(self, model: Model, question: Question, tally: Tally) -> tuple[Answer, tuple[Evidence, ...]]:
        answer, evidence = await self._readable(model, question, tally)
        if answer.verdict == "fail" and not any(quote.verified for quote in evidence):
            how = ", ".join(sorted({str(quote.match) for quote in evidence})) or "there was none"
            answer, evidence = await self._readable(model, question, tally, UNPROVEN.format(problem=how))
        return answer, evidence

    async def _readable(
        self, model: Model, question: Question, tally: Tally, notice: str | None = None
    ) -> tuple[Answer, tuple[Evidence, ...]]:
        try:
            return await self._once(model, question, tally, notice)
        except BadAnswer as error:
            repair = UNREADABLE.format(problem=error)
            return await self._once(model, question, tally, f"{notice}\n{repair}" if notice else repair)

    async def _once(
        self, model: Model, question: Question, tally: Tally, notice: str | None
    ) -> tuple[Answer, tuple[Evidence, ...]]:
        prepared = self.prepare(question)
        system, user = prepared.messages
        if notice:
            # Asked afresh instead of in a conversation: what the model said before may hold injected text.
            user = ChatMessage(role="user", content=f"{user.content}\n{notice}\n")
        response = await model.complete(
            ModelRequest(
                model=self.settings.model,
                messages=(system, user),
                response_schema=self.schema,
                params=self.settings.params,
                timeout_s=self.settings.timeout_s,
                api_base=self.settings.api_base,
            )
        )
        tally.add(response, prepared.warnings)
        if response.finish == "refusal":
            raise JudgeError(f"the model refused to judge: {response.refusal or 'it gave no reason'}")
        if response.finish == "length":
            raise BadAnswer(f"the answer was cut off at {self.settings.params.max_tokens} tokens; be brief")
        answer = read(response.text, self.prompt.rubric)
        return answer, verify(answer.evidence, prepared.shown, self.prompt.rubric.omissions)


def _told(answer: Answer, evidence: tuple[Evidence, ...]) -> dict[str, Any]:
    """Return the fields of a verdict: a failure that no quote shows is `unknown`."""
    verdict, why = str(answer.verdict), None
    if verdict == "unknown":
        why = str(answer.unknown_reason) if answer.unknown_reason else None
    elif verdict == "fail" and not any(quote.verified for quote in evidence):
        verdict, why = "unknown", "evidence_unverified"
    return {"verdict": verdict, "reason": answer.reason, "evidence": evidence, "unknown_reason": why}
