"""Sealed datagrams: opened once, by whom they are for, in time; everything else is counted and dropped."""

from __future__ import annotations

import asyncio
import random
import socket

import pytest

from antecede.core.frames import Attached, Frame, Top
from antecede.live.keys.refusals import Refusals
from antecede.live.keys.ring import Ring
from antecede.live.keys.sealing import (
    BEFORE_S,
    FORGED,
    FRESH_S,
    HEAD,
    OVERHEAD,
    REPLAYED,
    SENDERS,
    STALE,
    WINDOW,
    Sealing,
)
from antecede.live.transport import Received
from antecede.live.udp import PATH, UdpTransport


class World:
    """Two brokers with one ring and a clock that is set."""

    def __init__(self) -> None:
        self.ring, self.now_s = Ring.new(), 10_000.0
        self.refusals = Refusals(lambda: self.now_s)
        self.a, self.b = self.sealing(), self.sealing()

    def sealing(self, ring: Ring | None = None) -> Sealing:
        return Sealing(lambda: ring or self.ring, lambda: self.now_s, self.refusals)

    def opened(self, sealed: bytes, by: Sealing | None = None, name: str = "B") -> bytes | None:
        return (by or self.b).open(memoryview(sealed), name, "192.0.2.1")


def test_what_is_sealed_is_opened_by_whom_it_is_for_whatever_its_incarnation() -> None:
    world = World()
    first, second = world.a.seal("B", b"hello"), world.a.seal("B.2", b"hello")
    assert len(first) == 5 + OVERHEAD and first[HEAD:] != second[HEAD:] and b"hello" not in first
    assert world.opened(first) == b"hello" == world.opened(second, name="B.1")
    assert world.opened(world.a.seal("C", b"hello")) is None
    assert world.refusals.counts == {FORGED: 1}


def test_no_nonce_is_used_twice_with_one_key() -> None:
    world = World()
    heads = [world.a.seal(name, b"")[1:HEAD] for name in ("B", "B.1", "B.2") for _ in range(50)]
    assert len({(head[:16], head[-8:]) for head in heads}) == len(heads)
    many = [world.a.seal(f"b{n}", b"")[1:HEAD] for n in range(3 * SENDERS)] + [world.a.seal("b0", b"")[1:HEAD]]
    assert len({head[4:16] for head in many}) > 1, "keys begin anew where numbers do"
    again = [(head[4:16], head[-8:]) for head in (many[0], many[-1])]
    assert again[0] != again[1]


def test_a_replay_is_refused_also_far_back_and_by_one_that_has_begun_anew() -> None:
    world = World()
    old = world.a.seal("B", b"old")
    assert world.opened(old) == b"old" and world.opened(old) is None
    sealed = [world.a.seal("B", b"%d" % n) for n in range(2 * WINDOW)]
    assert world.opened(sealed[-1]) is not None
    assert world.opened(sealed[WINDOW]) == b"%d" % WINDOW  # late, within the window
    assert world.opened(sealed[WINDOW]) is None and world.opened(sealed[10]) is None
    assert world.refusals.counts == {REPLAYED: 3}
    world.now_s += BEFORE_S + 2
    fresh = world.sealing()
    assert world.opened(world.a.seal("B", b"new"), fresh) == b"new"
    assert world.opened(sealed[-1], fresh) is None and world.refusals.counts[STALE] == 1


def test_order_does_not_matter_within_the_window() -> None:
    world, dice = World(), random.Random(1)
    sealed = [world.a.seal("B", b"%d" % n) for n in range(1000)]
    twice = sealed * 2
    dice.shuffle(twice)
    assert sorted(one for one in map(world.opened, twice) if one is not None) == sorted(b"%d" % n for n in range(1000))
    assert world.refusals.counts == {REPLAYED: 1000}


def test_whatever_is_altered_is_refused() -> None:
    world, dice = World(), random.Random(2)
    sealed = world.a.seal("B", b"pay 10 to ann")
    for place in range(len(sealed)):
        altered = bytearray(sealed)
        altered[place] ^= 1 << dice.randrange(8)
        assert world.opened(bytes(altered)) is None
    for size in range(len(sealed)):
        assert world.opened(sealed[:size]) is None
    assert world.opened(sealed + b"x") is None and world.opened(dice.randbytes(500)) is None
    assert world.opened(world.sealing(Ring.new()).seal("B", b"hi")) is None
    assert world.refusals.counts == {FORGED: 2 * len(sealed) + 3}
    assert world.opened(sealed) == b"pay 10 to ann", "forgeries use nothing up"


