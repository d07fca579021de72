"""The application's queues: what is delivered when, what turns late or overflows, and order across queues."""

from __future__ import annotations

from typing import Any

import pytest

from antecede.core.effects import Dropped
from antecede.core.frames import Ack, Attach, Attached, Grow, Grown, Items, Publish, Top
from antecede.core.message import Envelope, Publication
from antecede.core.order.numbered import WINDOW
from antecede.errors import InputError
from tests.core.home.test_client import client, item
from tests.core.kit import frame_to, grouped, machine, sent, told, view_of


def reader(
    *queues: tuple[str, ...], size: int = 10, policy: str = "drop_oldest", own: bool = False, **knobs: Any
) -> Any:
    """A client in G1 and G2 whose application has these queues: (name, filters...)."""
    one = machine("home", "S", "subscriber", retry_us=10, round_us=20, grace_us=1000, **knobs)
    one.view(view_of({"H": "G1 G2", "N": "G1 G2"}, "S"), 0)
    for name, *filters in queues or (("inbox", "G1", "G2"),):
        one.application.open(name, filters, size=size, policy=policy, own=own)
    one.subscribe(("G1", "G2"), ("H",), 0)
    one.receive(Attached(1, {}, ()), "H", 1)
    return one


def come(one: Any, *envelopes: Envelope, first: int = 1, now: int = 2) -> list[str]:
    """They come by consecutive numbers, each after all before it."""
    given = tuple(item(first + i, e, *range(max(1, first + i - 20), first + i)) for i, e in enumerate(envelopes))
    return lines(one.receive(Items(1, given), "H", now))


def lines(effects: Any) -> list[str]:
    """Rows and what queues let go of."""
    shown = [f"{e.queue} drops {e.message} {e.reason}" if isinstance(e, Dropped) else "" for e in effects]
    rest = [e for e in effects if not isinstance(e, Dropped)]
    rows = iter(told(rest))
    merged = [line or next(rows) for line in shown]
    return [line for line in merged if " to " not in line]


def taken(one: Any, queue: str = "inbox", limit: int = 100, now: int = 3) -> tuple[list[str], list[str]]:
    messages, effects = one.application.hand_over(queue, limit, now)
    return [message.id for message in messages], lines(effects)


def test_without_a_queue_it_is_delivered_at_once() -> None:
    one = client()
    assert lines(one.receive(Items(1, (item(1, grouped("X:1")),)), "H", 2)) == ["deliver X:1 causes"]


def test_only_what_is_handed_over_is_delivered_and_a_cause() -> None:
    one = reader()
    assert come(one, grouped("X:1"), grouped("X:2")) == [] and one.application.ready("inbox") == 2
    assert taken(one, limit=1) == (["X:1"], ["deliver X:1 causes"]) and one.application.ready("inbox") == 1
    message, effects = one.publish(Publication(("G1",)), 4)
    assert frame_to(effects, "H", Publish).envelopes[0].stamp.covers == {"X@G1": 1}
    assert one.application.frontier().marks == {"X@G1": 1, "S@G1": 1} and message.id == "S:1"
    assert taken(one) == (["X:2"], ["deliver X:2 causes"]) and one.application.frontier().marks == {
        "X@G1": 2,
        "S@G1": 1,
    }


def test_what_waits_is_acknowledged_and_not_sent_again_by_the_next_home() -> None:
    one = reader()
    come(one, grouped("X:1", covers={"Y@G1": 4}))
    assert frame_to(one.wake(10), "H", Ack).index == 1
    attach = frame_to(one.move(("N",), 11), "N", Attach)
    assert attach.frontier == {} and attach.missed == ("X:1",) and one.application.ready("inbox") == 1
    assert taken(one, now=12) == (["X:1"], ["deliver X:1 causes"])


