"""Time the utilization gate on a trace of a thousand steps with a payload of 1 MB; one JSON line.

Run: python benchmarks/long_trace.py
The payload lists 6,000 bookings; every second answer states values of some of them, one in fifty wrongly.
"""

from __future__ import annotations

import json
import time

import numpy as np

from toolgrade.core.trace import Message, ToolCall, ToolResult, Trace
from toolgrade.core.view import TraceView
from toolgrade.gates.utilization import check_utilization

STEPS = 1000
BOOKINGS = 6000


def booking(rng: np.random.Generator, number: int) -> dict[str, object]:
    return {
        "booking_id": f"BK{number:05d}",
        "guest": {"first_name": "Ana", "last_name": f"Moreau{number}"},
        "city": ["Lyon", "Porto", "Ghent"][number % 3],
        "arrival": f"2026-{1 + number % 12:02d}-{1 + number % 28:02d}",
        "nights": int(rng.integers(1, 15)),
        "price_cents": int(rng.integers(5000, 90000)),
        "status": "confirmed",
    }


def trace(rng: np.random.Generator) -> tuple[Trace, int]:
    """Return the trace and the size of its payload in bytes."""
    bookings = [booking(rng, number) for number in range(BOOKINGS)]
    payload = json.dumps({"bookings": bookings})
    messages = [
        Message(role="user", content="Please go through my bookings."),
        Message(role="assistant", tool_calls=(ToolCall(id="0", name="list_bookings"),)),
        Message(role="tool", result=ToolResult(call_id="0", content=payload)),
    ]
    for step in range(1, STEPS, 2):
        held = bookings[int(rng.integers(0, BOOKINGS))]
        cents = int(str(held["price_cents"])) + (900 if step % 100 == 1 else 0)
        text = f"Booking {held['booking_id']} is for {held['nights']} nights. Its price is ${cents / 100:,.2f}."
        call = ToolCall(id=str(step), name="get_note", arguments={"booking_id": held["booking_id"]})
        messages += [
            Message(role="assistant", content=text),
            Message(role="user", content="And the next one?"),
            Message(role="assistant", tool_calls=(call,)),
            Message(role="tool", result=ToolResult(call_id=str(step), content={"note": "paid at the desk"})),
        ]
    return Trace(id="long", messages=tuple(messages)), len(payload.encode())


def main() -> None:
    long, size = trace(np.random.default_rng(0))
    view = TraceView(long)
    seconds, cpu = float("inf"), float("inf")
    for _ in range(3):
        start, started = time.perf_counter(), time.process_time()
        result = check_utilization(None, view)
        seconds, cpu = min(seconds, time.perf_counter() - start), min(cpu, time.process_time() - started)
    print(
        json.dumps(
            {
                "benchmark": "long_trace",
                "steps": view.steps,
                "payload_bytes": size,
                "seconds": round(seconds, 3),
                "cpu_seconds": round(cpu, 3),
                "turns": result.units,
                "claims": result.detail["claims"],
                "contradicted": result.detail["contradicted"],
                "open": result.detail["open"],
            }
        )
    )


if __name__ == "__main__":
    main()
