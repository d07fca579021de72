"""What a broker says of itself follows what happens to it."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

from antecede.live.broker import Broker
from antecede.live.client import connect
from antecede.live.status import gap_age_s, status_of
from tests.live.cluster import until


def test_a_gap_is_as_old_as_the_oldest_message_that_waits() -> None:
    inbox = SimpleNamespace(held={"a:2": None, "b:7": None}, seen={"a:2": 1_000_000, "b:7": 2_000_000, "c:1": 0})
    broker: Any = SimpleNamespace(machine=SimpleNamespace(inbox=inbox), clock=SimpleNamespace(now_us=lambda: 3_500_000))
    assert gap_age_s(broker) == 2.5


def test_who_is_there_and_what_was_counted() -> None:
    async def main() -> None:
        async with (
            Broker("127.0.0.1:0", name="A") as a,
            Broker("127.0.0.1:0", name="B", join=[a.url]),
            connect(a.url, name="ann") as ann,
            connect(a.url, name="bob") as bob,
            bob.subscribe("room/#") as inbox,
        ):
            assert await until(lambda: set(status_of(a)["brokers"]) == {"A", "B"}, 10)
            await ann.publish("room/1", b"", within=30)
            await inbox.get(10)
            assert await until(lambda: status_of(a)["clients"]["bob"]["waiting"] == 0, 10)
            status = status_of(a)
            assert status["fates"]["delivered"] == 1 and status["connections"] == 2 and status["held"] == 0
            assert status["clients"]["bob"]["filters"] == ["room/#"] and status["clients"]["bob"]["connected"]
            assert status["network"]["bytes_sent"] > 0 and status["network"]["bytes_received"] > 0
            assert gap_age_s(a) == 0.0
            assert status["network"]["control_bytes"] > 0
            assert await until(lambda: "B" in status_of(a)["clock_offsets"], 20)
            clock = status_of(a)["clock_offsets"]["B"]
            assert abs(clock["offset_us"]) <= clock["bound_us"], "both run on this machine, by one clock"

    asyncio.run(main())
