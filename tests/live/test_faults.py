"""Faults on purpose: as often as was said, the same for the same seed, and on real sockets."""

from __future__ import annotations

import asyncio

import pytest

from antecede.core.frames import Ack, Frame
from antecede.errors import InputError
from antecede.live.faults import NONE, Faults, parse_faults
from antecede.live.udp import UdpTransport


def test_each_fault_is_as_frequent_as_was_said() -> None:
    faults = Faults(loss=0.1, duplicate=0.05, reorder=0.2, seed=3)
    dice = faults.dice("A")
    fates = [faults.delays_s(dice) for _ in range(20_000)]
    there = [fate for fate in fates if fate]
    assert len(fates) - len(there) == pytest.approx(2_000, rel=0.1)
    assert sum(len(fate) == 2 for fate in there) == pytest.approx(900, rel=0.15)
    assert sum(delay_s > 0 for fate in there for delay_s in fate) == pytest.approx(3_780, rel=0.1)
    dice = faults.dice("A")
    assert [faults.delays_s(dice) for _ in range(20_000)] == fates
    assert faults and not NONE


@pytest.mark.parametrize("text", ["loss=2", "loss", "fire=0.1", "loss=a", "reorder=-0.1"])
def test_what_is_no_fault_is_one_sentence(text: str) -> None:
    with pytest.raises(InputError):
        parse_faults(text)


def test_on_a_socket_some_come_twice_and_some_out_of_order() -> None:
    async def main() -> None:
        a, b = UdpTransport("a", faults=Faults(duplicate=0.2, reorder=0.2, seed=1)), UdpTransport("b")
        a.know({"b": b.address})
        got: list[Frame] = []
        a.open(lambda batch: None)
        b.open(lambda batch: got.extend(frame for _, frame in batch))
        try:
            for n in range(200):
                a.send([(("b",), Ack(1, n))])
                await asyncio.sleep(0.0005)
            await asyncio.sleep(0.05)
            numbers = [frame.index for frame in got if isinstance(frame, Ack)]
            assert set(numbers) == set(range(200))
            assert len(numbers) == 200 + a.counts.doubled == a.counts.sent and a.counts.doubled > 20
            assert numbers != sorted(numbers) and a.counts.held_back > 20 and not a.counts.lost
        finally:
            a.close()
            b.close()

    asyncio.run(main())
