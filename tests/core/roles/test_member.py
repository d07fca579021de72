"""A member of a flat group: what it sends, what it takes, and where a newcomer begins."""

from __future__ import annotations

from typing import Any

from antecede.core.frames import Data, Gone, Request, Snapshot, SnapshotRequest
from antecede.core.machine import Peer
from antecede.core.message import Envelope, Message, Publication, Stamp
from tests.core.kit import carry, flat, frame_to, machine, message, sent, told


def members(names: str = "A B C", *, start: bool = True, **knobs: Any) -> dict[str, Any]:
    found = {name: machine("solicit", name, "member", "G1", **knobs) for name in names.split()}
    view = {name: Peer(name, "member", ("G1",)) for name in found}
    for one in found.values():
        one.view(view, 0)
        if start:
            one.start(0)
    return found


def test_a_publication_goes_to_all_others_at_once_numbered_from_one() -> None:
    a = members()["A"]
    first, effects = a.publish(Publication(("G1",), b"x", deadline_us=99), 5)
    assert told(effects) == ["data to B,C: A:1"] and (first.deadline_us, first.payload) == (99, b"x")
    assert a.publish(Publication(("G1",)), 6)[0].id == "A:2"


def test_its_own_message_is_delivered_kept_and_no_news_when_it_comes_back() -> None:
    a = members()["A"]
    _, effects = a.publish(Publication(("G1",)), 0)
    own = frame_to(effects, "B", Data)
    assert told(a.receive(own, "B", 1)) == ["discard A:1 duplicate"]
    assert list(a.store.by_id) == ["A:1"] and a.reader.front == {"A": 1} and a.cut() == ("A:1",)


def test_alone_nothing_is_sent() -> None:
    assert told(members("A")["A"].publish(Publication(("G1",)), 0)[1]) == []


def test_what_was_delivered_is_a_cause_of_what_follows() -> None:
    a = members()["A"]
    a.receive(Data((flat("B:1"), flat("C:2", {"C": 1}))), "B", 0)
    _, effects = a.publish(Publication(("G1",)), 0)
    assert frame_to(effects, "B", Data).envelopes[0].stamp.covers == {"B": 1}, "C:2 is held"


def test_declared_causes_and_those_that_are_not_known() -> None:
    a = members()["A"]
    a.receive(Data((flat("B:1"), flat("C:1"))), "B", 0)
    told_, effects = a.publish(Publication(("G1",), b"", after=["B:1"]), 0)
    assert told_.after == ("B:1",) and frame_to(effects, "B", Data).envelopes[0].stamp.covers == {"B": 1}
    told_, effects = a.publish(Publication(("G1",), b"", after=["B:1", "Z:9"]), 0)
    assert told_.after is None, "it widens to everything"
    assert frame_to(effects, "B", Data).envelopes[0].stamp.covers == {"A": 1, "B": 1, "C": 1}


def test_the_first_members_begin_at_nothing() -> None:
    one = members(start=False)["A"]
    assert told(one.start(0)) == ["join at None cut "]
    assert told(members("A", start=False)["A"].start(0, joining=True)) == ["join at None cut "]


def test_a_newcomer_begins_at_a_members_cut_and_takes_nothing_before() -> None:
    everybody = members("A B", start=False)
    a, b = everybody["A"], everybody["B"]
    a.start(0)
    a.publish(Publication(("G1",)), 0)
    asks = b.start(0, joining=True)
    assert told(asks) == ["snapshot-request to A"]
    assert b.receive(Data((flat("A:1"),)), "A", 1) == [] and not b.store.by_id
    assert carry(asks, "B", everybody, 2) == ["B: join at A cut A:1", "B: discard A:1 foreign"]
    assert told(b.receive(Data((flat("A:1"),)), "A", 3)) == ["discard A:1 duplicate"]
    assert told(b.receive(Data((flat("A:2", {"A": 1}),)), "A", 3))[0] == "deliver A:2 causes"


def test_a_newcomer_asks_the_next_member_until_one_answers() -> None:
    c = members(start=False, retry_us=10)["C"]
    assert told(c.start(0, joining=True)) == ["snapshot-request to A"]
    assert c.next_wake() == 10 and told(c.wake(9)) == []
    assert told(c.wake(10)) == ["snapshot-request to B"] and told(c.wake(20)) == ["snapshot-request to A"]
    assert told(c.receive(Snapshot({"B": 3}, ("B:3",)), "B", 21)) == ["join at B cut B:3"]
    assert c.next_wake() is None and c.receive(Snapshot({"B": 9}, ("B:9",)), "A", 22) == []
    assert c.reader.front == {"B": 3}


def test_the_cut_it_gives_is_closed() -> None:
    """What was skipped with something missing before it is not yet past for others."""
    a = members()["A"]
    a.receive(Data((flat("B:1"), flat("C:1", {"B": 2}, deadline_us=5))), "B", 9)
    given = frame_to(a.receive(SnapshotRequest(whole=False), "C", 10), "C", Snapshot)
    assert given.past.get("C", 0) == 0 and given.past["B"] == 1 and given.cut == ("B:1",)


