"""The network as brokers and clients use it: a port for connections and datagrams, and calls to other ports.

Decided here: a broker has one port number for both; where the system chooses it, another one is tried if only one of
the two is free. `testing` has the same face in memory, on a virtual clock.
"""

from __future__ import annotations

import asyncio
import random
import socket
import ssl
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from antecede.errors import EnvironmentFault
from antecede.live.address import Address, in_use, is_loopback
from antecede.live.faults import NONE, Faults
from antecede.live.hub import Datagrams
from antecede.live.node import Clock
from antecede.live.session import Session
from antecede.live.udp import UdpTransport

if TYPE_CHECKING:
    from antecede.live.keys.door import Door
    from antecede.live.keys.protection import Protection

__all__ = ["Network", "Place", "SocketNetwork"]

BACKLOG = 1024
"""Connections that wait to be accepted."""


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

    async def listen(
        self, name: str, address: Address, make: Callable[[], Session], protection: Protection | None = None
    ) -> Place: ...

    async def call(self, address: Address, session: Session, tls: ssl.SSLContext | None = None) -> None:
        """Connect, or raise OSError; `tls`: with what the other end is verified."""
        ...


class _SocketPlace:
    def __init__(self, datagrams: UdpTransport, server: asyncio.Server | Door) -> None:
        self.datagrams: Datagrams = datagrams
        self.address = datagrams.address
        self._server = server

    def close(self) -> None:
        self._server.close()


class SocketNetwork:
    """TCP and UDP: plain on the loopback, with TLS and seals where there are keys.

    `faults`: injected on datagrams, for tests.
    """

    def __init__(self, faults: Faults = NONE) -> None:
        self._faults = faults

    def clock(self) -> Clock:
        return Clock()

    def dice(self, name: str) -> random.Random:
        return random.Random()

    async def listen(
        self, name: str, address: Address, make: Callable[[], Session], protection: Protection | None = None
    ) -> Place:
        host, port = address
        beyond, sealing = not is_loopback(host), None if protection is None else protection.sealing
        for left in reversed(range(8 if port == 0 else 1)):
            datagrams = UdpTransport(
                name, host, port, faults=self._faults, beyond_loopback=beyond and sealing is not None, sealing=sealing,
            )  # fmt: skip
            try:
                server = await self._server(make, (host, datagrams.address[1]), protection)
            except OSError as fault:
                datagrams.close()
                if left == 0:
                    raise EnvironmentFault(in_use(address, fault)) from None
                continue
            return _SocketPlace(datagrams, server)
        raise AssertionError("unreachable")

    async def _server(
        self, make: Callable[[], Session], address: Address, protection: Protection | None
    ) -> asyncio.Server | Door:
        if protection is None:
            return await asyncio.get_running_loop().create_server(make, *address)
        family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        listener = socket.create_server(address, family=family, backlog=BACKLOG)
        listener.setblocking(False)
        return protection.door(listener, make)

    async def call(self, address: Address, session: Session, tls: ssl.SSLContext | None = None) -> None:
        await asyncio.get_running_loop().create_connection(lambda: session, *address, ssl=tls)
