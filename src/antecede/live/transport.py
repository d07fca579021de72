"""How frames reach other processes: the seam, UDP on the loopback, and memory for tests.

Decided here: datagrams are read in a loop until the socket is empty, into one buffer, and handed on as one batch; what
cannot be sent or believed is dropped and counted, never raised (the protocols recover losses; they cannot recover a
crashed node); and nothing but the loopback is bound, because frames carry no keys yet.
"""

from __future__ import annotations

import asyncio
import ipaddress
import random
import socket
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from antecede.core.frames import Frame
from antecede.errors import EnvironmentFault, InputError, RemoteProtocolError
from antecede.live.datagram import MAX_BODY, Outgoing, halves, pack, prefix_for, unpack
from antecede.wire import encode

__all__ = ["Address", "Counts", "MemoryNetwork", "MemoryTransport", "Received", "Transport", "UdpTransport"]

Address: TypeAlias = tuple[str, int]
Received: TypeAlias = list[tuple[str, Frame]]
"""Everything that was ready: (sender, frame), in the order of arrival."""

DRAIN = 128
"""Datagrams read in one turn. Raising it makes batches larger and timers later."""
RECEIVE_BUFFER = 4 * 2**20
"""Bytes asked of the kernel (granted up to net.core.rmem_max). Raising it costs memory, lowering it loses bursts."""


@dataclass(slots=True)
class Counts:
    """Nothing is silent: what a transport did and what it dropped."""

    sent: int = 0
    """Datagrams, and the same below."""
    received: int = 0
    bytes_sent: int = 0
    lost: int = 0
    """By injected loss."""
    refused: int = 0
    """Malformed; nothing of it was used. And single frames that a machine refused."""
    unsent: int = 0
    """To a peer without an address, too large, or the socket was full."""


class Transport(Protocol):
    """Best effort, in batches. `send` never blocks and never raises for a peer's or the network's sake."""

    name: str
    counts: Counts

    def open(self, on_batch: Callable[[Received], None]) -> None:
        """Begin to receive, in the running event loop."""
        ...

    def send(self, frames: Sequence[Outgoing]) -> None: ...

    def close(self) -> None: ...


class _Sender(ABC):
    """What both transports share: encoding once, coalescing per peer, injected loss."""

    def __init__(self, name: str, loss: float, seed: int) -> None:
        if not 0 <= loss <= 1:
            raise InputError(f"loss is a probability, 0 to 1, not {loss}")
        self.name = name
        self.counts = Counts()
        self._prefix = prefix_for(name)
        self._loss = loss
        self._dice = random.Random(f"{seed} {name}")

    def send(self, frames: Sequence[Outgoing]) -> None:
        if len(frames) == 1:
            to, frame = frames[0]
            self._post_all(to, self._encoded(frame))
            return
        peers: dict[str, list[bytes]] = {}
        for to, frame in frames:
            for data in self._encoded(frame):
                for peer in to:
                    peers.setdefault(peer, []).append(data)
        # Peers that get the same frames get the same datagrams: joined once.
        alike: dict[tuple[int, ...], tuple[list[str], list[bytes]]] = {}
        for peer, mine in peers.items():
            alike.setdefault(tuple(map(id, mine)), ([], mine))[0].append(peer)
        for some, mine in alike.values():
            self._post_all(some, mine)

    def _encoded(self, frame: Frame) -> list[bytes]:
        """The frame, in as many parts as it takes to fit."""
        try:
            data = encode(frame)
        except InputError:
            self.counts.unsent += 1
            return []
        if len(data) <= MAX_BODY:
            return [data]
        parts = halves(frame)
        if parts is None:
            self.counts.unsent += 1
            return []
        return [data for part in parts for data in self._encoded(part)]

    def _post_all(self, peers: Sequence[str], frames: list[bytes]) -> None:
        counts = self.counts
        for datagram in pack(self._prefix, frames):
            for peer in peers:
                if self._loss and self._dice.random() < self._loss:
                    counts.lost += 1
                elif self._post(peer, datagram):
                    counts.sent += 1
                    counts.bytes_sent += len(datagram)
                else:
                    counts.unsent += 1

    @abstractmethod
    def _post(self, peer: str, datagram: bytes) -> bool:
        """Hand one datagram over; False: it could not be."""


