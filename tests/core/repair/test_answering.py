"""Answers: what is in time and wanted, headers of what is not, what is lacked, and when something is given up."""

from __future__ import annotations

from antecede.core.frames import Data, Gone
from antecede.core.message import Publication
from antecede.core.order.reader import AHEAD
from antecede.core.repair.answering import BATCH, in_time
from tests.core.kit import flat, frame_to, grouped, machine, sent, told, view_of
from tests.core.spread.peers import ask, gone, member


def test_in_time_is_up_to_the_deadline() -> None:
    assert in_time(flat("A:1"), 10**9) and in_time(flat("A:1", deadline_us=5), 5)
    assert not in_time(flat("A:1", deadline_us=5), 6)


def test_an_answer_holds_what_is_kept_and_what_is_held_within_the_range() -> None:
    one = member()
    one.receive(Data((flat("A:1"), flat("A:2", {"A": 1}), flat("A:4", {"A": 3}), flat("A:6", {"A": 5}))), "A", 0)
    effects = ask(one, ("A", 1, 4))
    assert told(effects) == ["answer C with A:2,A:4", "data to C: A:2,A:4"]
    assert frame_to(effects, "C", Data).answer


def test_own_messages_are_answered_too() -> None:
    one = member()
    one.publish(Publication(("G1",)), 0)
    assert told(ask(one, ("B", 0, 1))) == ["answer C with B:1", "data to C: B:1"]


def test_there_are_no_empty_answers_and_none_to_strangers() -> None:
    one = member()
    one.receive(Data((flat("A:1"),)), "A", 0)
    assert ask(one, ("A", 1, 9), ("D", 0, 3)) == []
    broker = machine("cbcast", "A", "broker", "G1")
    broker.view(view_of({"A": "G1"}), 0)
    broker.start(0)
    broker.publish(Publication(("G1",)), 0)
    assert ask(broker, ("A@G1", 0, 1), by="S9") == []


def test_only_what_the_asker_wants_is_sent() -> None:
    broker = machine("cbcast", "A", "broker", "G1 G2")
    broker.view(view_of({"A": "G1 G2", "C": "G1"}), 0)
    broker.start(0)
    broker.receive(Data((grouped("B:1", "G2"), grouped("B:2", "G1"))), "B", 0)
    broker.receive(Data((grouped("B:4", "G2", needs=[("B@G2", 3)]),)), "B", 0)
    assert told(ask(broker, ("B@G2", 0, 9), ("B@G1", 0, 9))) == ["answer C with B:2", "data to C: B:2"]
    broker.skip_expired(grouped("B:5", "G2", deadline_us=0), "B", 9)
    assert sent(ask(broker, ("B@G2", 4, 5), now=9), Gone) == []


def test_large_answers_come_in_batches() -> None:
    one = member()
    one.receive(Data(tuple(flat(f"A:{n}", {"A": n - 1}) for n in range(1, BATCH + 3))), "A", 0)
    assert [len(frame.envelopes) for _, frame in sent(ask(one, ("A", 0, 99)), Data)] == [BATCH, 2]


def test_of_what_expired_the_header_is_sent() -> None:
    one = member()
    one.receive(Data((flat("A:1", deadline_us=50, payload=b"long"), flat("A:2", {"A": 1}))), "A", 0)
    assert told(ask(one, ("A", 0, 2), now=50)) == ["answer C with A:1,A:2", "data to C: A:1,A:2"]
    for now in (51, 600):
        if now == 600:
            one.store.collect(now)
        effects = ask(one, ("A", 0, 2), now=now)
        assert told(effects)[-3:] == ["answer C with A:2", "data to C: A:2", "gone to C"]
        headers = frame_to(effects, "C", Gone).headers
        assert [(e.message.id, e.message.payload, e.message.deadline_us) for e in headers] == [("A:1", b"", 50)]


def test_what_is_lacked_is_said_only_of_senders_that_left() -> None:
    one = member(deadlines=False)
    one.receive(Data((flat("A:1"), flat("A:3", {"A": 2}))), "A", 0)
    assert sent(ask(one, ("A", 1, 3)), Gone) == []
    gone(one, "A")
    assert frame_to(ask(one, ("A", 1, 2), ("A", 3, 4)), "C", Gone).lacks == (("A", 1, 2), ("A", 3, 4))
    assert sent(ask(one, ("C", 0, 4)), Gone) == []


