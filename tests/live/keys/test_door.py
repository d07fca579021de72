"""Whoever says nothing, says it slowly, or says it without TLS is shut out in time; who is known comes in meanwhile."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
import time
from pathlib import Path

import pytest

from antecede.live.broker import Broker
from antecede.live.calling import call
from antecede.live.keys import door
from antecede.live.keys.door import CROWDED, NO_TLS, SILENT
from antecede.live.keys.tls import caller_tls
from antecede.live.network import SocketNetwork
from antecede.live.session import VERSION, VISITOR, Hello
from antecede.live.status import status_of
from tests.live.cluster import until
from tests.live.keys.keyed import Keyed


@pytest.fixture
def keyed(tmp_path: Path) -> Keyed:
    return Keyed(tmp_path / "keys")


async def dial(broker: Broker) -> socket.socket:
    one = socket.socket()
    one.setblocking(False)
    await asyncio.get_running_loop().sock_connect(one, broker.address)
    return one


def is_shut(one: socket.socket) -> bool:
    try:
        return one.recv(100) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


def test_silent_connections_are_shut_and_crowd_out_only_each_other(
    keyed: Keyed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(door, "HELLO_S", 1.0)
    monkeypatch.setattr(door, "WAITING", 20)

    async def main() -> None:
        async with (
            keyed.broker("A") as broker,
            keyed.client(broker, name="ann") as ann,
            keyed.client(broker, name="bob") as bob,
            bob.subscribe("t") as inbox,
        ):
            silent = [await dial(broker) for _ in range(60)]
            began_s = time.monotonic()
            for n in range(50):
                await ann.publish("t", b"%d" % n)
                assert (await inbox.get(5)).payload == b"%d" % n
            async with keyed.client(broker, name="carol") as carol:  # though the door is full
                await carol.publish("t", b"in")
                assert (await inbox.get(5)).payload == b"in"
            assert await until(lambda: all(map(is_shut, silent)), 5) and time.monotonic() - began_s < 4
            counts = status_of(broker)["refusals"]
            assert counts[CROWDED] >= 40 and counts[CROWDED] + counts[SILENT] >= 60
            await asyncio.sleep(1.1)
            assert set(broker.hub.sessions) == {"ann", "bob"}, "who is in stays"
            for one in silent:
                one.close()

    asyncio.run(main())


def test_a_byte_a_second_is_not_enough(keyed: Keyed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(door, "HELLO_S", 0.6)

    async def main() -> None:
        async with keyed.broker("A") as broker:
            reader, writer = await asyncio.open_connection(*broker.address, ssl=caller_tls(keyed.ca))
            began_s = time.monotonic()
            with contextlib.suppress(OSError):
                for byte in b"\x40\0\0\0" + bytes(200):
                    writer.write(bytes((byte,)))
                    await writer.drain()
                    await asyncio.sleep(0.05)
                    if reader.at_eof():
                        break
            assert time.monotonic() - began_s < 3
            assert status_of(broker)["refusals"] == {SILENT: 1}
            with contextlib.suppress(OSError):
                writer.close()
                await writer.wait_closed()

    asyncio.run(main())


def test_whoever_speaks_no_tls_or_claims_a_giant_greeting_is_shut_at_once(keyed: Keyed) -> None:
    async def main() -> None:
        async with keyed.broker("A") as broker:
            reader, writer = await asyncio.open_connection(*broker.address)
            writer.write(b"GET / HTTP/1.1\r\n\r\n" * 4)
            with contextlib.suppress(ConnectionError):
                await asyncio.wait_for(reader.read(), 3)
            writer.close()
            assert await until(lambda: status_of(broker)["refusals"] == {NO_TLS: 1})
            reader, writer = await asyncio.open_connection(*broker.address, ssl=caller_tls(keyed.ca))
            writer.write((3 * 2**20).to_bytes(4, "little") + bytes(1000))
            said = await asyncio.wait_for(reader.read(), 3)
            assert b"a record of 3145728 bytes" in said
            writer.close()
            with contextlib.suppress(OSError, ssl.SSLError):
                await writer.wait_closed()

    asyncio.run(main())


def test_a_broker_that_asks_may_stay_and_say_more(keyed: Keyed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(door, "HELLO_S", 0.4)

    async def main() -> None:
        async with keyed.broker("A") as broker:
            assert broker.protection is not None
            hello = Hello(
                VERSION, VISITOR, "B", site="127.0.0.1:1", table={"$#": []}, token=broker.protection.proof("B")
            )
            tls = broker.protection.caller
            answered = await call(SocketNetwork(), broker.address, hello, broker.clock, tls=tls, timeout_s=5)
            await asyncio.sleep(1)
            async with keyed.client(broker):
                assert answered.session.is_open
            assert answered.session.is_open and status_of(broker)["refusals"] == {}
            answered.session.close()

    asyncio.run(main())
