"""What the utilization gate reads in answers and payloads; every expected value worked out by hand."""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from toolgrade.core.trace import Message, ToolCall, ToolResult, Trace
from toolgrade.core.view import TraceView
from toolgrade.gates.utilization import check_utilization
from toolgrade.gates.utilization.claims import claims
from toolgrade.gates.utilization.decide import read_trace
from toolgrade.gates.utilization.settle import Settled
from toolgrade.gates.utilization.words import words


def view(*turns: tuple[str, dict[str, Any], Any] | str, started: str | None = None) -> TraceView:
    messages: list[Message] = []
    for number, turn in enumerate(turns):
        if isinstance(turn, tuple):
            call = ToolCall(id=str(number), name=turn[0], arguments=turn[1])
            messages.append(Message(role="assistant", tool_calls=(call,)))
            messages.append(Message(role="tool", result=ToolResult(call_id=str(number), content=turn[2])))
        elif turn.startswith("user: "):
            messages.append(Message(role="user", content=turn.removeprefix("user: ")))
        else:
            messages.append(Message(role="assistant", content=turn))
    return TraceView(Trace(id="t", messages=tuple(messages), started_at=started))


def settled(*turns: tuple[str, dict[str, Any], Any] | str, started: str | None = None) -> list[tuple[str, str, str]]:
    """`(claim, verdict, first pointer or how it was settled)` for each claim of the last answer."""
    index, readings = read_trace(view(*turns, started=started))
    out = []
    for item in readings[-1][1].claims if readings else []:
        told = index.leaves[item.leaves[0]].pointer if item.how == "linked" and item.leaves else item.how
        out.append((item.claim.text, item.verdict, told))
    return out


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("$1,234.50 or 1.234,50 € or 1 234 or -4.05", [1234.5, 1234.5, 1, 234, -4.05]),
        ("3.5 million, $2k, 15%, twenty-five, a dozen", [3500000, 2000, 15, 25, 1]),
        ("order W4500 of 5km, COVID-19, the 3rd, #12, a@b.co, https://x.y/42", [5]),
        ("Flight 2: departs", []),
        ("**Option 1**", []),
        ("card ending in 9725", []),
        ("one of them, this one, no one", []),
        ("11 - of - 20, 7-for-9, (32-18), 23-point", [11, 20, 7, 9, 32, 18, 23]),
    ],
)
def test_numbers_in_text(text: str, expected: list[float]) -> None:
    assert [claim.number for claim in claims(text, words(text)) if claim.kind == "number"] == expected


BOX = {
    "home_line": {
        "TEAM-NAME": "Kings",
        "TEAM-PTS": "96",
        "TEAM-PTS_QTR1": "20",
        "TEAM-PTS_QTR2": "26",
        "TEAM-WINS": "8",
    },
    "vis_line": {
        "TEAM-NAME": "Thunder",
        "TEAM-PTS": "101",
        "TEAM-PTS_QTR1": "31",
        "TEAM-PTS_QTR2": "22",
        "TEAM-WINS": "9",
    },
    "box_score": {
        "PLAYER_NAME": {"0": "Russell Westbrook", "1": "DeMarcus Cousins"},
        "PTS": {"0": "36", "1": "31"},
        "STL": {"0": "4", "1": "0"},
        "FGM": {"0": "11", "1": "8"},
        "FGA": {"0": "21", "1": "20"},
        "FG3M": {"0": "2", "1": "1"},
        "FG3A": {"0": "4", "1": "3"},
    },
}
GAME = ("get_game", {}, BOX)


def test_a_table_by_columns_is_read_by_rows() -> None:
    """Cousins has 31 points, no steal and 8 of 20 shots; Westbrook has 36 points."""
    told = settled(GAME, "DeMarcus Cousins had 36 points, a steal and 11-of-20 shooting for the Kings.")
    assert told == [
        ("36", "contradicted", "/box_score/PTS/1"),
        ("a", "contradicted", "/box_score/STL/1"),
        ("11", "contradicted", "/box_score/FGM/1"),
        ("20", "open", "the other number of the pair is wrong"),
    ]
    assert settled(GAME, "Cousins led the Kings with 31 points.") == [("31", "open", "it may be told of two records")]
    assert settled(GAME, "Westbrook had 36 points on 11-of-21 shooting.") == [
        ("36", "grounded", "/box_score/PTS/0"),
        ("11", "grounded", "/box_score/FGM/0"),
        ("21", "grounded", "/box_score/FGA/0"),
    ]