def test_a_subscriber_is_told_what_its_broker_gave_up_and_nothing_less() -> None:
    broker = machine("cbcast", "A", "broker", "G1", deadlines=False, grace_us=1000)
    broker.view(view_of({"A": "G1", "B": "G1", "C": "G1"}), 0)
    broker.start(0)
    broker.links["S"] = (1, broker.known_interest(("G1",)))
    broker.receive(Data((grouped("C:1", needs=[("B@G1", 2)]),)), "C", 0)
    gone(broker, "B", now=0)
    assert sent(ask(broker, ("B@G1", 0, 2), by="S", now=10), Gone) == []
    assert frame_to(ask(broker, ("B@G1", 0, 2), by="C", now=10), "C", Gone).lacks == (("B@G1", 1, 2),)
    assert "discard B:2 gone" in told(broker.receive(Gone((), (("B@G1", 1, 2),)), "C", 2000))
    lacks = frame_to(ask(broker, ("B@G1", 0, 2), by="S", now=2001), "S", Gone).lacks
    assert lacks == (("B@G1", 0, 1), ("B@G1", 1, 2)), "and all of its sender before it that is not here"


def test_a_subscriber_is_told_of_nothing_that_its_broker_still_waits_before() -> None:
    """The graph names what else was lost, one after the other: only then may anybody pass it."""
    broker, sender = (machine("graph", name, "broker", "G1", deadlines=False, grace_us=1000) for name in "AB")
    for one in (broker, sender):
        one.view(view_of({"A": "G1", "B": "G1", "C": "G1"}), 0)
        one.start(0)
    broker.links["S"] = (1, broker.known_interest(("G1",)))
    *_, last = [frame_to(sender.publish(Publication(("G1",)), 0)[1], "A", Data) for _ in range(3)]
    broker.receive(last, "B", 0)
    gone(broker, "B", now=0)
    assert "discard B:2 gone" in told(broker.receive(Gone((), (("B@G1", 1, 2),)), "C", 2000))
    assert sent(ask(broker, ("B@G1", 0, 2), by="S", now=2001), Gone) == []
    broker.wake(broker.next_wake())
    lines = told(broker.receive(Gone((), (("B@G1", 0, 1),)), "C", 4000))
    assert lines[:2] == ["discard B:1 gone", "deliver B:3 causes"]
    assert frame_to(ask(broker, ("B@G1", 0, 2), by="S", now=4001), "S", Gone).lacks[-1] == ("B@G1", 1, 2)


def test_what_is_here_by_another_group_or_still_waited_for_is_not_said_to_be_gone() -> None:
    broker = machine("cbcast", "A", "broker", "G1 G2", deadlines=False, grace_us=1000)
    broker.view(view_of({"A": "G1 G2", "B": "G1 G2", "C": "G1 G2", "D": "G2"}), 0)
    broker.start(0)
    broker.links["S"] = (1, broker.known_interest(("G1", "G2")))
    broker.receive(Data((grouped("B:2", "G2"), grouped("C:1", needs=[("B@G1", 5)]))), "C", 0)
    gone(broker, "B", now=0)
    for peer in ("C", "D"):
        broker.receive(Gone((), (("B@G1", 4, 5),)), peer, 2000)
    broker.wants.want(("B@G2", 3), "C", None, 2000, patience_us=0)
    lacks = frame_to(ask(broker, ("B@G1", 0, 5), by="S", now=2001), "S", Gone).lacks
    assert [n for _, _, n in lacks] == [1, 4, 5], "2 is here, 3 is asked for"


def test_a_subscriber_is_told_that_its_broker_began_behind_something() -> None:
    broker = machine("cbcast", "A", "broker", "G1", deadlines=False)
    broker.view(view_of({"A": "G1", "C": "G1"}), 0)
    broker.start(0)
    broker.reader.start_at({"B@G1": 2})
    broker.links["S"] = (1, broker.known_interest(("G1",)))
    assert frame_to(ask(broker, ("B@G1", 0, 2), by="S"), "S", Gone).lacks == (("B@G1", 0, 1), ("B@G1", 1, 2))
    assert sent(ask(broker, ("B@G1", 2, 3), by="S"), Gone) == []


