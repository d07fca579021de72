"""What everybody has had for long is let go of, and nothing before."""

from __future__ import annotations

from typing import Any

from antecede.core.frames import Ack, Attach, Data, Digest, Snapshot, SnapshotRequest
from antecede.core.machine import Peer
from antecede.core.message import Publication
from tests.core.kit import flat, frame_to, grouped, machine, told, view_of


def member(names: str = "A B C", **knobs: Any) -> Any:
    one = machine("solicit", "A", "member", "G1", **{"deadlines": False, "grace_us": 1000, "round_us": 100, **knobs})
    see(one, names)
    one.start(0)
    return one


def see(one: Any, names: str, now: int = 0) -> None:
    one.view({name: Peer(name, "member", ("G1",)) for name in names.split()}, now)


def says(one: Any, peer: str, *, now: int = 0, **done: int) -> None:
    one.receive(Digest({}, done), peer, now)


def look(one: Any, now: int) -> list[str]:
    one.stability._looked_us = None
    one.stability.look(now)
    return told(one.flush(now))


def test_it_is_kept_until_all_have_had_it_for_grace() -> None:
    one = member()
    one.publish(Publication(("G1",)), 0)
    says(one, "B", A=1)
    assert look(one, 5000) == [] and look(one, 9000) == []
    says(one, "C", A=1)
    assert look(one, 10_000) == [] and look(one, 10_999) == [] and look(one, 11_000) == ["collect A:1"]
    assert one.stability.settled == {"A": 1} and not one.store.lasting


def test_only_what_lies_behind_here_counts() -> None:
    one = member()
    one.receive(Data((flat("B:1"), flat("B:3", {"B": 2}))), "B", 0)
    says(one, "B", B=3)
    says(one, "C", B=3)
    look(one, 0)
    assert look(one, 1000) == ["collect B:1"], "B:3 is held, and B:2 not here"


def test_what_comes_later_settles_later() -> None:
    one = member("A B")
    for at, n in ((0, 1), (600, 2)):
        one.publish(Publication(("G1",)), at)
        says(one, "B", A=n)
        look(one, at)
    assert look(one, 1000) == ["collect A:1"]
    assert look(one, 1599) == [] and look(one, 1600) == ["collect A:2"]


def test_it_looks_once_in_a_while() -> None:
    one = member("A B")
    one.publish(Publication(("G1",)), 0)
    says(one, "B", A=1)
    one.stability.look(0)
    one.stability.look(124)
    assert one.stability._looked_us == 0
    one.stability.look(125)
    assert one.stability._looked_us == 125


def test_who_left_holds_nothing_back() -> None:
    one = member()
    one.publish(Publication(("G1",)), 0)
    says(one, "B", A=1)
    says(one, "C", A=0)
    look(one, 0)
    see(one, "A B", 50)
    assert "C" not in one.stability.confirmed
    assert look(one, 100) == [] and look(one, 1099) == [] and look(one, 1100) == ["collect A:1"]


def test_who_comes_into_view_begins_the_wait_anew() -> None:
    one = member("A B")
    one.publish(Publication(("G1",)), 0)
    says(one, "B", A=1)
    look(one, 0)
    see(one, "A B C", 500)
    assert look(one, 1000) == [] and look(one, 2000) == []
    says(one, "C", A=1)
    assert look(one, 2000) == [] and look(one, 2999) == [] and look(one, 3000) == ["collect A:1"]


def test_what_has_a_deadline_is_not_touched() -> None:
    one = member("A B", deadlines=True)
    one.publish(Publication(("G1",), b"", deadline_us=10_000), 0)
    one.publish(Publication(("G1",)), 0)
    says(one, "B", A=2)
    look(one, 0)
    assert look(one, 1000) == ["collect A:2"] and list(one.store.by_id) == ["A:1"]


