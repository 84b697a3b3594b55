"""Claims and reports in words. The sentences are a reader's judgement, many from τ-bench and τ²-bench answers."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolgrade.gates.recovery.claim_language import claims
from toolgrade.gates.recovery.report_language import reports_failure, significant

CLAIMS = {
    "I have cancelled your reservation.": "cancel",
    "I've gone ahead and cancelled order #W123.": "cancel",
    "Your order has been cancelled and will be refunded within 5 days.": "cancel",
    "The file has been deleted.": "delete",
    "We have refunded $45.00 to your card.": "refund",
    "Successfully created the ticket OPS-12.": "create",
    "Your appointment is now booked for Monday.": "book",
    "I just sent the invoice to kai@example.org.": "send",
    "The two bags have been successfully added to your reservation.": "add",
    "Your address has now been updated.": "update",
    "All three bookings were successfully cancelled.": "cancel",
    "The order was cancelled successfully.": "cancel",
    "I was able to cancel the reservation.": "cancel",
    "Cancelled! You will get a confirmation soon.": "cancel",
    "A $50 certificate has been issued to you as compensation for the delay.": "issue",
    "However, the 2 checked bags have been successfully added to your reservation.": "add",
    "I have removed the item you no longer wanted.": "delete",
    "Your exchange request has been submitted!": "submit",
    "Done! Anything else?": None,
    "The booking for Ivan Smith has been successfully completed.": None,
    "Your booking is confirmed!": None,
}

NOT_CLAIMS = """
I can cancel the reservation for you.
Once the order has been cancelled, you will get a refund.
If your flight has been cancelled by the airline, you are eligible for a certificate.
Your order will be cancelled.
The refund will be issued to the original payment method.
I have not cancelled anything yet.
Your reservation could not be cancelled.
No changes have been made and nothing has been deleted.
You mentioned that your flight has been cancelled.
You have already cancelled this booking.
The missing file has been found.
I understand that your flight has been cancelled.
Basic economy flights cannot be changed after they have been booked.
It was booked more than 24 hours ago.
The item has been delivered.
Here are the updated details of the action.
Please confirm that you want the address to be changed.
I'll let you know as soon as it has been sent.
Travel insurance cannot be added once the reservation has been booked.
Have you cancelled the other booking?
Has the order been cancelled?
So I have cancelled it, right?
"Your order has been cancelled", the e-mail says.
> I have cancelled my order
I should have sent the form earlier.
I see that the order has been cancelled.
According to the system, your reservation has been cancelled.
It seems the file has been deleted by someone else.
The flight has been cancelled by the airline.
You've been charged $50 by your bank.
I would have cancelled it.
Let me verify that the PDF was created successfully:
The reservation H9ZU1C was created on 2024-05-01, which is more than 24 hours ago.
""".strip().splitlines()


@pytest.mark.parametrize(("text", "act"), CLAIMS.items())
def test_what_plainly_says_that_an_act_was_done_is_a_claim(text, act):
    assert [claim.act for claim in claims(text)] == [act]


@pytest.mark.parametrize("text", NOT_CLAIMS)
def test_offers_conditions_plans_denials_and_quotes_are_no_claims(text):
    assert claims(text) == []


def test_a_claim_beside_a_denial_is_read_apart():
    (claim,) = claims("I have cancelled HB-2041, but I could not cancel HB-2042.")
    assert "HB-2042" not in claim.clause


def test_the_items_under_a_bare_done_are_claims_of_their_own():
    """As in a τ²-bench retail answer."""
    text = "All set! Here’s what’s been done:\n\n• Cancelled order #W4836353\n• Return requested for #W4597054\n\nBye."
    assert [(claim.act, claim.verb) for claim in claims(text)] == [
        (None, "all set!"),
        (None, "what’s been done"),
        ("cancel", "cancelled"),
    ]


ABOUT = significant("Error: not enough seats on flight HAT290 update_reservation_flights")


@pytest.mark.parametrize(
    "text",
    [
        "It seems there are not enough seats available in economy class for flight HAT290.",
        "I'm sorry, I wasn't able to complete your request.",
        "Unfortunately, I cannot proceed with the change. Flight HAT290 has no seats.",
    ],
)
def test_a_plain_report_is_one(text):
    assert reports_failure(text, ABOUT, first=True)


@pytest.mark.parametrize(
    "text",
    [
        "Your reservation has been updated. Have a nice flight!",
        "There was an additional fee of $76 that we had to take into account.",
        "Flights to Denver leave daily. Note that pets are not allowed in the cabin.",
    ],
)
def test_what_tells_of_nothing_is_no_report(text):
    assert not reports_failure(text, ABOUT, first=False)


@given(st.text(max_size=400))
def test_any_text_can_be_read(text):
    claims(text)
    reports_failure(text, ABOUT, first=True)


@pytest.mark.parametrize(
    "unit", [" ", "\n", "I have ", "no a ", "has been ", ", so", "successfully ", "a" * 50 + " ", "!?. "]
)
def test_a_hostile_text_is_read_in_time_linear_in_its_length(unit):
    text = (unit * 50_000)[:50_000]
    started = time.process_time()
    claims(text)
    reports_failure(text, ABOUT, first=True)
    assert time.process_time() - started < 1
