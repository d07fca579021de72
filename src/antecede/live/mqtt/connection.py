"""One connection of an MQTT client: bytes to packets and back, and how long it may be silent.

Decided here: CONNECT must be complete within seconds; a client that is silent for one and a half of its keep-alive is
gone; while it is being admitted nothing more of it is read; a breach is answered with its reason code and the end of
the connection, and what still comes is not looked at; of each client a share is taken at a time, as of native ones
(`live/session`); what is written in one turn leaves in one piece. TCP and WebSocket differ only in the transport that
is given.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from typing import TYPE_CHECKING, Any

import mqtt5

from antecede.live.mqtt.aliases import Aliases
from antecede.live.mqtt.codes import named
from antecede.live.mqtt.packets import OLD_VERSION, Breach, OldVersion, Reader
from antecede.live.session import PLENTY, SHARE

if TYPE_CHECKING:
    from antecede.live.mqtt.door import Door
    from antecede.live.mqtt.session import MqttSession

__all__ = ["CONNECT_S", "KEEP_ALIVE_S", "MqttConnection"]

log = logging.getLogger("antecede.mqtt")

CONNECT_S = 5.0
"""Seconds until CONNECT must have come."""
KEEP_ALIVE_S = 60
"""Seconds: the longest keep-alive; who asks for more is told this one. Raising it keeps the dead for longer."""
LINGER_S = 1.0
"""How long a closed connection is kept so that the client can read why."""
MAX_WAITING = 1 << 18
"""Bytes that may wait for a client that reads slowly; then its messages wait in its queue."""


class MqttConnection(asyncio.Protocol):
    def __init__(self, door: Door) -> None:
        self.door = door
        self.session: MqttSession | None = None
        self.client_id = ""
        self.aliases = Aliases(0)
        self.max_packet: int | None = None
        """Bytes of one packet that the client takes; None: any."""
        self.problems = True
        """Whether it wants to be told reasons in words."""
        self.ids = False
        """Whether it wants to be told ids."""
        self.writable = True
        self.over = False
        self.bytes_in = self.bytes_out = 0
        self._transport: Any = None
        self._reader = Reader()
        self._joining = False
        self._waiting: list[mqtt5.Packet] = []
        """What came behind CONNECT, until it has been admitted: a share at most."""
        self._turn: asyncio.Handle | None = None
        self._crowded = False
        """Whether so much of it waits for its turn that no more is read."""
        self._out: list[bytes] = []
        self._size = 0
        self._keep_alive_s = 0.0
        self._heard_s = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._paused = self._stopped = False
        """Whether it is to wait, and whether the transport has been told that it is."""

    # -- in --------------------------------------------------------------------------------------------------------

    def connection_made(self, transport: Any) -> None:
        self._transport = transport
        self._loop = asyncio.get_running_loop()
        self.door.opened(self)
        self._timer = self._loop.call_later(CONNECT_S, self._too_slow)

    def data_received(self, data: bytes) -> None:
        self.bytes_in += len(data)
        self._heard_s = self._loop.time()
        if not self.over:
            self._reader.keep(data)
            if self._turn is None:
                self._take()

    def _take(self) -> None:
        """One share of what has come, unless it has to wait. A fault on this side ends the connection (the event loop
        says so in the log), unless the client has ended it: then what had come still counts."""
        self._turn = None
        left, packets = SHARE, self._reader.feed(b"")
        try:
            while left and not self._waits():
                packet = next(packets, None)
                if packet is None:
                    break
                left -= 1
                if self._joining:
                    self._waiting.append(packet)
                else:
                    self._packet(packet)
        except Breach as breach:
            self._broken(breach)
        except BaseException:
            left = 0
            if self._transport is not None:
                self.abort()
            raise
        finally:
            packets.close()
            if left < SHARE:
                self._heard_s = self._loop.time()  # what it said meanwhile is in its socket
            self._go_on(more=not left)

    def _waits(self) -> bool:
        """Whether nothing more is taken now."""
        if self.over or self._joining:
            return self.over or len(self._waiting) >= SHARE
        return self._paused and self._transport is not None

    def _go_on(self, *, more: bool) -> None:
        """The others' turn; then the next share."""
        if more and not self.over and self._turn is None:
            self._turn = self._loop.call_soon(self._take)
        if self._transport is None and self._turn is None:
            self._gone()
        self._crowded = more and self._reader.waiting > PLENTY
        self._set_reading()

    @property
    def is_known(self) -> bool:
        """Whether it has been admitted, or was: it has shown who it is."""
        return self.session is not None

    @property
    def is_open(self) -> bool:
        return not self.over

    def is_over(self) -> bool:
        """Asked anew after whatever was waited for, or done."""
        return self.over

    def _packet(self, packet: mqtt5.Packet) -> None:
        if isinstance(packet, mqtt5.ConnectPacket):
            self._joining = True
            self.pause()
            self.door.connect(self, packet)
        elif isinstance(packet, mqtt5.PingReqPacket):
            self.send(_PINGRESP)
        elif self.session is not None:
            self.session.packet(packet)

    def _broken(self, breach: Breach) -> None:
        self.door.counts["malformed"] += 1
        if isinstance(breach, OldVersion):
            log.warning("a client was refused: %s", breach)
            self.send(OLD_VERSION)
            self.close()
            return
        log.info("connection of %s closed: %s", self.client_id or "a stranger", breach)
        if self.session is not None:
            self.disconnect(breach.code, str(breach))
        else:
            self.refuse(breach.code, str(breach))

    # -- admitting -------------------------------------------------------------------------------------------------

    def admit(self, session: MqttSession, connect: mqtt5.ConnectPacket, keep_alive_s: int) -> None:
        """This connection is the session's client from now on; `welcome` follows."""
        self.session = session
        self._set_timer(None)
        self._keep_alive_s = 1.5 * keep_alive_s
        self._heard_s = self._loop.time()
        if keep_alive_s:
            self._set_timer(self._keep_alive_s)

    def welcome(self, connack: bytes) -> None:
        self.send(connack)
        self._joining = False
        waiting, self._waiting = self._waiting, []
        try:
            for packet in waiting:
                if not self.is_over():
                    self._packet(packet)
        except Breach as breach:
            self._broken(breach)
        self.resume()

    def refuse(self, code: int, text: str, **more: Any) -> None:
        """CONNACK with a reason, and the end."""
        reason = named(mqtt5.ConnAckReasonCode, code, otherwise=0x80)
        self.send(mqtt5.ConnAckPacket(reason_code=reason, reason_str=self.words(text), **more).write())
        self.close()

    def disconnect(self, code: int, text: str = "", **more: Any) -> None:
        """DISCONNECT with a reason, and the end."""
        if not self.over:
            reason = named(mqtt5.DisconnectReasonCode, code, otherwise=0x80)
            self.send(mqtt5.DisconnectPacket(reason_code=reason, reason_str=self.words(text), **more).write())
            self.close()

    def words(self, text: str) -> str | None:
        """A reason in words, if the client wants that and has room for it."""
        fits = self.max_packet is None or len(text.encode()) + 64 <= self.max_packet
        return text if text and self.problems and fits else None

    # -- out -------------------------------------------------------------------------------------------------------

    def send(self, data: bytes) -> None:
        if self.over:
            return
        if not self._out:
            self._loop.call_soon(self._flush)
        self._out.append(data)
        self._size += len(data)

    @property
    def has_room(self) -> bool:
        return self.writable and not self.over and self._size < MAX_WAITING

    def _flush(self) -> None:
        out, self._out, self._size = self._out, [], 0
        if out and self._transport is not None:
            data = b"".join(out)
            self.bytes_out += len(data)
            self._transport.write(data)
            if self.session is not None and self.writable and not self.over:
                self.session.flow()

    def pause_writing(self) -> None:
        self.writable = False

    def resume_writing(self) -> None:
        self.writable = True
        if self.session is not None:
            self.session.flow()

    def pause(self) -> None:
        """Read nothing for a while, and take nothing of what was read."""
        self._paused = True
        self._set_reading()

    def resume(self) -> None:
        if self._paused and not self._joining:
            self._paused = False
            self._heard_s = self._loop.time()
            if self._turn is None and self._reader.waiting:
                self._turn = self._loop.call_soon(self._take)
            self._set_reading()

    def _set_reading(self) -> None:
        stops = self._paused or self._crowded
        if self._transport is not None and stops != self._stopped and not self.over:
            self._stopped = stops
            if stops:
                self._transport.pause_reading()
            else:
                self._transport.resume_reading()

    # -- time ------------------------------------------------------------------------------------------------------

    def _set_timer(self, wait_s: float | None) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = None if wait_s is None else self._loop.call_later(wait_s, self._look)

    def _look(self) -> None:
        left_s = self._heard_s + self._keep_alive_s - self._loop.time()
        if self._paused or left_s > 0:
            self._set_timer(max(left_s, 0.1))
        else:
            log.info("%s was silent for %.0f s", self.client_id, self._keep_alive_s)
            self.door.counts["silent"] += 1
            self.disconnect(0x8D, "the keep-alive is over")

    def _too_slow(self) -> None:
        if self.session is None and not self._joining:
            self.door.counts["too_slow"] += 1
            self.abort()

    # -- the end ---------------------------------------------------------------------------------------------------

    def close(self) -> None:
        """What was written still leaves, and the client has a moment to read it."""
        if self.over:
            return
        self._flush_last()
        self.over = True
        self._set_timer(None)
        if self._transport is not None:
            if self._stopped:
                self._transport.resume_reading()  # or an end of the other side would not be seen
            self._loop.call_later(LINGER_S, self.abort)
        self._detach()

    def _flush_last(self) -> None:
        out, self._out, self._size = self._out, [], 0
        if self._transport is not None:
            if out:
                self._transport.write(b"".join(out))
            if self._transport.can_write_eof():
                with contextlib.suppress(OSError):  # the other side has reset it, and that is not known here yet
                    self._transport.write_eof()

    def abort(self) -> None:
        self.over = True
        self._set_timer(None)
        if self._transport is not None:
            self._transport.abort()
        self._detach()

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        if self._turn is None and not (self.over or self._joining) and self._reader.waiting:
            self._turn = self._loop.call_soon(self._take)
        if self._turn is None or self.over:  # else what had come counts, a share at a time
            self._gone()

    def _gone(self) -> None:
        self.over = True
        self._set_timer(None)
        self.door.closed(self)
        self._detach()

    def _detach(self) -> None:
        session, self.session = self.session, None
        if session is not None:
            session.detached(self)


_PINGRESP = mqtt5.PingRespPacket().write()
