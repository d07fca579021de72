"""Memory as a network: frames are encoded and decoded as on a real one, and lost as told."""

from __future__ import annotations

import asyncio

import pytest

from antecede.core.frames import Top, Want
from antecede.errors import InputError
from antecede.live.faults import Faults
from antecede.live.memory import MemoryNetwork
from antecede.live.transport import Received


def test_memory_carries_to_many_and_loses_as_told() -> None:
    async def main() -> None:
        network = MemoryNetwork(Faults(loss=0.3, seed=1))
        names = ["a", "b", "c"]
        transports = {name: network.transport(name) for name in names}
        got: dict[str, int] = dict.fromkeys(names, 0)
        for name, transport in transports.items():

            def count(batch: Received, name: str = name) -> None:
                got[name] += len(batch)

            transport.open(count)
        for n in range(1000):
            transports["a"].send([(("b", "c"), Want(1, (n,)))])
            await asyncio.sleep(0)
        await asyncio.sleep(0)
        counts = transports["a"].counts
        assert counts.sent + counts.lost == 2000
        assert 500 < counts.lost < 700
        assert got["b"] + got["c"] == counts.sent and got["a"] == 0
        transports["b"].close()
        transports["a"].send([(("b",), Top(1, 1))])
        assert counts.unsent + counts.lost >= 1

    asyncio.run(main())


def test_two_of_one_name_cannot_meet_in_memory() -> None:
    async def main() -> None:
        network = MemoryNetwork()
        network.transport("a").open(lambda batch: None)
        with pytest.raises(InputError):
            network.transport("a").open(lambda batch: None)

    asyncio.run(main())
