"""The network as brokers and clients use it: a port for connections and datagrams, and calls to other ports.

Decided here: a broker has one port number for both; where the system chooses it, another one is tried if only one of
the two is free. `testing` has the same face in memory, on a virtual clock.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from typing import Protocol

from antecede.errors import EnvironmentFault
from antecede.live.address import Address, text_of
from antecede.live.hub import Datagrams
from antecede.live.node import Clock
from antecede.live.session import Session
from antecede.live.udp import UdpTransport

__all__ = ["Network", "Place", "SocketNetwork"]


class Place(Protocol):
    """Where a broker listens."""

    address: Address
    datagrams: Datagrams

    def close(self) -> None:
        """Accept no more connections; those there are stay, and so do datagrams."""
        ...


class Network(Protocol):
    def clock(self) -> Clock: ...

    def dice(self, name: str) -> random.Random:
        """What a process of that name draws from."""
        ...

    async def listen(self, name: str, address: Address, make: Callable[[], Session]) -> Place: ...

    async def call(self, address: Address, session: Session) -> None:
        """Connect, or raise OSError."""
        ...


class _SocketPlace:
    def __init__(self, datagrams: UdpTransport, server: asyncio.Server) -> None:
        self.datagrams: Datagrams = datagrams
        self.address = datagrams.address
        self._server = server

    def close(self) -> None:
        self._server.close()


class SocketNetwork:
    """TCP and UDP on the loopback. `loss`: injected on datagrams, for tests."""

    def __init__(self, *, loss: float = 0.0, seed: int = 0) -> None:
        self._loss, self._seed = loss, seed

    def clock(self) -> Clock:
        return Clock()

    def dice(self, name: str) -> random.Random:
        return random.Random()

    async def listen(self, name: str, address: Address, make: Callable[[], Session]) -> Place:
        loop = asyncio.get_running_loop()
        host, port = address
        for left in reversed(range(8 if port == 0 else 1)):
            datagrams = UdpTransport(name, host, port, loss=self._loss, seed=self._seed)
            try:
                server = await loop.create_server(make, host, datagrams.address[1])
            except OSError as fault:
                datagrams.close()
                if left == 0:
                    reason = fault.strerror or str(fault)
                    raise EnvironmentFault(f"cannot listen on {text_of(address)}: {reason}") from None
                continue
            return _SocketPlace(datagrams, server)
        raise AssertionError("unreachable")

    async def call(self, address: Address, session: Session) -> None:
        await asyncio.get_running_loop().create_connection(lambda: session, *address)
