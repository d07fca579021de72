"""The client of a home: its numbered stream, its publications, and what it carries to the next home."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from antecede.core.frames import (
    Ack,
    Attach,
    Attached,
    Detach,
    Grown,
    Item,
    Items,
    Publish,
    Top,
    Want,
)
from antecede.core.home import causes
from antecede.core.message import Envelope, Message, Publication, Stamp, header_of
from antecede.core.order import unordered as loose
from antecede.core.order.numbered import WINDOW
from antecede.core.state.freeze import likeness
from antecede.errors import InputError
from tests.core.kit import frame_to, grouped, machine, sent, told, view_of


def client(*, join: bool = True, **knobs: Any) -> Any:
    one = machine("home", "S", "subscriber", retry_us=10, round_us=20, grace_us=1000, **knobs)
    one.view(view_of({"H": "G1", "N": "G1"}, "S"), 0)
    one.start(0)
    assert told(one.subscribe(("G1",), ("H",), 0)) == ["attach to H"]
    if join:
        assert told(one.receive(Attached(1, {}, ("X:9",)), "H", 1)) == ["join at H cut X:9"]
    return one


def item(index: int, envelope: Envelope, *after: int, gone: bool = False) -> Item:
    return Item(index, sum(1 << (index - 1 - cause) for cause in after), envelope, gone)


def items(one: Any, *given: Item, frm: str = "H", number: int = 1, now: int = 2) -> list[str]:
    lines = told(one.receive(Items(number, given), frm, now))
    return [line for line in lines if not line.startswith(("ask", "want"))]


def test_concurrent_items_pass_each_other_and_causes_hold_back() -> None:
    """H6."""
    one = client()
    assert items(one, item(2, grouped("X:2"))) == ["deliver X:2 causes"]
    assert items(one, item(4, grouped("X:4"), 3, 1)) == []
    assert items(one, item(3, grouped("X:3"))) == ["deliver X:3 causes"]
    assert items(one, item(1, grouped("X:1"))) == ["deliver X:1 causes", "deliver X:4 causes"]


def test_at_its_deadline_only_missing_causes_become_past() -> None:
    """H7b."""
    one = client()
    items(one, item(4, grouped("X:4", deadline_us=50), 3), item(6, grouped("X:6", deadline_us=90), 2))
    assert told(one.wake(50))[0] == "deliver X:4 deadline"
    assert items(one, item(3, grouped("X:3")), now=51) == ["discard X:3 superseded"]
    assert items(one, item(2, grouped("X:2")), now=51) == ["deliver X:2 causes", "deliver X:6 causes"]


def test_an_item_that_is_gone_is_past_by_itself() -> None:
    one = client()
    assert items(one, item(2, grouped("X:2"), 1)) == []
    assert items(one, item(1, grouped("X:1", deadline_us=1), gone=True)) == [
        "discard X:1 expired",
        "deliver X:2 causes",
    ]


def test_what_a_home_calls_expired_is_asked_for_again_while_it_is_in_time_here() -> None:
    """Clocks differ: each judges deadlines by its own."""
    one = client()
    assert items(one, item(1, grouped("X:1", deadline_us=50), gone=True), now=50) == []
    assert items(one, item(1, grouped("X:1", deadline_us=50), gone=True), now=51) == ["discard X:1 expired"]


def test_half_a_window_is_acknowledged_at_once() -> None:
    one = client()
    half = WINDOW // 2
    many = [item(n, grouped(f"X:{n}")) for n in range(1, half + 2)]
    assert sent(one.receive(Items(1, tuple(many[: half - 1])), "H", 2), Ack) == []
    assert frame_to(one.receive(Items(1, tuple(many[half - 1 : half])), "H", 2), "H", Ack).index == half
    assert sent(one.receive(Items(1, tuple(many[half:])), "H", 2), Ack) == [], "the rest has time"


def test_missing_indexes_are_wanted_and_the_end_found_by_its_top() -> None:
    one = client(deadlines=False)
    effects = one.receive(Items(1, (item(3, grouped("X:3")),)), "H", 2)
    assert frame_to(effects, "H", Want).indexes == (1, 2) and "ask H for " in told(effects)
    effects = one.receive(Top(1, 5), "H", 3)
    assert frame_to(effects, "H", Want).indexes == (4, 5)


def test_nothing_is_believed_of_numbers_that_no_home_can_have_reached() -> None:
    one = client(deadlines=False)
    reach = 2 * WINDOW
    assert items(one, item(reach + 1, grouped("X:9"))) == ["discard X:9 foreign"]
    assert items(one, Item(2**40, 0, grouped("X:9"))) == ["discard X:9 foreign"]
    assert not one.wants.wants
    one.receive(Top(1, 2**40), "H", 3)
    assert len(one.wants.wants) == reach
    assert items(one, item(reach, grouped("X:8"))) == ["deliver X:8 causes"], "as far as that it may be true"
    assert items(one, *(item(n, grouped(f"X:{n + 9}")) for n in (1, 2)))
    one.receive(Top(1, 2**40), "H", 4)
    assert max(n for _, n in one.wants.wants) == reach + 2, "the next one goes on from there"


def test_a_change_of_filters_does_not_begin_beyond_that_either() -> None:
    one = client(deadlines=False)
    one.receive(Grown(1, 1, 2**40, ()), "H", 2)
    assert len(one.wants.wants) == 2 * WINDOW


def test_what_lies_behind_is_acknowledged_soon_and_at_once_when_nothing_is_missing() -> None:
    one = client()
    items(one, item(1, grouped("X:1")), item(3, grouped("X:3")))
    one.wants.wants.clear()
    assert sent(one.wake(6), Ack) == [] and frame_to(one.wake(7), "H", Ack).index == 1
    assert sent(one.receive(Top(1, 3), "H", 8), Ack) == []
    items(one, item(2, grouped("X:2")), now=9)
    effects = one.receive(Top(1, 3), "H", 10)
    ack = frame_to(effects, "H", Ack)
    assert (ack.attachment, ack.index) == (1, 3) and sent(one.wake(50), Ack) == []


def test_what_it_delivered_and_all_before_it_causes_what_it_publishes() -> None:
    """H3: also of groups it does not read."""
    one = client()
    items(one, item(1, grouped("X:1", needs=[("Z@G2", 4)])), item(3, grouped("X:3"), 2))
    stamp = frame_to(one.publish(Publication(("G2",)), 5)[1], "H", Publish).envelopes[0].stamp
    assert stamp.covers == {"X@G1": 1, "Z@G2": 4} and stamp.own == (("S@G2", 1),)


def test_declared_causes_are_closed_and_forgotten_ones_widen_to_all(monkeypatch: pytest.MonkeyPatch) -> None:
    one = client()
    items(one, item(1, grouped("X:1", needs=[("Z@G1", 2)])), item(2, grouped("Y:1")))
    told_, effects = one.publish(Publication(("G1",), b"", after=["X:1"]), 5)
    assert told_.after == ("X:1",)
    assert frame_to(effects, "H", Publish).envelopes[0].stamp.covers == {"X@G1": 1, "Z@G1": 2}
    monkeypatch.setattr(causes, "REMEMBERED", 2)
    items(one, item(3, grouped("Y:2")))
    told_, effects = one.publish(Publication(("G1",), b"", after=["X:1", "Y:2"]), 5)
    assert told_.after is None
    covers = frame_to(effects, "H", Publish).envelopes[0].stamp.covers
    assert covers == {"X@G1": 1, "Y@G1": 2, "Z@G1": 2, "S@G1": 1}


@pytest.mark.parametrize("cause", ["Q:1", "X:2", "S:1", "X~:1", "nonsense", ""])
def test_a_cause_that_it_never_had_is_refused_before_anything_has_changed(cause: str) -> None:
    one = client()
    items(one, item(1, grouped("X:1")))
    with pytest.raises(InputError, match=f"S never had '{cause}': `after` names messages that were delivered"):
        one.publish(Publication(("G1",), b"", after=["X:1", cause]), 5)
    assert one.publish(Publication(("G1",), b"", after=["X:1"]), 5)[0].id == "S:1"


def test_what_it_takes_for_had_of_an_entry_it_reads_in_part_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every second number is of a topic it does not want."""
    monkeypatch.setattr(loose, "KEPT", 8)
    one = client()
    for place in range(1, 41):
        assert items(one, item(place, unordered(2 * place, 2 * place - 1))) == [f"deliver X~:{2 * place} causes"]
        assert len(one.heard.above.get("X~@G1", ())) <= 9
    late = items(one, item(41, unordered(3, 2)))
    assert late == ["deliver X~:3 causes"], "its own home may still send what was overtaken"
    assert items(one, item(42, unordered(3, 2))) == ["discard X~:3 duplicate"]
    assert moved(one).frontier["X~@G1"] >= 64, "another does not"
    assert items(one, item(1, unordered(80, 79)), frm="N", number=2, now=11) == ["discard X~:80 duplicate"]


