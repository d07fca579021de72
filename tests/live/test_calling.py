"""Calling a broker: welcomed, refused, not answered, or not there."""

from __future__ import annotations

import asyncio

import pytest

from antecede.live.calling import Silent, Turned, call
from antecede.live.network import Place, SocketNetwork
from antecede.live.node import Clock
from antecede.live.session import CLIENT, VERSION, Control, Hello, Session, Welcome

HELLO = Hello(VERSION, CLIENT, "ann")


def nothing(*_: object) -> None:
    pass


async def listening(answer: object) -> Place:
    def control(session: Session, said: Control) -> None:
        if isinstance(answer, str):
            session.refuse(answer)
        elif isinstance(answer, Welcome):
            session.say(answer)

    return await SocketNetwork().listen("A", ("127.0.0.1", 0), lambda: Session(control, nothing, nothing))


def test_a_welcome_says_what_the_clock_is() -> None:
    async def main() -> None:
        place = await listening(Welcome(VERSION, "ann.1", "A", {"#": []}, "run", 10_000_000_000, {}))
        clock = Clock(base_us=0)
        answered = await call(SocketNetwork(), place.address, HELLO, clock)
        assert answered.welcome.name == "ann.1" and answered.session.peer == "A"
        assert answered.asked_us <= answered.answered_us
        ahead_us, wrong_us = answered.offset_us()
        bound_us = answered.adopt_clock(clock)
        assert clock.base_us == ahead_us and 0 <= bound_us == wrong_us < 1_000_000
        answered.session.close()
        place.close()
        place.datagrams.close()

    asyncio.run(main())


@pytest.mark.parametrize(
    ("answer", "error"),
    [("go away", Turned), (Welcome(VERSION + 1, "a", "A", {}, "r", 0, {}), Turned), (None, Silent)],
)
def test_other_answers_are_errors(answer: object, error: type[Exception]) -> None:
    async def main() -> None:
        place = await listening(answer)
        with pytest.raises(error):
            await call(SocketNetwork(), place.address, HELLO, Clock(), timeout_s=0.3)
        place.close()
        place.datagrams.close()

    asyncio.run(main())
