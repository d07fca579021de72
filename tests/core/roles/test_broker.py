"""A broker among brokers and above its subscribers: who gets what, and what is stable."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from antecede.core.frames import Attach, Attached, Data, Detach, Digest, Gone, Request
from antecede.core.message import Publication
from tests.core.kit import frame_to, grouped, machine, sent, told, view_of

VIEW = {"A": "G1 G2", "B": "G1", "C": "G2", "D": "G3"}


def broker(recipe: str = "graph", **knobs: Any) -> Any:
    one = machine(recipe, "A", "broker", "G1 G2", round_us=100, **knobs)
    one.view(view_of(VIEW, "S1 S2"), 0)
    one.start(0)
    return one


def attach(one: Any, name: str, *filters: str, number: int = 1, now: int = 0) -> Attached:
    return frame_to(one.receive(Attach(number, filters, None), name, now), name, Attached)


def test_a_publication_goes_to_the_carriers_of_its_groups() -> None:
    one = broker()
    assert told(one.publish(Publication(("G1",)), 0)[1]) == ["data to B: A:1"]
    assert told(one.publish(Publication(("G1", "G2")), 0)[1]) == ["data to B,C: A:2"]
    assert one.cut() == ("A:2",) and told(one.receive(Data((grouped("A:2", "G1"),)), "B", 0)) == [
        "discard A:2 duplicate"
    ]


def test_what_is_delivered_goes_to_the_subscribers_that_want_it() -> None:
    one = broker("cbcast")
    attach(one, "S1", "G1")
    attach(one, "S2", "G1", "G2")
    assert told(one.receive(Data((grouped("B:1", "G1"),)), "B", 0)) == [
        "deliver B:1 causes", "data to S1: B:1", "data to S2: B:1",
    ]  # fmt: skip
    assert told(one.publish(Publication(("G2",)), 0)[1]) == ["data to C: A:1", "data to S2: A:1"]
    one.receive(Detach(1), "S2", 0)
    assert told(one.publish(Publication(("G1",)), 0)[1]) == ["data to B: A:2", "data to S1: A:2"]


def test_subscribers_with_equal_wishes_share_a_frame() -> None:
    one = broker()
    attach(one, "S1", "G1")
    attach(one, "S2", "G1")
    assert told(one.publish(Publication(("G1",)), 0)[1])[1:] == ["data to S1,S2: A:1"]


def test_each_subscriber_gets_its_own_projection() -> None:
    """T5, towards subscribers, at once and when they ask."""
    one = broker()
    attach(one, "S1", "G1")
    one.publish(Publication(("G1", "G2")), 0)
    one.publish(Publication(("G2",)), 0)
    sent_ = frame_to(one.publish(Publication(("G1",)), 0)[1], "S1", Data).envelopes[0].stamp
    assert sent_.needs == (("A@G1", 1),) and sent_.extra is None
    assert one.answer_for(one.store.by_id["A:3"], "S1").stamp.needs == (("A@G1", 1),)
    assert one.answer_for(one.store.by_id["A:3"], "B").stamp.extra is not None


def test_a_subscriber_begins_at_the_brokers_closed_past() -> None:
    one = broker("cbcast")
    one.receive(Data((grouped("B:3", "G1"), grouped("C:1", "G2"))), "B", 0)
    one.receive(Data((grouped("B:5", "G1", needs=[("B@G1", 4)], deadline_us=5),)), "B", 9)
    answer = attach(one, "S1", "G1")
    assert answer.start == {"B@G1": 3} and answer.cut == ("B:3", "C:1") and answer.attachment == 1


def test_a_subscriber_begins_behind_whatever_its_broker_began_behind() -> None:
    """In a group that had lost everything a broker begins at another one's cut: it will never have what lies behind."""
    one = broker("cbcast")
    one.reader.start_at({"X@G1": 7, "Y@G2": 4})
    one.joining.origins = {"G1": ("B", ("B:1", "X:7")), "G2": ("B", ("Y:4",))}
    one.receive(Data((grouped("B:3", "G1"),)), "B", 0)
    answer = attach(one, "S1", "G1")
    assert answer.start == {"B@G1": 3, "X@G1": 7} and answer.cut == ("B:3",)
    assert answer.origins == (("G1", ("B:1", "X:7")),)


