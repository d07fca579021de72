"""The way from a machine inside the broker's process to that broker: no socket, the same records as on one.

Decided here: whatever address is called, the broker of this process answers, for a session lives where its client is
connected; what one turn writes arrives in the next, in order; and a session has its broker's clock.
"""

from __future__ import annotations

import asyncio
import random
import ssl
from collections.abc import Callable
from typing import TYPE_CHECKING

from antecede.live.address import Address
from antecede.live.network import Place
from antecede.live.node import Clock
from antecede.live.reception import Reception
from antecede.live.session import Session

if TYPE_CHECKING:
    from antecede.live.broker import Broker
    from antecede.live.keys.protection import Protection

__all__ = ["Inside"]


class Pipe:
    """One direction: what is written arrives in the next turn."""

    def __init__(self, to: Session) -> None:
        self._to = to
        self.other: Pipe | None = None
        self._waiting: list[bytes] = []
        self._size = 0
        self._closed = self._held = False
        self._loop = asyncio.get_running_loop()

    def write(self, data: bytes, /) -> None:
        if self._closed:
            return
        if not self._waiting:
            self._loop.call_soon(self._arrive)
        self._waiting.append(data)
        self._size += len(data)

    def _arrive(self) -> None:
        if self._held:
            return
        waiting, self._waiting, self._size = self._waiting, [], 0
        if self._to.is_open and waiting:
            self._to.data_received(waiting[0] if len(waiting) == 1 else b"".join(waiting))

    def close(self) -> None:
        """What was written still arrives."""
        for pipe in (self, self.other):
            if pipe is not None and not pipe._closed:
                pipe._closed = True
                self._loop.call_soon(pipe._to.connection_lost, None)

    abort = close

    def get_write_buffer_size(self) -> int:
        return self._size

    def is_closing(self) -> bool:
        return self._closed

    def pause_reading(self) -> None:
        """Nothing is to be paused: a process that writes here reads what the other direction brings."""
        if self.other is not None:
            self.other._held = True

    def resume_reading(self) -> None:
        if self.other is not None:
            self.other._held = False
            self._loop.call_soon(self.other._arrive)


class Inside:
    """A Network with one broker in it."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker

    def clock(self) -> Clock:
        clock = self._broker.network.clock()
        clock.base_us = self._broker.clock.base_us
        return clock

    def dice(self, name: str) -> random.Random:
        return self._broker.network.dice(name)

    async def listen(
        self, name: str, address: Address, make: Callable[[], Session], protection: Protection | None = None
    ) -> Place:
        raise NotImplementedError("nobody listens inside a process")

    async def call(self, address: Address, session: Session, tls: ssl.SSLContext | None = None) -> None:
        if not self._broker.receives:
            raise ConnectionRefusedError("the broker of this process is not there")
        there = Reception(self._broker).session()
        to_there, to_here = Pipe(there), Pipe(session)
        to_there.other, to_here.other = to_here, to_there
        there.connection_made(to_here)
        session.connection_made(to_there)