def test_a_message_of_several_groups_waits_for_all_of_them() -> None:
    one = machine("cbcast", "A", "broker", "G1", deadlines=False, grace_us=1000, round_us=100)
    one.view(view_of({"A": "G1", "B": "G1", "D": "G2"}), 0)
    one.start(0)
    one.receive(Data((grouped("B:1", "G1", "G2"),)), "B", 0)
    one.receive(Digest({}, {"B@G1": 1}), "B", 0)
    look(one, 0)
    assert look(one, 1000) == [], "D may still ask for it"
    one.receive(Digest({}, {"B@G2": 1}), "D", 1000)
    look(one, 1000)
    assert look(one, 2000) == ["collect B:1"]


def test_a_group_that_nobody_carries_waits_for_nobody() -> None:
    one = machine("cbcast", "A", "broker", "G1", deadlines=False, grace_us=1000, round_us=100)
    one.view(view_of({"A": "G1", "B": "G1"}), 0)
    one.start(0)
    one.receive(Data((grouped("B:1", "G1", "G2"),)), "B", 0)
    one.receive(Digest({}, {"B@G1": 1}), "B", 0)
    look(one, 0)
    assert look(one, 1000) == ["collect B:1"]


def test_a_relay_without_anybody_to_relay_to_keeps_it() -> None:
    one = machine("home", "H", "broker", "G1", deadlines=False, grace_us=1000, round_us=100)
    one.view(view_of({"H": "G1"}, "S"), 0)
    one.start(0)
    one.store.add(grouped("S:1", "G2"))
    look(one, 0)
    assert look(one, 5000) == [] and "S:1" in one.store.by_id


def home(**knobs: Any) -> Any:
    one = machine("home", "H", "broker", "G1", deadlines=False, grace_us=1000, round_us=100, **knobs)
    one.view(view_of({"H": "G1", "B": "G1"}, "S T"), 0)
    one.start(0)
    return one


def test_a_client_that_has_not_acknowledged_holds_it_back() -> None:
    """Trap 4."""
    one = home()
    one.receive(Attach(1, ("G1",), {}), "S", 0)
    one.receive(Data((grouped("X:1", "G1"), grouped("X:3", "G1"))), "B", 0)
    one.receive(Digest({}, {"X@G1": 3}), "B", 0)
    assert one.done({"X@G1": 3, "Y@G1": 5}) == {"X@G1": 0, "Y@G1": 5}
    one.receive(Ack(1, 1), "S", 1)
    assert one.done({"X@G1": 3}) == {"X@G1": 2}
    look(one, 1)
    assert look(one, 1001) == ["collect X:1"]
    one.receive(Ack(1, 2), "S", 1001)
    look(one, 1001)
    assert look(one, 2001) == ["collect X:3"]


def test_who_comes_and_lacks_it_begins_the_wait_anew_whoever_else_lagged() -> None:
    """A client attaches that has not had it: what this home has done shrinks, though no view changed."""
    one = home()
    one.receive(Data((grouped("X:1", "G1"),)), "B", 0)
    one.receive(Digest({}, {"X@G1": 1}), "B", 0)
    look(one, 0)
    one.receive(Attach(1, ("G1",), {}), "S", 500)
    look(one, 500)
    assert look(one, 1500) == []
    one.receive(Ack(1, 1), "S", 1600)
    look(one, 1600)
    assert look(one, 2599) == [] and look(one, 2600) == ["collect X:1"]


def test_a_digest_says_what_is_done_where_it_is_less_than_what_is_there() -> None:
    one = home()
    one.receive(Attach(1, ("G1",), {}), "S", 0)
    one.receive(Data((grouped("X:1", "G1"),)), "B", 0)
    assert frame_to(one.receive(Digest({}, {}, reply=True), "B", 1), "B", Digest).done == {"X@G1": 0}
    one.receive(Ack(1, 1), "S", 1)
    assert frame_to(one.receive(Digest({}, {}, reply=True), "B", 1), "B", Digest).done == {}


