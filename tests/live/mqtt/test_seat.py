"""The machine of a session: what it takes is delivered, its filters grow and shrink, and it leaves when all is safe."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from antecede.core.message import Publication
from antecede.live.broker import Broker
from antecede.live.client import connect
from antecede.live.message import pack_content
from antecede.live.mqtt.seat import Seat
from antecede.trace.check import check
from tests.live.cluster import until


class Owner:
    def __init__(self) -> None:
        self.ids: list[str] = []
        self.reasons: list[str] = []
        self.ends: list[str] = []

    def safe(self, ids: Sequence[str]) -> None:
        self.ids += ids

    def dropped(self, reason: str) -> None:
        self.reasons.append(reason)

    def turned(self) -> None:
        pass

    def interrupted(self) -> None:
        pass

    def ended(self, reason: str) -> None:
        self.ends.append(reason)


def said(topic: str, body: bytes, due_us: int | None = None) -> Publication:
    return Publication((topic,), pack_content(body, None, 1), due_us)


def test_a_seat_publishes_takes_and_leaves(tmp_path: Path) -> None:
    async def main() -> None:
        owner = Owner()
        async with Broker("127.0.0.1:0", name="A", records=str(tmp_path)) as broker:
            seat = Seat(broker, "m1", owner)
            await seat.sit()
            async with connect(broker.url, name="ann", records=str(tmp_path)) as ann:
                seat.want(("a", "b/#"), own=True)
                assert await until(lambda: seat.is_owed(("a", "b/#")))
                assert not seat.is_owed(("c",))
                await ann.publish("a", b"1")
                await ann.publish("b/1", b"2")
                assert await until(lambda: seat.waiting == 2)
                assert [message.id for message in seat.take(1)] == ["ann:1"] and seat.waiting == 1
                seat.want(("a",), own=False)  # what waited by the other filter is dropped
                assert seat.waiting == 0
                message = seat.publish(said("a", b"own"))
                assert await until(lambda: owner.ids == [message.id]) and seat.waiting == 0
                seat.want(("a", "b/#"), own=True)
                assert await until(lambda: seat.is_owed(("b/#",)))
                await ann.publish("b/1", b"3")
                assert await until(lambda: seat.waiting == 2)  # what was dropped is owed again, while it is kept
                assert [one.id for one in seat.take(9)] == ["ann:2", "ann:3"]
                seat.publish(said("a", b"late", broker.clock.now_us() + 50_000))
                assert await until(lambda: owner.reasons == ["late"])
                assert seat.why_not_publish("a", 10) == "" and seat.why_not_subscribe("#") == ""
            await seat.leave()
            assert owner.ends == [""] and seat.closed
            await seat.leave()

    asyncio.run(main())
    assert check(tmp_path).findings == []
