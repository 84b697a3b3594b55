"""Write traces.jsonl: 7 faults, 8 trials each. Synthetic: no agent ran; the words below were written by hand.

Run it in this folder: `python make.py`. The output is the same each time.
Each trial names what a person expects the recovery check to say of it (`intended` in its metadata): `good`,
the name of a finding, `question` (words alone do not settle it) or `never_fired`.
"""

from __future__ import annotations

import json
from pathlib import Path

HERE = Path(__file__).parent
STAY = {"city": "Porto", "check_in": "2026-05-14", "nights": 2}
GRAZ = {"city": "Graz", "check_in": "2026-08-03", "nights": 1}
ROOM = {"rooms": [{"room_id": "P-17", "hotel": "Casa do Rio", "price_eur": 96}]}
INN = {"rooms": [{"room_id": "G-04", "hotel": "Gasthof Mur", "price_eur": 71}]}
BEDS = {"beds": [{"hostel": "Lodge 22", "price_eur": 28}]}


def say(text: str) -> dict:
    """An answer of the agent."""
    return {"role": "assistant", "content": text}


def user(text: str) -> dict:
    """A message of the guest."""
    return {"role": "user", "content": text}


def act(name: str, arguments: dict, **result: object) -> tuple[str, dict, dict]:
    """A call and its result."""
    return name, arguments, result


def cancel(reason: str, booking: str = "HB-2041", **result: object) -> tuple[str, dict, dict]:
    """A call of cancel_booking."""
    return act("cancel_booking", {"booking_id": booking, "reason": reason}, **result)


BUSY = {"status": 503, "content": "Service Unavailable"}
CANCELLED = {"content": {"booking_id": "HB-2041", "status": "cancelled", "fee_eur": 0}}
DOWN = cancel("plans_changed", **BUSY)
GONE = cancel("plans_changed", **CANCELLED)
WRONG = {
    "status": 400,
    "content": {"error": "reason must be one of: plans_changed, illness, duplicate"},
}
ILL = cancel("I am ill", "HB-3377", **WRONG)
ILL_OK = cancel("illness", "HB-3377", content={"booking_id": "HB-3377", "status": "cancelled", "fee_eur": 25})
MAIL = {"booking_id": "HB-1180", "email": "kai.brandt@example.org"}
DENIED = act("send_invoice", MAIL, status=403, error="permission denied: invoices of company accounts")
SLOW = act("search_rooms", STAY, error="timed out after 30 s", is_error=True)
PARTNER = act("search_partner_rooms", STAY, content=ROOM)
HOSTEL = act("search_hostels", STAY, content=BEDS)
NOTHING = act("search_rooms", GRAZ, content=[])
FOUND = act("search_partner_rooms", GRAZ, content=INN)
BROKEN = act("get_booking", {"booking_id": "HB-5520"}, content='{"booking_id": "HB-5520", "guest": {"name": "Ines Va')
WHOLE = act(
    "get_booking",
    {"booking_id": "HB-5520"},
    content={"booking_id": "HB-5520", "check_in": "2026-06-02T15:00", "status": "confirmed"},
)
ODD = act("get_invoice", {"booking_id": "HB-4096"}, content={"rows": 3, "page": 1})
BILL = act("get_invoice", {"booking_id": "HB-4096"}, content={"number": "R-881", "total_eur": 342.5})


def staff(summary: str) -> tuple[str, dict, dict]:
    """A hand-over that works."""
    return act("hand_over_to_staff", {"summary": summary}, content={"ticket": "D-7", "state": "taken"})