def test_what_settled_cannot_be_had_though_its_sender_is_there() -> None:
    one = member(deadlines=False)
    one.receive(Data((flat("A:1"), flat("A:2", {"A": 1}))), "A", 0)
    one.store.let_go(one.store.by_id["A:2"])
    assert frame_to(ask(one, ("A", 1, 4)), "C", Gone).lacks == (("A", 1, 2),)
    one.store.let_go(one.store.by_id["A:1"])
    assert frame_to(ask(one, ("A", 0, 4)), "C", Gone).lacks == (("A", 0, 1), ("A", 1, 2))


def test_with_deadlines_it_is_said_where_something_waits_that_has_none() -> None:
    """What lies behind here and is not kept has expired or was passed over: it will never be here."""
    one = member()
    one.receive(Data((flat("A:2", {"A": 1}, deadline_us=5),)), "A", 0)
    one.wake(5)
    assert one.reader.behind("A", 1)
    assert ask(one, ("A", 0, 1)) == []
    assert frame_to(ask(one, ("A", 0, 1), lasting=True), "C", Gone).lacks == (("A", 0, 1),)


def test_nothing_is_called_gone_of_a_range_of_which_something_is_sent() -> None:
    """That could come first, or alone; and whoever gives up a message passes what its sender sent before it."""
    one = member(deadlines=False)
    one.receive(Data((flat("A:1"), flat("A:2", {"A": 1}))), "A", 0)
    gone(one, "A")
    assert told(ask(one, ("A", 0, 3))) == ["answer C with A:1,A:2", "data to C: A:1,A:2"]
    assert frame_to(ask(one, ("A", 2, 3)), "C", Gone).lacks == (("A", 2, 3),)


def test_in_a_sparse_stream_nothing_is_called_gone_after_what_is_sent() -> None:
    """Whoever gives up B:3 passes all of B's before it of which nothing is known to it."""
    broker = machine("cbcast", "A", "broker", "G1", deadlines=False, grace_us=1000)
    broker.view(view_of({"A": "G1", "B": "G1", "C": "G1"}), 0)
    broker.start(0)
    broker.receive(Data((grouped("B:1"),)), "B", 0)
    gone(broker, "B", now=0)
    assert sent(ask(broker, ("B@G1", 0, 1), ("B@G1", 2, 3), by="C", now=10), Gone) == []
    assert frame_to(ask(broker, ("B@G1", 2, 3), by="C", now=10), "C", Gone).lacks == (("B@G1", 2, 3),)


def test_a_wide_range_is_answered_in_part() -> None:
    one = member(deadlines=False)
    gone(one, "A")
    assert len(frame_to(ask(one, ("A", 0, 2**62)), "C", Gone).lacks) == AHEAD
    wide = [("A", n, 2**62) for n in range(100)]
    assert len(frame_to(ask(one, *wide), "C", Gone).lacks) == AHEAD + 99, "and many of them no more, but one each"


def test_those_who_lack_the_same_say_so_to_each_other_after_a_while() -> None:
    """Its sender is there and has let go of it; each of the others waits for the rest to say that they lack it."""
    one = member()
    one.receive(Data((flat("B:1", {"A": 1}),)), "B", 0)
    assert ask(one, ("A", 0, 1), lasting=True, now=999) == []
    assert frame_to(ask(one, ("A", 0, 1), lasting=True, now=1000), "C", Gone).lacks == (("A", 0, 1),)


def test_nor_of_one_group_when_something_earlier_of_its_sender_is_sent_in_another() -> None:
    """Whoever gives B:5 up passes B:3 with it."""
    one = machine("pull", "C", "broker", "G2", deadlines=False, grace_us=1000)
    one.view(view_of({"A": "G1 G2", "B": "G1 G2", "C": "G2"}), 0)
    one.start(0)
    one.receive(Data((grouped("B:3", "G2"),)), "B", 0)
    one.view(view_of({"A": "G1 G2", "C": "G2"}), 0)
    assert told(ask(one, ("B@G1", 0, 5), ("B@G2", 0, 3), by="A", now=2000)) == ["answer A with B:3", "data to A: B:3"]
    assert frame_to(ask(one, ("B@G1", 0, 5), by="A", now=2000), "A", Gone).lacks == (("B@G1", 4, 5),)