def test_scores_are_told_of_two_records() -> None:
    """101 to 96 in all, 31 to 20 in the first quarter, 53 to 46 (31+22, 20+26) in the first half."""
    assert [v for _, v, _ in settled(GAME, "The Thunder beat the Kings, 101-96.")] == ["grounded", "grounded"]
    quarter = settled(GAME, "The Thunder outscored the Kings 31-20 in the first quarter.")
    assert quarter == [("31", "grounded", "/vis_line/TEAM-PTS_QTR1"), ("20", "grounded", "/home_line/TEAM-PTS_QTR1")]
    half = settled(GAME, "The Thunder outscored the Kings 53-46 in the first half.")
    assert [(c, v, how) for c, v, how in half] == [
        ("53", "grounded", "derived: sum"),
        ("46", "grounded", "derived: sum"),
    ]
    wrong = settled(GAME, "The Thunder outscored the Kings 53-48 in the first half.")
    assert [v for _, v, _ in wrong] == ["open", "contradicted"]


def test_what_is_told_of_a_stretch_of_time_is_no_contradiction() -> None:
    told = settled(GAME, "Westbrook has combined for 70 points over his last two games.")
    assert ("70", "open", "it is narrowed to a time") in told


ORDERS = (
    "list_orders",
    {"user": "ana"},
    {
        "orders": [
            {"order_id": "A1", "total": 30.5, "status": "shipped", "items": ["pen", "cup"]},
            {"order_id": "B2", "total": 70, "status": "pending", "items": ["lamp"]},
        ]
    },
)


def test_sums_differences_and_counts_are_said_to_be_derived() -> None:
    told = settled(ORDERS, "You have 2 orders: A1 with a total of $30.50 and B2 with a total of $70. In total $100.50.")
    assert ("2", "grounded", "derived: count") in told
    assert ("$100.50", "grounded", "derived: sum") in told
    gap = settled(ORDERS, "A1 has a total of $30.50 and B2 a total of $70. The difference is $39.50.")
    assert ("$39.50", "grounded", "derived: difference") in gap


def test_the_least_and_the_greatest_are_derived_where_they_are_announced() -> None:
    prices = (
        "search",
        {},
        {"hotels": [{"name": "Ibis", "rate": 80}, {"name": "Ritz", "rate": 420}, {"name": "Mod", "rate": 95}]},
    )
    assert settled(prices, "Rates range from 80 to 420.") == [
        ("80", "grounded", "derived: minimum"),
        ("420", "grounded", "derived: maximum"),
    ]
    assert settled(prices, "The lowest rate is 95.")[0][1] == "open"


def test_a_value_of_one_record_does_not_ground_another() -> None:
    assert settled(ORDERS, "Order A1 has a total of $70.")[-1] == ("$70", "contradicted", "/orders/0/total")
    assert settled(ORDERS, "Order C3 has a total of $70.")[0] == ("C3", "open", "occurs in no payload")


def test_what_user_or_call_gave_is_given() -> None:
    told = settled("user: My budget is $500 for a trip.", ("search", {}, {"hits": 3}), "Your budget of $500 is noted.")
    assert told == [("$500", "grounded", "given")]


def test_relative_days_are_read_by_the_clock_of_the_trace() -> None:
    """2024-05-15 is the day of the trace, so tomorrow is the 16th."""
    flight = ("get_flight", {}, {"flight_number": "HAT017", "departure_date": "2024-05-16"})
    day = settled(flight, "Flight HAT017 departs tomorrow.", started="2024-05-15T15:00:00")
    assert ("tomorrow", "grounded", "/departure_date") in day
    assert all(claim != "tomorrow" for claim, _, _ in settled(flight, "Flight HAT017 departs tomorrow."))


