"""The home: publications of its clients, when they are safe, and one numbered log per attachment."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from antecede.core.effects import Effect
from antecede.core.entries import Entries
from antecede.core.frames import (
    Ack,
    Attach,
    Attached,
    Data,
    Detach,
    Digest,
    Gone,
    Grow,
    Grown,
    Items,
    Publish,
    Published,
    Received,
    Request,
    Top,
    Want,
)
from antecede.core.machine import Peer, Settings
from antecede.core.message import Envelope, Message, Publication, Stamp, header_of
from antecede.core.order.numbered import WINDOW
from antecede.core.recipes import build
from antecede.errors import InputError, RemoteProtocolError
from tests.core.kit import frame_to, grouped, machine, message, sent, told, view_of

VIEW = {"H": "G1 G2", "B": "G1", "C": "G2", "D": "G3"}


def home(view: dict[str, str] | None = None, **knobs: Any) -> Any:
    one = machine("home", "H", "broker", (view or VIEW)["H"], round_us=100, grace_us=1000, **knobs)
    one.view(view_of(view or VIEW, "S1 S2"), 0)
    one.start(0)
    return one


def attach(
    one: Any, name: str, *filters: str, number: int = 1, frontier: dict[str, int] | None = None, now: int = 0
) -> Any:
    return one.receive(Attach(number, filters, frontier), name, now)


def publish(one: Any, *envelopes: Envelope, by: str = "S1", now: int = 0, headers: bool = False) -> list[str]:
    said = told(one.receive(Publish(envelopes, headers_only=headers), by, now))
    return [line for line in said if not line.startswith("received")]


def indexes(effects: Any, client: str) -> list[tuple[int, str, bool]]:
    return [(i.index, i.envelope.message.id, i.gone) for to, f in sent(effects, Items) if client in to for i in f.items]


def test_a_publication_is_relayed_at_once_and_acknowledged_when_another_has_it() -> None:
    """H5."""
    one = home()
    assert publish(one, grouped("S1:1", "G1")) == ["data to B: S1:1", "deliver S1:1 causes"]
    assert sent(one.receive(Digest({}, {"S1@G1": 0}), "B", 1), Published) == []
    assert frame_to(one.receive(Digest({}, {"S1@G1": 1}), "B", 2), "S1", Published).ids == ("S1:1",)
    assert sent(one.receive(Digest({}, {"S1@G1": 1}), "B", 3), Published) == []


def test_a_publication_marked_by_another_table_is_refused_before_anything_has_changed() -> None:
    table = Entries({"room/#": (), "+/1": ()})
    one = build(
        "home", "repaired", name="H", role="broker", groups=("0", "1"), settings=Settings(), dice=Random(1), table=table
    )
    one.view({"H": Peer("H", "broker", ("0", "1"))}, 0)
    one.start(0)
    right = Envelope(message("S1:1", "room/1"), Stamp((("S1@0", 1), ("S1@1", 1))))
    wrong = Envelope(message("S1:2", "room/1"), Stamp((("S1@0", 2),)))
    with pytest.raises(RemoteProtocolError, match="S1:2 is marked by another table"):
        one.receive(Publish((right, wrong)), "S1", 1)
    assert told(one.receive(Publish((right,)), "S1", 2)) == ["deliver S1:1 causes", "published to S1"]


def test_a_publication_is_marked_with_its_number() -> None:
    """Otherwise Eve's first message could take the last number of her stream, or be two in one."""
    table = Entries({"room/#": ()})
    one = build(
        "home", "repaired", name="H", role="broker", groups=("0",), settings=Settings(), dice=Random(1), table=table
    )
    one.view({"H": Peer("H", "broker", ("0",))}, 0)
    one.start(0)
    with pytest.raises(RemoteProtocolError, match="S1:1 is marked as another message of its sender"):
        one.receive(Publish((Envelope(message("S1:1", "room/1"), Stamp((("S1@0", 2**62),))),)), "S1", 1)


def test_a_client_is_told_that_its_publication_came_until_it_is_safe() -> None:
    one = home()
    both = Publish((grouped("S1:1", "G1"), grouped("S1:2", "G1")))
    assert frame_to(one.receive(both, "S1", 0), "S1", Received).ids == ("S1:1", "S1:2")
    one.receive(Digest({}, {"S1@G1": 1}), "B", 1)
    assert frame_to(one.receive(both, "S1", 2), "S1", Received).ids == ("S1:2",)


def test_a_publication_that_is_not_ready_is_relayed_and_waits_here() -> None:
    """H14."""
    one = home()
    said = publish(one, grouped("S1:2", "G1", needs=[("S1@G1", 1)]))
    assert said[0] == "data to B: S1:2" and not [line for line in said if line.startswith("deliver")]
    assert publish(one, grouped("S1:1", "G1"))[:3] == ["data to B: S1:1", "deliver S1:1 causes", "deliver S1:2 causes"]