def test_a_move_takes_the_frontier_and_what_is_unacknowledged_along() -> None:
    """H1, H2, H4."""
    one = client()
    items(one, item(1, grouped("X:1")), item(3, grouped("X:3"), 2))
    one.publish(Publication(("G1",)), 5)
    effects = one.move(("N",), 6)
    assert told(effects) == ["move to N cut S:1,X:1", "attach to N", "publish to N: S:1"]
    attach = frame_to(effects, "N", Attach)
    assert attach.attachment == 2 and attach.frontier == {"X@G1": 1, "S@G1": 1} and attach.unacked == ("S:1",)
    assert not one.inbox.held and one.move(("N",), 7) == []


def test_the_next_home_is_told_what_was_late_here() -> None:
    """What follows a late message would wait for its new number. An unordered one holds up nobody."""
    one = client()
    late = {"deadline_us": 50}
    assert items(one, item(2, grouped("X:2", **late), 1), item(3, grouped("Y:1", "G1", "G2", **late)), now=51) == [
        "discard X:2 late",
        "discard Y:1 late",
    ]
    items(one, item(4, grouped("Z:1", **late), gone=True), item(5, unordered(1, deadline_us=50)), now=51)
    assert frame_to(one.move(("N",), 60), "N", Attach).missed == ("X:2", "Y:1", "Z:1")
    assert frame_to(one.move(("H",), 1051), "H", Attach).missed == ("X:2", "Y:1", "Z:1")
    assert frame_to(one.move(("N",), 1052), "N", Attach).missed == (), "nobody sends it any more"


