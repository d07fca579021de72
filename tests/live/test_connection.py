"""A client process follows its machine: when that wants another home, the connection goes there."""

from __future__ import annotations

import asyncio

import pytest

from antecede.errors import InputError
from antecede.live.broker import Broker
from antecede.live.client import connect
from tests.live.cluster import until


def test_the_connection_follows_the_machine_to_another_home() -> None:
    async def main() -> None:
        async with (
            Broker("127.0.0.1:0", name="A") as a,
            Broker("127.0.0.1:0", name="B", join=[a.url]) as b,
            connect(a.url, name="ann") as ann,
            connect(b.url, name="bob") as bob,
            ann.subscribe("t") as inbox,
        ):
            assert await until(lambda: set(ann.managed.brokers()) == {"A", "B"}, 10)
            ann.node.move(("B",))
            assert await until(lambda: ann._link.peer == "B" and ann.machine.joined, 10)
            await bob.publish("t", b"1")
            assert (await inbox.get(10)).payload == b"1"

    asyncio.run(main())


def test_nothing_works_before_it_is_entered() -> None:
    with pytest.raises(InputError, match="async with"):
        connect().publish_nowait("t", b"")


def test_a_second_client_of_the_same_name_is_the_next_life_and_the_first_one_ends() -> None:
    async def main() -> None:
        states: list[str] = []
        async with (
            Broker("127.0.0.1:0", name="A") as broker,
            connect(broker.url, name="ann", on_state=lambda state, _: states.append(state)) as first,
        ):
            await first.publish("t", b"")
            async with connect(broker.url, name="ann") as second:
                assert second.name == "ann.1"
                await second.publish("t", b"")
                assert await until(lambda: first.closed, 10)
            assert states[-1] == "closed"
            with pytest.raises(InputError, match="closed"):
                await first.publish("t", b"")

    asyncio.run(main())