def test_with_no_other_broker_it_is_acknowledged_at_once() -> None:
    one = home({"H": "G1"})
    assert publish(one, grouped("S1:1", "G1")) == ["deliver S1:1 causes", "published to S1"]


def test_when_the_others_leave_it_is_acknowledged() -> None:
    one = home()
    publish(one, grouped("S1:1", "G1"))
    assert "published to S1" in told(one.view(view_of({"H": "G1 G2", "C": "G2"}, "S1"), 5))


def test_a_known_publication_is_dropped_but_acknowledged_again() -> None:
    """H4."""
    one = home()
    publish(one, grouped("S1:1", "G1"))
    assert publish(one, grouped("S1:1", "G1")) == ["discard S1:1 duplicate"]
    one.receive(Digest({}, {"S1@G1": 1}), "B", 2)
    assert publish(one, grouped("S1:1", "G1")) == ["discard S1:1 duplicate", "published to S1"]


def test_what_was_passed_over_here_gets_to_others_as_often_as_its_client_publishes_it() -> None:
    """A message with a deadline could not wait for it; elsewhere it may still be in time, and nobody else has it."""
    one = home()
    late = grouped("S1:1")
    publish(one, grouped("S1:2", needs=[("S1@G1", 1)], deadline_us=100))
    one.wake(100)
    assert "discard S1:1 superseded" in publish(one, late, now=101)
    assert any(line.startswith("data to B") for line in publish(one, late, now=500))


def test_a_home_in_none_of_the_groups_keeps_and_relays_it() -> None:
    """H11: the member that lost it asks the relay."""
    one = home()
    assert publish(one, grouped("S1:1", "G3")) == ["data to D: S1:1", "discard S1:1 foreign"]
    assert one.cut() == () and list(one.store.by_id) == ["S1:1"]
    assert frame_to(one.wake(one.rounds.at_us), "D", Digest).offer == {"S1@G3": 1}
    assert publish(one, grouped("S1:1", "G3")) == ["discard S1:1 duplicate"]


def test_a_publication_whose_time_is_over_is_skipped_by_everybody() -> None:
    one = home()
    late = header_of(grouped("S1:1", "G1", deadline_us=50))
    assert publish(one, late, now=50, headers=True) == [], "not yet"
    effects = one.receive(Publish((late,), headers_only=True), "S1", 51)
    assert told(effects) == ["discard S1:1 expired", "gone to B", "received to S1"]
    assert [e.message.id for e in frame_to(effects, "B", Gone).headers] == ["S1:1"]
    assert publish(one, grouped("S1:2", "G1", needs=[("S1@G1", 1)]), now=52)[1] == "deliver S1:2 causes"


def test_a_header_of_what_is_kept_changes_nothing() -> None:
    one = home()
    publish(one, grouped("S1:1", "G1", deadline_us=50))
    assert publish(one, header_of(grouped("S1:1", "G1", deadline_us=50)), now=60, headers=True) == []


def test_a_skipped_publication_is_asked_about_until_somebody_knows() -> None:
    one = home()
    publish(one, header_of(grouped("S1:1", "G1", deadline_us=50)), now=51, headers=True)
    assert frame_to(one.wake(one.rounds.at_us), "B", Digest).offer == {"S1@G1": 1}
    one.receive(Digest({}, {"S1@G1": 1}), "B", 200)
    assert not one.offers(one.known_interest(("G1",)))


def test_what_is_delivered_is_numbered_for_who_wants_it_except_its_publisher() -> None:
    one = home()
    attach(one, "S1", "G1")
    attach(one, "S2", "G1", "G2")
    effects = one.receive(Publish((grouped("S1:1", "G1"),)), "S1", 1)
    assert indexes(effects, "S1") == [] and indexes(effects, "S2") == [(1, "S1:1", False)]
    effects = one.receive(Data((grouped("X:1", "G2"),)), "C", 2)
    assert indexes(effects, "S1") == [] and indexes(effects, "S2") == [(2, "X:1", False)]
    assert frame_to(effects, "S2", Items).attachment == 1


def test_a_fresh_client_begins_at_the_closed_past() -> None:
    one = home()
    one.receive(Data((grouped("X:1", "G1"),)), "B", 0)
    effects = attach(one, "S1", "G1")
    assert frame_to(effects, "S1", Attached).cut == ("X:1",) and indexes(effects, "S1") == []
    assert indexes(one.receive(Data((grouped("X:2", "G1"),)), "B", 1), "S1") == [(1, "X:2", False)]


