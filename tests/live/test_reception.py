"""Who comes to a broker: greeted, given a name, or turned away with a reason."""

from __future__ import annotations

import asyncio

import pytest

from antecede.core.membership.news import DEAD, LEFT, News
from antecede.core.membership.table import STONES
from antecede.errors import InputError
from antecede.live.broker import Broker
from antecede.live.client import connect
from antecede.live.network import SocketNetwork
from antecede.live.reception import Reception
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


def test_a_life_whose_name_another_client_had_too_and_that_began_first_yields() -> None:
    async def main() -> None:
        async with Broker(ANY, name="A") as broker:
            reception, table = Reception(broker), broker.managed.table
            for name in ("ann", "bob.2"):
                table.merge(News(name, "subscriber", site="5 A", state=DEAD))
            for hello, yields in (
                (Hello(VERSION, CLIENT, "ann", fresh=True, life=0, site="4 B"), True),
                (Hello(VERSION, CLIENT, "ann", fresh=False, site="4 B"), True),
                (Hello(VERSION, CLIENT, "bob", fresh=True, life=2, site="4 B"), True),
                (Hello(VERSION, CLIENT, "ann", fresh=True, life=0, site="5 A"), False),
                (Hello(VERSION, CLIENT, "ann", fresh=True), False),
                (Hello(VERSION, CLIENT, "bob", fresh=True, life=1, site="4 B"), False),
            ):
                assert reception._yields(hello) == yields

    asyncio.run(main())


def test_a_name_of_which_nothing_is_remembered_begins_after_all_that_were_forgotten() -> None:
    async def main() -> None:
        async with Broker(ANY, name="A") as broker:
            reception, table = Reception(broker), broker.managed.table
            assert reception._next_name("ann") == "ann"
            table.merge(News("ann", "subscriber", state=LEFT))
            assert reception._next_name("ann") == "ann.1"
            for at_us in (0, 100, 100 + STONES * 100):
                table.forget(at_us, told_us=100)
            assert reception._next_name("ann") == "ann.1" and reception._next_name("bob") == "bob.1"

    asyncio.run(main())


def test_a_broker_is_refused_under_the_name_of_a_client_in_words_that_say_so() -> None:
    async def main() -> None:
        async with Broker(ANY, name="A") as broker, connect(broker.url, name="bob"):
            with pytest.raises(InputError, match=r"There is a client bob: choose another --name\."):
                await Broker(ANY, name="bob", join=broker.url).start()

    asyncio.run(main())
