"""What one datagram brings: frames, a part of a larger one, or a request for parts that were lost.

Decided here: whatever makes no sense is dropped whole and counted; a frame that came in parts is treated as if it had
come in one piece; and who waits for parts looks every so often whether some are missing.
"""

from __future__ import annotations

import asyncio

from antecede.errors import RemoteProtocolError
from antecede.live.datagram import sender_of, unpack
from antecede.live.parts import ASK_S, PART, WANTED
from antecede.live.transport import DatagramSender, Received
from antecede.wire import decode

__all__ = ["Arriving"]


class Arriving:
    def __init__(self, transport: DatagramSender) -> None:
        self.transport = transport
        self._timer: asyncio.TimerHandle | None = None

    def take(self, datagram: memoryview, batch: Received) -> str | None:
        """Adds the frames to the batch; returns who sent it, None if it is not to be believed."""
        counts = self.transport.counts
        counts.received += 1
        counts.bytes_received += len(datagram)
        try:
            kind = datagram[0] if len(datagram) > 3 else 0
            if kind not in (PART, WANTED):
                sender, frames = unpack(datagram)
                batch += [(sender, frame) for frame in frames]
                return sender
            sender, at = sender_of(datagram)
            if kind == PART:
                self._take_part(sender, datagram[at:], batch)
            else:
                for again in self.transport.parts.wanted(datagram[at:]):
                    self.transport.post_again(sender, again)
            return sender
        except RemoteProtocolError:
            counts.refused += 1
            return None

    def _take_part(self, sender: str, body: memoryview, batch: Received) -> None:
        loop, parts = asyncio.get_running_loop(), self.transport.parts
        whole = parts.take(sender, body, loop.time())
        if whole is not None:
            batch.append((sender, decode(whole)))
        elif self._timer is None:
            self._timer = loop.call_later(ASK_S, self._look)

    def _look(self) -> None:
        self._timer = None
        loop, transport = asyncio.get_running_loop(), self.transport
        for sender, datagram in transport.parts.missing(transport.prefix, loop.time()):
            transport.post_again(sender, datagram)
        if transport.parts.waiting:
            self._timer = loop.call_later(ASK_S, self._look)

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