def test_what_waits_lies_behind_where_filters_grow() -> None:
    one = reader()
    one.subscribe(("G1",), ("H",), 2)
    come(one, grouped("X:1", covers={"Y@G1": 4}))
    grow = frame_to(one.subscribe(("G1", "G2"), ("H",), 3), "H", Grow)
    assert grow.frontier == {"X@G1": 1, "Y@G1": 4} and one.application.ready("inbox") == 1


def test_late_in_the_queue() -> None:
    one = reader()
    assert come(one, grouped("X:1", deadline_us=50), grouped("X:2")) == []
    assert one.next_wake() is not None and taken(one, limit=0, now=50) == ([], [])
    assert one.application.handover.next_us() == 51
    said = one.wake(51)
    assert lines(said)[:2] == ["inbox drops X:1 late", "discard X:1 late"] and said[1].peer == "S"
    assert taken(one, now=52) == (["X:2"], ["deliver X:2 causes"])
    assert frame_to(one.move(("N",), 60), "N", Attach).missed == ("X:1",)


def test_handed_over_by_its_deadline_less_what_the_clock_may_be_behind() -> None:
    for clock_bound_us, guard_us, last in ((0, 0, 50), (5, 20, 45), (20, 5, 45)):
        one = reader(guard_us=guard_us, clock_bound_us=clock_bound_us)
        come(one, grouped("X:1", deadline_us=50))
        assert taken(one, now=last)[0] == ["X:1"]
        other = reader(guard_us=guard_us, clock_bound_us=clock_bound_us)
        come(other, grouped("X:1", deadline_us=50))
        assert taken(other, now=last + 1) == ([], ["inbox drops X:1 late", "discard X:1 late"])


def test_a_full_queue_drops_its_oldest() -> None:
    one = reader(size=2)
    assert come(one, grouped("X:1"), grouped("X:2"), grouped("X:3")) == [
        "inbox drops X:1 overflow", "discard X:1 overflow",
    ]  # fmt: skip
    assert taken(one)[0] == ["X:2", "X:3"]


def test_or_the_newest() -> None:
    one = reader(size=2, policy="drop_newest")
    assert come(one, grouped("X:1"), grouped("X:2"), grouped("X:3")) == [
        "inbox drops X:3 overflow", "discard X:3 overflow",
    ]  # fmt: skip
    attach = frame_to(one.move(("N",), 9), "N", Attach)
    assert attach.missed == ("X:3", "X:1", "X:2"), "what waits, or overflowed, is not sent again"
    assert taken(one)[0] == ["X:1", "X:2"]


def test_or_blocks_and_then_nothing_more_is_acknowledged() -> None:
    one = reader(size=2, policy="block")
    assert come(one, *(grouped(f"X:{n}") for n in range(1, 6))) == []
    assert one.application.ready("inbox") == 2 and frame_to(one.wake(10), "H", Ack).index == 2
    assert not sent(one.receive(Top(1, 5), "H", 11), Ack), "it has all, but not the room for it"
    assert taken(one, limit=2, now=12)[0] == ["X:1", "X:2"] and one.application.ready("inbox") == 2
    assert frame_to(one.wake(30), "H", Ack).index == 4
    assert taken(one, now=31)[0] == ["X:3", "X:4"] and taken(one, now=32)[0] == ["X:5"]


def test_room_for_half_a_window_is_told_at_once() -> None:
    one = reader(size=WINDOW, policy="block")
    come(one, *(grouped(f"X:{n}") for n in range(1, WINDOW + 1)))
    come(one, *(grouped(f"X:{n}") for n in range(WINDOW + 1, 2 * WINDOW + 1)), first=WINDOW + 1)
    _, effects = one.application.hand_over("inbox", WINDOW, 4)
    assert frame_to(effects, "H", Ack).index == 2 * WINDOW


