"""Datagrams between brokers: one UDP socket, read in batches, written at a pace.

Decided here: datagrams are read in a loop until the socket is empty, or has given a share, into one buffer, and handed
on as one batch; who sent one listens where it came from, unless membership knows better of one that is sealed; and what
would overflow the receiver's buffer waits its turn, up to a bound. On the loopback a datagram may have 60,000 bytes,
elsewhere what fits every path, a seal included. Nothing but the loopback is bound unless the caller says so.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections import deque
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from antecede.errors import EnvironmentFault
from antecede.live.address import Address, check_host, in_use
from antecede.live.arriving import Arriving
from antecede.live.faults import NONE, Faults
from antecede.live.transport import DatagramSender, Received
from antecede.wire import MAX_DATAGRAM

if TYPE_CHECKING:
    from antecede.live.keys.sealing import Sealing

__all__ = ["UdpTransport"]

DRAIN = 128
"""Datagrams read in one turn. Raising it makes batches larger and timers later."""
SHARE = 64
"""Messages in them after which no more are read in this turn: connections have theirs first. Raising it makes clients
wait while other brokers send much; lowering it makes batches smaller."""
RECEIVE_BUFFER = 4 * 2**20
"""Bytes asked of the kernel (granted up to net.core.rmem_max). Raising it costs memory, lowering it loses bursts."""
PATH = 1_200
"""Bytes of a datagram that fits every path beyond the loopback, with room for headers of tunnels."""
BURST = 160_000
"""Bytes that leave at once: less than the receive buffer that Linux grants by default."""
PACE = 150_000
"""Bytes a millisecond from then on. Raising it costs losses at receivers that are slower than this."""
WAITING = 32 * 2**20
"""Bytes that may wait for their turn; what is beyond is dropped and counted."""

PEERS = 4096
"""Names whose addresses are remembered from their datagrams. Others are asked for by `where`."""


class UdpTransport(DatagramSender):
    """One socket, no asyncio datagram endpoint: that one allocates 256 KiB per read, which is most of its cost."""

    def __init__(
        self,
        name: str,
        host: str = "127.0.0.1",
        port: int = 0,
        *,
        faults: Faults = NONE,
        size: int | None = None,
        beyond_loopback: bool = False,
        sealing: Sealing | None = None,
    ) -> None:
        """Port 0: the system chooses; `address` says which. `faults`: injected on sending, for tests."""
        check_host(host, beyond_loopback=beyond_loopback)
        super().__init__(name, faults, size or (PATH if beyond_loopback else MAX_DATAGRAM))
        self._sealing = sealing
        if sealing is not None:
            self.overhead = sealing.overhead
            self.size -= self.overhead
            self.rename(name)
        self._socket = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.setblocking(False)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BUFFER)
        try:
            self._socket.bind((host, port))
        except OSError as fault:
            self._socket.close()
            raise EnvironmentFault(in_use((host, port), fault)) from None
        self.address: Address = self._socket.getsockname()[:2]
        self.where: Callable[[str], Address | None] = lambda name: None
        """Asked where a peer listens whose datagrams never came; membership knows."""
        self._peers: dict[str, Address] = {}
        self._buffer = bytearray(65_536)
        self._arriving = Arriving(self)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._on_batch: Callable[[Received], None] | None = None
        self._left, self._left_at = float(BURST), 0.0
        self._queue: deque[tuple[Address, bytes]] = deque()
        self._queued = 0

    def know(self, peers: Mapping[str, Address]) -> None:
        """Where others listen; asked for by name in `send`."""
        self._peers.update(peers)

    def forget(self, name: str) -> None:
        self._peers.pop(name, None)

    def skip(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                self._socket.recvfrom_into(self._buffer)

    def open(self, on_batch: Callable[[Received], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._on_batch = on_batch
        self._loop.add_reader(self._socket.fileno(), self._readable)

    def close(self) -> None:
        self._arriving.close()
        while self._queue:
            self._put(*self._queue.popleft())
        if self._loop is not None:
            self._loop.remove_reader(self._socket.fileno())
            self._loop = None
        self._socket.close()

    # -- out -------------------------------------------------------------------------------------------------------

    def _post(self, peer: str, datagram: bytes) -> bool:
        sealing = self._sealing
        if sealing is None:
            address = self._peers.get(peer) or self.where(peer)
        else:  # a datagram that was caught and sent on from elsewhere must not move its sender there
            address = self.where(peer) or self._peers.get(peer)
        if address is None:
            return False
        if sealing is not None:
            datagram = sealing.seal(peer, datagram)
        if self._loop is None or (not self._queue and self._has_turn(len(datagram))):
            return self._put(address, datagram)
        if self._queued > WAITING:
            return False
        if not self._queue:
            self._loop.call_later(0.001, self._take_turns)
        self._queue.append((address, datagram))
        self._queued += len(datagram)
        return True

    def _has_turn(self, size: int) -> bool:
        assert self._loop is not None
        now_s = self._loop.time()
        self._left = min(float(BURST), self._left + (now_s - self._left_at) * 1000 * PACE)
        self._left_at = now_s
        if self._left < size:
            return False
        self._left -= size
        return True

    def _take_turns(self) -> None:
        while self._queue and self._loop is not None and self._has_turn(len(self._queue[0][1])):
            address, datagram = self._queue.popleft()
            self._queued -= len(datagram)
            if not self._put(address, datagram):
                self.counts.sent -= 1
                self.counts.unsent += 1
        if self._queue and self._loop is not None:
            self._loop.call_later(0.001, self._take_turns)

    def _put(self, address: Address, datagram: bytes) -> bool:
        try:
            self._socket.sendto(datagram, address)
        except OSError:  # full, unreachable, closed: on a network that loses, one more loss
            return False
        return True

    # -- in --------------------------------------------------------------------------------------------------------

    def _readable(self) -> None:
        receive_into, buffer, take, peers = self._socket.recvfrom_into, self._buffer, self._arriving.take, self._peers
        view = memoryview(buffer)
        batch: Received = []
        left, seen = SHARE, 0
        for _ in range(DRAIN):
            try:
                size, source = receive_into(buffer)
            except OSError:  # mostly BlockingIOError: nothing left
                break
            datagram = view[:size] if self._sealing is None else self._opened(view[:size], source)
            if datagram is None:
                continue
            sender = take(datagram, batch)
            left -= sum(len(frame.messages()) for _, frame in batch[seen:])
            seen = len(batch)
            if sender is not None and peers.get(sender) != source[:2] and len(peers) < PEERS:
                peers[sender] = source[:2]
            if left <= 0:
                break
        if batch and self._on_batch is not None:
            self._on_batch(batch)

    def _opened(self, sealed: memoryview, source: tuple[str, int]) -> memoryview | None:
        assert self._sealing is not None
        opened = self._sealing.open(sealed, self.name, source[0])
        if opened is None:
            self.counts.received += 1
            self.counts.refused += 1
            return None
        return memoryview(opened)
