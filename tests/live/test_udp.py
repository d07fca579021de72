"""Datagrams over UDP: batches arrive whole, large frames in parts, strangers and other addresses are refused."""

from __future__ import annotations

import asyncio
import socket

import pytest

from antecede.core.frames import Attached, Data, Frame, Grown, Item, Top
from antecede.core.message import Envelope, Message, Stamp
from antecede.errors import EnvironmentFault, InputError
from antecede.live.faults import Faults
from antecede.live.transport import Received
from antecede.live.udp import SHARE, UdpTransport


async def until(condition: object, seconds: float = 5.0) -> None:
    """Bounded: a test that waits says for how long."""
    assert callable(condition)
    end = asyncio.get_running_loop().time() + seconds
    while not condition():
        assert asyncio.get_running_loop().time() < end, "nothing came"
        await asyncio.sleep(0.002)


def tops(batch: Received) -> list[tuple[str, int]]:
    return [(sender, frame.top) for sender, frame in batch if isinstance(frame, Top)]


def test_udp_carries_a_batch_in_one_datagram() -> None:
    async def main() -> None:
        a, b = UdpTransport("a"), UdpTransport("b")
        a.know({"b": b.address})
        got: list[Received] = []
        b.open(got.append)
        try:
            a.send([(("b",), Top(1, n)) for n in range(16)])
            await until(lambda: got)
            assert a.counts.sent == 1 and b.counts.received == 1
            assert tops(got[0]) == [("a", n) for n in range(16)]
        finally:
            a.close()
            b.close()

    asyncio.run(main())


def test_large_frames_take_several_datagrams_and_what_cannot_be_cut_comes_in_parts() -> None:
    async def main() -> None:
        a, b = UdpTransport("a"), UdpTransport("b")
        a.know({"b": b.address})
        got: list[Frame] = []
        b.open(lambda batch: got.extend(frame for _, frame in batch))
        big = Data((Envelope(Message("a", 1, ("t",), bytes(40_000)), Stamp((("a", 1),))),))
        huge = Grown(1, 1, 1, (), tuple(Item(n, 0, big.envelopes[0]) for n in (1, 2, 3)))
        whole = Attached(1, {}, tuple(f"{n:0500}:1" for n in range(200)))
        try:
            a.send([(("b",), big), (("b",), huge), (("b",), whole), (("nobody",), Top(1, 1))])
            a.send([(("b",), huge)])
            await until(lambda: len(got) == 8)
            assert [item.index for f in got if isinstance(f, Grown) for item in f.items] == [1, 2, 3, 1, 2, 3]
            assert [f.cut for f in got if isinstance(f, Attached)] == [whole.cut]
            assert a.counts.sent == 9
            assert a.counts.unsent == 1
        finally:
            a.close()
            b.close()

    asyncio.run(main())


def test_malformed_datagrams_are_counted_and_the_transport_goes_on() -> None:
    async def main() -> None:
        a, b = UdpTransport("a"), UdpTransport("b")
        a.know({"b": b.address})
        got: list[Received] = []
        b.open(got.append)
        stranger = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        good = b"\1\1\0a\5\0\0\1\x0a\x92\1\2"
        try:
            for bad in (
                b"",
                b"\1",
                b"\1\xff\xffa",
                b"\1\1\0a\5\0\0\1\x0a",
                b"\1\1\0\xff",
                b"\2" + good[1:],
                good + b"\0",
            ):
                stranger.sendto(bad, b.address)
            stranger.sendto(good, b.address)
            a.send([(("b",), Top(1, 7))])
            await until(lambda: b.counts.received == 9)
            assert b.counts.refused == 7
            assert [t for batch in got for t in tops(batch)] == [("a", 2), ("a", 7)]
        finally:
            stranger.close()
            a.close()
            b.close()

    asyncio.run(main())


def test_only_the_loopback_is_bound_unless_allowed() -> None:
    for host in ("0.0.0.0", "192.168.1.1", "::", "example.org"):
        with pytest.raises(InputError):
            UdpTransport("a", host)
    UdpTransport("a", "0.0.0.0", beyond_loopback=True).close()


def test_a_taken_port_is_the_environments_fault() -> None:
    first = UdpTransport("a")
    with pytest.raises(EnvironmentFault, match="cannot listen"):
        UdpTransport("b", port=first.address[1])
    first.close()


def test_parts_that_are_lost_come_again() -> None:
    async def main() -> None:
        faults = Faults(loss=0.3, seed=4)
        a, b = UdpTransport("a", faults=faults, size=1200), UdpTransport("b", faults=faults, size=1200)
        a.know({"b": b.address})
        got: list[Frame] = []
        a.open(lambda batch: None)
        b.open(lambda batch: got.extend(frame for _, frame in batch))
        whole = Attached(1, {}, tuple(f"{n:0500}:1" for n in range(100)))
        try:
            a.send([(("b",), whole)])
            await until(lambda: got)
            assert isinstance(got[0], Attached) and got[0].cut == whole.cut
            assert a.counts.lost > 5
        finally:
            a.close()
            b.close()

    asyncio.run(main())


def test_whoever_speaks_is_found_again() -> None:
    async def main() -> None:
        a, b = UdpTransport("a"), UdpTransport("b")
        a.know({"b": b.address})
        got: list[Received] = []
        a.open(got.append)
        b.open(lambda batch: b.send([(("a",), Top(1, 5))]))
        try:
            a.send([(("b",), Top(1, 1))])
            await until(lambda: got)
            assert tops(got[0]) == [("b", 5)]
        finally:
            a.close()
            b.close()

    asyncio.run(main())


def test_where_others_listen_is_asked_for_once_nothing_came_from_them() -> None:
    async def main() -> None:
        a, b = UdpTransport("a"), UdpTransport("b")
        a.where = {"b": b.address}.get
        got: list[Received] = []
        b.open(got.append)
        try:
            a.send([(("b", "c"), Top(1, 1))])
            await until(lambda: got)
            assert a.counts.unsent == 1  # nobody knows c
        finally:
            a.close()
            b.close()

    asyncio.run(main())


def test_a_burst_leaves_at_a_pace_and_all_of_it_arrives() -> None:
    async def main() -> None:
        a, b = UdpTransport("a"), UdpTransport("b")
        a.know({"b": b.address})
        got: list[Frame] = []
        a.open(lambda batch: None)
        b.open(lambda batch: got.extend(frame for _, frame in batch))
        big = Data((Envelope(Message("a", 1, ("t",), bytes(40_000)), Stamp((("a", 1),))),))
        try:
            for _ in range(100):
                a.send([(("b",), big)])
            await until(lambda: len(got) == 100)
        finally:
            a.close()
            b.close()

    asyncio.run(main())


def test_a_broker_that_sends_much_is_read_a_share_at_a_time() -> None:
    """Between two batches the event loop looks at everything else."""

    async def main() -> None:
        a, b = UdpTransport("a"), UdpTransport("b")
        a.know({"b": b.address})
        got: list[Received] = []
        one = Data(tuple(Envelope(Message("a", n, ("t",), b"x"), Stamp((("a", n),))) for n in range(1, SHARE // 2 + 1)))
        try:
            for _ in range(6):
                a.send([(("b",), one)])
            b.open(got.append)
            await until(lambda: sum(map(len, got)) == 6)
            assert [len(batch) for batch in got] == [2, 2, 2]
        finally:
            a.close()
            b.close()

    asyncio.run(main())