def test_what_stood_at_the_door_comes_again_from_the_next_home() -> None:
    one = reader(size=1, policy="block")
    come(one, grouped("X:1"), grouped("X:2"))
    attach = frame_to(one.move(("N",), 9), "N", Attach)
    assert attach.missed == ("X:1",)
    one.receive(Attached(2, {}, ()), "N", 10)
    assert taken(one, now=11)[0] == ["X:1"]
    one.receive(Items(2, (item(1, grouped("X:2")),)), "N", 12)
    assert taken(one, now=13) == (["X:2"], ["deliver X:2 causes"])


def test_what_stands_at_the_door_turns_late_there() -> None:
    one = reader(size=1, policy="block")
    come(one, grouped("X:1"), grouped("X:2", deadline_us=50), grouped("X:3"))
    assert "discard X:2 late" in lines(one.wake(51)) and one.application.ready("inbox") == 1
    assert taken(one, limit=1, now=52)[0] == ["X:1"] and taken(one, now=53)[0] == ["X:3"]


QUESTION = grouped("Ann:1", "G1")
ANSWER = grouped("Ben:1", "G2", needs=(("Ann@G1", 1),))
OTHER = grouped("Cid:1", "G1")


def test_causes_that_wait_in_another_queue_are_delivered_first() -> None:
    """The example of the file's first lines."""
    one = reader(("room", "G1"), ("alerts", "G2"))
    come(one, OTHER, QUESTION, ANSWER)
    assert taken(one, "alerts") == (["Ben:1"], ["deliver Ann:1 causes", "deliver Ben:1 causes"])
    assert one.application.frontier().marks == {"Ann@G1": 1, "Ben@G2": 1}, "what has nothing to do with it still waits"
    assert taken(one, "room") == (["Cid:1", "Ann:1"], ["deliver Cid:1 causes"])


def test_a_queue_may_still_drop_what_another_has_made_delivered() -> None:
    one = reader(("room", "G1"), ("alerts", "G2"), size=1)
    come(one, QUESTION, ANSWER)
    taken(one, "alerts")
    assert come(one, OTHER, first=3) == ["room drops Ann:1 overflow"]
    assert taken(one, "room") == (["Cid:1"], ["deliver Cid:1 causes"])


def test_what_waited_for_long_counts_as_a_cause_of_all_that_came_later() -> None:
    """Stamps name nothing that was stable for `grace_us`."""
    one = reader(("room", "G1"), ("alerts", "G2"))
    come(one, OTHER, now=2)
    come(one, grouped("Ben:1", "G2"), first=2, now=1002)
    assert taken(one, "alerts", now=1003) == (["Ben:1"], ["deliver Cid:1 causes", "deliver Ben:1 causes"])


def test_a_message_in_two_queues_is_one_row() -> None:
    one = reader(("a", "G1"), ("b", "#"))
    come(one, QUESTION)
    assert taken(one, "b") == (["Ann:1"], ["deliver Ann:1 causes"])
    assert taken(one, "a") == (["Ann:1"], [])


def test_it_is_dropped_when_the_last_of_them_drops_it() -> None:
    one = reader(("a", "G1"), size=1)
    one.application.open("b", ("#",), size=2, policy="drop_oldest")
    assert come(one, QUESTION, OTHER) == ["a drops Ann:1 overflow"]
    assert come(one, grouped("Dan:1"), first=3) == [
        "a drops Cid:1 overflow", "b drops Ann:1 overflow", "discard Ann:1 overflow",
    ]  # fmt: skip
    assert taken(one, "b")[0] == ["Cid:1", "Dan:1"]


def test_one_queue_that_blocks_stops_the_node_in_order() -> None:
    one = reader(("room", "G1"), ("alerts", "G2"), size=1, policy="block")
    come(one, QUESTION, OTHER, ANSWER)
    assert (one.application.ready("room"), one.application.ready("alerts")) == (1, 0)
    assert taken(one, "room", limit=1)[0] == ["Ann:1"] and one.application.ready("alerts") == 1