def test_of_very_many_late_ones_the_newest_are_told() -> None:
    one = client()
    for n in range(1, WINDOW + 3):
        items(one, item(n, grouped(f"X:{n}", deadline_us=50)), now=51)
    missed = frame_to(one.move(("N",), 60), "N", Attach).missed
    assert len(missed) == WINDOW and missed[-1] == f"X:{WINDOW + 2}"


def test_a_move_takes_along_where_it_began_too() -> None:
    one = client(join=False)
    one.receive(Attached(1, {"X@G1": 5, "Y@G1": 2}, ("X:5", "Y:2")), "H", 1)
    items(one, item(1, grouped("Z:1", needs=[("X@G1", 3), ("Y@G1", 4)])))
    attach = frame_to(one.move(("N",), 6), "N", Attach)
    assert attach.frontier == {"X@G1": 3, "Y@G1": 4, "Z@G1": 1} and attach.began == {"X@G1": 5}


def test_what_came_by_an_earlier_number_and_is_gone_now_has_a_number_too() -> None:
    """It was late when it came; its new home has only the header. Else the number would be asked for without end."""
    one = client()
    late = grouped("X:1", deadline_us=5)
    assert items(one, item(1, late), now=9) == ["discard X:1 late"]
    one.move(("N",), 10)
    one.receive(Attached(2, {}, ()), "N", 11)
    items(one, item(1, header_of(late), gone=True), frm="N", number=2, now=12)
    assert one.behind() == 1 and not one.wants.wants


def test_items_of_another_home_or_attachment_are_ignored_and_answered() -> None:
    """H1."""
    one = client()
    one.move(("N",), 3)
    effects = one.receive(Items(1, (item(3, grouped("X:3")),)), "H", 4)
    assert told(effects) == ["discard X:3 foreign", "detach to H"] and frame_to(effects, "H", Detach).attachment == 2
    assert items(one, item(1, grouped("X:1")), frm="N", number=1) == ["discard X:1 foreign"]
    assert told(one.receive(Top(1, 9), "H", 4)) == ["detach to H"]
    assert items(one, item(1, grouped("X:1")), frm="N", number=2) == ["deliver X:1 causes"]
    assert items(one, item(2, grouped("X:3")), frm="N", number=2) == ["deliver X:3 causes"], "held, not past"


