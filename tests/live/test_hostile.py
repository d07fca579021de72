"""Bytes of strangers, truncated, flipped, oversized and replayed: counted and dropped; the broker serves on."""

from __future__ import annotations

import asyncio
import random
import socket
from typing import Any

import msgspec

from antecede.core.frames import Ack, Attach, Detach, Grow, Ping, Publish, Sync, Want
from antecede.core.membership.news import News
from antecede.core.message import Envelope, Message, Stamp
from antecede.live.broker import Broker
from antecede.live.client import connect
from antecede.live.datagram import prefix_for
from antecede.live.session import CLIENT, VERSION, Hello
from antecede.wire import encode

GOOD = [
    encode(frame)
    for frame in (
        Ack(1, 3), Attach(1, ("#",), None), Attach(2, ("a/#", "b"), {"x@0": 7}, ("x:9",), 9), Want(1, (1, 2, 7)),
        Detach(2), Ping(1, ()), Sync((), True), Sync((News("x", "subscriber", (), "", ("A",), 2),)),
        Grow(1, 1, ("t",), 0, {}), Publish((Envelope(Message("x", 1, ("t",), b"payload"), Stamp((("x@0", 1),))),)),
    )
]  # fmt: skip


def spoilt(dice: random.Random) -> bytes:
    """A frame as it is (a replay), or with a bit flipped, cut short, or with something after it."""
    frame = bytearray(dice.choice(GOOD))
    kind = dice.randrange(5)
    if kind in (0, 1):
        frame[dice.randrange(1, len(frame))] ^= 1 << dice.randrange(8)
    elif kind == 2:
        del frame[dice.randrange(2, len(frame)) :]
    elif kind == 3:
        frame += dice.randbytes(dice.randrange(1, 20))
    return bytes(frame)


async def pour_datagrams(broker: Broker, dice: random.Random, count: int) -> None:
    prefix = prefix_for("stranger")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
        for n in range(count):
            frame = spoilt(dice)
            datagram = prefix + len(frame).to_bytes(3, "little") + frame
            if n % 3 == 0:
                datagram = bytes((dice.choice((0x81, 0x82)),)) + datagram[1 : 1 + dice.randrange(1, 60)]
            out.sendto(datagram, broker.address)
            if n % 50 == 0:
                await asyncio.sleep(0)


async def pour_connections(broker: Broker, dice: random.Random, count: int) -> None:
    for n in range(count):
        _, writer = await asyncio.open_connection(*broker.address)
        if n % 4:
            hello = b"\0" + msgspec.msgpack.encode(Hello(VERSION, CLIENT, f"x{n}"))
            writer.write(len(hello).to_bytes(4, "little") + hello)
            for _ in range(10):
                frame = spoilt(dice)
                writer.write(len(frame).to_bytes(4, "little") + frame)
        else:
            writer.write(dice.choice((b"\xff\xff\xff\xff", b"GET / HTTP/1.1\r\n\r\n", dice.randbytes(200))))
        try:
            await writer.drain()
            await asyncio.sleep(0.001)
        except ConnectionError:
            pass
        writer.close()


def test_a_broker_under_five_thousand_malformed_frames_serves_on() -> None:
    async def main() -> None:
        faults: list[dict[str, Any]] = []
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: faults.append(context))
        dice = random.Random(1)
        async with (
            Broker("127.0.0.1:0", name="A") as broker,
            connect(broker.url, name="ann") as ann,
            connect(broker.url, name="bob") as bob,
            bob.subscribe("mine") as inbox,
        ):
            await pour_datagrams(broker, dice, 3000)
            await pour_connections(broker, dice, 250)
            await ann.publish("mine", b"still here")
            assert (await inbox.get(20)).payload == b"still here"
            assert broker.hub.counts.refused > 1000
            assert len(broker.hub.sessions) < 20
            assert not faults, faults[0]

    asyncio.run(main())
