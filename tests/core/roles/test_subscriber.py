"""A subscriber: where it begins, whom it listens to, and what a move leaves behind."""

from __future__ import annotations

from typing import Any

import pytest

from antecede.core.frames import Attach, Attached, Data, Detach, Digest, Gone, Request
from antecede.core.message import Envelope, Message, Publication, Stamp
from antecede.core.roles.subscriber import ATTACH_TRIES
from antecede.errors import InputError
from tests.core.kit import frame_to, grouped, machine, sent, told, view_of

VIEW = {"A": "G1 G2", "B": "G1", "C": "G1 G2"}


def subscriber(*at: str, filters: str = "G1", **knobs: Any) -> Any:
    one = machine("graph", "S", "subscriber", retry_us=10, **knobs)
    one.view(view_of(VIEW, "S"), 0)
    one.start(0)
    assert told(one.subscribe(filters.split(), at, 0)) == [f"attach to {','.join(at)}"]
    return one


def attached(start: dict[str, int] | None = None, number: int = 1, cut: tuple[str, ...] = ()) -> Attached:
    return Attached(number, start or {}, cut)


def joined(*at: str, **more: Any) -> Any:
    one = subscriber(*at, **more)
    for broker in at:
        one.receive(attached(), broker, 1)
    return one


def test_it_begins_at_the_cut_of_the_first_broker_it_named() -> None:
    one = subscriber("A", "B")
    assert one.receive(attached({"X@G1": 9}), "B", 1) == [] and not one.others_to_ask()
    assert told(one.receive(attached({"X@G1": 3, "X@G2": 4}, cut=("X:3",)), "A", 2)) == ["join at A cut X:3"]
    assert one.reader.front == {"X@G1": 3}, "G2 does not concern it"
    assert one.next_wake() == 20, "B has not answered since"


def test_a_further_source_counts_from_when_its_past_covers_the_cut() -> None:
    one = subscriber("A", "B")
    one.receive(attached({"X@G1": 3}), "A", 1)
    assert one.receive(attached({"X@G1": 2}), "B", 2) == []
    assert told(one.wake(20)) == ["attach to B"]
    assert told(one.receive(attached({"X@G1": 3}, cut=("X:3",)), "B", 21)) == ["join at B cut X:3"]
    assert one.next_wake() is None and list(one.others_to_ask()) == ["A", "B"]


def test_a_further_source_must_have_on_record_what_the_first_had() -> None:
    one = subscriber("A", "B")
    one.receive(attached({"X@G1": 3}, cut=("X:4",)), "A", 1)
    assert one.receive(attached({"X@G1": 3}, cut=("X:3",)), "B", 2) == []
    assert told(one.receive(attached({"X@G1": 3}, cut=("X:4",)), "B", 3)) == ["join at B cut X:4"]


def test_it_asks_again_until_it_is_attached() -> None:
    one = subscriber("A")
    assert one.next_wake() == 20 and told(one.wake(19)) == []
    assert told(one.wake(20)) == ["attach to A"] and one.next_wake() == 40
    one.receive(attached(), "A", 41)
    assert one.next_wake() is None
    assert one.receive(attached({"X@G1": 9}), "A", 42) == [], "a second answer says nothing new"


def test_a_further_source_that_cannot_be_had_is_done_without() -> None:
    one = subscriber("A", "B")
    one.receive(attached(), "A", 1)
    times = 0
    while (at_us := one.next_wake()) is not None:
        one.wake(at_us)
        times += 1
        assert times < 100
    assert times == ATTACH_TRIES


def test_old_and_foreign_answers_do_not_count() -> None:
    one = subscriber("A")
    assert one.receive(attached(number=0), "A", 1) == [] and one.receive(attached(), "C", 1) == []
    assert not one.others_to_ask()


def test_what_comes_from_a_broker_it_is_not_attached_to_is_foreign() -> None:
    one = joined("A", "B")
    assert told(one.receive(Data((grouped("X:1"),)), "C", 2)) == ["discard X:1 foreign", "detach to C"]
    waiting = subscriber("A")
    assert told(waiting.receive(Data((grouped("X:1"),)), "A", 2)) == [], "nothing counts before it has begun"


def test_it_asks_the_broker_that_sent_then_the_others_that_carry_it() -> None:
    one = joined("A", "B", "C", filters="G1", patience_us=0, deadlines=False)
    effects = one.receive(Data((grouped("X:5", needs=[("X@G1", 4)]),)), "B", 2)
    assert told(effects) == ["ask B for X:4", "request to B"]
    assert frame_to(effects, "B", Request).ranges == (("X@G1", 0, 4),)
    assert [told(one.wake(now))[0] for now in (12, 22)] == ["ask C for X:4", "ask A for X:4"]
    assert one.sources(("X@G2", 1)) == ["A", "C"]


