"""A broker that counts by rounds: when its messages leave, how long they live, and what it calls streams below."""

from __future__ import annotations

from typing import Any

import pytest

from antecede.core.frames import Attach, Attached, Data, Digest, Gone, Request
from antecede.core.message import Envelope, Message, Publication, Stamp
from antecede.core.order.matrix import ColumnInterest
from antecede.core.roles.round_broker import leaves_us
from antecede.errors import InputError
from tests.core.kit import frame_to, machine, sent, told, view_of

ROUND = 50_000
VIEW = view_of({"A": "G1 G2", "B": "G1", "C": "G2"}, "S")


def broker(recipe: str = "rounds", name: str = "A", groups: str = "G1 G2", **knobs: Any) -> Any:
    made = machine(recipe, name, "broker", groups, **{"colours": 3, "round_us": ROUND, "fanout": 9, **knobs})
    made.view(VIEW, 0)
    made.start(0)
    return made


def attach(a: Any, *filters: str) -> Attached:
    return frame_to(a.receive(Attach(1, filters, None), "S", 0), "S", Attached)  # type: ignore[no-any-return]


def test_one_message_per_round_each_at_its_beginning() -> None:
    a = broker()
    first, effects = a.publish(Publication(("G1",)), 10)
    assert first.id == "A:1" and sent(effects, Data)
    second, effects = a.publish(Publication(("G1",)), 11)
    assert second.id == "A:2" and not sent(effects, Data) and a.next_wake() <= ROUND
    assert not sent(a.wake(ROUND - 1), Data)
    assert [f.messages()[0].id for _, f in sent(a.wake(ROUND), Data)] == ["A:2"]


def test_nobody_hears_of_a_message_before_its_round() -> None:
    a = broker()
    for _ in range(3):
        a.publish(Publication(("G1",)), 10)
    assert set(a.store.by_id) == {"A:1"} and a.cut() == ("A:1",)
    reply = attach(a, "G1")
    assert reply.start["A"] == 1 and reply.cut == ("A:1",)
    answer = a.receive(Request((("A@G1", 0, 3),)), "B", 20)
    assert [m.id for _, f in sent(answer, Data) for m in f.messages()] == ["A:1"]


@pytest.mark.parametrize(
    ("recipe", "given", "deadline_us"),
    [
        ("rounds", None, 3 * ROUND - 1),
        ("rounds", ROUND, ROUND),
        ("rounds", 3 * ROUND - 1, 3 * ROUND - 1),
        ("colour", None, 3 * ROUND - 1),
        ("colour", 3 * ROUND - 1, 3 * ROUND - 1),
        ("colour", 9 * ROUND, 9 * ROUND),
    ],
)
def test_a_lifetime_bounds_a_deadline_from_above_or_from_below(
    recipe: str, given: int | None, deadline_us: int
) -> None:
    message, _ = broker(recipe).publish(Publication(("G1",), b"", deadline_us=given), 0)
    assert message.deadline_us == deadline_us and message.expires_us == 3 * ROUND - 1


@pytest.mark.parametrize(
    ("recipe", "given", "says"),
    [("rounds", 3 * ROUND, "cannot end later, so give an earlier one"),
     ("colour", 3 * ROUND - 2, "as all do towards subscribers: a deadline of 149.998 ms cannot end sooner")],
)  # fmt: skip
def test_a_deadline_on_the_other_side_is_refused_before_anything_has_changed(
    recipe: str, given: int, says: str
) -> None:
    a = broker(recipe)
    with pytest.raises(InputError, match=rf"lives until 149.999 ms \(3 rounds\).*{says}"):
        a.publish(Publication(("G1",), b"", deadline_us=given), 0)
    assert a.clock.newest == 0 and not a.store.by_id and not a.inbox.seen
    message, effects = a.publish(Publication(("G1",)), 0)
    assert message.id == "A:1" and sent(effects, Data), "the round it would have had is still free"


def test_a_message_that_waits_for_its_round_lives_from_then_on() -> None:
    a = broker("colour")
    a.publish(Publication(("G1",)), 0)
    assert leaves_us(a, 0) == ROUND and leaves_us(a, ROUND + 7) == ROUND + 7 and leaves_us(object(), 7) == 7
    with pytest.raises(InputError, match=r"lives until 199\.999 ms"):
        a.publish(Publication(("G1",), b"", deadline_us=3 * ROUND), 0)
    message, _ = a.publish(Publication(("G1",), b"", deadline_us=leaves_us(a, 0) + 3 * ROUND), 0)
    assert message.id == "A:2" and message.deadline_us == 4 * ROUND and message.expires_us == 4 * ROUND - 1