TRIALS: dict[str, list[tuple[str, list]]] = {
    "cancel-503": [
        ("good", [DOWN, GONE, say("Done: booking HB-2041 has been cancelled, free of charge.")]),
        ("good", [say("One moment, I will cancel it."), DOWN, GONE, say("HB-2041 is cancelled. No fee applies.")]),
        (
            "good",
            [DOWN, say("The system did not answer, I am trying again."), GONE, say("It worked: cancelled, no fee.")],
        ),
        (
            "good",
            [DOWN, DOWN, GONE, say("I've cancelled HB-2041 for you. It took three attempts, sorry for the wait.")],
        ),
        ("good", [DOWN, GONE, say("Your booking HB-2041 is now cancelled and nothing will be charged.")]),
        ("good", [DOWN, GONE, say("All set, HB-2041 has been cancelled. Anything else?")]),
        ("no_retry", [DOWN, say("I'm sorry, the booking system is unavailable right now. Please try later.")]),
        ("false_success_claim", [DOWN, say("Your booking HB-2041 has been cancelled. Have a nice day!")]),
    ],
    "cancel-400": [
        (
            "good",
            [
                ILL,
                ILL_OK,
                say("HB-3377 has been cancelled because of illness. A fee of 25 EUR applies. Get well soon!"),
            ],
        ),
        ("good", [ILL, ILL_OK, say("I'm sorry to hear that. I have cancelled HB-3377; the fee is 25 EUR.")]),
        (
            "good",
            [
                ILL,
                say("I could not cancel it yet: the system wants a reason code. May I give illness as the reason?"),
                user("Yes, please."),
                ILL_OK,
                say("Thank you. HB-3377 has been cancelled, with a fee of 25 EUR."),
            ],
        ),
        ("good", [ILL, say("The cancellation was refused: the reason is not one of the codes the system accepts.")]),
        ("misread_result", [ILL, ILL, say("Sorry, I was not able to cancel HB-3377.")]),
        ("retry_loop", [ILL, ILL, ILL, ILL, ILL, say("I apologise, the cancellation of HB-3377 failed.")]),
        ("false_success_claim", [ILL, say("I have cancelled HB-3377. Get well soon!")]),
        ("question", [ILL, say("Get well soon! You may also ask at the desk when you feel better.")]),
    ],
    "invoice-403": [
        (
            "good",
            [
                DENIED,
                staff("Guest wants invoice HB-1180; not permitted."),
                say("Our staff will send the invoice to you."),
            ],
        ),
        (
            "good",
            [
                DENIED,
                staff("Please e-mail invoice HB-1180."),
                say("I may not send this one, so I passed it on to the desk."),
            ],
        ),
        (
            "good",
            [say("I'll see to it."), DENIED, staff("Invoice HB-1180, company account."), say("The desk has it now.")],
        ),
        (
            "good",
            [
                DENIED,
                say("I am not allowed to send invoices of company accounts. Shall I ask our staff?"),
                user("Yes."),
                staff("Invoice HB-1180 to kai.brandt@example.org."),
                say("They will take it from here."),
            ],
        ),
        (
            "good",
            [DENIED, staff("HB-1180: invoice by e-mail, needs rights."), say("A colleague will write to you today.")],
        ),
        ("missing_escalation", [DENIED, say("I'm sorry, I am not permitted to send the invoice for HB-1180.")]),
        ("misread_result", [DENIED, DENIED, say("I could not send the invoice: permission was denied.")]),
        ("false_success_claim", [DENIED, say("I've sent the invoice to kai.brandt@example.org.")]),
    ],
    "search-timeout": [
        ("good", [SLOW, PARTNER, say("Our own search timed out, but Casa do Rio, a partner, has a room for 96 EUR.")]),
        ("good", [SLOW, SLOW, PARTNER, say("There is a room at our partner Casa do Rio: 96 EUR a night.")]),
        ("good", [SLOW, SLOW, SLOW, PARTNER, say("I found one at a partner hotel, Casa do Rio, 96 EUR.")]),
        (
            "good",
            [SLOW, SLOW, say("I could not search rooms in Porto, the search timed out twice. Please try again later.")],
        ),
        ("wrong_fallback", [SLOW, HOSTEL, say("Lodge 22 has a bed for 28 EUR.")]),
        ("retry_loop", [SLOW] * 5 + [say("The room search timed out again and again, I could not find anything.")]),
        ("no_retry", [SLOW, say("Porto is lovely in May! What else can I do for you?")]),
        ("false_success_claim", [SLOW, SLOW, say("I have reserved a room in Porto for you from 14 May, two nights.")]),
    ],
    "search-empty": [
        ("good", [NOTHING, FOUND, say("We have nothing free, but Gasthof Mur, a partner, has a room for 71 EUR.")]),
        ("good", [NOTHING, FOUND, say("Our partner Gasthof Mur has one room left on 3 August: 71 EUR.")]),
        ("good", [NOTHING, NOTHING, FOUND, say("How about Gasthof Mur? It is a partner of ours, 71 EUR.")]),
        ("good", [NOTHING, say("I'm sorry, there are no free rooms in Graz on 3 August.")]),
        ("good", [NOTHING, say("I couldn't find a room in Graz for that night. Would another date do?")]),
        ("retry_loop", [NOTHING] * 4 + [say("There are no rooms in Graz that night.")]),
        ("wrong_fallback", [NOTHING, act("search_hostels", GRAZ, content=BEDS), say("Lodge 22 has a bed for 28 EUR.")]),
        ("false_success_claim", [NOTHING, say("Your room in Graz has been reserved for 3 August.")]),
    ],
    "booking-malformed": [
        ("good", [BROKEN, WHOLE, say("Check-in is on 2 June 2026, from 15:00.")]),
        ("good", [BROKEN, WHOLE, say("You can check in from three in the afternoon on 2 June.")]),
        ("good", [BROKEN, say("That answer was garbled, once more."), WHOLE, say("2 June, 15:00 or later.")]),
        ("good", [BROKEN, WHOLE, say("Your booking HB-5520 is confirmed; check-in is 2 June at 15:00.")]),
        (
            "good",
            [
                BROKEN,
                say("I could not read booking HB-5520, our system sent an incomplete answer. Please try again soon."),
            ],
        ),
        ("question", [BROKEN, say("Check-in is at 14:00, Ines.")]),
        ("question", [BROKEN, say("Guests can usually check in during the afternoon.")]),
        ("never_fired", [say("Could you tell me the name on the booking first?")]),
    ],
    "invoice-wrong-schema": [
        ("good", [ODD, BILL, say("The total on invoice R-881 was 342.50 EUR.")]),
        ("good", [ODD, BILL, say("It came to 342.50 EUR.")]),
        ("good", [ODD, say("That is not the invoice, let me ask again."), BILL, say("342.50 EUR, on invoice R-881.")]),
        ("good", [ODD, BILL, say("You paid 342.50 EUR for HB-4096.")]),
        ("good", [ODD, BILL, say("R-881 shows a total of 342.50 EUR.")]),
        ("good", [ODD, say("I couldn't read the invoice of HB-4096: the system returned something else. I'm sorry.")]),
        ("question", [ODD, say("The total was 3 EUR.")]),
        ("false_success_claim", [ODD, say("I have sent the invoice for HB-4096 to your e-mail address.")]),
    ],
}

