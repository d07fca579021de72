"""An inbox ends when it is closed, and says what waits."""

from __future__ import annotations

import asyncio

import pytest

from antecede.errors import InputError
from antecede.live.broker import Broker
from antecede.live.client import connect


def test_a_reader_that_waits_is_woken_when_the_inbox_closes() -> None:
    async def main() -> None:
        async with Broker("127.0.0.1:0") as broker, connect(broker.url) as node:
            inbox = node.subscribe("t")
            with pytest.raises(InputError, match=r"async with node\.subscribe"):
                await anext(inbox)
            async with inbox:
                reader = asyncio.ensure_future(anext(inbox))
                await asyncio.sleep(0)
                assert len(inbox) == 0 and inbox.fates() == {"queued": 0}
                with pytest.raises(TimeoutError, match=r"No message came within 0\.01 s on t"):
                    await inbox.get(0.01)
            with pytest.raises(StopAsyncIteration):
                await reader

    asyncio.run(main())


def test_a_topic_in_two_inboxes_is_handed_to_both_and_closing_one_leaves_the_other() -> None:
    async def main() -> None:
        async with (
            Broker("127.0.0.1:0") as broker,
            connect(broker.url) as ann,
            connect(broker.url) as bob,
            bob.subscribe("room/+") as wide,
        ):
            async with bob.subscribe("room/1") as narrow:
                await ann.publish("room/1", b"1")
                assert (await wide.get(10)).payload == (await narrow.get(10)).payload == b"1"
            await ann.publish("room/1", b"2")
            assert (await wide.get(10)).payload == b"2" and len(narrow) == 0

    asyncio.run(main())
