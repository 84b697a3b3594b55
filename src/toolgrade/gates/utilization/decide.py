"""The gate of `utilization`: what a trace's answers say, against the payloads that they rest on."""

from __future__ import annotations

from collections import Counter

from toolgrade.core.expected import UtilizationExpected
from toolgrade.core.finding import Finding, Place
from toolgrade.core.verdict import CheckResult, Question, Status
from toolgrade.core.view import Said, TraceView
from toolgrade.gates.utilization.ask import question
from toolgrade.gates.utilization.dates import clock_day
from toolgrade.gates.utilization.index import Index
from toolgrade.gates.utilization.must_use import unused
from toolgrade.gates.utilization.read import Reading, read_answer
from toolgrade.gates.utilization.settle import Settled


def check_utilization(expected: UtilizationExpected | None, view: TraceView) -> CheckResult:
    """Grade how the answers use the results of tools.

    Every assistant message that says something after a payload is one unit, a turn. Claims that a payload
    contradicts are findings, what is unsettled in a turn is one question for `result_utilization`. A turn
    passes only when nothing in it is unsettled. `detail` counts claims by verdict and turns by outcome.

    Raises:
        ConfigError: a `must_use` path is no JSONPath.
    """
    index, readings = read_trace(view)
    findings = _findings(index, readings)
    counts = _counts(readings)
    if expected is not None:
        ignored, used = unused(expected.must_use, view)
        findings += ignored
        counts |= {f"must_use_{name}": count for name, count in used.items()}
    units = len(readings)
    failed = {(finding.place.step, finding.name == "ignored_result") for finding in findings}
    questions = _questions(index, readings, {f.place.step for f in findings if f.name != "ignored_result"})
    counts |= {"turns": units, "turns_open": len(questions)}
    declared = counts.get("must_use_used", 0) + counts.get("must_use_ignored", 0)
    if not units and not declared:
        return _nothing(index, view, counts)
    status: Status = "failed" if findings else "unknown" if questions else "passed"
    score = None if status == "unknown" else max(0.0, 1.0 - len(failed) / max(1, units))
    return CheckResult(
        check="utilization",
        status=status,
        basis="expected" if declared else "intrinsic",
        score=score,
        findings=tuple(findings),
        questions=tuple(questions),
        units=max(1, units),
        reason=f"{len(questions)} of {units} turns say what code cannot settle" if status == "unknown" else None,
        detail=counts,
    )


def _nothing(index: Index, view: TraceView, counts: dict[str, int]) -> CheckResult:
    reason = "no answer says anything about a payload" if index.leaves else "no tool returned a payload"
    if counts.get("must_use_absent"):
        reason += "; no result holds a must_use value"
    return CheckResult(check="utilization", status="not_applicable", reason=reason, detail=counts)


def read_trace(view: TraceView) -> tuple[Index, list[tuple[Said, Reading]]]:
    """Return the index of all payloads, and each answer after a payload with its claims as they stood then."""
    index = Index()
    results = sorted((c for c in view.calls if c.result is not None), key=lambda c: c.result_message or 0)
    texts = sorted((*view.said("user"), *view.said("system")), key=lambda said: said.message)
    clock = clock_day(view.trace.started_at)
    out: list[tuple[Said, Reading]] = []
    added = 0
    for said in view.said("assistant"):
        while added < len(results) and (results[added].result_message or 0) < said.message:
            index.add(results[added])
            added += 1
        if not index.documents:
            continue
        earlier = [text.text for text in texts if text.message < said.message]
        stamp = view.trace.messages[said.message].timestamp
        reading = read_answer(index, said.text, earlier, clock_day(stamp) or clock)
        if reading.claims or reading.prose:
            out.append((said, reading))
    return index, out


def _findings(index: Index, readings: list[tuple[Said, Reading]]) -> list[Finding]:
    """Return the contradictions, as drift where the same value was stated rightly in an earlier turn."""
    if not any(item.verdict == "contradicted" for _, reading in readings for item in reading.claims):
        return []
    right: dict[tuple[str, str], tuple[Said, Settled]] = {}
    out: list[Finding] = []
    for said, reading in readings:
        for item in reading.claims:
            if item.verdict == "grounded" and item.how == "linked":
                right.update((_same_value(index, leaf), (said, item)) for leaf in item.leaves[:1])
            elif item.verdict == "contradicted":
                keys = [_same_value(index, leaf) for leaf in item.leaves]
                earlier = next((right[key] for key in keys if key in right and right[key][0].step < said.step), None)
                out.append(_contradiction(index, said, item, earlier))
    return out


def _same_value(index: Index, leaf: int) -> tuple[str, str]:
    held = index.leaves[leaf]
    call = index.documents[held.document].call.call
    return f"{call.name} {call.arguments}", held.pointer


def _contradiction(index: Index, said: Said, item: Settled, earlier: tuple[Said, Settled] | None) -> Finding:
    leaf = index.leaves[item.leaves[0]]
    call = index.documents[leaf.document].call
    note = " ".join(item.sentence.text.split())[:200]
    if earlier is not None:
        before, right = earlier
        stated = f"stated as {right.claim.text!r} in turn {before.turn} (step {before.step})"
        note = f"{stated}, here in turn {said.turn}: {note}"
    return Finding(
        name="contradicts_payload" if earlier is None else "drifted_value",
        place=Place(step=said.step, turn=said.turn, tool=call.name, call=call.number, pointer=leaf.pointer),
        expected=leaf.value,
        actual=item.claim.text,
        note=note,
    )


def _questions(index: Index, readings: list[tuple[Said, Reading]], failed: set[int | None]) -> list[Question]:
    """Return one question for each turn with something unsettled and no finding of its own."""
    out = []
    for said, reading in readings:
        if said.step not in failed:
            asked = question(index, said, reading, 1 / len(readings))
            if asked is not None:
                out.append(asked)
    return out


def _counts(readings: list[tuple[Said, Reading]]) -> dict[str, int]:
    counts: Counter[str] = Counter({"claims": 0, "grounded": 0, "contradicted": 0, "open": 0, "derived": 0, "given": 0})
    for _, reading in readings:
        counts["sentences_open"] += len(reading.prose)
        for item in reading.claims:
            counts["claims"] += 1
            counts[item.verdict] += 1
            if item.how.startswith("derived"):
                counts["derived"] += 1
            if item.how == "given":
                counts["given"] += 1
    return dict(counts)