def test_a_client_that_moved_gets_what_its_frontier_does_not_cover() -> None:
    """H2, H8."""
    one = home()
    for envelope in (grouped("X:1", "G1"), grouped("X:2", "G1"), grouped("Y:1", "G2"), grouped("S1:1", "G1")):
        one.receive(Data((envelope,)), "B", 0)
    one.receive(Data((grouped("X:3", "G1", deadline_us=8),)), "B", 1)
    effects = attach(one, "S1", "G1", frontier={"X@G1": 1}, now=9)
    assert told(effects)[0] == "attached to S1"
    assert indexes(effects, "S1") == [(1, "X:2", False)], "not its past, not foreign, not its own, not expired"


def test_an_attachment_is_answered_again_and_an_old_one_not_at_all() -> None:
    one = home()
    one.receive(Data((grouped("X:1", "G1"),)), "B", 0)
    attach(one, "S1", "G1", number=2, frontier={})
    again = attach(one, "S1", "G1", number=2, frontier={})
    assert told(again) == ["attached to S1"] and one.logs["S1"].top == 1
    assert attach(one, "S1", "G1", number=1, frontier={}) == []
    assert frame_to(attach(one, "S1", "G1", number=3, frontier={}), "S1", Attached).attachment == 3


def test_wanted_indexes_come_again_and_expired_ones_as_headers() -> None:
    one = home()
    attach(one, "S1", "G1")
    one.receive(Data((grouped("X:1", "G1"), grouped("X:2", "G1", deadline_us=50))), "B", 0)
    assert indexes(one.receive(Want(1, (1, 2, 7)), "S1", 50), "S1") == [(1, "X:1", False), (2, "X:2", False)]
    assert indexes(one.receive(Want(1, (1, 2)), "S1", 51), "S1") == [(1, "X:1", False), (2, "X:2", True)]
    assert one.receive(Want(2, (1,)), "S1", 51) == [] and one.receive(Want(1, (1,)), "S2", 51) == []


def test_an_index_that_is_wanted_twice_comes_once() -> None:
    one = home()
    attach(one, "S1", "G1")
    one.receive(Data((grouped("X:1", "G1"), grouped("X:2", "G1"))), "B", 0)
    assert indexes(one.receive(Want(1, (2, 1) * 1000), "S1", 50), "S1") == [(2, "X:2", False), (1, "X:1", False)]


def test_acknowledged_items_are_dropped_of_this_attachment_only() -> None:
    one = home()
    attach(one, "S1", "G1", number=2)
    one.receive(Data((grouped("X:1", "G1"), grouped("X:2", "G1"))), "B", 0)
    one.receive(Ack(1, 2), "S1", 1)
    assert list(one.logs["S1"].entries) == [1, 2]
    one.receive(Ack(2, 1), "S1", 1)
    assert list(one.logs["S1"].entries) == [2]


def test_a_slow_client_is_not_flooded() -> None:
    """Items beyond the window wait for acknowledgements; what expires meanwhile goes as a header."""
    one = home()
    attach(one, "S1", "G1")
    count = WINDOW + 3
    many = tuple(grouped(f"X:{n}", "G1", deadline_us=50 if n == count else 5000) for n in range(1, count + 1))
    given = indexes(one.receive(Data(many), "B", 0), "S1")
    assert [index for index, _, _ in given] == list(range(1, WINDOW + 1))
    assert sent(one.wake(one.rounds.at_us), Top) == []
    assert {frame.top for _, frame in sent(one.wake(one.rounds.at_us), Top)} == {WINDOW}, "more is not to be asked for"
    assert indexes(one.receive(Want(1, (WINDOW + 1,)), "S1", 1), "S1") == []
    assert indexes(one.receive(Ack(1, 2), "S1", 40), "S1") == [
        (WINDOW + 1, f"X:{WINDOW + 1}", False), (WINDOW + 2, f"X:{WINDOW + 2}", False),
    ]  # fmt: skip
    assert one.receive(Ack(1, 2), "S1", 41) == []
    assert indexes(one.receive(Ack(1, 3), "S1", 51), "S1") == [(WINDOW + 3, f"X:{WINDOW + 3}", True)]


def test_what_a_client_has_passed_lies_behind_a_new_group_too_whatever_it_follows() -> None:
    """X:1 is new to it and replayed; Y:1 follows X:1, but it began behind Y:1 in the group it had."""
    one = home()
    one.receive(Data((grouped("X:1", "G1"), grouped("Y:1", "G1", "G2", covers={"X@G1": 1}))), "B", 0)
    attach(one, "S1", "G2", frontier={"Y@G2": 1})
    effects = one.receive(Grow(1, 1, ("G1", "G2"), 0, {"Y@G2": 1}), "S1", 1)
    frame = sent(effects, Grown)[0][1]
    assert frame.cut == ("Y:1",)
    assert [i.envelope.message.id for _, f in sent(effects, Grown) for i in f.items] == ["X:1"]