def test_a_newcomer_begins_behind_what_its_donor_began_behind() -> None:
    """Its donor will never have that, and others may have let go of it."""
    b = members(start=False)["B"]
    b.start(0, joining=True)
    b.receive(Snapshot({"A": 3, "C~": 5}, ("A:3", "C~:5")), "A", 1)
    b.receive(Data((flat("A:4", {"A": 3}),)), "A", 2)
    given = frame_to(b.receive(SnapshotRequest(whole=False), "C", 3), "C", Snapshot)
    assert given.past == {"A": 4, "C~": 5} and given.cut == ("A:4", "C~:5")


def test_who_began_behind_a_message_says_that_it_cannot_be_had_there() -> None:
    """Although its sender is there: nobody else may have it any more, and who asks must come to an end."""
    b = members(start=False, deadlines=False)["B"]
    b.start(0, joining=True)
    b.receive(Snapshot({"A": 3, "C~": 5}, ("A:3", "C~:5")), "A", 1)
    gone = frame_to(b.receive(Request((("C~", 2, 3), ("A", 2, 4))), "C", 3), "C", Gone)
    assert gone.lacks == (("C~", 2, 3), ("A", 2, 3))


def test_newcomers_do_not_wait_for_each_other() -> None:
    everybody = members("A B", start=False)
    a, b = everybody["A"], everybody["B"]
    first, second = a.start(0, joining=True), b.start(0, joining=True)
    said = carry(first, "A", everybody, 1) + carry(second, "B", everybody, 2)
    assert "A: join at None cut " in said and any(line.startswith("B: join") for line in said)


def test_only_publishing_is_its_business() -> None:
    a = members()["A"]
    assert a.subscribe(("G1",), ("B",), 0) == a.unsubscribe(0) == a.move(("B",), 0) == []


def test_nobody_asks_itself() -> None:
    a = members(retry_us=10)["A"]
    a.receive(Data((flat("B:2", {"B": 1}),)), "B", 0)
    asked = [told(a.wake(now))[0] for now in (10, 20, 30)]
    assert asked == ["ask C for B:1", "ask B for B:1", "ask C for B:1"]
    assert message("B:2").id == "B:2" and not sent(a.wake(31), Data)


def unordered(name: str, n: int, before: int = 0) -> Envelope:
    stamp = Stamp(((f"{name}~", n),), (), {f"{name}~": before} if before else {})
    return Envelope(Message(name, n, ("G1",), order="none"), stamp)


def test_orders_by_message() -> None:
    """fifo follows its sender's earlier ones, none follows nothing, and nothing follows it."""
    a = members()["A"]
    a.receive(Data((flat("B:1"), unordered("C", 1))), "B", 0)
    published = [a.publish(Publication(("G1",), b"", order=order), 0) for order in ("fifo", "none", "fifo", "causal")]
    stamps = {told_.id: frame_to(effects, "B", Data).envelopes[0].stamp for told_, effects in published}
    assert [told_.order for told_, _ in published] == ["fifo", "none", "fifo", "causal"]
    assert {name: dict(stamp.covers) for name, stamp in stamps.items()} == {
        "A:1": {},
        "A~:1": {},
        "A:2": {"A": 1},
        "A:3": {"A": 2, "B": 1},
    }


def test_an_unordered_message_that_tells_of_one_that_is_missing_is_delivered_and_the_other_asked_for() -> None:
    a = members(patience_us=10)["A"]
    assert told(a.receive(Data((unordered("B", 3, 2),)), "B", 0)) == ["deliver B~:3 causes"]
    assert told(a.wake(10)) == ["ask B for B~:2", "request to B"]
    assert told(a.receive(Data((unordered("B", 2),)), "B", 15)) == ["deliver B~:2 causes"]
    assert not a.wants.wants or not any(a.past.lacks(mark) for mark in a.wants.wants)


def test_a_request_for_unordered_ones_asks_for_all_between_and_not_for_what_is_here() -> None:
    a = members()["A"]
    a.receive(Data((unordered("B", 3, 2), unordered("B", 9, 8))), "B", 0)
    assert a.request([("B~", 8), ("C", 2)]).ranges == (("C", 1, 2), ("B~", 0, 2), ("B~", 3, 8))


def test_a_newcomer_is_told_where_unordered_messages_begin() -> None:
    a = members()["A"]
    a.receive(Data((unordered("B", 1), unordered("B", 4, 3), flat("B:1"))), "B", 0)
    snapshot = frame_to(a.receive(SnapshotRequest(whole=False), "C", 1), "C", Snapshot)
    assert snapshot.past == {"B": 1, "B~": 4} and snapshot.cut == ("B:1", "B~:4")
