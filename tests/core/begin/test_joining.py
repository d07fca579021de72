"""A broker that comes back empty: it asks, takes over what is retained, and delivers nothing before."""

from __future__ import annotations

from typing import Any

import pytest

from antecede.core.frames import Data, Digest, Publish, Snapshot, SnapshotRequest
from antecede.core.interest import Interest
from antecede.core.message import Publication
from antecede.core.state.freeze import freeze, thaw
from tests.core.kit import carry, frame_to, grouped, machine, told, view_of


def brokers(recipe: str, view: dict[str, str], fresh: str, **knobs: Any) -> dict[str, Any]:
    found = {name: machine(recipe, name, "broker", groups, retry_us=10, **knobs) for name, groups in view.items()}
    for name, one in found.items():
        one.view(view_of(view), 0)
        if name not in fresh.split():
            one.start(0)
    return found


def test_it_asks_one_carrier_of_each_group_and_the_next_when_none_answers() -> None:
    a = brokers("cbcast", {"A": "G1 G2", "B": "G1", "C": "G2", "D": "G1"}, "A")["A"]
    assert told(a.start(0, joining=True)) == ["snapshot-request to B,C"]
    assert a.next_wake() == 10 and told(a.wake(10)) == ["snapshot-request to D,C"]
    one = brokers("cbcast", {"A": "G1 G2", "B": "G1 G2"}, "A")["A"]
    assert told(one.start(0, joining=True)) == ["snapshot-request to B"], "it carries both"


def test_it_takes_nothing_before_all_its_groups_are_covered() -> None:
    everybody = brokers("cbcast", {"A": "G1 G2", "B": "G1", "C": "G2"}, "A")
    a, b, c = everybody["A"], everybody["B"], everybody["C"]
    b.publish(Publication(("G1",)), 0)
    c.publish(Publication(("G2",)), 0)
    a.start(0, joining=True)
    assert a.receive(Data((grouped("B:1", "G1"),)), "B", 1) == []
    first = frame_to(b.receive(SnapshotRequest(whole=True), "A", 1), "A", Snapshot)
    second = frame_to(c.receive(SnapshotRequest(whole=True), "A", 1), "A", Snapshot)
    assert a.receive(first, "B", 2) == [] and not a.joined
    said = told(a.receive(second, "C", 3))
    assert said == [
        "join at B cut ", "join at C cut ", "deliver B:1 causes", "deliver C:1 causes", "discard B:1 duplicate",
    ]  # fmt: skip
    assert a.joined and a.joining.at_us is None


def test_what_comes_before_it_knows_where_it_begins_is_kept_until_then() -> None:
    everybody = brokers("cbcast", {"A": "G1 G2", "B": "G1", "C": "G2"}, "A")
    a, b, c = everybody["A"], everybody["B"], everybody["C"]
    a.start(0, joining=True)
    assert a.receive(Data((grouped("D:1", "G1"),)), "D", 1) == []
    first = frame_to(b.receive(SnapshotRequest(whole=True), "A", 1), "A", Snapshot)
    second = frame_to(c.receive(SnapshotRequest(whole=True), "A", 1), "A", Snapshot)
    a.receive(first, "B", 2)
    assert told(a.receive(second, "C", 3)) == ["join at B cut ", "join at C cut ", "deliver D:1 causes"]


