"""MQTT where keys are asked for: TLS, a token as the password, rights per topic, sessions that nobody else can take."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from antecede.live.keys import door, store
from tests.live.keys.keyed import Keyed
from tests.live.mqtt.harness import Brokers, Paho, until


@pytest.fixture(scope="module")
def keyed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Keyed, Brokers]]:
    keys = Keyed(tmp_path_factory.mktemp("keys"))
    running = Brokers(1, None, None, keys=keys.directory)
    try:
        yield keys, running
    finally:
        running.stop()


def client(one: tuple[Keyed, Brokers], token: str | None, client_id: str = "") -> Paho:
    keys, running = one
    paho = Paho(running.port(), client_id)
    paho.client.tls_set(str(keys.ca))
    paho.client.tls_insecure_set(False)
    paho.host = "localhost"
    if token is not None:
        paho.client.username_pw_set("anybody", token)
    return paho


def test_a_token_is_the_password_and_says_what_is_allowed(keyed: tuple[Keyed, Brokers]) -> None:
    token = keyed[0].token("ann", publish=("room/#",), subscribe=("room/#", "news/+"))
    with client(keyed, token).connect() as ann:
        assert ann.subscribe("room/1", "news/#", "news/+") == [2, 0x87, 2]
        ann.publish("room/1", b"allowed", 1)
        ann.publish("news/1", b"not allowed", 1)
        assert until(lambda: [code for _, code in ann.published] == [0, 0x87])
        assert ann.got(1) == [b"allowed"] and ann.quiet() == [b"allowed"]


def test_without_the_right_token_nobody_comes_in(keyed: tuple[Keyed, Brokers]) -> None:
    for token in (None, "nonsense", keyed[0].token(seconds=-5)):
        with client(keyed, token) as paho:
            paho.connect()
            assert paho.connacks[-1][1] == 0x87
    refused = keyed[1].brokers[0].protection
    assert refused is not None and sum(refused.refusals.counts.values()) >= 3


def test_a_will_needs_the_right_too(keyed: tuple[Keyed, Brokers]) -> None:
    with client(keyed, keyed[0].token("eve", publish=("eve/#",))) as paho:
        paho.client.will_set("room/1", b"gone")
        paho.connect()
        assert paho.connacks[-1][1] == 0x87


def test_a_session_belongs_to_its_token(keyed: tuple[Keyed, Brokers]) -> None:
    with client(keyed, keyed[0].token("bob"), "shared").connect(SessionExpiryInterval=60) as bob:
        bob.subscribe("room/#")
        with client(keyed, keyed[0].token("eve"), "shared").connect(clean=False) as eve:
            assert not eve.session_present and not bob.disconnects


def test_who_speaks_no_tls_is_not_heard(keyed: tuple[Keyed, Brokers]) -> None:
    paho = Paho(keyed[1].port())
    paho.client.connect("127.0.0.1", keyed[1].port())
    paho.client.loop_start()
    assert until(lambda: paho.disconnects)
    paho.client.loop_stop()
    assert not paho.connacks


def test_connections_that_say_nothing_crowd_out_themselves(
    keyed: tuple[Keyed, Brokers], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(door, "WAITING", 8)
    keys, running = keyed
    protection = running.brokers[0].protection
    assert protection is not None
    silent = [socket.create_connection(("127.0.0.1", running.port())) for _ in range(20)]
    try:
        with client(keyed, keys.token("ann", publish=("room/#",))).connect() as ann:
            ann.publish("room/1", b"goes on", 1)
        assert protection.refusals.counts[door.CROWDED] >= 12
    finally:
        for one in silent:
            one.close()


def test_revoked_while_connected(keyed: tuple[Keyed, Brokers]) -> None:
    token = keyed[0].token("rex")
    with client(keyed, token).connect() as rex:
        rex.client.reconnect_delay_set(60)
        store.revoke(keyed[0].directory, "rex", datetime.now(UTC))
        assert until(lambda: rex.disconnects == [0x87], 20)
        rex.client.loop_stop()