def test_what_has_expired_here_but_perhaps_not_at_the_client_is_replayed() -> None:
    """Or it would get what follows, and not it."""
    one = home(clock_bound_us=5)
    one.receive(Data((grouped("X:1", "G1", deadline_us=40), grouped("X:2", "G1", deadline_us=60))), "B", 0)
    assert indexes(attach(one, "S1", "G1", frontier={}, now=50), "S1") == [(1, "X:1", False), (2, "X:2", False)]
    assert indexes(attach(one, "S2", "G1", frontier={}, now=51), "S2") == [(1, "X:2", False)]


def test_a_client_that_is_elsewhere_is_let_go() -> None:
    """H1: DETACH names the attachment that replaced this one."""
    one = home()
    attach(one, "S1", "G1", number=2)
    one.receive(Detach(2), "S1", 1)
    assert "S1" in one.logs
    one.receive(Detach(3), "S1", 1)
    assert "S1" not in one.logs
    attach(one, "S2", "G1")
    one.view(view_of(VIEW), 5)
    assert not one.logs and attach(one, "S2", "G1", number=2) == [], "it is gone"


def test_tops_are_told_each_round_to_who_had_one_to_acknowledge() -> None:
    one = home({"H": "G1"})
    attach(one, "S1", "G1")
    one.receive(Data((grouped("X:1", "G1"),)), "S2", 0)
    first = one.rounds.at_us
    assert sent(one.wake(first), Top) == [] and one.rounds.at_us == first + 100, "it may acknowledge by itself"
    assert frame_to(one.wake(first + 100), "S1", Top).top == 1 and one.rounds.at_us == first + 200
    one.receive(Data((grouped("X:2", "G1"),)), "S2", first + 101)
    one.receive(Ack(1, 1), "S1", first + 102)
    assert sent(one.wake(first + 200), Top) == [], "the second is new"
    one.receive(Ack(1, 2), "S1", first + 201)
    assert one.wake(one.rounds.at_us) == [] and one.rounds.at_us is None


def test_what_comes_in_one_frame_goes_to_a_client_in_one_frame() -> None:
    one = home()
    attach(one, "S1", "G1")
    effects = one.receive(Data(tuple(grouped(f"X:{n}", "G1") for n in (1, 2, 3))), "B", 0)
    assert [index for index, _, _ in indexes(effects, "S1")] == [1, 2, 3] and len(sent(effects, Items)) == 1


def test_what_nobody_acknowledged_is_forgotten_long_after_its_deadline() -> None:
    one = home()
    publish(one, grouped("S1:1", "G1", deadline_us=50))
    one.rounded(1050)
    assert "S1:1" in one.confirming._unsafe
    one.rounded(1051)
    assert "S1:1" not in one.confirming._unsafe


def test_digests_go_to_all_brokers_for_a_relay_must_reach_all_groups() -> None:
    assert list(home().peers()) == ["B", "C", "D"]


def test_it_publishes_nothing_itself() -> None:
    with pytest.raises(InputError, match="H is a broker: in recipe `home` its clients publish"):
        home().publish(Publication(("G1",)), 0)


def test_plain_mode_leaves_the_bitmap_out() -> None:
    for recipe, after in (("home", 0), ("home-plain", 1)):
        one = machine(recipe, "H", "broker", "G1")
        one.view(view_of({"H": "G1"}, "S1"), 0)
        one.start(0)
        attach(one, "S1", "G1")
        one.receive(Data((grouped("X:1", "G1"),)), "S2", 0)
        items = frame_to(one.receive(Data((grouped("Y:1", "G1"),)), "S2", 0), "S1", Items).items
        assert [item.after for item in items] == [after]


def test_what_was_late_at_the_client_gets_no_number_again() -> None:
    one = home()
    for n in (1, 2):
        publish(one, grouped(f"S2:{n}", "G1", deadline_us=9_000_000), by="S2")
    effects = one.receive(Attach(2, ("G1",), {}, missed=("S2:1", "S2:3")), "S1", 1)
    assert indexes(effects, "S1") == [(1, "S2:2", False)]
    later = Publish((grouped("S2:3", "G1", deadline_us=9_000_000),))
    assert sent(one.receive(later, "S2", 2), Items) == []


def test_of_unordered_messages_a_client_says_itself_what_it_will_publish_again() -> None:
    one = home(deadlines=False)
    one.receive(Attach(1, ("G1",), {}, ("S1~:2",), 9, 3), "S1", 0)
    assert one.absent_since(("S1~@G1", 2), 50) is None, "it keeps it"
    assert one.absent_since(("S1~@G1", 4), 50) is None, "it was published since"
    assert one.absent_since(("S1~@G1", 3), 50) == 50 and one.absent_since(("S1@G1", 4), 50) == 50


