"""What a client published and no home has acknowledged: when it is sent again, as what, and until when."""

from __future__ import annotations

from antecede.core.frames import Publish, Published, Received
from antecede.core.message import Publication
from tests.core.home.test_client import client
from tests.core.kit import frame_to, told


def test_a_publication_goes_to_the_home_until_it_is_acknowledged() -> None:
    one = client()
    told_, effects = one.publish(Publication(("G1",), b"p", deadline_us=10_000), 5)
    assert told(effects) == ["publish to H: S:1"] and told_.id == "S:1"
    assert one.next_wake() == 15 and told(one.wake(14)) == []
    assert told(one.wake(15)) == ["publish to H: S:1"] and one.next_wake() == 35
    assert told(one.wake(35)) == ["publish to H: S:1"] and one.next_wake() == 75, "ever more rarely"
    one.receive(Published(("S:1", "S:7")), "H", 70)
    assert not one.outbox.unacked and one.next_wake() is None


def test_once_received_it_is_resent_only_when_it_should_have_become_safe() -> None:
    one = client()
    one.publish(Publication(("G1",), b"p"), 5)
    one.receive(Received(("S:1",)), "N", 6)
    assert one.next_wake() == 15, "N is not its home"
    one.receive(Received(("S:1", "S:7")), "H", 6)
    assert one.next_wake() == 66 and "S:1" in one.outbox.unacked


def test_only_its_present_home_says_what_is_safe() -> None:
    """N was told, when S moved there, that S:1 is still sent, and waits for it: so S must send it until N says so."""
    one = client()
    one.publish(Publication(("G1",), b"p"), 5)
    one.move(("N",), 6)
    one.receive(Published(("S:1",)), "H", 7)
    assert "S:1" in one.outbox.unacked
    one.receive(Published(("S:1",)), "N", 8)
    assert not one.outbox.unacked


def test_a_home_that_is_slow_gets_it_ever_more_rarely_and_never_quite_stops_getting_it() -> None:
    one = client()
    one.publish(Publication(("G1",), b"p"), 0)
    sent = []
    for now_us in range(1, 5_000):
        if told(one.wake(now_us)):
            sent.append(now_us)
    assert sent == [10, 30, 70, 150, 310, 630, 1270, 2230, 3190, 4150], "at most every 16 times of 60 us"


def test_what_a_home_has_and_cannot_make_safe_is_sent_ever_more_rarely() -> None:
    one = client()
    one.publish(Publication(("G1",), b"p"), 0)
    sent = []
    for now_us in range(1, 5_000):
        if told(one.wake(now_us)):
            sent.append(now_us)
        if now_us - 1 in (0, *sent):
            one.receive(Received(("S:1",)), "H", now_us)
    assert sent == [61, 182, 423, 904, 1865, 2826, 3787, 4748]


def test_where_round_trips_take_long_it_is_sent_again_later_until_they_do_not() -> None:
    one = client()
    one.publish(Publication(("G1",), b"p"), 0)
    one.wake(10)
    one.receive(Received(("S:1",)), "H", 60)
    one.publish(Publication(("G1",), b"p"), 70)
    assert one.next_wake() == 170, "twice the 50 us that the last one took"
    one.receive(Received(("S:2",)), "H", 71)
    for n in range(3, 30):
        one.publish(Publication(("G1",), b"p"), 100)
        one.receive(Received((f"S:{n}",)), "H", 101)
    one.receive(Published(tuple(f"S:{n}" for n in range(30))), "H", 102)
    one.publish(Publication(("G1",), b"p"), 200)
    assert one.next_wake() == 210


def test_round_trips_are_told_from_what_is_safe_too_where_a_home_is_alone() -> None:
    one = client()
    one.publish(Publication(("G1",), b"p"), 0)
    one.receive(Published(("S:1",)), "H", 60)
    one.publish(Publication(("G1",), b"p"), 70)
    assert one.next_wake() == 190, "twice the 60 us that the last one took"
    one.receive(Received(("S:2",)), "H", 71)
    trip_us = one.outbox._trip_us
    one.receive(Published(("S:2",)), "H", 900)
    assert one.outbox._trip_us == trip_us, "that it is safe came later than that it was received"


def test_past_its_deadline_it_is_resent_as_a_header_until_that_is_safe() -> None:
    one = client(clock_bound_us=3)
    one.publish(Publication(("G1",), b"p", deadline_us=54), 0)
    effects = one.wake(60)
    frame = frame_to(effects, "H", Publish)
    assert not frame.headers_only and frame.envelopes[0].message.payload == b"p", "other clocks may be behind"
    frame = frame_to(one.wake(120), "H", Publish)
    assert frame.headers_only and frame.envelopes[0].message.payload == b""
    assert frame.envelopes[0].stamp.own == (("S@G1", 1),)
    assert frame_to(one.wake(5000), "H", Publish).headers_only, "somebody may wait for what follows it"
    one.receive(Published(("S:1",)), "H", 5001)
    assert not one.outbox.unacked and one.next_wake() is None


def test_what_is_due_together_goes_in_the_order_of_publication() -> None:
    one = client()
    for _ in range(3):
        one.publish(Publication(("G1",), b"p"), 5)
    one.receive(Received(("S:1",)), "H", 6)
    one.receive(Received(("S:1",)), "H", 6)
    assert told(one.wake(66)) == ["publish to H: S:1", "publish to H: S:2", "publish to H: S:3"]
    assert told(one.wake(66)) == [], "each of them once"


def test_a_timer_that_was_put_off_does_not_come_early() -> None:
    one = client()
    one.publish(Publication(("G1",), b"p"), 5)
    one.publish(Publication(("G1",), b"p"), 9)
    one.receive(Received(("S:1",)), "H", 6)
    assert one.next_wake() == 19 and told(one.wake(18)) == []
    one.receive(Published(("S:2",)), "H", 18)
    assert one.next_wake() == 66


def test_another_home_is_not_held_to_the_round_trips_of_the_last_one() -> None:
    one = client()
    one.publish(Publication(("G1",), b"p"), 0)
    one.receive(Received(("S:1",)), "H", 90)
    assert one.outbox._trip_us == 90
    one.outbox.publish_again(100)
    assert one.outbox._trip_us == 0 and one.outbox.next_us() == 110, "one retry, not twice the 90 us that H took"
    one.outbox.safe(("S:1",), 130)
    assert one.outbox._trip_us == 30, "it has said no RECEIVED: that it is safe is the end of a round trip"