def test_tables_and_named_lines_in_text_payloads() -> None:
    text = "# unit: cases\ndate,value\n2021-02-25,0.09\n2021-02-26,0.14\n2021-02-27,0.2\n"
    table = ("get_csv", {}, text)
    assert settled(table, "On 2021-02-26 it was 0.14.")[-1] == ("0.14", "grounded", "/rows/1/value")
    assert settled(table, "On 2021-02-26 it was 0.24.")[-1] == ("0.24", "contradicted", "/rows/1/value")
    lines = "Balance: $45.00\nOwner: Ana Ruiz\n"
    assert settled(("get_text", {}, lines), "The balance is $45.")[0] == ("$45", "grounded", "/Balance")


def test_values_in_words_are_grounded_but_never_contradicted() -> None:
    booking = ("get_booking", {}, {"booking_id": "XK2P9Q", "cabin": "basic_economy", "insurance": "no"})
    assert settled(booking, "- Cabin: Basic Economy") == [("Basic Economy", "grounded", "/cabin")]
    assert settled(booking, "- Cabin: Economy") == [("Economy", "open", "no value is told so")]


def test_a_turn_passes_only_when_every_word_is_accounted_for() -> None:
    payload = ("get_order", {"order_id": "A1"}, {"order_id": "A1", "total_cents": 3050})
    assert check_utilization(None, view(payload, "Thanks! The total of order A1 is $30.50.")).status == "passed"
    spiced = check_utilization(None, view(payload, "The total of order A1 is $30.50 and was waived."))
    assert spiced.status == "unknown"
    assert spiced.questions[0].fields["claims"] == [
        {
            "sentence": "The total of order A1 is $30.50 and was waived.",
            "claim": None,
            "nearest": [{"pointer": "/total_cents", "value": 3050}, {"pointer": "/order_id", "value": "A1"}],
        }
    ]
    assert spiced.questions[0].fields["payloads"] == [
        {"call": 0, "tool": "get_order", "values": {"/order_id": "A1", "/total_cents": 3050}}
    ]


def test_one_question_for_each_open_turn_and_none_beside_a_finding() -> None:
    payload = ("get_order", {}, {"total_cents": 3050})
    result = check_utilization(
        None, view(payload, "It was waived.", "user: ok", "It came late.", "The total is $99. Sorry.")
    )
    assert result.status == "failed"
    assert [question.place.step for question in result.questions] == [2, 3]
    assert result.units == 3
    assert result.score == pytest.approx(2 / 3)
    assert {question.weight for question in result.questions} == {1 / 3}


def _tokens(text: str, item: Settled) -> tuple[int, int]:
    """The first and the last token of a claim; tokens are parted by single spaces."""
    start, end = item.at + item.claim.start, item.at + item.claim.end
    return text[:start].count(" "), text[: end - 1].count(" ")


