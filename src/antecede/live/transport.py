"""How frames reach other processes: the seam, and what every way over datagrams shares.

Decided here: a frame is encoded once, peers that get the same frames get the same datagrams, a frame that is too large
for one is cut where its content allows and into parts where it does not; and what cannot be sent or believed is dropped
and counted, never raised (the protocols recover losses; they cannot recover a crashed node).
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from antecede.core.frames import Data, Frame, Items, Publish
from antecede.errors import InputError
from antecede.live.datagram import Outgoing, halves, pack, prefix_for
from antecede.live.faults import NONE, Faults
from antecede.live.parts import Parts
from antecede.wire import MAX_DATAGRAM, encode, measure

__all__ = ["Counts", "DatagramSender", "Received", "Transport", "encoded"]

Received: TypeAlias = list[tuple[str, Frame]]
"""Everything that was ready: (sender, frame), in the order of arrival."""


@dataclass(slots=True)
class Counts:
    """Nothing is silent: what a transport did and what it dropped."""

    sent: int = 0
    """Datagrams, and the same below."""
    received: int = 0
    bytes_sent: int = 0
    bytes_received: int = 0
    control_bytes: int = 0
    """Of frames to send, all copies: what their stamps take."""
    lost: int = 0
    """By injected faults; and those that they sent twice, or held back."""
    doubled: int = 0
    held_back: int = 0
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


def encoded(frame: Frame, limit: int, counts: Counts, copies: int = 1) -> Iterator[bytes]:
    """The frame, in as many frames as it takes to stay within `limit` bytes each, where its content can be had apart;
    a larger one where it cannot. `copies`: to how many it goes."""
    try:
        data = encode(frame)
    except InputError:
        counts.unsent += 1
        return
    parts = halves(frame) if len(data) > limit else None
    if parts is None:
        if isinstance(frame, Data | Items | Publish):
            counts.control_bytes += copies * measure(frame)[1]
        yield data
    else:
        for part in parts:
            yield from encoded(part, limit, counts, copies)


class DatagramSender(ABC):
    """What all transports over datagrams share: encoding once, coalescing per peer, parts, injected faults."""

    def __init__(self, name: str, faults: Faults = NONE, size: int = MAX_DATAGRAM) -> None:
        """`size`: bytes of a datagram that fits the path."""
        self.counts = Counts()
        self.size = size
        self.overhead = 0
        """Bytes that are added to each datagram on its way out."""
        self.parts = Parts()
        self._faults = faults
        self.rename(name)

    def rename(self, name: str) -> None:
        """What this process is called from now on: every datagram says so."""
        self.name = name
        self._prefix = prefix_for(name)
        self._body = self.size - len(self._prefix) - 3
        self._dice = self._faults.dice(name)

    def send(self, frames: Sequence[Outgoing]) -> None:
        if len(frames) == 1:
            to, frame = frames[0]
            self._post_all(to, list(encoded(frame, self._body, self.counts, len(to))))
            return
        peers: dict[str, list[bytes]] = {}
        for to, frame in frames:
            for data in encoded(frame, self._body, self.counts, len(to)):
                for peer in to:
                    peers.setdefault(peer, []).append(data)
        # Peers that get the same frames get the same datagrams: joined once.
        alike: dict[tuple[int, ...], tuple[list[str], list[bytes]]] = {}
        for peer, mine in peers.items():
            alike.setdefault(tuple(map(id, mine)), ([], mine))[0].append(peer)
        for some, mine in alike.values():
            self._post_all(some, mine)

    def _post_all(self, peers: Sequence[str], frames: list[bytes]) -> None:
        for large in [data for data in frames if len(data) > self._body]:
            for datagram in self.parts.cut(self._prefix, large, self.size):
                self._post_each(peers, datagram)
        for datagram in pack(self._prefix, [data for data in frames if len(data) <= self._body], self.size):
            self._post_each(peers, datagram)

    def _post_each(self, peers: Sequence[str], datagram: bytes) -> None:
        for peer in peers:
            if self._faults:
                self._post_badly(peer, datagram)
            else:
                self._post_one(peer, datagram)

    def _post_badly(self, peer: str, datagram: bytes) -> None:
        delays_s, counts = self._faults.delays_s(self._dice), self.counts
        counts.lost += not delays_s
        counts.doubled += len(delays_s) > 1
        for delay_s in delays_s:
            if delay_s:
                counts.held_back += 1
                asyncio.get_running_loop().call_later(delay_s, self._post_one, peer, datagram)
            else:
                self._post_one(peer, datagram)

    def _post_one(self, peer: str, datagram: bytes) -> None:
        if self._post(peer, datagram):
            self.counts.sent += 1
            self.counts.bytes_sent += len(datagram) + self.overhead
        else:
            self.counts.unsent += 1

    def post_again(self, peer: str, datagram: bytes) -> None:
        """A datagram as it is: a part that was lost, or a request for some."""
        self._post_each((peer,), datagram)

    @property
    def prefix(self) -> bytes:
        """What every datagram of this process begins with."""
        return self._prefix

    @abstractmethod
    def _post(self, peer: str, datagram: bytes) -> bool:
        """Hand one datagram over; False: it could not be."""