def test_what_ran_out_while_it_waited_is_not_sent_but_its_header_can_be_had() -> None:
    a = broker()
    for _ in range(3):
        a.publish(Publication(("G1",), b"", deadline_us=ROUND), 0)
    assert sent(a.wake(ROUND), Data) and not sent(a.wake(2 * ROUND), Data)
    gone = frame_to(a.receive(Request((("A@G1", 2, 3),)), "B", 2 * ROUND), "B", Gone)
    assert [e.message.id for e in gone.headers] == ["A:3"]


def test_what_has_outlived_its_lifetime_goes_to_brokers_only() -> None:
    a, b = broker("colour"), broker("colour", "B", "G1")
    attach(a, "G1")
    frame = sent(b.publish(Publication(("G1",), b"", deadline_us=9 * ROUND), 0)[1], Data)[0][1]
    late = a.receive(frame, "B", 3 * ROUND)
    assert "B:1" in a.store.by_id and not sent(late, Data)


@pytest.mark.parametrize("recipe", ["rounds", "colour"])
def test_what_is_of_a_round_that_nobody_can_have_reached_is_not_taken_in(recipe: str) -> None:
    a = broker(recipe)
    far = Message("B", 2**40, ("G1",), b"", 2**62, 2**62)
    near = Message("B", 5, ("G1",), b"", 2**62, 2**62)
    envelopes = tuple(
        Envelope(one, Stamp(((f"B@{'A' if recipe == 'colour' else 'G1'}", one.seq),))) for one in (far, near)
    )
    assert told(a.receive(Data(envelopes), "B", 10))[:2] == [f"discard {far.id} foreign", "deliver B:5 causes"]
    assert a.publish(Publication(("G1",)), ROUND)[0].seq == 6, "what is published next does not wait for that round"


def test_subscribers_ask_by_sender_or_by_round() -> None:
    for recipe in ("rounds", "colour"):
        a = broker(recipe)
        attach(a, "G1")
        a.publish(Publication(("G1",)), 0)
        a.publish(Publication(("G2",)), 0)
        a.publish(Publication(("G1",)), 0)
        a.wake(ROUND)
        a.wake(2 * ROUND)

        def got(frame: Request, a: Any = a) -> list[str]:
            return [m.id for _, f in sent(a.receive(frame, "S", 2 * ROUND), Data) for m in f.messages()]

        assert got(Request((("A", 0, 3),))) == ["A:1", "A:3"], "A:2 is not for it"
        assert got(Request((("A", 1, 2),))) == [] and got(Request((("*", 2, 3),))) == ["A:3"]
        assert got(Request((("B", 0, 3),))) == []
        assert len(a.ranges_from("S", (("A", 0, 3), ("A", 0, 3)))) == len(a.ranges_from("S", (("A", 0, 3),)))


def test_a_digest_below_names_senders_and_in_colour_their_rounds() -> None:
    for recipe, summary in (("rounds", {}), ("colour", {"A": 0b100})):
        a = broker(recipe, colours=9)
        attach(a, "G1")
        for _, topic in enumerate(("G1", "G2", "G2", "G1")):
            a.publish(Publication((topic,)), 0)
        for n in range(1, 5):
            effects = a.wake(n * ROUND)
        while not sent(effects, Digest):
            effects = a.wake(a.next_wake())
        digest = frame_to(effects, "S", Digest)
        assert digest.offer == {"A": 4} and digest.done == summary


def test_a_digest_between_brokers_is_a_column_or_a_group() -> None:
    a = broker("colour")
    assert isinstance(a.interest_of("B"), ColumnInterest) and a.interest_of("B").concerns("X@B")
    assert not a.interest_of("B").concerns("X@A") and a.interest_of("Z") is None
    assert broker("rounds").interest_of("B").concerns("X@G1")


def test_rounds_go_on_after_what_was_delivered() -> None:
    a, b = broker(), broker(name="B", groups="G1")
    for _ in range(3):
        b.publish(Publication(("G1",)), 0)
    b.wake(ROUND)
    frames = [f for _, f in sent(b.publish(Publication(("G1",)), 0)[1], Data)] + [
        f for _, f in sent(b.wake(2 * ROUND), Data)
    ]
    for frame in frames:
        a.receive(frame, "B", 2 * ROUND)
    assert a.publish(Publication(("G1",)), 0)[0].seq == max(a.clock.newest, 1)


def test_rounds_belong_to_brokers_in_turn() -> None:  # 004 s1
    a, b = broker("colour", turns=True), broker("colour", "B", "G1", turns=True)
    assert [a.publish(Publication(("G1",)), 0)[0].id, b.publish(Publication(("G1",)), 0)[0].id] == [
        "A:3",
        "B:1",
    ]
    assert leaves_us(a, 0) == 5 * ROUND and a.publish(Publication(("G1",)), 0)[0].expires_us == 8 * ROUND - 1
    a.view({"A": VIEW["A"], "B": VIEW["B"]}, 0)
    assert a.publish(Publication(("G1",)), 0)[0].id == "A:8", "two are left"