def test_it_tells_what_lies_behind_when_compared_and_keeps_nothing() -> None:
    one = joined("A")
    one.receive(Data((grouped("X:2"),)), "A", 2)
    answer = frame_to(one.receive(Digest({"X@G1": 2}, {}, reply=True), "A", 3), "A", Digest)
    assert answer.have == {"X@G1": 2} and not answer.offer and not hasattr(one, "store")
    assert one.next_wake() is None


def test_a_header_lets_it_go_on() -> None:
    one = joined("A")
    one.receive(Data((grouped("X:5", needs=[("X@G1", 4)]),)), "A", 2)
    assert told(one.receive(Gone((grouped("X:4", deadline_us=5),)), "A", 6)) == [
        "discard X:4 expired", "deliver X:5 causes",
    ]  # fmt: skip


def test_a_move_is_a_leave_and_a_join_and_drops_what_was_held() -> None:
    one = joined("A")
    one.receive(Data((grouped("X:5", needs=[("X@G1", 4)], deadline_us=50),)), "A", 2)
    effects = one.move(("C",), 3)
    assert told(effects) == ["leave G1", "detach to A", "attach to C"]
    assert frame_to(effects, "A", Detach).attachment == 1 and frame_to(effects, "C", Attach).attachment == 2
    assert told(one.wake(50)) != ["deliver X:5 deadline"] and not one.inbox.held
    assert one.receive(attached(number=1), "C", 51) == []
    assert told(one.receive(attached({"X@G1": 5}, number=2), "C", 52)) == ["join at C cut "]
    assert told(one.receive(Data((grouped("X:5", needs=[("X@G1", 4)]),)), "C", 53)) == ["discard X:5 foreign"]


def test_after_a_move_it_waits_for_a_broker_behind_its_own_cut() -> None:
    one = subscriber("A")
    one.receive(attached({"X@G1": 5}), "A", 1)
    one.move(("C",), 2)
    assert one.receive(attached({"X@G1": 4}, number=2), "C", 3) == []
    assert told(one.receive(attached({"X@G1": 5}, number=2), "C", 4)) == ["join at C cut "]
    one.move(("A",), 5)
    for now in range(25, 25 + 20 * ATTACH_TRIES, 20):
        one.wake(now)
    assert told(one.receive(attached({"X@G1": 4}, number=3), "A", 500)) == ["join at A cut "], "but not for ever"


def test_unsubscribing_ends_it() -> None:
    one = joined("A")
    assert told(one.unsubscribe(5)) == ["leave G1", "detach to A"] and one.next_wake() is None
    assert told(one.receive(Data((grouped("X:1"),)), "A", 6)) == ["discard X:1 foreign", "detach to A"]


def test_brokers_that_come_into_view_are_attached_to() -> None:
    one = joined("A")
    everybody = dict(one.members)
    one.view({name: peer for name, peer in everybody.items() if name != "C"}, 2)
    one.move(("C",), 3)
    assert one.next_wake() is None
    assert told(one.view(everybody, 4)) == ["attach to C"]


def test_the_first_broker_must_carry_all_that_is_wanted() -> None:
    one = machine("graph", "S", "subscriber")
    one.view(view_of(VIEW), 0)
    with pytest.raises(InputError, match="S wants G2, which broker B does not carry"):
        one.subscribe(("G1", "G2"), ("B", "A"), 0)
    with pytest.raises(InputError, match="S wants G2"):
        one.subscribe(("#",), ("B",), 0)


def test_it_publishes_nothing() -> None:
    with pytest.raises(InputError, match="S only subscribes"):
        joined("A").publish(Publication(("G1",)), 0)


def test_a_broker_stands_for_the_filters_it_carries() -> None:
    one = subscriber("A", "B", filters="G1 G2")
    one.receive(attached(), "A", 1)
    join = one.receive(attached(), "B", 1)[0]
    assert join.filters == ("G1",) and not sent([join], Attach)


def test_a_filter_of_several_groups_begins_where_each_of_them_does() -> None:
    """C began G1 behind B:5, which it will never deliver: with `+` as with the names it covers what was delivered."""
    for filters in (("G1", "G2"), ("+",)):
        one = joined("A")
        one.receive(Data((grouped("B:5"),)), "A", 2)
        one.subscribe(filters, ("C",), 3)
        reply = Attached(2, {"B@G1": 5}, (), (("G1", ("B:5",)), ("G2", ("B:5",))))
        assert told(one.receive(reply, "C", 4)) == ["join at C cut B:5"], filters