def test_what_an_expired_unordered_publication_names_is_asked_for_too() -> None:
    """S1~:3 has no deadline and follows S1~:2, of which its client has only the header left, and that S1~:1."""
    one, stream = home(), "S1~@G1"

    def loose(n: int, deadline_us: int | None = None) -> Envelope:
        message = Message("S1", n, ("G1",), b"", deadline_us, order="none")
        return Envelope(message, Stamp(((stream, n),), (), {stream: n - 1} if n > 1 else {}))

    publish(one, loose(3), now=100)
    publish(one, loose(2, 50), now=101, headers=True)
    assert list(one.wants.wants) == [(stream, 2), (stream, 1)] and one.wants.wants[(stream, 1)].endless


def grow(one: Any, *filters: str, change: int = 1, index: int = 0, now: int = 5, **past: int) -> list[Effect]:
    frontier = {name.replace("_", "@"): n for name, n in past.items()}
    return one.receive(Grow(1, change, filters, index, frontier), "S1", now)


def test_what_lay_behind_where_one_group_began_is_owed_in_another() -> None:
    """X:2 was in both groups. S1 began G2 behind it; in G1 it follows X:1, which S1 is sent now."""
    one = home()
    for envelope in (grouped("X:1", "G1"), grouped("X:2", "G1", "G2", covers={"X@G1": 1}), grouped("Y:1", "G2")):
        one.receive(Data((envelope,)), "B", 0)
    attach(one, "S1", "G2")
    effects = grow(one, "G1", "G2")
    bare, full = (frame for _, frame in sent(effects, Grown))
    assert [item.envelope.message.id for item in full.items] == ["X:1", "X:2"] and bare.cut == ("Y:1",)
    assert sent(grow(one, "G1", "G2", "G9", change=2, index=2, X_G1=2, X_G2=2), Items) == [], "Y:1 is owed in none"


def test_growing_sends_what_is_kept_of_the_new_groups_and_was_not_passed() -> None:
    """H8."""
    one = home()
    attach(one, "S1", "G1", frontier={})
    x, y = grouped("X:1", "G2"), grouped("Y:1", "G1", needs=[("X@G2", 1)])
    for envelope in (
        x,
        y,
        grouped("U:1", "G2"),
        grouped("V:4", "G2"),
        grouped("S1:1", "G2"),
        grouped("W:1", "G1", "G2"),
    ):
        one.receive(Data((envelope,)), "B", 0)
    effects = grow(one, "G1", "G2", V_G2=4)
    bare, full = (frame for _, frame in sent(effects, Grown))
    assert (bare.change, bare.first, bare.items) == (1, 3, ()) and bare.cut == full.cut
    assert bare.cut == ("S1:1", "V:4", "W:1", "X:1", "Y:1"), "what it is sent is owed"
    assert [(i.index, i.envelope.message.id) for i in full.items] == [(3, "U:1")]


def test_who_only_publishes_is_told_no_cut() -> None:
    one = home()
    one.receive(Data((grouped("X:1", "G1"),)), "B", 0)
    assert frame_to(attach(one, "S1"), "S1", Attached).cut == ()
    assert frame_to(attach(one, "S2", "G1"), "S2", Attached).cut == ("X:1",)


def test_what_is_kept_here_is_not_called_gone_though_another_let_go_of_it() -> None:
    """`antecede simulate --recipe home --seed 4 --draw 48 --leavers`"""
    one = home(deadlines=False)
    for n in (1, 2):
        one.store.add_gone(grouped(f"X:{n}", "G1"), 0)
    one.receive(Data((grouped("X:2", "G1"),)), "B", 0)
    assert indexes(attach(one, "S1", "G1", frontier={}), "S1") == [(1, "X:1", True), (2, "X:2", False)]


def test_new_groups_begin_behind_where_their_broker_began_each_by_itself() -> None:
    """H began behind X:4 in G2; S1 is never sent X:4, nor told that it is gone: whoever knew of it has forgotten it.
    (`antecede simulate --recipe home --seed 5 --draw 102 --leavers`)"""
    one = home()
    one.joining.origins["G2"] = ("B", ("X:4",))
    one.joining.origins["G1"] = ("B", ("Y:2",))
    attach(one, "S1", "G1", frontier={})
    (bare,) = (frame for _, frame in sent(grow(one, "G1", "G2"), Grown))
    assert bare.origins == (("G2", ("X:4",)),), "where G1 begins S1 knows"
    assert sent(grow(one, "G1", "G2", "G3", change=2), Grown)[0][1].origins == ()
    said = one.receive(Attach(2, ("G1", "G2"), {}, change=3), "S1", 9)
    assert frame_to(said, "S1", Attached).origins == (("G2", ("X:4",)), ("G1", ("Y:2",)))