def test_what_no_queue_wants_is_delivered_at_once_after_its_causes() -> None:
    one = reader(("room", "G1"))
    assert come(one, QUESTION, ANSWER) == ["deliver Ann:1 causes", "deliver Ben:1 causes"]
    assert taken(one, "room") == (["Ann:1"], [])


def test_own_messages_for_who_asks() -> None:
    one = reader(("all", "#"), own=True)
    one.application.open("others", ("#",), size=5, policy="drop_newest")
    come(one, grouped("X:1"))
    message, _ = one.publish(Publication(("G1",), b"", deadline_us=90), 3)
    assert (one.application.ready("all"), one.application.ready("others")) == (2, 1)
    assert taken(one, "all") == (["X:1", message.id], ["deliver X:1 causes", "deliver S:1 own"])
    one.publish(Publication(("G1",), b"", deadline_us=90), 4)
    said = one.wake(91)
    assert [e.reason for e in said if isinstance(e, Dropped)] == ["late"]
    assert not any(line.startswith("discard") for line in lines(said)), "it owes itself nothing"


def test_what_a_closed_queue_had_alone_overflows() -> None:
    one = reader(("room", "G1"), ("alerts", "G2"))
    come(one, QUESTION, ANSWER)
    assert lines(one.application.close("room", 3)) == ["room drops Ann:1 overflow", "discard Ann:1 overflow"]
    assert lines(one.subscribe(("G2",), ("H",), 4)) == ["leave G1"]
    assert taken(one, "alerts") == (["Ben:1"], ["deliver Ben:1 causes"])


def test_what_is_no_longer_wanted_leaves_the_queues() -> None:
    one = reader(("all", "G1", "G2"), size=1, policy="block")
    come(one, QUESTION, OTHER, ANSWER)
    assert lines(one.subscribe(("G2",), ("H",), 4)) == [
        "leave G1", "discard Ann:1 foreign", "discard Cid:1 foreign",
    ]  # fmt: skip
    assert taken(one, "all") == (["Ben:1"], ["deliver Ben:1 causes"])
    one.subscribe(("G1", "G2"), ("H",), 5)
    one.receive(Grown(1, 2, 4, ()), "H", 6)
    assert come(one, QUESTION, first=4, now=7) == [] and taken(one, "all")[0] == ["Ann:1"], "it may come again"


def test_what_an_open_one_had_no_room_for_overflows_when_the_other_closes() -> None:
    one = reader(("wide", "#"))
    one.application.open("tight", ("G1",), size=1, policy="drop_newest")
    come(one, QUESTION, OTHER)
    assert lines(one.application.close("wide", 3)) == [
        "wide drops Ann:1 overflow", "wide drops Cid:1 overflow", "discard Cid:1 overflow",
    ]  # fmt: skip
    assert one.application.ready("tight") == 1


def test_who_leaves_lets_go_of_all() -> None:
    one = reader()
    come(one, QUESTION)
    assert lines(one.unsubscribe(5)) == ["leave G1,G2"] and one.application.ready("inbox") == 0


def test_unordered_messages_wait_and_are_had_when_taken() -> None:
    one, other = reader(), reader()
    _, effects = other.publish(Publication(("G1",), b"", order="none"), 1)
    come(one, frame_to(effects, "H", Publish).envelopes[0])
    assert one.application.frontier().loose == {} and taken(one)[0] == ["S~:1"]
    assert one.application.frontier().loose == {"S~@G1": (1, ())}


def test_mistakes_are_told() -> None:
    one = reader()
    for name, size, policy in (("inbox", 5, "block"), ("x", 0, "block"), ("x", 5, "drop")):
        with pytest.raises(InputError):
            one.application.open(name, ("#",), size=size, policy=policy)


