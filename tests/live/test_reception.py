"""Who comes to a broker: greeted, given a name, or turned away with a reason."""

from __future__ import annotations

import asyncio

from antecede.live.broker import Broker
from antecede.live.network import SocketNetwork
from antecede.live.session import CLIENT, VERSION, Hello, Refused, Session

ANY = "127.0.0.1:0"


def test_greetings_that_cannot_be_are_refused_with_a_reason() -> None:
    async def main() -> None:
        async with Broker(ANY, name="A") as broker:
            for hello, words in (
                (Hello(VERSION + 1, CLIENT, "x"), "install the same"),
                (Hello(VERSION, "king", "x"), "nobody has the role"),
                (Hello(VERSION, CLIENT, "a:b"), "cannot be called"),
                (Refused("hm"), "expected HELLO"),
            ):
                heard: asyncio.Future[object] = asyncio.get_running_loop().create_future()
                session = Session(
                    lambda session, said, heard=heard: heard.set_result(said),  # type: ignore[misc]
                    lambda *_: None,
                    lambda *_: None,
                )
                await SocketNetwork().call(broker.address, session)
                session.say(hello)
                said = await asyncio.wait_for(heard, 5)
                assert isinstance(said, Refused) and words in said.reason
                session.close()

    asyncio.run(main())