def test_indexes_of_a_new_attachment_begin_at_one() -> None:
    one = client()
    items(one, item(1, grouped("X:1")), item(2, grouped("X:2")))
    one.move(("N",), 3)
    assert items(one, item(1, grouped("Y:1")), frm="N", number=2) == ["deliver Y:1 causes"]
    effects = one.wake(7) if one.next_wake() == 7 else one.wake(one.next_wake())
    assert frame_to(effects, "N", Ack).index == 1


def test_before_it_has_begun_nothing_counts() -> None:
    one = client(join=False)
    assert items(one, item(1, grouped("X:1"))) == []
    assert one.receive(Attached(2, {}, ()), "H", 3) == one.receive(Attached(1, {}, ()), "N", 3) == []
    assert frame_to(one.wake(20), "H", Attach).frontier is None
    assert told(one.receive(Attached(1, {}, ()), "H", 21)) == ["join at H cut "]
    assert one.receive(Attached(1, {}, ()), "H", 22) == []


def test_attaching_is_repeated_until_it_is_answered() -> None:
    one = client()
    one.move(("N",), 100)
    assert one.next_wake() == 120 and told(one.wake(120)) == ["attach to N"]
    assert told(one.receive(Attached(2, {}, ()), "N", 121)) == [], "a move is no new join"
    assert one.next_wake() is None


def test_unsubscribing_ends_the_attachment() -> None:
    one = client()
    effects = one.unsubscribe(5)
    assert told(effects) == ["leave G1", "detach to H"] and frame_to(effects, "H", Detach).attachment == 2
    assert one.next_wake() is None and told(one.publish(Publication(("G1",)), 6)[1]) == [] and one.wake(500) == []


def test_while_its_home_is_gone_it_keeps_still() -> None:
    one = client()
    one.publish(Publication(("G1",)), 5)
    one.view(view_of({"N": "G1"}, "S"), 10)
    assert one.next_wake() is None and one.wake(500) == []
    assert told(one.move(("N",), 600))[1:] == ["attach to N", "publish to N: S:1"]


# -- unordered messages ----------------------------------------------------------------------------------------------


def unordered(n: int, before: int = 0, deadline_us: int | None = None) -> Envelope:
    told_ = Message("X", n, ("G1",), b"", deadline_us, order="none")
    return Envelope(told_, Stamp((("X~@G1", n),), (), {"X~@G1": before} if before else {}))


def moved(one: Any, now: int = 10) -> Attach:
    attach = frame_to(one.move(("N",), now), "N", Attach)
    one.receive(Attached(2, {}, ()), "N", now)
    return attach


def test_an_unordered_publication_is_no_cause_of_the_next_and_is_sent_until_it_is_safe() -> None:
    one = client()
    first = frame_to(one.publish(Publication(("G1",), b"", order="none"), 5)[1], "H", Publish).envelopes[0]
    assert first.message.id == "S~:1" and not first.stamp.covers
    second = frame_to(one.publish(Publication(("G1",)), 5)[1], "H", Publish).envelopes[0]
    assert second.message.id == "S:1" and not second.stamp.covers
    attach = moved(one)
    assert set(attach.unacked) == {"S~:1", "S:1"} and (attach.published, attach.loose) == (1, 1)


def test_declared_causes_that_are_unordered_are_none() -> None:
    one = client()
    items(one, item(1, unordered(1)), item(2, grouped("Y:1")))
    said, effects = one.publish(Publication(("G1",), b"", after=["X~:1", "Y:1"]), 5)
    assert said.after == ("X~:1", "Y:1")
    assert frame_to(effects, "H", Publish).envelopes[0].stamp.covers == {"Y@G1": 1}


def test_the_frontier_tells_of_unordered_messages_as_far_as_they_hang_together() -> None:
    one = client()
    items(one, item(1, unordered(1)), item(2, unordered(4, 3)))
    assert moved(one).frontier == {"X~@G1": 1}


def test_what_an_earlier_home_sent_is_a_repeat_and_its_index_lies_behind() -> None:
    one = client()
    items(one, item(1, unordered(4, 3)))
    moved(one)
    assert items(one, item(1, unordered(4, 3)), frm="N", number=2, now=11) == ["discard X~:4 duplicate"]
    assert items(one, item(2, grouped("Y:1"), 1), frm="N", number=2, now=11) == ["deliver Y:1 causes"]
    assert one.reader.front == {"": 2}