def test_what_goes_before_a_waiting_message_takes_its_place_before_it() -> None:
    """Its new home did not know that the answer waits here: it sends the question."""
    one = reader(size=5)
    come(one, OTHER, ANSWER)
    one.move(("N",), 5)
    one.receive(Attached(2, {}, ()), "N", 6)
    assert not lines(one.receive(Items(2, (item(1, QUESTION),)), "N", 7))
    assert taken(one, now=8)[0] == ["Cid:1", "Ann:1", "Ben:1"]


def test_once_that_is_delivered_it_is_superseded() -> None:
    one = reader(size=5)
    come(one, ANSWER)
    one.move(("N",), 5)
    one.receive(Attached(2, {}, ()), "N", 6)
    taken(one, now=7)
    assert lines(one.receive(Items(2, (item(1, QUESTION),)), "N", 8)) == ["discard Ann:1 superseded"]


def test_a_place_is_taken_only_where_there_is_room() -> None:
    one = reader(size=1)
    come(one, ANSWER)
    one.move(("N",), 5)
    one.receive(Attached(2, {}, ()), "N", 6)
    assert lines(one.receive(Items(2, (item(1, QUESTION),)), "N", 7)) == [
        "inbox drops Ann:1 overflow", "discard Ann:1 overflow",
    ]  # fmt: skip


def test_what_was_missing_when_its_successor_was_forced_out_is_taken_until_that_is() -> None:
    for taken_before in (False, True):
        one = reader(guard_us=10)
        late = grouped("X:2", deadline_us=50, needs=(("X@G1", 1),))
        one.receive(Items(1, (item(2, late, 1),)), "H", 2)
        one.wake(40)
        assert one.application.ready("inbox") == 1
        if taken_before:
            _, effects = one.application.hand_over("inbox", 1, 41)
            assert lines(effects) == ["deliver X:2 deadline"] and effects[0].missing == ("X:1",)
            assert one.handover.without == {"X:2": ("X:1",)}
        said = lines(one.receive(Items(1, (item(1, grouped("X:1")),)), "H", 42))
        assert said == (["discard X:1 superseded"] if taken_before else [])
        assert taken(one, now=43)[0] == ([] if taken_before else ["X:1", "X:2"])


def test_numbers_that_cannot_be_had_are_passed_in_order() -> None:
    one = reader()
    given = item(4, grouped("X:4"), 3, 1), item(3, grouped("X:3"), 1), item(7, grouped("X:7"), 6)
    one.receive(Items(1, given), "H", 2)
    assert one.application.ready("inbox") == 0
    assert lines(one.receive(Top(1, 7, 5), "H", 3))[0] == "H shed 3", "numbers 1, 2 and 5 never came"
    assert not [line for line in lines(one.receive(Top(1, 7, 5), "H", 3)) if "shed" in line]
    assert taken(one, now=4)[0] == ["X:3", "X:4"] and one.behind() == 5
    assert lines(one.receive(Items(1, (item(2, grouped("X:2")),)), "H", 5)) == ["discard X:2 overflow"]
    assert lines(one.receive(Items(1, (item(2, grouped("X:2")),)), "H", 6)) == ["discard X:2 duplicate"]


def test_a_queue_that_stopped_keeps_what_waits_though_its_filters_are_given_up() -> None:
    one = reader(("a", "G1"), ("b", "G2"))
    come(one, grouped("X:1", "G1"), grouped("X:2", "G1", deadline_us=50), grouped("Y:1", "G2"))
    one.application.stop("a")
    assert lines(one.subscribe((), ("H",), 3)) == ["leave G1,G2", "discard Y:1 foreign"]
    assert one.application.ready("a") == 2 and one.application.ready("b") == 0
    assert one.application.frontier().marks == {}
    one.publish(Publication(("G1",)), 4)
    assert taken(one, "a", now=51) == (["X:1"], ["a drops X:2 late", "discard X:2 late", "deliver X:1 causes"])
    assert one.application.frontier().marks == {"X@G1": 1, "S@G1": 1}
