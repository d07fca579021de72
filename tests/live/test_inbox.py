"""An inbox ends when it is closed, and says what waits."""

from __future__ import annotations

import asyncio

import pytest

from antecede.core.effects import Discard, Dropped
from antecede.errors import InputError
from antecede.live.broker import Broker
from antecede.live.client import connect
from antecede.live.testing import LocalCluster


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


def test_an_inbox_counts_what_it_let_go_of_and_what_was_in_none() -> None:
    async def scenario(cluster: LocalCluster) -> list[dict[str, int]]:
        async with (
            cluster.connect("ann") as ann,
            cluster.connect("eve") as eve,
            cluster.connect("bob") as bob,
            bob.subscribe("b") as other,
        ):
            async with bob.subscribe("a", queue=2) as inbox:
                for n in range(10):
                    ann.publish_nowait("a", b"%d" % n, within=60 if n == 8 else None)
                await ann.flush()
                await eve.publish("b", b"")
                await other.get(10)
                await asyncio.sleep(100)  # the ninth waits until it is late
                for effect in (Discard("x:1", "late", None, ("y:1",)), Dropped("no more", "x:2", "overflow")):
                    bob.said(effect)
                both = [inbox.fates(), other.fates()]
            return [*both, inbox.fates(), bob.fates()]

    assert LocalCluster().run(scenario) == [
        {"overflow": 8, "late": 2, "queued": 1},
        {"delivered": 1, "late": 1, "queued": 0},
        {"overflow": 9, "late": 2, "queued": 0},
        {"overflow": 8, "late": 2},
    ]