def test_to_want_something_else_is_to_leave_and_to_begin_anew() -> None:
    one = joined("A")
    one.receive(Data((grouped("X:2", needs=[("X@G1", 1)]),)), "A", 2)
    assert told(one.subscribe(("G1", "G2"), ("A",), 3)) == ["leave G1", "detach to A", "attach to A"]
    assert not one.inbox.held and not one.wants.wants
    assert told(one.receive(attached({"X@G1": 2, "X@G2": 1}, number=2, cut=("X:2",)), "A", 4)) == ["join at A cut X:2"]
    assert one.reader.front == {"X@G1": 2, "X@G2": 1}


def test_a_new_group_begins_behind_all_that_was_delivered() -> None:
    one = joined("A")
    one.receive(Data((grouped("X:2"),)), "A", 2)
    one.subscribe(("G1", "G2"), ("C",), 3)
    assert one.receive(attached(number=2, cut=("X:1",)), "C", 4) == [], "something of G2 may precede X:2"
    assert told(one.wake(23)) == ["attach to C"]
    assert told(one.receive(attached(number=2, cut=("X:2",)), "C", 24)) == ["join at C cut X:2"]


def test_of_unordered_messages_too() -> None:
    one = machine("cbcast", "S", "subscriber", retry_us=10, deadlines=False)
    one.view(view_of(VIEW, "S"), 0)
    one.start(0)
    one.subscribe(("G1",), ("A",), 0)
    one.receive(attached(), "A", 1)
    loose = Message("X", 4, ("G1", "G2"), order="none")
    one.receive(Data((Envelope(loose, Stamp((("X~@G1", 4), ("X~@G2", 4)))),)), "A", 2)
    one.subscribe(("G1", "G2"), ("A",), 3)
    assert one.receive(attached(number=2, cut=("X~:3",)), "A", 4) == []
    assert told(one.receive(attached(number=2, cut=("X~:4",)), "A", 5)) == ["join at A cut X~:4"]


def test_for_groups_it_had_before_it_waits_for_nothing() -> None:
    one = joined("A", filters="G1 G2")
    one.receive(Data((grouped("X:2"),)), "A", 2)
    one.subscribe(("G1",), ("A",), 3)
    assert told(one.receive(attached(number=2, cut=("X:1",)), "A", 4)) == ["join at A cut X:1"]


def test_a_broker_that_never_gets_there_is_taken_for_what_is_kept() -> None:
    one = joined("A")
    one.receive(Data((grouped("X:2"),)), "A", 2)
    one.subscribe(("G1", "G2"), ("C",), 3)
    for _ in range(4 * ATTACH_TRIES):
        one.receive(attached(number=2), "C", one.next_wake() - 1)
        one.wake(one.next_wake())
    assert one.receive(attached(number=2), "C", one.next_wake() - 1) == []
    assert one.interest.filters == ("G1",)
    effects = one.wake(one.next_wake())
    assert frame_to(effects, "C", Attach).filters == ("G1",)
    assert told(one.receive(attached(number=2), "C", 10**6)) == [], "that answers what it asked for before"
    assert told(one.receive(attached(number=3), "C", 10**6))[0] == "join at C cut "


def test_what_was_sent_for_other_filters_is_not_delivered() -> None:
    one = joined("A", filters="G1 G2")
    one.subscribe(("G1",), ("A",), 3)
    one.receive(attached(number=2), "A", 4)
    assert told(one.receive(Data((grouped("X:1", "G2"), grouped("Y:1"))), "A", 5)) == [
        "discard X:1 foreign", "deliver Y:1 causes",
    ]  # fmt: skip


def test_who_changed_what_it_wants_listens_to_one_broker_only() -> None:
    one = joined("A", "C")
    one.subscribe(("G1", "G2"), ("A", "C"), 3)
    one.receive(attached(number=2), "A", 4)
    assert list(one.others_to_ask()) == ["A"]
    assert "detach to C" in told(one.receive(Data((grouped("X:1"),)), "C", 5))
    assert told(one.move(("C", "A"), 6))[-1] == "attach to C"


def test_without_a_broker_for_a_group_nothing_there_can_be_said_to_be_gone() -> None:
    """Another of its brokers lacks it, and would: others may carry that group, and have it."""
    one = joined("A", "B", filters="G1 G2", deadlines=False, grace_us=1000)
    one.receive(Data((grouped("X:2", "G1", needs=[("X@G2", 1)]),)), "B", 2)
    one.view(view_of({"B": "G1", "D": "G2", "X": "G1"}, "S"), 3)
    lacks = Gone((), (("X@G2", 0, 1),))
    for now_us in (500, 1500, 3000):
        assert not any("gone" in line for line in told(one.receive(lacks, "B", now_us)))
    assert list(one.inbox.held) == ["X:2"]


