"""A session as a value: what is packed is unpacked, under the next life's name."""

from __future__ import annotations

import pytest

from antecede.errors import RemoteProtocolError
from antecede.live.mqtt.moving import Moved, next_name, pack, read_moved, unpack
from antecede.live.mqtt.session import MqttSession
from antecede.live.mqtt.subscriptions import Subscription
from tests.live.mqtt.harness import Brokers, Paho, until


def test_what_is_packed_is_unpacked(one: Brokers) -> None:
    with Paho(one.port(), "packed").connect(SessionExpiryInterval=60) as client, Paho(one.port()).connect() as pub:
        client.subscribe("pk/#", qos=1, identifier=5, noLocal=True)
        client.close()
        pub.publish("pk/1", b"x", 1)
        session = one.door().sessions["packed"]
        assert until(lambda: session.seat.waiting == 1)
        moved = read_moved(one.do(lambda: pack(session)))
        assert moved.name == session.seat.name and len(moved.line) == 1 and session.seat.waiting == 0

        def make() -> MqttSession:
            other = MqttSession(one.door(), "packed", next_name(moved))
            unpack(moved, other)
            return other

        other = one.do(make)
        assert other.seat.name == f"{session.seat.name}.1" and other.expiry_s == 60
        assert other.subscriptions.by_filter == {"pk/#": Subscription("pk/#", 1, True, False, 5)}
        assert [told.body for told in other.line] == [b"x"]


def test_what_is_no_session_is_refused() -> None:
    with pytest.raises(RemoteProtocolError, match="no session"):
        read_moved(b"\x01")
    assert next_name(Moved("m1.4", b"", 0, [], [], [], [], {})) == "m1.5"
