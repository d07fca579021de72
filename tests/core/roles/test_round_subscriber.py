"""A subscriber that counts by rounds: what it asks for, and what it says it has."""

from __future__ import annotations

from typing import Any

from antecede.core.frames import Attached, Data, Digest, Request
from antecede.core.message import Envelope, Message, Stamp
from tests.core.kit import frame_to, machine, told, view_of

ROUND = 50_000


def subscriber(recipe: str) -> Any:
    s = machine(recipe, "S", "subscriber", colours=9, round_us=ROUND)
    s.view(view_of({"A": "G1", "B": "G1"}, "S"), 0)
    s.subscribe(("G1",), ("A",), 0)
    s.receive(Attached(1, {}, ()), "A", 0)
    return s


def data(s: Any, name: str, before: int = 0) -> Data:
    sender, number = name.split(":")
    message = Message(sender, int(number), ("G1",), b"", s.reader.clock.end_us(int(number)))
    return Data(
        (Envelope(message, Stamp(((sender, int(number)),), rank=s.reader.clock.colour_of(before, message.seq))),)
    )


def test_where_only_a_round_is_known_it_asks_by_round() -> None:
    s = subscriber("colour")
    effects = s.receive(data(s, "A:3", before=2), "A", 2 * ROUND)
    assert told(effects)[0] == "ask A for " and frame_to(effects, "A", Request).ranges == (("*", 1, 2),)


def test_of_a_summary_it_asks_exactly_for_what_is_not_here() -> None:
    s = subscriber("colour")
    s.receive(data(s, "A:5"), "A", 4 * ROUND)
    s.receive(data(s, "A:3"), "A", 4 * ROUND)
    effects = s.receive(Digest({"A": 5}, {}, {"A": 0b1010}, reply=True), "A", 4 * ROUND)
    assert frame_to(effects, "A", Request).ranges == (("A", 0, 1),), "rounds 3 and 1 were named, 3 is here"
    reply = frame_to(effects, "A", Digest)
    assert reply.have == {"A": 0}, "it holds the newest, and lacks another"
    s.receive(data(s, "A:1"), "A", 4 * ROUND)
    reply = frame_to(s.receive(Digest({"A": 5}, {}, {"A": 0b1010}, reply=True), "A", 4 * ROUND), "A", Digest)
    assert reply.have == {"A": 5}


def test_of_an_offer_it_asks_for_all_that_lies_between() -> None:
    s = subscriber("rounds")
    effects = s.receive(Digest({"A": 5}, {}, reply=False), "A", 4 * ROUND)
    assert frame_to(effects, "A", Request).ranges == (("A", 0, 5),)
    assert told(effects)[0] == "ask A for A:5"