def test_what_it_began_behind_elsewhere_is_not_promised_by_a_broker_that_lags() -> None:
    """It is waited for as long as that broker may still catch up; then it is taken as it is."""
    one = subscriber("A", deadlines=False)
    one.receive(attached({"X@G1": 9}, cut=("X:9", "Y:2")), "A", 1)
    one.move(("C",), 2)
    lagging = attached({"X@G1": 3, "Y@G1": 4}, number=2, cut=("X:3", "Y:4"))
    for _ in range(16 * ATTACH_TRIES):
        assert one.receive(lagging, "C", one.next_wake()) == []
        one.wake(one.next_wake())
    assert told(one.receive(lagging, "C", one.next_wake())) == ["join at C cut X:9,Y:4"]
    one.move(("A",), 10**6)
    ahead = attached({"X@G1": 9, "Y@G1": 4}, number=3, cut=("X:9",))
    assert told(one.receive(ahead, "A", 10**6)) == ["join at A cut X:9"], "what covers all of it says all of it"


def test_what_is_gone_takes_with_it_what_came_before_it() -> None:
    """Nobody tells a subscriber what else preceded a message that was lost: all of it was asked for with it."""
    one = joined("A", deadlines=False, grace_us=1000)
    one.receive(Data((grouped("X:4", "G1", needs=[("X@G1", 3)]),)), "A", 2)
    lacks = Gone((), (("X@G1", 0, 1), ("X@G1", 2, 3)))
    lines = [line for at in (500, 1600) for line in told(one.receive(lacks, "A", at))]
    decided = ["discard X:1 gone", "discard X:3 gone", "deliver X:4 causes"]
    assert [line for line in lines if line.startswith("d")] == decided, "its broker did not say that of X:2"


def test_what_is_in_two_groups_is_asked_for_where_brokers_are_left() -> None:
    one = joined("A", "B", filters="G1 G2", deadlines=False)
    one.receive(Data((grouped("X:2", "G1", needs=[("X@G2", 1)]),)), "A", 2)
    one.view(view_of({"B": "G1", "X": "G1"}, "S"), 3)
    asked = [line for _ in range(60) if one.next_wake() for line in told(one.wake(one.next_wake())) if "ask" in line]
    assert set(asked) == {"ask B for X:1"} and one.next_wake() is None, "but not for ever"
    assert told(one.receive(Data((grouped("X:1", "G1", "G2"),)), "B", 10**6))[:1] == ["deliver X:1 causes"]


def test_a_slow_good_bye_does_not_end_what_begins_later() -> None:
    """A sent something before its answer came, and was out of view for a moment: it was sent away."""
    one = subscriber("A")
    one.view(view_of({}, "S"), 5)
    one.wake(20)
    away = frame_to(one.receive(Data((grouped("A:1"),)), "A", 21), "A", Detach)
    again = frame_to(one.view(view_of(VIEW, "S"), 22), "A", Attach)
    assert again.attachment > away.attachment


def test_what_an_unordered_message_names_is_asked_for_here_too() -> None:
    """Nobody compares with a subscriber what it has of a broker's: only the next one tells that one is missing."""
    one = joined("A")
    later = Envelope(Message("A", 3, ("G1",), order="none"), Stamp((("A~@G1", 3),), (), {"A~@G1": 2}))
    assert told(one.receive(Data((later,)), "A", 2))[0] == "deliver A~:3 causes"
    assert ("A~@G1", 2) in one.wants.wants


def test_with_views_below_gossip_of_any_broker_is_taken_until_filters_change() -> None:  # 001 s3
    one = joined("A", view_below=3)
    assert told(one.receive(Data((grouped("C:1", "G1"),)), "C", 5)) == ["deliver C:1 causes"]
    early = subscriber("A", view_below=3)
    assert told(early.receive(Data((grouped("C:1", "G1"),)), "C", 5)) == [], "it does not know yet where it begins"
    one.subscribe(("G1", "G2"), ("A",), 6)
    one.receive(attached({"C@G1": 1}, 2, ("C:1",)), "A", 7)
    lines = told(one.receive(Data((grouped("C:2", "G1"),)), "C", 8))
    assert lines[0] == "discard C:2 foreign", "it was stamped for what it wanted before"
