"""A client whose connection breaks: it finds its home again, or another, and goes on where it was."""

from __future__ import annotations

import asyncio

from antecede.live.broker import Broker
from antecede.live.client import connect


def test_a_connection_that_breaks_is_made_again_and_nothing_is_missed() -> None:
    async def main() -> None:
        states: list[str] = []
        async with (
            Broker("127.0.0.1:0", name="A") as broker,
            connect(broker.url, name="ann") as ann,
            connect(broker.url, name="bob", on_state=lambda state, _: states.append(state)) as bob,
            bob.subscribe("t") as inbox,
        ):
            for n in range(30):
                await ann.publish("t", b"%d" % n)
                if n in (10, 20):
                    broker.hub.sessions["bob"].abort()
            assert [(await inbox.get(10)).payload for _ in range(30)] == [b"%d" % n for n in range(30)]
            assert states == ["connected", "away", "connected", "away", "connected"]
            assert bob.name == "bob" and bob._link.moves == 3

    asyncio.run(main())


def test_the_second_address_is_called_when_nobody_answers_at_the_first() -> None:
    async def main() -> None:
        async with Broker("127.0.0.1:0") as gone:
            nowhere = gone.url
        async with Broker("127.0.0.1:0", name="B") as broker, connect(nowhere, broker.url) as node:
            assert node._link.peer == "B"

    asyncio.run(main())
