"""The network of sockets: one port for both, and calls that reach it."""

from __future__ import annotations

import asyncio
import socket

import pytest

from antecede.errors import EnvironmentFault
from antecede.live.network import SocketNetwork
from antecede.live.session import CLIENT, VERSION, Control, Hello, Session


def nothing(*_: object) -> None:
    pass


def test_one_port_for_connections_and_datagrams_and_a_call_reaches_it() -> None:
    async def main() -> None:
        network, heard = SocketNetwork(), asyncio.get_running_loop().create_future()

        def control(session: Session, said: Control) -> None:
            heard.set_result(said)
            session.close()

        place = await network.listen("A", ("127.0.0.1", 0), lambda: Session(control, nothing, nothing))
        try:
            session = Session(nothing, nothing, nothing)
            await network.call(place.address, session)
            session.say(Hello(VERSION, CLIENT, "ann"))
            assert (await heard).name == "ann"
            with pytest.raises(EnvironmentFault, match="cannot listen"):
                await network.listen("B", place.address, lambda: Session(nothing, nothing, nothing))
        finally:
            place.close()
            place.datagrams.close()

    asyncio.run(main())


def test_a_port_of_which_only_one_half_is_free_is_refused() -> None:
    async def main() -> None:
        with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(EnvironmentFault, match="cannot listen"):
            await SocketNetwork().listen("A", taken.getsockname(), lambda: Session(nothing, nothing, nothing))

    asyncio.run(main())


def test_nobody_there_is_an_error_of_the_system() -> None:
    async def main() -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            address = free.getsockname()
        with pytest.raises(OSError):
            await SocketNetwork().call(address, Session(nothing, nothing, nothing))

    asyncio.run(main())
