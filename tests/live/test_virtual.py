"""Virtual time and a network in memory."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from antecede.core.frames import Frame, Top
from antecede.errors import EnvironmentFault, InputError
from antecede.live.session import CLIENT, VERSION, Hello, Session
from antecede.live.virtual import BEGINNING_US, VirtualLoop, VirtualNetwork
from antecede.wire import encode
from tests.live.keys.keyed import Keyed


def test_waiting_moves_the_clock_and_nothing_else() -> None:
    async def main() -> None:
        loop, clock = asyncio.get_running_loop(), VirtualNetwork().clock()
        assert clock.now_us() == BEGINNING_US and loop.time() == 0
        await asyncio.sleep(3600)
        assert clock.now_us() == BEGINNING_US + 3_600_000_000
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(60):
                await asyncio.sleep(3600)
        assert 3660 <= loop.time() < 3661
        assert await asyncio.to_thread(lambda: 5) == 5

    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        runner.run(main())


def test_connections_keep_their_order_and_end_on_both_sides() -> None:
    async def main() -> None:
        network = VirtualNetwork(delay_s=(0.001, 1.0), seed=3)
        got: list[int] = []
        lost: list[str] = []

        def frames(session: Session, frames: list[Frame]) -> None:
            got.extend(frame.top for frame in frames if isinstance(frame, Top))

        def serve() -> Session:
            session = Session(lambda session, said: None, frames, lambda session: lost.append("there"))
            session.peer = "x"
            return session

        place = await network.listen("A", ("127.0.0.1", 0), serve)
        with pytest.raises(EnvironmentFault, match="somebody does already"):
            await network.listen("B", place.address, serve)
        here = Session(lambda *_: None, lambda *_: None, lambda session: lost.append("here"))
        await network.call(place.address, here)
        here.say(Hello(VERSION, CLIENT, "x"))
        for n in range(20):
            here.send([encode(Top(1, n))])
        await asyncio.sleep(30)
        assert got == list(range(20))
        here.close()
        here.send([encode(Top(1, 99))])
        await asyncio.sleep(3)
        assert sorted(lost) == ["here", "there"] and got[-1] == 19
        place.close()
        with pytest.raises(ConnectionRefusedError):
            await network.call(place.address, here)

    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        runner.run(main())


def test_impossible_networks_are_refused() -> None:
    for loss, delay_s in ((1.0, (0.0, 0.0)), (0.0, (2.0, 1.0))):
        with pytest.raises(InputError):
            VirtualNetwork(loss=loss, delay_s=delay_s)


def test_a_network_in_memory_takes_no_keys(tmp_path: Path) -> None:
    broker = Keyed(tmp_path).broker("A", network=VirtualNetwork())
    with asyncio.Runner(loop_factory=VirtualLoop) as runner, pytest.raises(InputError, match="without keys"):
        runner.run(broker.start())
