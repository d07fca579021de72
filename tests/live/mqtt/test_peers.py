"""Sessions and retained messages across brokers: the last CONNECT wins, and what it finds there."""

from __future__ import annotations

import gc
import time
from pathlib import Path

import mqtt5

from antecede.live.broker import Broker
from antecede.live.mqtt.peers import Take
from antecede.trace.check import check
from tests.live.mqtt.harness import Paho, Raw, brokers, until


def test_a_session_moves_with_what_waits_for_it(tmp_path: Path) -> None:
    with brokers(2, records=tmp_path) as two, Paho(two.port(1)).connect() as pub:
        first = Paho(two.port(0), "mover").connect(SessionExpiryInterval=60)
        first.subscribe("mv/#", qos=1)
        pub.publish("mv/1", b"1", 1)
        first.got(1)
        first.close()
        for n in range(2, 6):
            pub.publish("mv/1", b"%d" % n, 1)
        time.sleep(0.3)
        with Paho(two.port(1), "mover").connect(clean=False, SessionExpiryInterval=60) as second:
            assert second.session_present
            assert second.got(4) == [b"2", b"3", b"4", b"5"]
            assert "mover" not in two.door(0).sessions
            pub.publish("mv/1", b"6", 1)
            assert second.got(5)[4] == b"6"
            second.publish("mv/own", b"7", 1)
            assert second.got(6)[5] == b"7"
            assert second.quiet() == [b"2", b"3", b"4", b"5", b"6", b"7"]
    assert check(tmp_path).findings == []


def test_the_last_connect_wins_in_the_whole_cluster() -> None:
    with brokers(2) as two:
        first = Paho(two.port(0), "one").connect(SessionExpiryInterval=60)
        first.client.reconnect_delay_set(60)
        first.subscribe("t")
        with Paho(two.port(1), "one").connect(clean=False, SessionExpiryInterval=60) as second:
            assert until(lambda: first.disconnects == [0x8E])
            first.client.loop_stop()
            assert second.session_present
            second.publish("t", b"x", 1)
            assert second.got(1) == [b"x"]
        with Paho(two.port(0), "one").connect(clean=True) as third:
            assert not third.session_present
            assert until(lambda: "one" not in two.door(1).sessions)


def test_what_is_on_its_way_moves_too() -> None:
    with brokers(2) as two, Paho(two.port(0)).connect() as pub:
        with Raw(two.port(0)) as raw:
            raw.connect("flight", session_expiry_interval=60)
            raw.send(mqtt5.SubscribePacket(1, [mqtt5.TopicFilter("f")], subscription_id=9)).read()
            for qos in (1, 2):
                pub.publish("f", b"%d" % qos, qos)
            sent = [raw.read(), raw.read()]
            numbers = [one.packet_id for one in sent if isinstance(one, mqtt5.PublishPacket)]
            q2 = mqtt5.PublishPacket("g", b"x", qos=mqtt5.QoS.EXACTLY_ONCE, packet_id=5)
            assert isinstance(raw.send(q2).read(), mqtt5.PubRecPacket)
        with Raw(two.port(1)) as raw:
            assert raw.connect("flight", clean_start=False, session_expiry_interval=60).session_present
            again = [raw.read(), raw.read()]
            for one, number in zip(again, numbers, strict=True):
                assert isinstance(one, mqtt5.PublishPacket)
                assert one.duplicate and one.packet_id == number and one.subscription_ids == [9]
            done = raw.send(mqtt5.PubRelPacket(5)).read()
            assert isinstance(done, mqtt5.PubCompPacket) and done.reason_code == 0


def test_a_session_whose_holder_is_gone_begins_anew() -> None:
    with brokers(2) as two:
        first = Paho(two.port(0), "orphan").connect(SessionExpiryInterval=60)
        first.client.reconnect_delay_set(60)
        first.subscribe("t")
        two.do(two.brokers[0].crash)
        first.client.loop_stop()
        with Paho(two.port(1), "orphan").connect(clean=False, SessionExpiryInterval=60) as second:
            assert not second.session_present
        two.brokers.pop(0)
    gc.collect()  # a connection that a crashed broker left open would be told of here


def test_of_two_that_come_at_once_the_later_one_wins() -> None:
    with brokers(2) as two:
        peers = two.door(0).peers

        async def give(claim: tuple[int, str]) -> bytes:
            return await peers._give(Take("race", False, claim))

        peers._claims["race"] = (10, "A")
        assert two.call(give((9, "B"))) == b"\0" and peers._claims["race"] == (10, "A")
        assert two.call(give((11, "B"))) == b"" and peers._claims["race"] == (11, "B")
        del peers._claims["race"]
        clients = [Paho(two.port(n % 2), "race").connect(clean=False, wait=False) for n in range(6)]
        for client in clients:
            client.client.reconnect_delay_set(60)
        assert until(lambda: all(client.connacks or client.disconnects for client in clients), 30)
        assert until(lambda: sum(len(two.door(n).sessions) for n in range(2)) == 1, 30)
        for client in clients:
            client.close()


def test_a_broker_that_comes_later_takes_over_what_is_retained() -> None:
    with brokers(1) as one, Paho(one.port()).connect() as pub:
        for n in range(50):
            pub.publish(f"kept/{n}", b"x" * 20_000 if n == 7 else b"%d" % n, 1, retain=True)
        pub.publish("kept/3", b"", 1, retain=True)

        async def join() -> Broker:
            broker = Broker("127.0.0.1:0", name="B", join=[one.brokers[0].url], mqtt=0)
            await broker.start()
            return broker

        one.brokers.append(one.call(join()))
        assert until(lambda: len(one.door(1).retained) == 49)
        with Paho(one.port(1)).connect() as sub:
            sub.subscribe("kept/+")
            assert sorted(sub.got(49)) == sorted(b"x" * 20_000 if n == 7 else b"%d" % n for n in range(50) if n != 3)


def test_a_client_is_told_where_to_go() -> None:
    with brokers(2, table={"here/#": ["A"], "there/#": ["B"]}) as two, Raw(two.port(0)) as raw:
        raw.connect("lost")
        answer = raw.send(mqtt5.SubscribePacket(1, [mqtt5.TopicFilter("there/1")])).read()
        assert isinstance(answer, mqtt5.DisconnectPacket) and answer.reason_code == 0x9C
        assert answer.server_reference == f"127.0.0.1:{two.port(1)}"


def test_a_broker_that_does_not_answer_has_nothing() -> None:
    with brokers(1) as one:

        async def ask() -> list[bytes]:
            return await one.door().peers.ask("nobody", "mqtt kept")

        assert one.call(ask()) == []
