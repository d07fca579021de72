"""A connection: silence, slowness, an older version, a packet that is too large, a breach and its reason."""

from __future__ import annotations

import asyncio
import errno
import time

import mqtt5
import pytest

import antecede.live.mqtt.connection as connection
from antecede.live.mqtt.packets import MAX_PACKET
from tests.live.mqtt.harness import Brokers, Paho, Raw, until


def test_an_older_version_is_refused_in_its_own_words_and_the_log_says_what_to_do(
    one: Brokers, caplog: pytest.LogCaptureFixture
) -> None:
    with Raw(one.port()) as raw:
        raw.send(b"\x10\x0f\x00\x04MQTT\x04\x02\x00<\x00\x03abc")
        assert raw.bytes(4) == b"\x20\x02\x00\x01"
    assert "-V 5" in caplog.text


def test_who_is_silent_for_too_long_is_gone_and_its_will_comes(one: Brokers) -> None:
    with Paho(one.port()).connect() as sub, Raw(one.port()) as raw:
        sub.subscribe("silent")
        raw.connect("quiet", keep_alive=1, will=mqtt5.Will("silent", payload=b"gone"))
        raw.send(mqtt5.PingReqPacket())
        assert isinstance(raw.read(), mqtt5.PingRespPacket)
        began = time.monotonic()
        answer = raw.read()
        assert isinstance(answer, mqtt5.DisconnectPacket) and answer.reason_code == 0x8D
        assert 1.2 < time.monotonic() - began < 4
        assert sub.got(1) == [b"gone"]


def test_who_says_nothing_or_says_it_too_slowly_is_closed(one: Brokers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "CONNECT_S", 0.3)
    packet = mqtt5.ConnectPacket("slow").write()
    silent = [Raw(one.port()) for _ in range(50)]
    with Raw(one.port()) as drip, Paho(one.port()).connect() as other:
        for byte in packet[:-1]:
            try:
                drip.send(bytes([byte]))
            except OSError:
                break
            time.sleep(0.05)
        assert drip.read() is None
        assert all(raw.read() is None for raw in silent)
        other.subscribe("goes/on")
        other.publish("goes/on", b"x", 1)
        assert other.got(1) == [b"x"]
    for raw in silent:
        raw.close()
    assert until(lambda: one.door().counts["too_slow"] >= 51)


def test_a_packet_that_is_too_large_is_refused_before_it_has_come(one: Brokers) -> None:
    with Raw(one.port()) as raw:
        raw.connect("large")
        raw.send(b"\x30\xff\xff\xff\x7f")  # 256 MiB are announced, nothing of it is sent
        answer = raw.read()
        assert isinstance(answer, mqtt5.DisconnectPacket) and answer.reason_code == 0x95
    with Raw(one.port()) as raw:
        raw.connect("large")
        raw.send(mqtt5.PublishPacket("t", b"." * MAX_PACKET))
        answer = raw.read()
        assert isinstance(answer, mqtt5.DisconnectPacket) and answer.reason_code == 0x95


def test_a_breach_is_answered_with_its_reason_unless_reasons_are_not_wanted(one: Brokers) -> None:
    for wanted in (True, False):
        with Raw(one.port()) as raw:
            raw.connect("breach", request_problem_info=wanted)
            raw.send(b"\x30\x05\x00\x01#\x00x")
            answer = raw.read()
            assert isinstance(answer, mqtt5.DisconnectPacket) and answer.reason_code == 0x90
            assert (answer.reason_str is not None) == wanted
            assert raw.read() is None


def test_a_second_connect_and_packets_before_it_are_breaches(one: Brokers) -> None:
    with Raw(one.port()) as raw:
        raw.connect("second")
        answer = raw.send(mqtt5.ConnectPacket("second")).read()
        assert isinstance(answer, mqtt5.DisconnectPacket) and answer.reason_code == 0x82
    with Raw(one.port()) as raw:
        raw.send(mqtt5.PingReqPacket())
        answer = raw.read()
        assert answer is None or isinstance(answer, mqtt5.ConnAckPacket)


def test_packets_sent_right_after_connect_wait_for_connack(one: Brokers) -> None:
    with Raw(one.port()) as raw:
        raw.send(
            mqtt5.ConnectPacket("eager", clean_start=True),
            mqtt5.SubscribePacket(1, [mqtt5.TopicFilter("eager")]),
            mqtt5.PublishPacket("eager", b"x", qos=mqtt5.QoS.AT_LEAST_ONCE, packet_id=2),
        )
        kinds = {type(raw.read()) for _ in range(4)}
        assert kinds == {mqtt5.ConnAckPacket, mqtt5.SubAckPacket, mqtt5.PubAckPacket, mqtt5.PublishPacket}


class Reset(asyncio.Transport):
    """A connection that the other side has reset, before this side was told."""

    def write(self, data: object) -> None: ...

    def can_write_eof(self) -> bool:
        return True

    def write_eof(self) -> None:
        raise OSError(errno.ENOTCONN, "Transport endpoint is not connected")

    def abort(self) -> None: ...


def test_a_connect_is_answered_when_the_connection_before_it_was_reset(one: Brokers) -> None:
    with Raw(one.port()) as first, Raw(one.port()) as second:
        first.connect("reset")
        before = one.door().sessions["reset"].connection
        assert before is not None
        before._transport = Reset()
        assert second.connect("reset", clean_start=False).reason_code == 0
        assert before.over


def test_who_waits_for_connack_is_closed_when_admitting_fails(one: Brokers, monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(*_: object) -> None:
        raise RuntimeError("planted")

    monkeypatch.setattr(one.door(), "_session", broken)
    with Raw(one.port()) as raw:
        raw.send(mqtt5.ConnectPacket("waits", clean_start=True))
        assert raw.read(5) is None
