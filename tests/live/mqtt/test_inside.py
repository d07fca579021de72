"""The way from a machine to the broker of its process: order, the end, and that a pause holds."""

from __future__ import annotations

import asyncio

import pytest

from antecede.live.broker import Broker
from antecede.live.mqtt.inside import Inside, Pipe
from antecede.live.session import Leaving, Session
from tests.live.cluster import until


def test_what_is_written_arrives_in_order_and_a_pause_holds_it() -> None:
    async def main() -> None:
        heard: list[str] = []
        lost: list[str] = []

        def end(name: str) -> Session:
            return Session(lambda s, said: heard.append(said.reason), lambda s, f: None, lambda s: lost.append(name))  # type: ignore[union-attr]

        here, there = end("here"), end("there")
        to_there, to_here = Pipe(there), Pipe(here)
        to_there.other, to_here.other = to_here, to_there
        here.connection_made(to_there)
        there.connection_made(to_here)
        for n in range(3):
            here.say(Leaving(str(n)))
        assert to_there.get_write_buffer_size() > 0 and not heard
        await asyncio.sleep(0)
        assert heard == ["0", "1", "2"] and to_there.get_write_buffer_size() == 0
        to_here.pause_reading()  # `there` reads nothing for a while
        here.say(Leaving("3"))
        await asyncio.sleep(0.01)
        assert len(heard) == 3
        to_here.resume_reading()
        await asyncio.sleep(0.01)
        assert heard[3:] == ["3"] and not to_there.is_closing()
        here.close()
        await asyncio.sleep(0)
        assert sorted(lost) == ["here", "there"] and to_there.is_closing() and to_here.is_closing()

    asyncio.run(main())


def test_whatever_is_called_the_broker_of_this_process_answers() -> None:
    async def main() -> None:
        async with Broker("127.0.0.1:0", name="A") as broker:
            network = Inside(broker)
            assert abs(network.clock().now_us() - broker.clock.now_us()) < 100_000
            session = Session(lambda *_: None, lambda *_: None, lambda *_: None)
            await network.call(("192.0.2.1", 1), session)
            assert session.is_open
            session.close()
            assert await until(lambda: not session.is_open)
            with pytest.raises(NotImplementedError):
                await network.listen("x", ("127.0.0.1", 0), lambda: session)
        with pytest.raises(ConnectionRefusedError):
            await network.call(("127.0.0.1", 1), session)

    asyncio.run(main())