def test_a_cut_ends_before_what_follows_something_that_is_owed() -> None:
    one = home()
    attach(one, "S1", "G1", frontier={})
    for envelope in (grouped("U:1", "G2"), grouped("U:2", "G3"), grouped("Z:6", "G2", needs=[("U@G2", 1)])):
        one.receive(Data((envelope,)), "B", 0)
    assert sent(grow(one, "G1", "G2"), Grown)[0][1].cut == ("Z:5",)


def test_a_change_is_made_once_and_answered_as_often_as_it_is_asked_for() -> None:
    one = home()
    attach(one, "S1", "G1", frontier={})
    one.receive(Data((grouped("U:1", "G2"),)), "B", 0)
    grow(one, "G1", "G2")
    assert told(grow(one, "G1", "G2")) == ["grown to S1"] and one.logs["S1"].top == 1
    grow(one, "G1", change=3)
    assert one.logs["S1"].interest.filters == ("G1",)
    assert told(grow(one, "G1", "G2", change=2)) == ["grown to S1"]
    assert one.logs["S1"].interest.filters == ("G1",), "an older one comes too late"
    assert one.receive(Grow(2, 4, ("G2",), 0, {}), "S1", 5) == [], "of another attachment"


def test_a_past_that_is_older_than_what_was_acknowledged_is_of_no_use() -> None:
    one = home()
    attach(one, "S1", "G1", frontier={})
    one.receive(Data((grouped("X:1", "G2"), grouped("Y:1", "G1", needs=[("X@G2", 1)]))), "B", 0)
    one.receive(Ack(1, 1), "S1", 1)
    assert grow(one, "G1", "G2", index=0) == []
    assert one.logs["S1"].interest.filters == ("G1",)
    assert told(grow(one, "G1", "G2", index=1, Y_G1=1, X_G2=1)) == ["grown to S1"]


def test_what_follows_a_change_says_so_until_it_is_acknowledged() -> None:
    one = home()
    attach(one, "S1", "G1", frontier={})
    grow(one, "G1", "G2")
    effects = one.receive(Data((grouped("U:1", "G2"),)), "B", 6)
    assert frame_to(effects, "S1", Grown).items[0].index == 1
    assert frame_to(one.receive(Want(1, (1,)), "S1", 7), "S1", Grown).items[0].index == 1
    one.receive(Ack(1, 1), "S1", 8)
    assert indexes(one.receive(Data((grouped("U:2", "G2"),)), "B", 9), "S1") == [(2, "U:2", False)]


def test_an_attachment_that_brings_a_change_begins_it() -> None:
    one = home()
    one.receive(Data((grouped("U:1", "G2"), grouped("V:1", "G1"))), "B", 0)
    effects = one.receive(Attach(1, ("G1", "G2"), {"V@G1": 1}, change=4), "S1", 1)
    assert frame_to(effects, "S1", Attached).cut == ("V:1",)
    frame = frame_to(effects, "S1", Grown)
    assert (frame.change, frame.first, frame.cut) == (4, 1, ("V:1",)) and len(frame.items) == 1


def test_what_a_client_began_behind_is_not_owed_in_a_new_group_where_it_has_not_come_yet() -> None:
    """It lay behind its start at another home. Here it comes later, and is not sent."""
    one = home()
    one.receive(Data((grouped("U:6", "G1"),)), "B", 0)
    effects = one.receive(Attach(2, ("G1", "G2"), {"U@G2": 7, "V@G2": 3, "W@G9": 1}, change=1), "S1", 1)
    assert frame_to(effects, "S1", Attached).cut == ("U:7", "V:3"), "of groups that this broker carries"
    assert sent(one.receive(Data((grouped("U:7", "G1", "G2"),)), "B", 2), Items) == []


def test_what_everybody_has_had_for_long_is_not_sent_again_to_who_grows() -> None:
    one = home()
    attach(one, "S1", "G1", frontier={})
    one.receive(Data((grouped("U:1", "G2"), grouped("U:2", "G2"))), "B", 0)
    one.stability.settled["U@G2"] = 1
    assert [i.envelope.message.id for _, f in sent(grow(one, "G1", "G2"), Grown) for i in f.items] == ["U:2"]


def test_what_was_numbered_already_is_not_numbered_again_by_a_change() -> None:
    one = home(deadlines=False)
    attach(one, "S1", "G1")
    for n in (1, 2):
        stamp = Stamp((("S2~@G1", n), ("S2~@G2", n)), (), {"S2~@G1": 1, "S2~@G2": 1} if n > 1 else {})
        one.receive(Data((Envelope(Message("S2", n, ("G1", "G2"), b"", None, order="none"), stamp),)), "B", 1)
    for number, filters in enumerate((("G1", "G3"), ("G1", "G2"), ("G1",), ("G1", "G2"), ("G2",), ("G1", "G2")), 1):
        one.receive(Grow(1, number, filters, 0, {}, {}), "S1", 5 + number)
    assert one.logs["S1"].top == 2


