"""What judges said, in the terminal: rates of their own, whether they count, what they cost."""

from __future__ import annotations

from rich.console import Console

from toolgrade.core.finding import brief
from toolgrade.core.printable import printable
from toolgrade.pipeline.judging.tally import DimensionSummary, JudgingSummary
from toolgrade.pipeline.summary import Summary


def print_judging(console: Console, summary: Summary) -> None:
    """Print how much the gates settled, and what the judges made of the rest or how to ask them."""
    questions = summary.questions
    if not questions.units:
        return
    share = questions.settled_share or 0.0
    left = ", ".join(f"{count} {dimension}" for dimension, count in questions.by_dimension.items())
    asked = summary.judging is not None
    console.print(
        f"\n[bold]Gates settled[/] {questions.units - questions.open} of {questions.units} units ({share:.0%})"
        + (f"; open for judges: {left}." if questions.open else ".")
        + (" Ask them with --judge MODEL." if questions.open and not asked else ""),
        highlight=False,
        soft_wrap=True,
    )
    if summary.judging is not None:
        for line in judging_lines(summary.judging):
            console.print(f"  {printable(line)}", highlight=False, soft_wrap=True, markup=False)


def judging_lines(judging: JudgingSummary) -> list[str]:
    """Return one line for each dimension, then why asking stopped, which models failed, what waits for people."""
    lines = [_dimension(name, part) for name, part in judging.dimensions.items()]
    for name, part in judging.dimensions.items():
        failed = {why: count for why, count in part.failed_because.items() if why not in judging.unavailable.values()}
        lines += [f"{name}: no verdict on {count}: {brief(why, 300)}" for why, count in failed.items()]
    if judging.stopped:
        lines.append(f"asking stopped: {judging.stopped}")
    lines += [f"not asked: {why}" for why in judging.unavailable.values()]
    if judging.review:
        lines.append(f"{judging.review} questions wait for people: review.jsonl")
    return lines


def _dimension(name: str, part: DimensionSummary) -> str:
    said = ", ".join(f"{count} {word}" for word, count in part.said.items()) or "nothing"
    rate = "" if part.rate.value is None else f" (rate {part.rate.value:.2f} {part.rate.interval})"
    why = f": {', '.join(part.trust_reasons)}" if part.trust_reasons else ""
    counts = _decides(part) if part.trust == "trusted" else f"decides nothing, {part.trust}{why}"
    cost = "cost unknown" if part.cost is None else f"${part.cost:.4f}"
    spent = f" of {_number(part.input_tokens)} + {_number(part.output_tokens)} tokens, {cost}" if part.calls else ""
    calls = f"{part.calls} calls{spent}, {part.cached} recorded"
    if part.quotes:
        calls += f", {part.verified} of {part.quotes} quotes found where it said"
    agreed = ""
    if part.agreement is not None:
        together = part.agreement
        agreed = f"; of {together.questions} questions {together.unanimous} unanimous, {together.splits} split votes, "
        agreed += f"{together.flips} flips"
    open_ = f", {part.not_asked} not asked" if part.not_asked else ""
    return f"{name} by {part.model} said {said}{open_}{rate}{_corrected(part)}; {counts}; {calls}{agreed}"


def _decides(part: DimensionSummary) -> str:
    if part.blocking is None or part.blocking.may:
        return "decides"
    return f"decides the rate and no single trace ({part.tentative} failed by it alone): {part.blocking}"


def _corrected(part: DimensionSummary) -> str:
    """Say what people's labels make of the judge's rate, and what they say without the judge."""
    found = part.corrected
    if found is None:
        return ""
    alone = f", people alone {found.human_only}" if found.human_only.value is not None else ""
    nothing = ", the judge adds nothing" if "judge_adds_nothing" in found.flags else ""
    if found.corrected.value is None:
        return f", UNCORRECTED: {found.corrected.reason}{alone}"
    return f", corrected {found.corrected}{alone}{nothing}"


def _number(count: int | None) -> str:
    return "unknown" if count is None else f"{count:,}"