def test_clocks_may_differ_by_less_than_a_minute() -> None:
    world = World()
    sealed = [world.a.seal("B", b"now")]
    world.now_s += FRESH_S + 1
    assert world.opened(sealed[0]) is None
    ahead = world.a.seal("B", b"now")
    world.now_s -= 2 * FRESH_S
    assert world.opened(ahead) is None and world.refusals.counts == {STALE: 2}


def test_two_secrets_are_accepted_and_a_third_is_not() -> None:
    world = World()
    first = world.a.seal("B", b"1")
    world.ring = world.ring.rotated(int(world.now_s) + 100, world.now_s)
    second = world.a.seal("B", b"2")
    assert first[1:5] == second[1:5], "not before its time"
    assert world.opened(first) == b"1" and world.opened(second) == b"2"
    before = world.a.seal("B", b"3")
    world.now_s += 50
    assert world.opened(before) == b"3"
    world.now_s += 50
    later = world.a.seal("B", b"4")
    assert later[1:5] != first[1:5] and world.opened(later) == b"4"
    world.ring = world.ring.rotated(int(world.now_s) + 100, world.now_s)
    late = World()
    late.ring, late.now_s = world.ring, world.now_s
    assert late.opened(later) == b"4" and late.opened(before) is None


def test_who_was_silent_is_forgotten_and_memory_stays_bounded() -> None:
    world = World()
    for n in range(2 * SENDERS):
        world.now_s += 4 * FRESH_S if n == SENDERS else 0.01
        assert world.opened(world.sealing().seal("B", b"x")) == b"x"
    assert len(world.b._in) <= SENDERS + 1


@pytest.mark.parametrize("beyond", [False, True])
def test_datagrams_with_their_seals_fit_the_path(beyond: bool) -> None:
    async def main() -> None:
        world = World()
        host = "0.0.0.0" if beyond else "127.0.0.1"
        a = UdpTransport("A", host, beyond_loopback=beyond, sealing=world.a)
        b = UdpTransport("B", host, beyond_loopback=beyond, sealing=world.b)
        a.where = {"B": ("127.0.0.1", b.address[1])}.get
        b.where = {"A": ("127.0.0.1", a.address[1])}.get
        sizes: list[int] = []
        put = a._put
        a._put = lambda address, datagram: sizes.append(len(datagram)) or put(address, datagram)  # type: ignore[method-assign, func-returns-value]
        got: list[Frame] = []

        def heard(batch: Received) -> None:
            got.extend(frame for _, frame in batch)

        a.open(lambda batch: None)
        b.open(heard)
        whole = Attached(1, {}, tuple(f"{n:0500}:1" for n in range(200)))
        try:
            a.send([(("B",), whole), *((("B",), Top(1, n)) for n in range(500))])
            for _ in range(500):
                await asyncio.sleep(0.01)
                if len(got) == 501:
                    break
            assert sum(isinstance(frame, Attached) for frame in got) == 1 and len(got) == 501
            assert max(sizes) <= (PATH if beyond else 60_000) and sum(sizes) == a.counts.bytes_sent
            assert b.counts.refused == 0
        finally:
            a.close()
            b.close()

    asyncio.run(main())


def test_one_that_is_sent_on_from_elsewhere_moves_nobody() -> None:
    async def main() -> None:
        world = World()
        a, b = UdpTransport("A", sealing=world.a), UdpTransport("B", sealing=world.b)
        b.where = {"A": a.address}.get
        got: list[Received] = []
        a.open(got.append)
        b.open(lambda batch: None)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as thief:
            thief.bind(("127.0.0.1", 0))
            thief.setblocking(False)
            a.where = {"B": thief.getsockname()}.get
            a.send([(("B",), Top(1, 1))])
            caught = thief.recv(1000)
            thief.sendto(caught, b.address)
            await asyncio.sleep(0.05)
            b.send([(("A",), Top(1, 2))])
            await asyncio.sleep(0.05)
            assert len(got) == 1
            with pytest.raises(BlockingIOError):
                thief.recv(1000)
        a.close()
        b.close()

    asyncio.run(main())
