"""Bytes of strangers, truncated, flipped, oversized and replayed: counted and dropped; the broker serves on."""

from __future__ import annotations

import asyncio
import random
from typing import Any

from bench.campaign_bounds import pour_connections, pour_datagrams

from antecede.live.broker import Broker
from antecede.live.client import connect


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
            await pour_datagrams(broker.address, dice, 3000)
            await pour_connections(broker.address, dice, 2000)
            await ann.publish("mine", b"still here")
            assert (await inbox.get(20)).payload == b"still here"
            assert broker.hub.counts.refused > 1000 and broker.strangers.turned_away > 50
            assert len(broker.hub.sessions) < 20
            assert not faults, faults[0]

    asyncio.run(main())
