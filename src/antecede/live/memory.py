"""Frames between processes of one process, without sockets: for tests, also users' own.

Decided here: frames are encoded and decoded as on a real network, so that what the wire refuses is found here too; what
one turn posts arrives in the next one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from antecede.errors import InputError
from antecede.live.arriving import Arriving
from antecede.live.faults import NONE, Faults
from antecede.live.transport import DatagramSender, Received

__all__ = ["MemoryNetwork", "MemoryTransport"]


class MemoryNetwork:
    """Where MemoryTransports meet: in one process, on one event loop, without sockets. For tests, also users' own."""

    def __init__(self, faults: Faults = NONE) -> None:
        self._faults = faults
        self._open: dict[str, MemoryTransport] = {}

    def transport(self, name: str) -> MemoryTransport:
        return MemoryTransport(name, self._open, self._faults)


class MemoryTransport(DatagramSender):
    def __init__(self, name: str, network: dict[str, MemoryTransport], faults: Faults = NONE) -> None:
        super().__init__(name, faults)
        self._network = network
        self._arriving = Arriving(self)
        self._waiting: list[bytes] = []
        self._loop: asyncio.AbstractEventLoop | None = None
        self._on_batch: Callable[[Received], None] | None = None

    def open(self, on_batch: Callable[[Received], None]) -> None:
        if self.name in self._network:
            raise InputError(f"two processes cannot both be called {self.name}")
        self._loop = asyncio.get_running_loop()
        self._on_batch = on_batch
        self._network[self.name] = self

    def close(self) -> None:
        if self._network.get(self.name) is self:
            del self._network[self.name]
        self._on_batch = None
        self._waiting.clear()

    def _post(self, peer: str, datagram: bytes) -> bool:
        there = self._network.get(peer)
        if there is None or there._loop is None:
            return False
        if not there._waiting:
            there._loop.call_soon(there._readable)
        there._waiting.append(datagram)
        return True

    def _readable(self) -> None:
        waiting, self._waiting = self._waiting, []
        batch: Received = []
        for datagram in waiting:
            self._arriving.take(memoryview(datagram), batch)
        if batch and self._on_batch is not None:
            self._on_batch(batch)