@pytest.mark.shared
def test_box_scores_that_people_marked(shared: Path) -> None:
    """All 60 texts of the shared task on accuracy: 474 wrong numbers marked by people (docs/grounding.md)."""
    folder = shared / "data" / "accuracy_shared_task"
    payloads = {}
    for line in (folder / "shared_task.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        text_id = row.pop("shared_task_text_id")
        payloads[text_id] = {k: v for k, v in row.items() if k not in ("summary", "cleaned_text", "detokenized_text")}
    marked: dict[str, list[tuple[int, int, str]]] = {}
    for mark in csv.DictReader((folder / "gsml.csv").read_text("utf-8").splitlines()):
        span = (int(mark["DOC_TOKEN_START"]) - 1, int(mark["DOC_TOKEN_END"]) - 1, mark["TYPE"])
        marked.setdefault(mark["TEXT_ID"].removesuffix(".txt"), []).append(span)
    counts: Counter[str] = Counter()
    for game in csv.DictReader((folder / "games.csv").read_text("utf-8").splitlines()):
        text = game["GENERATED_TEXT"]
        _, readings = read_trace(view(("get_game", {}, payloads[game["TEXT_ID"]]), text))
        found = [(_tokens(text, i), i.verdict) for _, r in readings for i in r.claims]
        spans = marked[game["TEXT_ID"]]
        for (start, end), verdict in found:
            if verdict == "contradicted":
                counts["contradicted"] += 1
                counts["right"] += any(first <= end and start <= last for first, last, _ in spans)
        for first, last, kind in spans:
            if kind == "NUMBER":
                verdicts = {verdict for (start, end), verdict in found if first <= end and start <= last}
                counts["errors"] += 1
                counts["found"] += "contradicted" in verdicts
                counts["passed"] += verdicts == {"grounded"}
    assert counts["errors"] == 474
    assert counts["right"] / counts["contradicted"] >= 0.85
    assert counts["found"] / counts["errors"] >= 0.5
    assert counts["passed"] / counts["errors"] <= 0.05


SHOP = (
    "get_order",
    {"order_id": "#W23"},
    {
        "order_id": "#W23",
        "items": [{"name": "Vacuum Cleaner", "price": 561.05}, {"name": "ThinkPad X1", "price": 272.33}],
        "status": "delivered",
    },
)
WEATHER = ("get_weather", {"city": "Paris"}, {"temp_c": 21.4, "humidity": 64, "wind_kph": 12})
EVENTS = ("list_events", {}, {"events": [{"title": "Design review", "start": "2024-05-17T14:00:00", "attendees": 4}]})
LAPTOP = ("search", {}, {"results": [{"title": "AeroBook", "price": {"amount": 99900, "currency": "USD"}}]})


@pytest.mark.parametrize(
    ("payload", "answer", "expected"),
    [
        (SHOP, "A Vacuum Cleaner ($561.05) and a ThinkPad X1 ($272.33).", ["grounded", "grounded"]),
        (SHOP, "The Vacuum Cleaner costs $591.05.", ["contradicted"]),
        (SHOP, "Would the Vacuum Cleaner cost $591.05?", ["open"]),
        (SHOP, "The Vacuum Cleaner costs about $560.", ["open"]),
        (SHOP, "The price difference is $50.", ["open"]),
        (SHOP, "Your order #W23 has been delivered.", ["grounded", "grounded"]),
        (WEATHER, "In Paris the temperature is 21 °C and the humidity 64%.", ["grounded", "grounded"]),
        (WEATHER, "In Paris the temperature is 25 °C.", ["contradicted"]),
        (WEATHER, "In Paris the temperature is 70.5 °F.", ["open"]),
        (EVENTS, "The Design review starts at 2 PM with 5 attendees.", ["grounded", "contradicted"]),
        (EVENTS, "The Design review begins at 3 pm.", ["contradicted"]),
        (LAPTOP, "The AeroBook costs $999.00.", ["grounded"]),
    ],
)
def test_everyday_answers(payload: Any, answer: str, expected: list[str]) -> None:
    assert [verdict for _, verdict, _ in settled(payload, answer)] == expected


def test_doubt_keeps_a_differing_claim_open() -> None:
    """Each of these differs from what is linked, and none is settled by it."""
    rooms = ("list_rooms", {}, {"rooms": [{"floor": 1, "beds": 2}, {"floor": 2, "beds": 3}]})
    assert settled(rooms, "The room has 5 beds.")[0][1:] == ("open", "several values are linked")
    hotel = ("get_hotel", {"name": "Ibis"}, {"name": "Ibis", "nightly": {"price": 80, "tax": 9}})
    assert settled(hotel, "At the Ibis you pay $99.")[0][1:] == ("open", "no field is named beside it")


def test_a_number_is_given_only_with_the_words_it_was_given_with() -> None:
    payload = ("search", {}, {"hits": 3})
    assert settled("user: My budget is $500.", payload, "The fine is $500.")[0][1] == "open"


def test_a_count_must_be_the_count() -> None:
    assert settled(ORDERS, "You have 3 orders.")[0][1] == "open"


def test_a_middle_value_or_an_end_that_is_not_announced_is_open() -> None:
    hotels = ("search", {}, {"hotels": [{"stars": 2}, {"stars": 4}, {"stars": 5}]})
    assert settled(hotels, "Hotels have 5 stars.")[0][1] == "open"
    assert settled(hotels, "Hotels have up to 5 stars.")[0][1:] == ("grounded", "derived: maximum")