def test_while_joining_it_keeps_a_bounded_number_of_frames_and_says_what_it_did_not_keep(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("antecede.core.begin.early.MAX_EARLY", 1)
    a = brokers("cbcast", {"A": "G1", "B": "G1"}, "A")["A"]
    a.start(0, joining=True)
    assert a.receive(Data((grouped("B:1", "G1"),)), "B", 1) == []
    assert told(a.receive(Data((grouped("B:2", "G1"),)), "B", 1)) == ["discard B:2 overflow"]


def test_headers_come_along_for_an_expired_message_still_carries_order() -> None:
    everybody = brokers("cbcast", {"A": "G1 G2", "B": "G1 G2", "C": "G2"}, "A")
    a, b = everybody["A"], everybody["B"]
    b.publish(Publication(("G1",), b"", deadline_us=5), 0)
    b.publish(Publication(("G1",)), 0)
    b.store.collect(9)
    a.start(10, joining=True)
    snapshot = frame_to(b.receive(SnapshotRequest(whole=True), "A", 10), "A", Snapshot)
    said = told(a.receive(snapshot, "B", 11))
    assert said[-2:] == ["discard B:1 expired", "deliver B:2 causes"] and not a.reader.cut


def test_it_begins_behind_the_cut_of_its_donor() -> None:
    everybody = brokers("cbcast", {"A": "G1", "B": "G1"}, "A")
    a, b = everybody["A"], everybody["B"]
    b.reader.start_at({"X@G1": 7})
    carry(a.start(10, joining=True), "A", everybody, 10)
    assert a.reader.cut == {"X@G1": 7}


def test_what_was_skipped_at_the_donor_is_not_past_for_the_newcomer() -> None:
    everybody = brokers("cbcast", {"A": "G1", "B": "G1"}, "A")
    a, b = everybody["A"], everybody["B"]
    b.receive(Data((grouped("X:3", needs=[("X@G1", 2)], deadline_us=50),)), "X", 0)
    b.wake(50)
    carry(a.start(60, joining=True), "A", everybody, 60)
    assert b.reader.behind("X@G1", 2) and not a.reader.behind("X@G1", 2)


BLANK = Snapshot({}, (), blank=True)


def test_two_newcomers_do_not_wait_for_each_other() -> None:
    """Of those that join together the first by name begins, having asked once more, and the others where it did."""
    everybody = brokers("cbcast", {"A": "G1", "B": "G1"}, "A B")
    a, b = everybody["A"], everybody["B"]
    b.start(0, joining=True)
    a.start(0, joining=True)
    for now in (1, 11):
        a.wake(now)
        assert not a.joined
        said = told(a.receive(BLANK, "B", now)) + told(b.receive(BLANK, "A", now))
    assert said == ["join at None cut "] and a.joined and not b.joined
    a.publish(Publication(("G1",)), 12)
    assert carry(b.wake(21), "B", everybody, 21) == ["B: join at A cut ", "B: deliver A:1 causes"]


def test_who_was_joining_may_have_begun_since() -> None:
    """Else the first by name would begin at nothing beside one that has everything."""
    everybody = brokers("cbcast", {"A": "G1", "C": "G1"}, "A")
    a, c = everybody["A"], everybody["C"]
    c.publish(Publication(("G1",)), 0)
    a.start(0, joining=True)
    a.receive(BLANK, "C", 1)
    assert carry(a.wake(11), "A", everybody, 11) == ["A: join at C cut ", "A: deliver C:1 causes"]


def test_who_speaks_has_begun() -> None:
    a = brokers("cbcast", {"A": "G1", "C": "G1", "D": "G1"}, "A")["A"]
    a.start(0, joining=True)
    a.receive(BLANK, "C", 1)
    a.receive(Digest({}, {}), "C", 2)
    assert a.joining._donors("G1") == ["C", "D"]


def test_it_does_not_wait_for_another_newcomer_for_ever() -> None:
    b = brokers("cbcast", {"A": "G1", "B": "G1"}, "A B", grace_us=100)["B"]
    b.start(0, joining=True)
    for now in range(10, 140, 10):
        assert b.joined == (now > 110)
        b.wake(now)
        b.receive(BLANK, "A", now)


def test_who_finds_all_gone_waits_a_while_for_others() -> None:
    """Others may have come of whom it has not been told: it would begin at nothing, beside them."""
    b = brokers("cbcast", {"A": "G1", "B": "G1"}, "B", deadlines=False, grace_us=100)["B"]
    b.start(0, joining=True)
    b.view(view_of({"B": "G1"}), 5)
    b.wake(10)
    assert not b.joined and b.next_wake() == 20
    b.view(view_of({"B": "G1", "C": "G1"}), 15)
    assert told(b.wake(20)) == ["snapshot-request to C"]
    b.view(view_of({"B": "G1"}), 25)
    assert told(b.wake(120)) == ["join at None cut "]
    timed = brokers("cbcast", {"A": "G1", "B": "G1"}, "B", grace_us=100)["B"]
    timed.start(0, joining=True)
    timed.view(view_of({"B": "G1"}), 5)
    assert told(timed.wake(10)) == ["join at None cut "], "with deadlines what it would miss is over soon"


def test_where_there_are_subscribers_there_were_brokers() -> None:
    """And others may have come in their place, of whom it has not been told."""
    a = machine("cbcast", "A", "broker", "G1", retry_us=10, deadlines=False, grace_us=100)
    a.view(view_of({"A": "G1"}, "S"), 0)
    assert told(a.start(0, joining=True)) == [] and not a.joined
    a.view(view_of({"A": "G1", "B": "G1"}, "S"), 5)
    assert told(a.wake(10)) == ["snapshot-request to B"]


def test_alone_it_begins_at_nothing() -> None:
    a = brokers("cbcast", {"A": "G1"}, "A")["A"]
    assert told(a.start(0, joining=True)) == ["join at None cut "]


def test_the_whole_graph_comes_along_even_what_is_stable() -> None:
    everybody = brokers("graph", {"A": "G1", "B": "G1"}, "A")
    a, b = everybody["A"], everybody["B"]
    b.publish(Publication(("G1",)), 0)
    b.publish(Publication(("G1",)), 0)
    b.writer.heard({"B@G1": 2})
    b.writer.forget(0)
    lines = carry(a.start(0, joining=True), "A", everybody, 1)
    assert lines == ["A: join at B cut ", "A: deliver B:1 causes", "A: deliver B:2 causes"]
    assert a.reader.missing(a.writer.known(("B@G1", 2))) == [] and list(a.writer.graph) == ["B:1", "B:2"]


def test_nodes_of_other_groups_come_along_too() -> None:
    """Without them B:3 would not be known to follow B:1 (T5)."""
    everybody = brokers("graph", {"A": "G1", "B": "G1 G2"}, "A")
    a, b = everybody["A"], everybody["B"]
    for group in ("G1", "G2", "G1"):
        b.publish(Publication((group,)), 0)
    carry(a.start(0, joining=True), "A", everybody, 1)
    assert a.writer.known(("B@G1", 3)).needs == (("B@G1", 1),)


def test_what_one_donor_has_forgotten_is_not_taken_over_from_another() -> None:
    """C:1 -> D:1 -> B:1. C has C:1 still, but B, which gives B:1, has forgotten C:1 and D:1. That B:1 follows C:1
    nobody can tell: the newcomer begins behind C:1 (H10)."""
    everybody = brokers("graph", {"A": "G1 G2", "B": "G1", "C": "G2", "D": "G1 G2"}, "A", grace_us=5)
    a, b, c, d = (everybody[name] for name in "ABCD")
    carry(c.publish(Publication(("G2",)), 0)[1], "C", {"D": d}, 0)
    carry(d.publish(Publication(("G1",)), 0)[1], "D", {"B": b}, 0)
    b.publish(Publication(("G1",)), 0)
    b.writer.heard({"C@G2": 1, "D@G1": 1})
    for now_us in (1, 6, 6):
        b.writer.forget(now_us)
    assert list(b.writer.graph) == ["B:1"] and b.writer.dropped == {"C@G2": 1, "D@G1": 1}
    lines = carry(a.start(10, joining=True), "A", {name: everybody[name] for name in "ABC"}, 10)
    assert lines[:2] == ["A: join at B cut D:1", "A: join at C cut C:1"]
    assert [line for line in lines if "deliver" in line] == ["A: deliver B:1 causes"]
    assert a.writer.dropped == b.writer.dropped, "and so does who begins where A is"


def test_what_its_donor_lacks_is_owed_though_another_has_forgotten_it() -> None:
    """A record says a newcomer began where its donor was: it cannot be behind more than that one is. Then what else is
    forgotten there may lead to it, and is taken in when it comes."""
    everybody = brokers("graph", {"A": "G1 G2", "B": "G1", "C": "G2"}, "A")
    a, b = everybody["A"], everybody["B"]
    b.writer.dropped = {"C@G2": 7, "X@G9": 2}
    assert carry(a.start(10, joining=True), "A", everybody, 10) == ["A: join at B cut ", "A: join at C cut "]
    assert a.reader.cut == {} and a.writer.dropped == {}


def test_any_donor_that_has_had_it_all_is_witness_to_where_a_group_begins() -> None:
    """X:7 was lost with those who had it in G2; B, which delivered what follows it, has forgotten it."""
    everybody = brokers("graph", {"A": "G1 G2", "B": "G1", "C": "G2"}, "A", deadlines=False)
    a, b, c = (everybody[name] for name in "ABC")
    b.writer.clock.update({"X@G2": 7, "Y@G2": 1})
    b.writer.dropped = {"X@G2": 7}
    c.joining.origins["G2"] = ("Z", ("X:6", "Y:1"))
    lines = carry(a.start(10, joining=True), "A", everybody, 10)
    assert lines == ["A: join at B cut ", "A: join at B cut X:7,Y:1"]
    assert a.reader.front["X@G2"] == 7 and a.writer.dropped == {"X@G2": 7}


def test_a_group_begins_where_it_is_carried_though_another_was_asked_for_it() -> None:
    """Nobody seemed to carry G2 when B answered; C, which does, came into view and answered before D."""
    everybody = brokers("cbcast", {"A": "G1 G2 G3", "B": "G1", "D": "G3"}, "A", deadlines=False)
    a, b, d = (everybody[name] for name in "ABD")
    c = machine("cbcast", "C", "broker", "G2", retry_us=10, deadlines=False)
    c.view(view_of({"A": "G1 G2 G3", "B": "G1", "C": "G2", "D": "G3"}), 0)
    c.start(0)
    c.publish(Publication(("G2",)), 0)
    b.writer.learn(grouped("C:1", "G2"))
    a.start(0, joining=True)
    for name, donor in (("B", b), ("C", c), ("D", d)):
        assert not a.joined
        said = told(a.receive(frame_to(donor.receive(SnapshotRequest(whole=True), "A", 1), "A", Snapshot), name, 1))
        a.view(c.members, 1)
    assert said[:4] == ["join at B cut ", "join at C cut ", "join at D cut ", "deliver C:1 causes"]


def test_where_its_donor_began_counts_as_had() -> None:
    """C began behind X:4, which was in G2 as well, and has forgotten it: G2, which nobody carries, begins behind it."""
    everybody = brokers("graph", {"A": "G1 G2", "C": "G1"}, "A")
    a, c = everybody["A"], everybody["C"]
    c.joining.origins["G1"] = ("Z", ("X:5",))
    c.writer.dropped = {"X@G1": 5, "X@G2": 4}
    lines = carry(a.start(10, joining=True), "A", everybody, 10)
    assert lines == ["A: join at Z cut X:5", "A: join at C cut X:4"]
    assert a.reader.cut == {"X@G1": 5, "X@G2": 4}


def test_what_a_snapshot_that_covers_nothing_new_brings_is_taken_too() -> None:
    """Whoever sent it may have left by then, and nobody else have its last message."""
    everybody = brokers("cbcast", {"A": "G1 G2", "B": "G1", "C": "G2", "D": "G1"}, "A")
    a, b, c, d = (everybody[name] for name in "ABCD")
    d.publish(Publication(("G1",)), 0)
    a.start(0, joining=True)
    for name, donor in (("B", b), ("D", d)):
        a.receive(frame_to(donor.receive(SnapshotRequest(whole=True), "A", 1), "A", Snapshot), name, 1)
    a.view(view_of({"A": "G1 G2", "C": "G2", "B": "G1"}), 2)
    last = d.publish(Publication(("G1",)), 2) and frame_to(
        d.receive(SnapshotRequest(whole=True), "A", 2), "A", Snapshot
    )
    assert a.receive(last, "D", 3) == [], "it has left: its groups are not taken over from it"
    said = told(a.receive(frame_to(c.receive(SnapshotRequest(whole=True), "A", 2), "A", Snapshot), "C", 3))
    assert said == ["join at B cut ", "join at C cut ", "deliver D:1 causes", "deliver D:2 causes"]


def test_a_donor_that_has_left_meanwhile_carried_what_it_carried() -> None:
    """Else its groups would pass for lost, and what it had delivered lie behind on record, and be owed."""
    everybody = brokers("cbcast", {"A": "G1 G2", "B": "G1", "C": "G2"}, "A")
    a, b, c = everybody["A"], everybody["B"], everybody["C"]
    b.publish(Publication(("G1",)), 0)
    a.start(0, joining=True)
    a.receive(frame_to(b.receive(SnapshotRequest(whole=True), "A", 1), "A", Snapshot), "B", 1)
    a.view(view_of({"A": "G1 G2", "C": "G2"}), 2)
    said = told(a.receive(frame_to(c.receive(SnapshotRequest(whole=True), "A", 2), "A", Snapshot), "C", 3))
    assert said == ["join at B cut ", "join at C cut ", "deliver B:1 causes"]


def test_a_group_that_was_lost_begins_behind_messages_of_its_own() -> None:
    """B had delivered B:2, to G1: of G2, which nobody carries, it knows only B:1."""
    everybody = brokers("graph", {"A": "G1 G2", "B": "G1"}, "A", deadlines=False)
    a, b = everybody["A"], everybody["B"]
    b.publish(Publication(("G1", "G2")), 0)
    b.publish(Publication(("G1",)), 0)
    lines = carry(a.start(0, joining=True), "A", everybody, 1)
    assert lines[:2] == ["A: join at B cut ", "A: join at B cut B:1"]
    assert a.origins_for(Interest(("G1", "G2"))) == (("G2", ("B:1",)),) and a.origins_for(Interest(("G1",))) == ()


def test_so_it_does_with_deadlines_once_something_of_it_was_forgotten() -> None:
    """Nobody could say any more what follows that; B has delivered something that follows X:9."""
    everybody = brokers("graph", {"A": "G1 G2", "B": "G1"}, "A")
    a, b = everybody["A"], everybody["B"]
    b.writer.clock.update({"X@G2": 9})
    b.writer.dropped = {"X@G2": 4}
    assert carry(a.start(0, joining=True), "A", everybody, 1)[:2] == ["A: join at B cut ", "A: join at B cut X:9"]


def test_snapshots_of_strangers_are_ignored() -> None:
    a = brokers("cbcast", {"A": "G1", "B": "G1"}, "A")["A"]
    a.start(0, joining=True)
    stranger = Snapshot({}, ("B:1000000",), dropped={"B@G1": 1000000})
    assert a.receive(stranger, "Z", 1) == [] and not a.joined
    assert a.receive(BLANK, "Z", 1) == []
    said = told(a.receive(Snapshot({}, (), (grouped("B:1", "G1"),)), "B", 2))
    assert said == ["join at B cut ", "deliver B:1 causes"]


def test_half_way_it_can_be_saved() -> None:
    everybody = brokers("graph", {"A": "G1 G2", "B": "G1", "C": "G2"}, "A")
    a, b, c = (everybody[name] for name in "ABC")
    b.publish(Publication(("G1",)), 0)
    a.start(0, joining=True)
    a.receive(frame_to(b.receive(SnapshotRequest(whole=True), "A", 1), "A", Snapshot), "B", 1)
    again = thaw(freeze(a), a.dice)
    rest = frame_to(c.receive(SnapshotRequest(whole=True), "A", 2), "A", Snapshot)
    assert told(again.receive(rest, "C", 2)) == ["join at B cut ", "join at C cut ", "deliver B:1 causes"]


def test_one_snapshot_more_than_needed_is_taken_as_news() -> None:
    a = brokers("cbcast", {"A": "G1", "B": "G1"}, "")["A"]
    extra = Snapshot({"B@G1": 9}, (), (grouped("B:1", "G1"), grouped("B:2", "G2")))
    said = told(a.receive(extra, "B", 1))
    assert said == ["discard B:2 foreign", "deliver B:1 causes"] and not a.reader.behind("B@G1", 9)


def test_who_finds_nobody_left_begins_behind_what_the_last_donor_had_forgotten() -> None:
    """It gave and left, and so covers no group; but nobody will ever have what it, and all before it, had let go of."""
    a = brokers("graph", {"A": "G1", "B": "G1"}, "A", deadlines=False, grace_us=1000)["A"]
    a.start(0, joining=True)
    a.view(view_of({"A": "G1"}), 1)
    given = Snapshot({}, ("X:3",), (grouped("X:3", "G1", needs=[("X@G1", 2)]),), dropped={"X@G1": 2})
    assert a.receive(given, "B", 2) == []
    lines = [line for at in range(100, 3000, 100) for line in told(a.wake(at))]
    assert lines[:2] == ["join at B cut X:2", "deliver X:3 causes"]


def test_what_only_an_expelled_broker_had_is_taken_over_by_its_next_incarnation() -> None:
    everybody = brokers("cbcast", {"A": "G1", "B": "G1"}, "")
    a, b = everybody["A"], everybody["B"]
    a.publish(Publication(("G1",)), 0)  # lost on its way to B
    b.publish(Publication(("G1",)), 0)
    again = brokers("cbcast", {"A.1": "G1", "B": "G1"}, "A.1")["A.1"]
    again.joining.inherit(a.joining.bequeath(), "A")
    again.start(1, joining=True)
    assert again.joining.bequeath().messages() == a.joining.bequeath().messages(), "expelled once more, it passes it on"
    snapshot = frame_to(b.receive(SnapshotRequest(whole=True), "A.1", 1), "A.1", Snapshot)
    assert told(again.receive(snapshot, "B", 2)) == [
        "join at B cut ", "deliver A:1 causes", "deliver B:1 causes",
    ]  # fmt: skip


def test_an_expelled_broker_that_finds_nobody_goes_on_with_what_it_had() -> None:
    a = brokers("cbcast", {"A": "G1"}, "")["A"]
    a.publish(Publication(("G1",)), 0)
    again = brokers("cbcast", {"A.1": "G1"}, "A.1")["A.1"]
    again.joining.inherit(a.joining.bequeath(), "A")
    assert told(again.start(1, joining=True)) == ["join at A cut ", "deliver A:1 causes"]
    assert [e.message.id for e in again.store] == ["A:1"] and again.joining.bequeath().messages()


def inherited(a: Any, view: dict[str, str]) -> list[str]:
    """What A.1 says when it begins with what A had, and B, which carries all groups, has nothing."""
    everybody = brokers("home", {"A.1": "G1", **view}, "A.1")
    again, b = everybody["A.1"], everybody["B"]
    again.joining.inherit(a.joining.bequeath(), "A")
    again.start(9, joining=True)
    snapshot = frame_to(b.receive(SnapshotRequest(whole=True), "A.1", 9), "A.1", Snapshot)
    said = again.receive(snapshot, "B", 10)
    return carry(said, "A.1", everybody, 10)


def test_what_an_expelled_broker_kept_for_others_goes_to_them() -> None:
    """No broker that carries G2 was in view when Ann published it."""
    a = brokers("home", {"A": "G1"}, "")["A"]
    a.receive(Publish((grouped("Ann:1", "G2"),)), "Ann", 1)
    assert inherited(a, {"B": "G1 G2", "C": "G2"}) == [
        "A.1: join at B cut ", "A.1: discard Ann:1 foreign", "B: deliver Ann:1 causes", "C: deliver Ann:1 causes",
    ]  # fmt: skip


def test_what_an_expelled_broker_held_is_taken_over_too() -> None:
    a = brokers("home", {"A": "G1"}, "")["A"]
    a.receive(Publish((grouped("Ann:1", "G1", needs=[("Bob@G1", 1)]),)), "Ann", 1)
    assert a.joining.bequeath().messages() == (a.inbox.envelopes()[0].message,)
    assert inherited(a, {"B": "G1"})[0] == "A.1: join at B cut "