def test_of_what_was_late_at_a_client_no_more_is_kept_than_one_can_have_missed() -> None:
    one = home()
    late = tuple(f"S2:{n}" for n in range(1, 2 * WINDOW + 1))
    one.receive(Attach(1, ("G1",), {}, missed=late), "S1", 0)
    assert one.logs["S1"].missed == set(late[-WINDOW:])


def test_what_its_sender_cannot_send_is_asked_for_in_other_groups_too() -> None:
    """Passed over at its home, it may be kept by a broker of another of its groups."""
    view = {"H": "G1", "B": "G1", "C": "G2"}
    one = home(view, retry_us=10)
    one.receive(Data((grouped("S2:2", "G1", needs=[("S2@G1", 1)], covers={"S2@G1": 1}),)), "B", 0)
    assert one.sources(("S2@G1", 1)) == ("B", "C")
    attach(one, "S2", "G1", frontier={}, now=1)
    assert one.sources(("S2@G1", 1)) == ("B",), "it publishes it again"


def test_what_it_passed_and_its_client_no_longer_keeps_cannot_be_had_here() -> None:
    """It came too late, and went to G3 too, which this home does not carry: who asks there is told so."""
    one = home()
    attach(one, "S1", "G1")
    publish(one, grouped("S1:1", "G1", "G3", deadline_us=1), now=5)
    request = Request((("S1@G3", 0, 1),), lasting=True)
    assert frame_to(one.receive(request, "D", 6), "D", Gone).lacks == (), "not before it is safe, but its header"
    one.receive(Digest({}, {"S1@G1": 1}), "B", 7)
    assert frame_to(one.receive(request, "D", 8), "D", Gone).lacks == (("S1@G3", 0, 1),)


def test_what_its_client_said_it_keeps_may_still_come_though_it_was_passed_over_here() -> None:
    """It came from its old home and lay behind; the client, now here, publishes it again, and it is relayed."""
    one = home()
    one.receive(Data((grouped("S1:2", "G1"), grouped("S1:1", "G1", "G3"))), "B", 0)
    one.receive(Attach(2, ("G1",), {}, ("S1:1",), 2), "S1", 1)
    request = Request((("S1@G3", 0, 1),), lasting=True)
    assert sent(one.receive(request, "D", 2), Gone) == []
    assert "data to B,D: S1:1" in publish(one, grouped("S1:1", "G1", "G3"), now=3)


def loose(n: int, before: int) -> Envelope:
    return Envelope(Message("S1", n, ("G1",), order="none"), Stamp((("S1~@G1", n),), (), {"S1~@G1": before}))


def lacking(one: Any, now: int) -> list[str]:
    """All the others say that S1~:1 is gone there."""
    said = [one.receive(Gone((), (("S1~@G1", 0, 1),)), peer, now) for peer in "BCD"]
    return [line for effects in said for line in told(effects) if line.startswith("discard")]


def test_what_its_client_still_sends_is_not_given_up_however_long_it_takes() -> None:
    """Copy after copy of S1~:1 was lost, for longer than grace. S1~:2 came, so everybody asks for S1~:1."""
    one = home()
    attach(one, "S1", "G1")
    publish(one, loose(2, 1))
    assert lacking(one, 10) == [] and lacking(one, 2000) == []
    request = Request((("S1~@G1", 0, 1),), lasting=True)
    assert sent(one.receive(request, "B", 2001), Gone) == [], "or B would give it up"
    assert "deliver S1~:1 causes" in publish(one, loose(1, 0), now=5000)


def test_a_client_that_is_waited_for_in_vain_is_asked_whether_it_is_still_attached() -> None:
    """Its DETACH was lost, and what it publishes goes elsewhere: nothing would come by here."""
    one = home()
    attach(one, "S1", "G1")
    publish(one, loose(2, 1))
    assert lacking(one, 10) == [] and lacking(one, 2000) == []
    assert frame_to(one.wake(one.rounds.at_us), "S1", Top).attachment == 1
    one.receive(Detach(2), "S1", 2200)
    assert lacking(one, 4000) == ["discard S1~:1 gone"]


def test_after_a_while_a_client_is_told_that_nobody_takes_what_has_expired() -> None:
    one = home()
    attach(one, "S1", "G1")
    publish(one, grouped("S1:1", "G1", "G3", deadline_us=1), now=1500, headers=True)
    assert sent(one.wake(one.next_wake()), Published) and not one.logs["S1"].keeps(("S1@G3", 1))


