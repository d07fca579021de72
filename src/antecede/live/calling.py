"""How a process calls a broker: it connects, says HELLO, and is welcomed or refused.

Decided here: a call that is not answered in time has failed like one that could not connect; what was said about the
clock is kept with the two moments around it, so that the offset can be bounded.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from typing import NamedTuple

from antecede.core.frames import Frame
from antecede.errors import AntecedeError
from antecede.live.address import Address
from antecede.live.network import Network
from antecede.live.node import Clock
from antecede.live.session import VERSION, Control, Hello, Refused, Session, Welcome
from antecede.live.timing import adopt, machine_id

__all__ = ["Answered", "Silent", "Turned", "call", "nothing"]


class Turned(AntecedeError):
    """A broker answered and refused: the sentence says why; `final`: so would all others."""

    def __init__(self, reason: str, final: bool = False) -> None:
        super().__init__(reason)
        self.final = final


class Silent(TimeoutError):
    """Something took the call and said nothing in time."""


class Answered(NamedTuple):
    session: Session
    welcome: Welcome
    asked_us: int
    answered_us: int

    def adopt_clock(self, clock: Clock) -> int:
        """Go by the broker's clock from now on; returns how far off that may be, in microseconds."""
        said = self.welcome
        same = said.base_us if said.machine and said.machine == machine_id() else None
        return adopt(clock, said.clock_us, self.asked_us, self.answered_us, same)

    def offset_us(self) -> tuple[int, int]:
        """How far the broker's clock is ahead of this one, as well as can be told, and by how much that may be wrong:
        half of the time the answer took."""
        middle_us, took_us = (self.asked_us + self.answered_us) // 2, self.answered_us - self.asked_us
        return self.welcome.clock_us - middle_us, (took_us + 1) // 2


def nothing(*_: object) -> None:
    """For a call that only asks."""


async def call(
    network: Network,
    address: Address,
    hello: Hello,
    clock: Clock,
    *,
    on_control: Callable[[Session, Control], None] = nothing,
    on_frames: Callable[[Session, list[Frame]], None] = nothing,
    on_lost: Callable[[Session], None] = nothing,
    timeout_s: float = 2.0,
    tls: ssl.SSLContext | None = None,
) -> Answered:
    """Raises OSError (nobody there, or no answer: Silent, if something took the call) or Turned."""
    answer: asyncio.Future[Welcome] = asyncio.get_running_loop().create_future()

    def control(session: Session, said: Control) -> None:
        if answer.done():
            on_control(session, said)
        elif isinstance(said, Welcome) and said.version == VERSION:
            session.peer = said.broker
            answer.set_result(said)
        else:
            no = said if isinstance(said, Refused) else Refused("it does not speak this version")
            answer.set_exception(Turned(no.reason, no.final))

    def lost(session: Session) -> None:
        if answer.done():
            on_lost(session)
        else:
            answer.set_exception(ConnectionResetError("the connection was closed before a welcome"))

    session, taken = Session(control, on_frames, lost), False
    try:
        async with asyncio.timeout(timeout_s):
            await network.call(address, session, tls)
            taken = True
            asked_us = clock.now_us()
            session.say(hello)
            welcome = await answer
    except BaseException as fault:
        answer.cancel()
        session.abort()
        if taken and isinstance(fault, TimeoutError):
            raise Silent("no answer") from None
        raise
    return Answered(session, welcome, asked_us, clock.now_us())
