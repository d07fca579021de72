"""Brokers with an MQTT door in a thread of their own, and paho-mqtt clients that keep all that they are told."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import mqtt5
from paho.mqtt.client import Client, MQTTMessage, MQTTv5
from paho.mqtt.enums import CallbackAPIVersion
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from paho.mqtt.subscribeoptions import SubscribeOptions

from antecede.live.broker import Broker
from antecede.live.mqtt.door import Door

__all__ = ["Brokers", "Paho", "Raw", "brokers", "publish_properties", "until"]

T = TypeVar("T")


def until(condition: Callable[[], object], seconds: float = 10.0) -> bool:
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.005)
    return True


class Brokers:
    """Brokers A, B, ... that run in one event loop, in a thread."""

    def __init__(
        self, count: int, records: Path | None, table: dict[str, list[str]] | None, keys: Path | None = None
    ) -> None:
        self.brokers: list[Broker] = []
        self._records, self._table, self._keys = records, table, keys
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="brokers")
        self._thread.start()
        self.call(self._start(count))

    async def _start(self, count: int) -> None:
        for n in range(count):
            broker = Broker(
                "127.0.0.1:0", name="ABCDEF"[n], join=[self.brokers[0].url] if n else [], http=0, mqtt=0,
                records=None if self._records is None else str(self._records), table=self._table,
                keys=self._keys,
            )  # fmt: skip
            await broker.start()
            self.brokers.append(broker)
        for _ in range(2000):
            if all(len(broker.managed.brokers()) == count and broker.machine.joined for broker in self.brokers):
                return
            await asyncio.sleep(0.005)
        raise AssertionError("the brokers did not find each other")

    def call(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(60)

    def do(self, act: Callable[[], T]) -> T:
        """In the loop of the brokers."""

        async def doing() -> T:
            return act()

        return self.call(doing())

    def door(self, n: int = 0) -> Door:
        door = self.brokers[n].door
        assert door is not None
        return door

    def port(self, n: int = 0) -> int:
        address = self.door(n).address
        assert address is not None
        return address[1]

    def stop(self) -> None:
        async def stopping() -> None:
            for broker in reversed(self.brokers):
                await broker.stop(1.0)

        try:
            self.call(stopping())
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()


@contextmanager
def brokers(
    count: int = 1, records: Path | None = None, table: dict[str, list[str]] | None = None
) -> Iterator[Brokers]:
    running = Brokers(count, records, table)
    try:
        yield running
    finally:
        running.stop()


def publish_properties(**values: Any) -> Properties:
    properties = Properties(PacketTypes.PUBLISH)
    for name, value in values.items():
        setattr(properties, name, value)
    return properties


class Paho:
    """A client that nobody here wrote."""

    def __init__(self, port: int, client_id: str = "", transport: str = "tcp") -> None:
        self.port, self.host = port, "127.0.0.1"
        self.client = Client(CallbackAPIVersion.VERSION2, client_id, protocol=MQTTv5, transport=transport)  # type: ignore[arg-type]
        self.messages: list[MQTTMessage] = []
        self.connacks: list[tuple[bool, int, Any]] = []
        self.disconnects: list[int] = []
        self.subacks: list[list[int]] = []
        self.unsubacks: list[list[int]] = []
        self.published: list[tuple[int, int]] = []
        self.client.on_connect = lambda c, u, flags, reason, properties: self.connacks.append(
            (flags.session_present, reason.value, properties)
        )
        self.client.on_disconnect = lambda c, u, flags, reason, properties: self.disconnects.append(reason.value)
        self.client.on_subscribe = lambda c, u, mid, reasons, properties: self.subacks.append(
            [r.value for r in reasons]
        )
        self.client.on_unsubscribe = lambda c, u, mid, reasons, properties: self.unsubacks.append(
            [r.value for r in reasons]
        )
        self.client.on_publish = lambda c, u, mid, reason, properties: self.published.append((mid, reason.value))
        self.client.on_message = lambda c, u, message: self.messages.append(message)

    def connect(self, *, clean: bool = True, keepalive: int = 60, wait: bool = True, **values: Any) -> Paho:
        properties = Properties(PacketTypes.CONNECT)
        for name, value in values.items():
            setattr(properties, name, value)
        before = len(self.connacks)
        self.client.connect(self.host, self.port, keepalive=keepalive, clean_start=clean, properties=properties)
        self.client.loop_start()
        if wait:
            assert until(lambda: len(self.connacks) > before), "no CONNACK"
        return self

    @property
    def session_present(self) -> bool:
        return self.connacks[-1][0]

    def subscribe(self, *filters: str, qos: int = 2, identifier: int | None = None, **options: Any) -> list[int]:
        properties = None
        if identifier is not None:
            properties = Properties(PacketTypes.SUBSCRIBE)
            properties.SubscriptionIdentifier = identifier
        before = len(self.subacks)
        pairs = [(one, SubscribeOptions(qos, **options)) for one in filters]
        self.client.subscribe(pairs, properties=properties)  # type: ignore[arg-type]
        assert until(lambda: len(self.subacks) > before), "no SUBACK"
        return self.subacks[-1]

    def unsubscribe(self, *filters: str) -> list[int]:
        before = len(self.unsubacks)
        self.client.unsubscribe(list(filters))
        assert until(lambda: len(self.unsubacks) > before), "no UNSUBACK"
        return self.unsubacks[-1]

    def publish(self, topic: str, payload: bytes, qos: int = 0, retain: bool = False, **values: Any) -> None:
        """Returns once it is acknowledged."""
        properties = publish_properties(**values) if values else None
        self.client.publish(topic, payload, qos, retain, properties).wait_for_publish(10)

    def got(self, count: int, seconds: float = 10.0) -> list[bytes]:
        """The payloads, once there are so many."""
        assert until(lambda: len(self.messages) >= count, seconds), [m.payload for m in self.messages]
        return [message.payload for message in self.messages]

    def quiet(self, seconds: float = 0.3) -> list[bytes]:
        """The payloads after a while in which nothing more should come."""
        time.sleep(seconds)
        return [message.payload for message in self.messages]

    def close(self, **values: Any) -> None:
        properties = Properties(PacketTypes.DISCONNECT)
        for name, value in values.items():
            setattr(properties, name, value)
        before, was_connected = len(self.disconnects), self.client.is_connected()
        self.client.disconnect(properties=properties)
        if was_connected:
            until(lambda: len(self.disconnects) > before, 2)
        self.client.loop_stop()

    def vanish(self) -> None:
        """The connection breaks: no DISCONNECT."""
        sock = self.client.socket()
        self.client.loop_stop()
        if sock is not None:
            sock.close()

    def __enter__(self) -> Paho:
        return self

    def __exit__(self, *_: object) -> None:
        if self.client.is_connected():
            self.close()
        self.client.loop_stop()


class Raw:
    """A socket and the codec: for what no client library would send."""

    def __init__(self, port: int) -> None:
        self.sock = socket.create_connection(("127.0.0.1", port), timeout=10)
        self._kept = b""

    def send(self, *packets: Any) -> Raw:
        self.sock.sendall(b"".join(one if isinstance(one, bytes) else one.write() for one in packets))
        return self

    def connect(self, client_id: str, **values: Any) -> mqtt5.ConnAckPacket:
        self.send(mqtt5.ConnectPacket(client_id, **{"clean_start": True, **values}))
        answer = self.read()
        assert isinstance(answer, mqtt5.ConnAckPacket)
        return answer

    def read(self, seconds: float = 10.0) -> mqtt5.Packet | None:
        """The next packet; None: the connection has ended. TimeoutError when nothing comes."""
        self.sock.settimeout(seconds)
        while True:
            try:
                packet, size = mqtt5.read(memoryview(self._kept))
            except IndexError:
                try:
                    data = self.sock.recv(65536)
                except ConnectionError:
                    return None
                if not data:
                    return None
                self._kept += data
                continue
            self._kept = self._kept[size:]
            return packet

    def bytes(self, count: int) -> bytes:
        while len(self._kept) < count:
            data = self.sock.recv(65536)
            if not data:
                break
            self._kept += data
        return self._kept[:count]

    def close(self) -> None:
        self.sock.close()

    def __enter__(self) -> Raw:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