def test_what_was_passed_over_here_is_to_be_had_until_another_has_it() -> None:
    """Its client, the only other one that had it, may be gone."""
    one = home()
    attach(one, "S1", "G1")
    publish(one, grouped("S1:2", "G1"))
    assert "discard S1:1 superseded" in publish(one, grouped("S1:1", "G1"), now=1)
    one.view(view_of(VIEW, "S2"), 2)
    answers = sent(one.receive(Request((("S1@G1", 0, 1),)), "B", 4), Data)
    assert [e.message.id for _, frame in answers for e in frame.envelopes] == ["S1:1"]
    one.receive(Digest({}, {"S1@G1": 2}), "B", 5)
    assert not sent(one.receive(Request((("S1@G1", 0, 1),)), "B", 6), Data)


def test_of_what_waits_for_one_client_the_oldest_overflow_and_nobody_waits_for_them() -> None:
    one = home(backlog=2)
    attach(one, "S2", "G1")
    said = [line for n in (1, 2, 3) for line in publish(one, grouped(f"S1:{n}", "G1"), now=n)]
    assert [line for line in said if line.startswith("discard")] == ["discard S1:1 overflow"]
    assert one.done({"S1@G1": 3}) == {"S1@G1": 1}, "below what is left"
    top = frame_to(one.wake(100), "S2", Top)
    assert (top.top, top.low) == (3, 1)
    assert sent(one.receive(Want(1, (1, 2)), "S2", 101), Items)[0][1].items[0].index == 2, "the first is gone"
    one.receive(Ack(1, 3), "S2", 102)
    assert one.done({"S1@G1": 3}) == {"S1@G1": 3}


def test_what_has_expired_while_it_waited_is_no_overflow() -> None:
    one = home(backlog=1)
    attach(one, "S2", "G1")
    publish(one, grouped("S1:1", "G1", deadline_us=50))
    assert "discard S1:1 overflow" not in publish(one, grouped("S1:2", "G1"), now=60)
    assert one.logs["S2"].low == 1


def test_filters_grow_once_the_client_has_passed_what_was_let_go_of() -> None:
    """Number 1 may still be on its way: what goes before it must not be replayed after it."""
    one = home(backlog=1)
    attach(one, "S2", "G1")
    for n in (1, 2):
        publish(one, grouped(f"S1:{n}", "G1"), now=n)
    assert sent(one.receive(Grow(1, 1, ("G1", "G2"), 0, {}), "S2", 5), Grown) == []
    assert len(sent(one.receive(Grow(1, 1, ("G1", "G2"), 1, {}), "S2", 6), Grown)) == 1


def said(name: str, x: int, covers: dict[str, int] | None = None) -> Envelope:
    envelope = grouped(name, covers=covers)
    envelope.message.payload = b'{"x": %d}' % x
    return envelope


def test_a_predicate_decides_what_is_sent_and_order_passes_through_what_is_not() -> None:
    one = home()
    attach(one, "S2", "G1#?payload.x > 1")
    effects = one.receive(
        Data((said("X:1", 2), said("Y:1", 1, {"X@G1": 1}), said("Y:2", 5, {"X@G1": 1, "Y@G1": 1}))), "B", 1
    )
    sent_items = [i for to, f in sent(effects, Items) if "S2" in to for i in f.items]
    assert [(i.index, i.envelope.message.id, i.after) for i in sent_items] == [(1, "X:1", 0), (2, "Y:2", 1)]


def test_a_client_that_comes_back_is_sent_what_it_selects_and_has_not_passed() -> None:
    one = home()
    one.receive(Data((said("X:1", 2), said("X:2", 1), said("X:3", 3), said("X:4", 0))), "B", 1)
    effects = attach(one, "S2", "G1#?payload.x > 1", number=3, frontier={"X@G1": 1}, now=2)
    assert indexes(effects, "S2") == [(1, "X:3", False)]


def test_a_predicate_that_changes_is_replayed_like_a_filter() -> None:
    one = home()
    attach(one, "S2", "G1#?payload.x > 1", number=1, frontier={}, now=0)
    one.receive(Data((said("X:1", 2), said("Y:1", 0), said("Z:1", 1))), "B", 1)
    grow = Grow(1, 1, ("G1#?payload.x < 2",), 0, {})
    said_items = [i for _, frame in sent(one.receive(grow, "S2", 2), Grown) for i in frame.items]
    assert [(i.index, i.envelope.message.id) for i in said_items] == [(2, "Y:1"), (3, "Z:1")]


def test_a_predicate_that_cannot_be_read_is_the_fault_of_who_sent_it() -> None:
    one = home()
    with pytest.raises(RemoteProtocolError, match="where="):
        attach(one, "S2", "G1#?payload.x >")
    assert "S2" not in one.logs