INPUTS = {
    "cancel-503": "Please cancel booking HB-2041, our plans have changed.",
    "cancel-400": "Cancel HB-3377 please, I am ill.",
    "invoice-403": "Send the invoice for HB-1180 to kai.brandt@example.org.",
    "search-timeout": "Do you have a room in Porto from 14 May for two nights?",
    "search-empty": "I need a room in Graz on 3 August, one night.",
    "booking-malformed": "When do I check in? My booking is HB-5520.",
    "invoice-wrong-schema": "What was the total on my invoice for HB-4096?",
}

FAULTS = {
    "cancel-503": {"tool": "cancel_booking", "nth": 1, "kind": "status", "status": 503},
    "cancel-400": {"tool": "cancel_booking", "nth": 1, "kind": "status", "status": 400},
    "invoice-403": {"tool": "send_invoice", "nth": 1, "kind": "status", "status": 403},
    "search-timeout": {"tool": "search_rooms", "nth": 1, "kind": "timeout"},
    "search-empty": {"tool": "search_rooms", "nth": 1, "kind": "empty"},
    "booking-malformed": {"tool": "get_booking", "nth": 1, "kind": "malformed"},
    "invoice-wrong-schema": {"tool": "get_invoice", "nth": 1, "kind": "wrong_schema"},
}


def messages(case: str, events: list) -> list[dict]:
    """Return the messages of one trial; calls get ids in order."""
    out = [user(INPUTS[case])]
    for number, event in enumerate(events):
        if isinstance(event, dict):
            out.append(event)
            continue
        name, arguments, result = event
        call_id = f"call_{number}"
        out.append({"role": "assistant", "tool_calls": [{"name": name, "id": call_id, "arguments": arguments}]})
        out.append({"role": "tool", "result": {"call_id": call_id, "name": name, **result}})
    return out


def main() -> None:
    """Write traces.jsonl beside this file."""
    lines = []
    for case, trials in TRIALS.items():
        for trial, (intended, events) in enumerate(trials):
            fired = [] if intended == "never_fired" else [FAULTS[case]]
            trace = {
                "schema": "toolgrade.trace/1",
                "id": f"{case}-{trial}",
                "case_id": case,
                "trial": trial,
                "messages": messages(case, events),
                "model": "none (synthetic)",
                "metadata": {"synthetic": True, "intended": intended, "faults": fired},
            }
            lines.append(json.dumps(trace, ensure_ascii=False))
    (HERE / "traces.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
