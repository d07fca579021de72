"""What a datagram brings: frames, parts, requests for parts; nonsense is counted."""

from __future__ import annotations

import asyncio

from antecede.core.frames import Attached, Top
from antecede.live.arriving import Arriving
from antecede.live.parts import PART, WANTED
from antecede.live.transport import DatagramSender, Received
from antecede.wire import encode


class Sink(DatagramSender):
    def __init__(self, name: str) -> None:
        super().__init__(name, size=1200)
        self.posted: list[tuple[str, bytes]] = []

    def _post(self, peer: str, datagram: bytes) -> bool:
        self.posted.append((peer, datagram))
        return True


def test_frames_parts_and_requests() -> None:
    async def main() -> None:
        a, b = Sink("a"), Sink("b")
        at_a, at_b = Arriving(a), Arriving(b)
        a.send([(("b",), Top(1, 7)), (("b",), Attached(1, {}, tuple(f"{n:0200}:1" for n in range(20))))])
        batch: Received = []
        lost = next(datagram for _, datagram in a.posted if datagram[0] == PART)
        for _, datagram in a.posted:
            if datagram is not lost:
                assert at_b.take(memoryview(datagram), batch) == "a"
        assert [type(frame) for _, frame in batch] == [Top]
        while not b.posted:
            await asyncio.sleep(0.005)
        to, request = b.posted[0]
        assert to == "a" and request[0] == WANTED
        a.posted.clear()
        assert at_a.take(memoryview(request), []) == "b"
        assert a.posted == [("b", lost)]
        at_b.take(memoryview(lost), batch)
        assert [type(frame) for _, frame in batch] == [Top, Attached]
        at_b.close()

    asyncio.run(main())


def test_nonsense_is_counted() -> None:
    async def main() -> None:
        sink = Sink("a")
        batch: Received = []
        whole = a_part(encode(Top(1, 1)))
        for bad in (b"", b"\x81", b"\x82\1\0a", b"\x81\1\0a\1", whole[:9]):
            assert Arriving(sink).take(memoryview(bad), batch) is None
        assert sink.counts.refused == 5 and not batch

    asyncio.run(main())


def a_part(data: bytes) -> bytes:
    (only,) = Sink("a").parts.cut(Sink("a").prefix, data, 1200)
    return only