class UdpTransport(_Sender):
    """One socket, no asyncio datagram endpoint: that one allocates 256 KiB per read, which is most of its cost."""

    def __init__(
        self,
        name: str,
        host: str = "127.0.0.1",
        port: int = 0,
        *,
        loss: float = 0.0,
        seed: int = 0,
        beyond_loopback: bool = False,
    ) -> None:
        """Port 0: the system chooses; `address` says which. `loss`: injected on sending, for tests."""
        super().__init__(name, loss, seed)
        try:
            inside = ipaddress.ip_address(host).is_loopback
        except ValueError:
            raise InputError(f"give an IP address to listen on, not {host!r}") from None
        if not inside and not beyond_loopback:
            raise InputError(f"{host} is not the loopback, and frames carry no keys yet: listen on 127.0.0.1")
        self._socket = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.setblocking(False)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BUFFER)
        try:
            self._socket.bind((host, port))
        except OSError as fault:
            self._socket.close()
            raise EnvironmentFault(f"cannot listen on {host}:{port}: {fault.strerror}") from None
        self.address: Address = self._socket.getsockname()[:2]
        self._peers: dict[str, Address] = {}
        self._buffer = bytearray(65_536)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._on_batch: Callable[[Received], None] | None = None

    def know(self, peers: Mapping[str, Address]) -> None:
        """Where others listen; asked for by name in `send`."""
        self._peers.update(peers)

    def open(self, on_batch: Callable[[Received], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._on_batch = on_batch
        self._loop.add_reader(self._socket.fileno(), self._readable)

    def close(self) -> None:
        if self._loop is not None:
            self._loop.remove_reader(self._socket.fileno())
            self._loop = None
        self._socket.close()

    def _post(self, peer: str, datagram: bytes) -> bool:
        address = self._peers.get(peer)
        if address is None:
            return False
        try:
            self._socket.sendto(datagram, address)
        except OSError:  # full, unreachable, closed: on a network that loses, one more loss
            return False
        return True

    def _readable(self) -> None:
        receive_into, buffer, counts = self._socket.recv_into, self._buffer, self.counts
        view = memoryview(buffer)
        batch: Received = []
        for _ in range(DRAIN):
            try:
                size = receive_into(buffer)
            except OSError:  # mostly BlockingIOError: nothing left
                break
            counts.received += 1
            try:
                sender, frames = unpack(view[:size])
            except RemoteProtocolError:
                counts.refused += 1
                continue
            batch += [(sender, frame) for frame in frames]
        if batch and self._on_batch is not None:
            self._on_batch(batch)


class MemoryNetwork:
    """Where MemoryTransports meet: in one process, on one event loop, without sockets. For tests, also users' own."""

    def __init__(self, *, loss: float = 0.0, seed: int = 0) -> None:
        self._loss = loss
        self._seed = seed
        self._open: dict[str, MemoryTransport] = {}

    def transport(self, name: str) -> MemoryTransport:
        return MemoryTransport(name, self._open, loss=self._loss, seed=self._seed)


class MemoryTransport(_Sender):
    """Frames are encoded and decoded as on a real network: what the wire refuses is found here too."""

    def __init__(self, name: str, network: dict[str, MemoryTransport], *, loss: float = 0.0, seed: int = 0) -> None:
        super().__init__(name, loss, seed)
        self._network = network
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
            self.counts.received += 1
            try:
                sender, frames = unpack(memoryview(datagram))
            except RemoteProtocolError:
                self.counts.refused += 1
                continue
            batch += [(sender, frame) for frame in frames]
        if batch and self._on_batch is not None:
            self._on_batch(batch)
