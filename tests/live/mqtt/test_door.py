"""Who comes in: identifiers, what CONNACK says, the last CONNECT wins, and the end of a broker."""

from __future__ import annotations

import mqtt5

from antecede.live.mqtt.connection import KEEP_ALIVE_S
from antecede.live.mqtt.packets import MAX_PACKET
from antecede.live.status import status_of
from tests.live.mqtt.harness import Brokers, Paho, Raw, brokers, until


def test_connack_says_what_is_offered(one: Brokers) -> None:
    with Raw(one.port()) as raw:
        said = raw.connect("", keep_alive=2 * KEEP_ALIVE_S)
        assert said.reason_code == 0 and not said.session_present and said.assigned_client_id
        assert said.server_keep_alive == KEEP_ALIVE_S and said.max_packet_size == MAX_PACKET
        assert said.receive_max > 0 and said.topic_alias_max > 0
        assert not said.shared_subscription_available and said.wildcard_subscription_available
    with Raw(one.port()) as raw:
        said = raw.connect("named", keep_alive=10)
        assert said.assigned_client_id is None and said.server_keep_alive is None


def test_any_client_identifier_will_do(one: Brokers) -> None:
    for client_id in ("a.b:c@d~e", "ü/#+", "x" * 500):
        with Paho(one.port(), client_id).connect() as client:
            client.subscribe("ids/#")
            client.publish("ids/1", client_id.encode(), 1)
            assert client.got(1) == [client_id.encode()]
    with Raw(one.port()) as raw:
        assert raw.connect("x" * 2000).reason_code == 0x85


def test_what_is_not_known_here_is_refused(one: Brokers) -> None:
    with Raw(one.port()) as raw:
        assert raw.connect("auth", authentication_method="x").reason_code == 0x8C
        assert raw.read() is None


def test_the_last_connect_wins_and_takes_the_session(one: Brokers) -> None:
    first = Paho(one.port(), "twice").connect(SessionExpiryInterval=60)
    first.client.reconnect_delay_set(60)
    first.subscribe("twice/#")
    with Paho(one.port(), "twice").connect(clean=False, SessionExpiryInterval=60) as second:
        assert until(lambda: first.disconnects == [0x8E])
        first.client.loop_stop()
        assert second.session_present
        second.publish("twice/1", b"x", 1)
        assert second.got(1) == [b"x"]
        with Paho(one.port(), "twice").connect() as third:
            assert not third.session_present
            assert until(lambda: second.disconnects == [0x8E])
            second.client.loop_stop()
            third.publish("twice/1", b"y", 1)
            assert third.quiet() == []


def test_clients_are_told_that_the_broker_stops() -> None:
    with brokers() as running:
        client = Paho(running.port()).connect()
        client.client.reconnect_delay_set(60)
    assert until(lambda: client.disconnects == [0x8B])
    client.client.loop_stop()


def test_a_request_for_anything_but_mqtt_is_closed(one: Brokers) -> None:
    with Raw(one.port()) as raw:
        raw.send(b"GET / HTTP/1.1\r\n\r\n")
        answer = raw.read()
        assert answer is None or (isinstance(answer, mqtt5.ConnAckPacket) and int(answer.reason_code) >= 0x80)


def test_the_status_page_tells_of_the_door(one: Brokers) -> None:
    with Paho(one.port(), "seen").connect() as client:
        client.publish("status", b"kept", 1, retain=True)
        told = one.do(lambda: status_of(one.brokers[0]))["mqtt"]
        assert told["address"] == f"127.0.0.1:{one.port()}" and told["sessions"] >= 1 and told["retained"] == 1
        assert told["counts"]["published"] >= 1
        client.publish("status", b"", 1, retain=True)