def test_a_client_that_comes_back_too_late_is_told_what_is_gone() -> None:
    """H13."""
    one = home(memory_us=5000)
    one.receive(Data((grouped("X:1", "G1"), grouped("X:2", "G1"))), "B", 0)
    one.receive(Digest({}, {"X@G1": 1}), "B", 0)
    look(one, 0)
    assert look(one, 1000) == ["collect X:1"]
    one.receive(Attach(1, ("G1",), {}), "S", 1500)
    assert [(i.index, i.gone, i.envelope.message.id) for i in one.logs["S"].entries.values()] == [
        (1, True, "X:1"), (2, False, "X:2"),
    ]  # fmt: skip
    one.receive(Attach(1, ("G1",), {"X@G1": 1}), "T", 1500)
    assert [i.envelope.message.id for i in one.logs["T"].entries.values()] == ["X:2"], "it has passed the other"
    look(one, 5999)
    assert "X:1" in one.store.gone
    look(one, 6000)
    assert not one.store.gone


def test_what_is_kept_of_what_was_given_up_or_is_safe_goes_with_it() -> None:
    one = home()
    one.receive(Data((grouped("X:1", "G1"), grouped("X:4", "G1"))), "B", 0)
    one.receive(Digest({}, {"X@G1": 4}), "B", 0)
    one.past.given_up |= {("X@G1", 3), ("X@G1", 5)}
    look(one, 0)
    look(one, 1000)
    one.rounded(1000)
    assert one.past.given_up == {("X@G1", 5)} and one.confirming._elsewhere == {}
    assert one.confirming._is_safe(grouped("X:4", "G1")), "what settled is safe"


def test_a_newcomer_begins_behind_what_may_be_gone() -> None:
    """H10."""
    one = home()
    one.receive(Data((grouped("X:1", "G1"), grouped("X:2", "G1"))), "B", 0)
    one.receive(Digest({}, {"X@G1": 1}), "B", 0)
    look(one, 0)
    look(one, 1000)
    given = frame_to(one.receive(SnapshotRequest(whole=True), "N", 1001), "N", Snapshot)
    assert given.past["X@G1"] == 1 and given.origins == (("G1", "H", ("X:1",)),)
    assert [e.message.id for e in given.envelopes] == ["X:2"] and [e.message.id for e in given.headers] == ["X:1"]
    new = machine("home", "N", "broker", "G1", deadlines=False)
    new.view(view_of({"H": "G1", "N": "G1"}), 0)
    new.start(0, joining=True)
    assert told(new.receive(given, "H", 1002)) == ["join at H cut X:1", "deliver X:2 causes"]
    assert list(new.store.gone) == ["X:1"] and list(new.joining._origins()) == [("G1", "H", ("X:1",))]


def test_where_a_donor_began_counts_too() -> None:
    one = home()
    one.joining.origins["G1"] = ("Z", ("X:4", "Y:2"))
    assert list(one.joining._origins()) == [("G1", "Z", ("X:4", "Y:2"))]
    one.stability.let_go.update({"Y@G1": 7, "X@G1": 3, "W@G2": 9})
    assert list(one.joining._origins()) == [("G1", "H", ("X:4", "Y:7"))]


def test_who_begins_behind_a_message_begins_behind_what_precedes_it_wherever_that_is_kept() -> None:
    """B:1 is kept for G2; B:2, which follows it and is in G1 only, was let go of. A newcomer could not tell their order
    with anything else any more."""
    one = machine("cbcast", "A", "broker", "G1", deadlines=False, grace_us=1000, round_us=100)
    one.view(view_of({"A": "G1", "B": "G1", "D": "G2"}), 0)
    one.start(0)
    one.receive(
        Data((grouped("B:1", "G1", "G2"), grouped("B:2", "G1", needs=[("B@G1", 1)], covers={"B@G1": 1}))), "B", 0
    )
    one.receive(Digest({}, {"B@G1": 2}), "B", 0)
    look(one, 0)
    assert look(one, 1000) == ["collect B:2"] and list(one.store.by_id) == ["B:1"]
    assert one.stability.let_go == {"B@G1": 2}
    one.receive(
        Data((grouped("C:1", "G1", "G2"), grouped("B:3", "G1", covers={"C@G1": 1}, needs=[("C@G1", 1)]))), "B", 2000
    )
    one.receive(Digest({}, {"B@G1": 3, "C@G1": 1}), "B", 2000)
    look(one, 3000)
    assert look(one, 4000) == ["collect B:3"] and one.stability.let_go == {"B@G1": 3, "C@G1": 1}