def test_attachments_are_numbered_and_old_ones_are_ignored() -> None:
    one = broker()
    attach(one, "S1", "G1", number=2)
    assert one.receive(Attach(1, ("G2",), None), "S1", 0) == []
    one.receive(Detach(1), "S1", 0)
    assert one.links["S1"][0] == 2 and one.links["S1"][1].filters == ("G1",)
    one.receive(Detach(2), "S1", 0)
    assert not one.links
    one.receive(Detach(9), "S2", 0)


def test_whoever_leaves_the_view_is_no_longer_served() -> None:
    one = broker()
    attach(one, "S1", "G1")
    assert list(one.peers()) == ["B", "C", "D", "S1"] and one.serves("S1") and not one.serves("B")
    one.view(view_of({"A": "G1 G2", "B": "G1"}), 5)
    assert list(one.peers()) == ["B"] and one.interest_of("S1") is None
    assert sent(one.receive(Attach(2, ("G1",), None), "S1", 6), Attached) == [], "it is gone"


def test_done_is_what_the_subscribers_have_confirmed_too() -> None:
    """Trap 4: stable among brokers is not stable for a subscriber."""
    one = broker()
    one.publish(Publication(("G1",)), 0)
    attach(one, "S1", "G1")
    one.publish(Publication(("G1", "G2")), 0)
    have = {"A@G1": 2, "A@G2": 2}
    assert one.done(have) == {"A@G1": 1, "A@G2": 2}, "it began behind A:1"
    one.receive(Digest({}, {"A@G1": 2}), "S1", 1)
    one.receive(Digest({}, {"A@G1": 1}), "S1", 1)
    assert one.done(have) == have


def test_stable_is_what_all_carriers_and_all_subscribers_have() -> None:
    one = broker(deadlines=False)
    attach(one, "S1", "G1")
    one.publish(Publication(("G1",)), 0)
    one.publish(Publication(("G1",)), 0)
    one.receive(Digest({}, {"A@G1": 2}, {"A@G1": 2}), "B", 1)
    assert one.writer.stable.get("A@G1", 0) == 0, "S1 has confirmed nothing"
    one.receive(Digest({}, {"A@G1": 1}), "S1", 1)
    assert one.writer.stable == {"A@G1": 1}
    one.receive(Digest({}, {"A@G1": 2}), "S1", 1)
    assert one.writer.stable == {"A@G1": 2}


def test_a_broker_that_lags_keeps_a_stream_unstable() -> None:
    one = machine("graph", "A", "broker", "G1", deadlines=False)
    one.view(view_of({"A": "G1", "B": "G1", "C": "G1"}), 0)
    one.start(0)
    one.publish(Publication(("G1",)), 0)
    one.receive(Digest({}, {"A@G1": 1}, {"A@G1": 1}), "B", 1)
    assert one.writer.stable.get("A@G1", 0) == 0
    one.receive(Digest({}, {"A@G1": 1}, {"A@G1": 0}), "C", 1)
    assert one.writer.stable.get("A@G1", 0) == 0, "C's subscribers lack it"
    one.receive(Digest({}, {"A@G1": 1}, {"A@G1": 1}), "C", 1)
    assert one.writer.stable == {"A@G1": 1}


def test_a_laggard_that_left_is_not_waited_for() -> None:
    one = machine("graph", "A", "broker", "G1", deadlines=False)
    one.view(view_of({"A": "G1", "B": "G1", "C": "G1"}), 0)
    one.start(0)
    one.publish(Publication(("G1",)), 0)
    one.receive(Digest({}, {"A@G1": 1}, {"A@G1": 1}), "B", 1)
    one.view(view_of({"A": "G1", "B": "G1"}), 2)
    one.receive(Digest({}, {"A@G1": 1}, {"A@G1": 1}), "B", 3)
    assert one.writer.stable == {"A@G1": 1}


