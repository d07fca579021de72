"""Who connects and says nothing is closed after a while, or when there are too many; others are not kept out."""

from __future__ import annotations

import asyncio

import pytest

from antecede.live import strangers
from antecede.live.broker import Broker
from antecede.live.client import connect
from tests.live.cluster import until


def test_who_says_nothing_is_closed_in_time_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(strangers, "HELLO_S", 0.2)

    async def main() -> None:
        async with Broker("127.0.0.1:0", name="A") as broker, connect(broker.url, name="ann") as ann:
            reader, writer = await asyncio.open_connection(*broker.address)
            assert b"no HELLO within" in await asyncio.wait_for(reader.read(), 10)
            assert await until(lambda: broker.strangers.turned_away == 1 and not len(broker.strangers))
            writer.close()
            await ann.publish("t", b"it has said HELLO and stays")
            assert ann._link.moves == 1

    asyncio.run(main())


def test_of_too_many_the_oldest_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(strangers, "MOST", 5)

    async def main() -> None:
        async with Broker("127.0.0.1:0", name="A") as broker:
            silent = [await asyncio.open_connection(*broker.address) for _ in range(12)]
            assert await until(lambda: broker.strangers.turned_away == 7)
            assert len(broker.strangers) == 5
            async with connect(broker.url, name="ann") as ann:
                await ann.publish("t", b"")
            assert b"too many" in await asyncio.wait_for(silent[0][0].read(), 10)
            for _, writer in silent:
                writer.close()
            assert await until(lambda: not len(broker.strangers))

    asyncio.run(main())
