"""What queues change for a client, and where a later life of it begins."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from antecede.core.effects import Deliver, Discard
from antecede.core.entries import Entries
from antecede.core.frames import Attach, Attached, Grown, Items, Publish
from antecede.core.home.frontier import Frontier
from antecede.core.machine import Settings
from antecede.core.message import Envelope, Message, Publication, Stamp
from antecede.core.recipes import build
from antecede.errors import InputError
from tests.core.home.test_client import client, item, items
from tests.core.home.test_handover import come, reader
from tests.core.kit import frame_to, grouped, machine, told, view_of

SAVED = Frontier("S", {"X@G1": 2, "S@G1": 1}, {"Y@G1": 4}, {"X~@G1": (3, ((5, 4),))}, rank=6)


def later(name: str = "S.1") -> Any:
    one = machine("home", name, "subscriber", retry_us=10, round_us=20, grace_us=1000)
    one.view(view_of({"H": "G1"}, name), 0)
    return one


def test_a_later_life_tells_its_home_where_it_begins_and_joins_where_that_says() -> None:
    one = later()
    one.application.resume(SAVED)
    attach = frame_to(one.subscribe(("G1",), ("H",), 1), "H", Attach)
    assert attach.frontier == {"X@G1": 2, "S@G1": 1, "X~@G1": 3} and attach.began == {"Y@G1": 4}
    assert attach.change == 1, "its filters begin to hold with this attachment"
    assert told(one.receive(Attached(1, {}, ("S:1", "X:2")), "H", 2)) == ["join at H cut S:1,X:2"]
    assert items(one, item(1, grouped("X:3"))) == ["deliver X:3 causes"]


def test_it_may_hear_of_its_beginning_with_the_first_messages() -> None:
    one = later()
    one.application.resume(SAVED)
    one.subscribe(("G1",), ("H",), 1)
    lines = told(one.receive(Grown(1, 1, 1, ("X:2",), (item(1, grouped("X:3")),)), "H", 2))
    assert lines[:2] == ["join at H cut X:2", "deliver X:3 causes"]


def test_all_it_publishes_follows_what_its_earlier_life_had() -> None:
    one = later()
    one.application.resume(SAVED)
    one.subscribe(("G1",), ("H",), 1)
    message, effects = one.publish(Publication(("G1",)), 2)
    stamp = frame_to(effects, "H", Publish).envelopes[0].stamp
    assert message.id == "S.1:1" and stamp.covers == {"X@G1": 2, "S@G1": 1} and stamp.rank > 6


def test_an_unordered_message_its_earlier_life_had_is_not_delivered_again() -> None:
    one, other = later(), client()
    one.application.resume(SAVED)
    one.subscribe(("G1",), ("H",), 1)
    one.receive(Attached(1, {}, ()), "H", 2)
    _, effects = other.publish(Publication(("G1",), b"", order="none"), 1)
    envelope = frame_to(effects, "H", Publish).envelopes[0]
    envelope.message.sender, envelope.message.seq, envelope.message.id = "X", 5, "X~:5"
    envelope.stamp.own = (("X~@G1", 5),)
    assert items(one, item(1, envelope)) == ["discard X~:5 duplicate"]


def test_a_frontier_goes_round() -> None:
    one = later()
    one.application.resume(SAVED)
    told = one.application.frontier()
    assert (told.process, told.marks, told.began, told.loose, told.rank) == (
        "S.1", SAVED.marks, SAVED.began, SAVED.loose, SAVED.rank,
    )  # fmt: skip


def test_only_one_that_has_not_begun_resumes_and_only_as_a_later_life() -> None:
    begun = later()
    begun.subscribe(("G1",), ("H",), 1)
    published = later()
    published.publish(Publication(("G1",)), 1)
    for one in (later("S"), later("T.1"), begun, published):
        with pytest.raises(InputError):
            one.application.resume(SAVED)


def test_where_a_client_began_is_in_its_frontier() -> None:
    one = client(join=False)
    one.receive(Attached(1, {"X@G1": 9}, ("X:9",)), "H", 1)
    assert one.application.frontier() == Frontier("S", {}, {"X@G1": 9})
    one.receive(Items(1, (item(1, grouped("X:10")),)), "H", 2)
    assert one.application.frontier() == Frontier("S", {"X@G1": 10})


def test_why_a_message_went_out_or_did_not_is_told_beside_the_rows() -> None:
    one = client()
    early = grouped("X:4", deadline_us=50, needs=(("X@G1", 3), ("Y@G9", 1), ("Z@G1", 2)), covers={"X@G1": 3, "Z@G1": 2})
    one.receive(Items(1, (item(1, grouped("Z:2")), item(4, early, 3))), "H", 2)
    (forced,) = [e for e in one.wake(50) if isinstance(e, Deliver)]
    assert (forced.reason, forced.missing) == ("deadline", ("X:3",)), "Z:2 was there, and Y:1 is not for it"
    (behind,) = [e for e in one.receive(Items(1, (item(3, grouped("X:3")),)), "H", 51) if isinstance(e, Discard)]
    assert (behind.reason, behind.missing) == ("superseded", ("X:4",))
    one.receive(Items(1, (item(6, grouped("X:6", deadline_us=90, needs=(("X@G1", 5),)), 5),)), "H", 52)
    (late,) = [e for e in one.wake(95) if isinstance(e, Discard)]
    assert (late.reason, late.missing) == ("late", ("X:5",)), "the driver overslept"


def test_an_item_carries_the_stamp_of_its_publisher() -> None:
    one = client()
    envelope = grouped("X:1", covers={"Y@G1": 2})
    one.application.open("inbox", ("G1",), size=3, policy="block")
    one.receive(Items(1, (item(1, envelope),)), "H", 2)
    (ready,) = one.application.handover.queues["inbox"].entries
    assert ready.envelope.stamp is envelope.stamp and ready.index == 1


def test_causes_that_its_earlier_life_had_widen_and_others_are_refused() -> None:
    one = later()
    one.application.resume(SAVED)
    one.subscribe(("G1",), ("H",), 1)
    everything, *rest = [
        one.publish(Publication(("G1",), b"", after=[had]), 2)[0].after for had in ("X:1", "X:2", "S:1", "X~:5")
    ]
    assert everything == ("S:1", "X:2") and rest == [None] * 3, "the first says what its earlier life had"
    for never in ("X:3", "X~:6", "Y:1"):
        with pytest.raises(InputError, match=r"^S\.1 never had"):
            one.publish(Publication(("G1",), b"", after=[never]), 2)


def test_what_never_came_before_a_message_is_told_where_all_of_its_group_is_owed() -> None:
    one = reader(("inbox", "G1"))
    for filters in (("G1",), ("G1", "G2#?x > 1")):
        one.subscribe(filters, ("H",), 2)
    one.receive(Grown(1, 2, 1, ("Z:3",), ()), "H", 2)
    needs = (("Y@G1", 4), ("Z@G1", 3), ("Y@G2", 5), ("Q@G3", 1))
    first, own = grouped("X:2", needs=needs, covers={**dict(needs), "X@G1": 1}), grouped("X:3", needs=(("X@G1", 2),))
    one.receive(Items(1, (item(1, first), item(2, own, 1))), "H", 3)
    _, effects = one.application.hand_over("inbox", 2, 4)
    delivered = [effect for effect in effects if isinstance(effect, Deliver)]
    assert [(effect.message.id, effect.missing) for effect in delivered] == [("X:2", ("Y:4", "X:1")), ("X:3", ())]


def test_what_came_and_was_let_go_of_is_not_missing() -> None:
    one = reader(size=1)
    come(one, grouped("Y:1"), grouped("X:1", needs=(("Y@G1", 1),)))
    _, effects = one.application.hand_over("inbox", 1, 4)
    assert [effect.missing for effect in effects if isinstance(effect, Deliver)] == [()]


def test_what_a_late_message_waited_for_is_told_under_a_table_too() -> None:
    table = Entries({"hall/#": (), "room/#": ()})
    one: Any = build(
        "home", "repaired", name="S", role="subscriber", groups=(), settings=Settings(), dice=Random(1), table=table
    )
    one.view(view_of({"H": "0 1"}, "S"), 0)
    one.application.open("inbox", ("room/1",), size=10, policy="drop_oldest")
    one.subscribe(("room/1",), ("H",), 0)
    one.receive(Attached(1, {}, ()), "H", 1)
    stamp = Stamp((("X@1", 2),), (("Y@1", 4), ("Y@0", 3)), {"Y@1": 4, "Y@0": 3})
    late = Envelope(Message("X", 2, ("room/1",), b"", 5), stamp)
    said = one.receive(Items(1, (item(1, late),)), "H", 6)
    assert [(effect.reason, effect.missing) for effect in said if isinstance(effect, Discard)] == [("late", ("Y:4",))]