@pytest.mark.parametrize("seed", range(20))
def test_what_is_stable_is_the_least_that_anybody_has_done(seed: int) -> None:
    """A dumb twin: the minimum over all, worked out anew after every digest."""
    dice, names = Random(seed), "BCDE"
    one = machine("graph", "A", "broker", "G1", deadlines=False)
    one.view(view_of(dict.fromkeys(f"A{names}", "G1")), 0)
    one.start(0)
    done = dict.fromkeys(names, 0)
    count = 0
    for step in range(120):
        if dice.random() < 0.1:
            one.publish(Publication(("G1",)), step)
            count += 1
        name = names[int(dice.random() * len(names))]
        number = int(dice.random() * (count + 1))
        one.receive(Digest({}, {"A@G1": number}, {"A@G1": number}), name, step)
        done[name] = max(done[name], number)
        assert one.writer.stable.get("A@G1", 0) == min(done.values())


def test_marks_are_asked_for_of_who_carries_their_group() -> None:
    one = broker()
    assert one.sources(("X@G1", 1)) == ("B",) and one.sources(("X@G2", 1)) == ("C",)
    assert one.carriers_of(("G1", "G2", "G3")) == ("B", "C", "D")


def test_only_subscribers_subscribe() -> None:
    one = broker()
    assert one.subscribe(("G1",), ("B",), 0) == one.unsubscribe(0) == one.move(("B",), 0) == []


def test_what_follows_an_expired_message_is_forwarded_without_naming_it() -> None:
    """Its header came, and with it its node, long after it had been forgotten here."""
    one = broker()
    other = machine("graph", "B", "broker", "G1")
    other.view(view_of(VIEW), 0)
    other.start(0)
    attach(one, "S1", "G1")
    other.publish(Publication(("G1",), b"", deadline_us=1000), 0)
    follows = frame_to(other.publish(Publication(("G1",)), 1)[1], "A", Data)
    assert told(one.receive(follows, "B", 2))[-1] == "request to B"
    one.writer.forget(9_000_000)
    header = frame_to(other.receive(Request((("B@G1", 0, 1),), True), "A", 9_000_000), "A", Gone)
    forwarded = frame_to(one.receive(header, "B", 9_000_001), "S1", Data)
    assert [(e.message.id, e.stamp.needs) for e in forwarded.envelopes] == [("B:2", ())]


def test_with_deadlines_whom_to_ask_for_what_something_without_one_waits_for() -> None:
    """Whoever may have it by another of its groups too, once its sender is gone; while it is there they say nothing."""
    one = broker()
    assert one.sources(("X@G1", 1)) == one.sources(("B@G1", 1)) == ("B",)
    for mark in (("X@G1", 1), ("B@G1", 1)):
        one.wants.want(mark, "B", 900, 0, patience_us=0)
    assert one.sources(("X@G1", 1)) == ("B",), "no time to lose"
    for mark in (("X@G1", 1), ("B@G1", 1)):
        one.wants.want(mark, "B", None, 0, patience_us=0)
    assert one.sources(("X@G1", 1)) == ("B", "C", "D") and one.sources(("B@G1", 1)) == ("B",)


def test_a_header_costs_no_look_at_all_that_is_stable() -> None:
    """A frame may bring many, and a graph may hold much."""
    one = machine("graph", "A", "broker", "G1")
    one.view(view_of({"A": "G1", "B": "G1"}), 0)
    one.start(0)
    one.publish(Publication(("G1",)), 0)
    one.writer.heard({"A@G1": 1})
    one.receive(Gone((grouped("B:1", "G1", deadline_us=5),)), "B", 50)
    assert one.writer.graph["A:1"].stable_us is None
    one.writer.forget(60)
    assert one.writer.graph["A:1"].stable_us == 60
