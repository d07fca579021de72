"""A connection: silence, slowness, an older version, a packet that is too large, a breach and its reason."""

from __future__ import annotations

import asyncio
import errno
import time
from collections import Counter
from typing import Any, cast

import mqtt5
import pytest

import antecede.live.mqtt.connection as connection
from antecede.live.mqtt.packets import MAX_PACKET
from antecede.live.session import SHARE
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


class Taken:
    """A door and a session in one, with what was taken in each turn of the event loop."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.packets: list[Any] = []
        self.turns: list[int] = []
        self.ended: list[Any] = []
        self.paused = self.aborted = False
        self.connection = connection.MqttConnection(cast(Any, self))
        self.connection.connection_made(self)

    def opened(self, one: connection.MqttConnection) -> None: ...

    def closed(self, one: connection.MqttConnection) -> None:
        self.ended.append(one)

    def connect(self, one: connection.MqttConnection, packet: mqtt5.ConnectPacket) -> None:
        one.session = cast(Any, self)
        one.welcome(b"")

    def packet(self, packet: Any) -> None:
        self.packets.append(packet)

    def detached(self, one: Any) -> None: ...
    def flow(self) -> None: ...
    def write(self, data: bytes) -> None: ...

    def can_write_eof(self) -> bool:
        return False

    def abort(self) -> None:
        self.aborted = True

    def pause_reading(self) -> None:
        self.paused = True

    def resume_reading(self) -> None:
        self.paused = False

    async def turn(self) -> None:
        before = len(self.packets)
        await asyncio.sleep(0)
        self.turns.append(len(self.packets) - before)


def test_of_each_client_a_share_is_taken_then_it_is_the_turn_of_others() -> None:
    async def main() -> None:
        taken = Taken()
        some = mqtt5.PublishPacket("t", b"x" * 3_000).write()
        taken.connection.data_received(mqtt5.ConnectPacket("eve").write() + some * (3 * SHARE))
        assert taken.paused, "what waits is much: the rest stays in its socket"
        assert len(taken.packets) == SHARE - 1
        for _ in range(4):
            await taken.turn()
        assert taken.turns == [SHARE, SHARE, 1, 0]
        assert not taken.paused and not taken.ended

    asyncio.run(main())


def test_while_it_is_paused_nothing_is_taken_of_what_was_read() -> None:
    async def main() -> None:
        taken = Taken()
        ping = mqtt5.PublishPacket("t", b"").write()
        taken.connection.data_received(mqtt5.ConnectPacket("eve").write())
        await taken.turn()
        taken.connection.pause()
        taken.connection.data_received(ping * 3)
        await taken.turn()
        assert taken.paused and not taken.packets
        taken.connection.resume()
        await taken.turn()
        assert not taken.paused and len(taken.packets) == 3

    asyncio.run(main())


def test_who_waits_for_the_broker_to_read_is_not_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        taken = Taken()
        data = mqtt5.ConnectPacket("eve").write() + mqtt5.PublishPacket("t", b"x" * 3_000).write() * (10 * SHARE)

        def connect(one: connection.MqttConnection, packet: mqtt5.ConnectPacket) -> None:
            one.admit(cast(Any, taken), packet, cast(int, 0.1))
            one.welcome(b"")

        monkeypatch.setattr(taken, "connect", connect)
        monkeypatch.setattr(taken, "packet", lambda packet: time.sleep(0.001))
        taken.connection.data_received(data)
        while taken.paused:
            await taken.turn()
            assert not taken.connection.over
        for _ in range(500):
            await asyncio.sleep(0.01)
            if taken.connection.over:
                break
        assert taken.counts["silent"] == 1, "now it could speak"

    asyncio.run(main())


@pytest.mark.parametrize("paused", [False, True])
def test_what_came_before_it_was_lost_counts(paused: bool) -> None:
    async def main() -> None:
        taken = Taken()
        taken.connection.data_received(mqtt5.ConnectPacket("eve").write())
        await taken.turn()
        if paused:
            taken.connection.pause()
        data = mqtt5.PublishPacket("t", b"").write() * (2 * SHARE) + mqtt5.DisconnectPacket().write()
        taken.connection.data_received(data)
        taken.connection.connection_lost(None)
        assert not taken.ended
        for _ in range(4):
            await taken.turn()
        assert isinstance(taken.packets[-1], mqtt5.DisconnectPacket) and len(taken.packets) == 2 * SHARE + 1
        assert taken.ended == [taken.connection]

    asyncio.run(main())


@pytest.mark.parametrize("lost", [False, True])
def test_a_fault_on_this_side_ends_the_connection(lost: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        faults: list[object] = []
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: faults.append(context["exception"]))
        taken = Taken()

        def packet(packet: Any) -> None:
            taken.packets.append(packet)
            if len(taken.packets) == SHARE + 2:
                raise OSError("no space left on the device")

        monkeypatch.setattr(taken, "packet", packet)
        taken.connection.data_received(mqtt5.ConnectPacket("eve").write())
        taken.connection.data_received(mqtt5.PublishPacket("t", b"").write() * (2 * SHARE))
        if lost:
            taken.connection.connection_lost(None)
        for _ in range(4):
            await taken.turn()
        assert [str(fault) for fault in faults] == ["no space left on the device"]
        assert taken.aborted != lost and taken.connection.over
        assert len(taken.packets) == (2 * SHARE if lost else SHARE + 2), "what came before it was lost counts"
        assert taken.ended == [taken.connection] * lost

    asyncio.run(main())


def test_a_client_that_sends_much_and_leaves_has_published_all_of_it(one: Brokers) -> None:
    count = 20 * SHARE
    with Paho(one.port()).connect() as sub, Raw(one.port()) as raw:
        sub.subscribe("much")
        raw.connect("eve")
        packets = [mqtt5.PublishPacket("much", b"%d" % n).write() for n in range(count)]
        raw.send(b"".join(packets) + mqtt5.DisconnectPacket().write())
        raw.close()
        assert sub.got(count) == [b"%d" % n for n in range(count)]