def test_also_when_only_its_header_is_left() -> None:
    one = client()
    items(one, item(1, unordered(4, 3, deadline_us=20)))
    moved(one)
    gone = item(1, unordered(4, 3, deadline_us=20), gone=True)
    assert items(one, gone, frm="N", number=2, now=30) == [] and one.reader.front == {"": 1}


def test_an_unordered_one_that_has_expired_lies_behind_for_those_after_it() -> None:
    """Otherwise every later one would be remembered by itself, for good."""
    one = client()
    items(one, item(1, unordered(1)))
    items(one, item(2, unordered(2, 1, deadline_us=20), gone=True), item(3, unordered(3, 2)), now=30)
    assert one.heard.front == {"X~@G1": 3} and not one.heard.above


def test_what_those_after_it_say_has_expired_is_late_and_no_repeat() -> None:
    one = client()
    items(one, item(2, unordered(5)))
    assert items(one, item(1, unordered(4, deadline_us=20)), now=30) == ["discard X~:4 late"]
    assert one.reader.front == {"": 2}


def test_a_newcomer_begins_behind_what_its_home_had() -> None:
    one = client(join=False)
    one.receive(Attached(1, {"X~@G1": 7}, ("X~:7",)), "H", 1)
    assert moved(one).frontier == {"X~@G1": 7}


def test_an_unordered_one_it_began_behind_is_not_delivered() -> None:
    one = client(join=False)
    one.receive(Attached(1, {"X~@G1": 7}, ("X~:7",)), "H", 1)
    assert items(one, item(1, unordered(5, 4))) == ["discard X~:5 duplicate"] and one.reader.front == {"": 1}


def test_its_next_home_is_told_what_it_held_until_it_was_late() -> None:
    one = client()
    items(one, item(2, grouped("X:2", deadline_us=50), 1), now=10)
    assert "discard X:2 late" in told(one.wake(60))
    assert frame_to(one.move(("N",), 61), "N", Attach).missed == ("X:2",)


def test_who_has_unsubscribed_does_not_move() -> None:
    one = client()
    one.unsubscribe(5)
    assert one.move(("N",), 6) == [] and one.home is None


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.integers(1, 12), st.integers(0, 4095), st.sampled_from(["", "gone", "late", "soon", "loose", "G2"])
        ),
        max_size=30,
    ),
    st.booleans(),
    st.integers(1, 4),
    st.integers(1, 9),
)
def test_items_in_turn_go_the_short_way_to_the_same_end(
    steps: list[tuple[int, int, str]], queued: bool, each: int, room: int
) -> None:
    """Whether numbers are looked at one by one or pass in turn, rows, frames and what is remembered are the same, also
    where what came long ago is forgotten meanwhile. `each`: items in a frame."""
    short, long = client(), client()
    long.inbox = _never_next(long.inbox)
    for one in (short, long):
        if queued:
            one.application.open("q", ("G1",), size=3, policy="block")
        one.inbox._forget_at, one.inbox.memory_us = room, 2
    batch: list[Item] = []
    for now, (index, after, kind) in enumerate(steps, 10):
        deadline_us = {"late": 5, "soon": now + 2}.get(kind)
        given = grouped(f"X:{index}", "G2" if kind == "G2" else "G1", deadline_us=deadline_us)
        if kind == "loose":
            told_loose = Message("X", index, ("G1",), order="none")
            given = Envelope(told_loose, Stamp((("X~@G1", index),)))
        one_item = Item(index, after & ((1 << (index - 1)) - 1), header_of(given) if kind == "gone" else given)
        one_item.gone = kind == "gone"
        batch.append(one_item)
        if len(batch) >= each:
            said = [[*one.receive(Items(1, tuple(batch)), "H", now), *one.wake(now)] for one in (short, long)]
            assert repr(said[0]) == repr(said[1])
            batch.clear()
    assert likeness(short, 60) == likeness(long, 60)


def _never_next(inbox: Any) -> Any:
    inbox.__class__ = type("QueuedInbox", (type(inbox),), {"is_next": lambda self, index: False})
    inbox.__class__.__module__, inbox.__class__.__qualname__ = "antecede.core.home.handover", "QueuedInbox"
    return inbox
