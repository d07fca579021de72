"""Retained messages: which is kept, whatever order they come in; who is sent a copy, and when it goes away."""

from __future__ import annotations

import contextlib
import itertools
import time

from antecede.core.message import Envelope, Message, Stamp
from antecede.live.message import pack_content
from antecede.live.mqtt.mapping import More, _encode
from antecede.live.mqtt.retained import TOMBSTONE_US, Retained
from tests.live.mqtt.harness import Brokers, Paho, brokers, until


def kept(sender: str, seq: int, rank: int, body: bytes = b"x", topic: str = "t", due_us: int | None = None) -> Envelope:
    content = pack_content(body, None, 1, _encode(More(retain=True)))
    return Envelope(Message(sender, seq, (topic,), content, due_us), Stamp(((sender, seq),), rank=rank))


def test_the_greatest_rank_and_id_wins_in_whichever_order_they_come() -> None:
    some = [kept("a", 1, 5, b"1"), kept("b", 1, 7, b"2"), kept("a", 2, 7, b"3"), kept("c", 1, 2, b"")]
    for order in itertools.permutations(some):
        store = Retained()
        for envelope in order:
            store.learned(envelope, 1)
        assert [one.told.body for one in store.matching(["t"], 2)] == [b"2"]


def test_a_tombstone_stays_until_nothing_it_outranks_can_come() -> None:
    store = Retained()
    assert store.learned(kept("a", 2, 9, b""), 1)
    assert not store.learned(kept("a", 1, 8), 2)
    assert len(store) == 0 and not list(store.matching(["#"], 3))
    store.learned(kept("b", 1, 1, topic="u"), 2 * TOMBSTONE_US)
    assert list(store.by_topic) == ["u"]


def test_what_has_expired_is_not_kept() -> None:
    store = Retained()
    store.learned(kept("a", 1, 1, due_us=100), 1)
    assert len(list(store.matching(["t"], 100))) == 1
    assert not list(store.matching(["+"], 101)) and not store.by_topic


def test_whoever_publishes_last_replaces_what_is_retained_also_a_client_that_was_sent_nothing() -> None:
    with brokers(2) as two, Paho(two.port(0)).connect() as busy:
        for n in range(30):  # so that its messages have a high rank
            busy.publish("last/other", b"%d" % n, 1)
        for n, body in enumerate((b"first", b"", b"second", b"third")):
            with contextlib.nullcontext(busy) if n < 2 else Paho(two.port(n % 2)).connect() as pub:
                pub.publish("last/1", body, 1, retain=True)
            for door in (two.door(0), two.door(1)):
                assert until(lambda door=door, body=body: door.retained.by_topic["last/1"].told.body == body), body  # type: ignore[misc]


def test_a_retained_message_is_sent_to_who_comes_later(one: Brokers) -> None:
    with Paho(one.port()).connect() as pub, Paho(one.port()).connect() as sub:
        pub.publish("kept/1", b"old", 1, retain=True)
        pub.publish("kept/1", b"new", 2, retain=True, UserProperty=[("a", "2"), ("c", "3")])
        pub.publish("kept/2", b"gone", 1, retain=True)
        pub.publish("kept/2", b"", 1, retain=True)
        pub.publish("kept/3", b"expires", 1, retain=True, MessageExpiryInterval=1)
        time.sleep(1.1)
        sub.subscribe("kept/#")
        assert sub.got(1) == [b"new"] and sub.quiet() == [b"new"]
        assert sub.messages[0].retain and sub.messages[0].qos == 2
        said = sub.messages[0].properties
        assert said is not None and said.UserProperty == [("a", "2"), ("c", "3")]
        pub.publish("kept/1", b"", 1, retain=True)
        assert sub.got(2)[1] == b"" and not sub.messages[1].retain


def test_all_brokers_keep_the_same() -> None:
    with brokers(2) as two:
        with Paho(two.port(0)).connect() as a, Paho(two.port(1)).connect() as b:
            for n in range(40):
                (a if n % 2 else b).client.publish("race", b"%d" % n, 1, retain=True)
            assert until(lambda: len(a.published) == 20 and len(b.published) == 20)
            keys = [lambda n=n: two.door(n).retained.by_topic["race"].key for n in range(2)]
            assert until(lambda: keys[0]() == keys[1]())
            time.sleep(0.2)
            assert keys[0]() == keys[1]()
        for n in range(2):
            with Paho(two.port(n)).connect() as sub:
                sub.subscribe("race")
                sub.got(1)
                assert sub.messages[0].payload == two.door(0).retained.by_topic["race"].told.body


def test_a_snapshot_never_follows_newer_live_data() -> None:
    """EMQX #15176: a subscriber of one broker, a publisher of retained messages at another."""
    with brokers(2) as two, Paho(two.port(0)).connect() as pub:
        n = 0
        for _ in range(15):
            with Paho(two.port(1)).connect() as sub:
                pub.client.publish("live", b"%d" % n, 1, retain=True)
                n += 1
                sub.client.subscribe("live", 1)
                for _ in range(8):
                    pub.client.publish("live", b"%d" % n, 1, retain=True)
                    n += 1
                last = b"%d" % (n - 1)
                assert until(lambda sub=sub, last=last: sub.messages and sub.messages[-1].payload == last)  # type: ignore[misc]
                numbers = [int(message.payload) for message in sub.messages]
                assert numbers == sorted(set(numbers)), numbers
                assert not any(message.retain for message in sub.messages[1:])
