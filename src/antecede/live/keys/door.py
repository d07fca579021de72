"""The way to a broker's port for connections with TLS: who has not said yet who it is, and for how long that is borne.

Decided here: a handshake and a HELLO must be done within some seconds, whatever trickles in; so many connections may be
on their way at once, and one more ends the oldest of the address that has most of them, so that whoever only connects
crowds out itself before others. While many are on their way more are let in at a pace and shake hands at a pace, and
nothing is made ready for one before its first byte has come: those who are in must not feel it.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
from collections import Counter
from collections.abc import Callable
from typing import Any, Protocol

from antecede.live.keys.refusals import Refusals
from antecede.live.keys.tls import HANDSHAKE_S

__all__ = ["CROWDED", "NO_TLS", "SILENT", "Comer", "Door"]

HELLO_S = 10.0
"""Seconds from connecting to a welcome."""
WAITING = 256
"""Connections that are on their way. Costs file descriptors."""
CROWD = 32
"""So many on their way are many."""
PACE_S = 0.004
"""Seconds between two of many. Raising it costs a newcomer time, lowering it those who are in."""
GREET_S = 0.008
"""Seconds between two handshakes of many: one takes a few milliseconds of CPU. As above."""
SILENT, CROWDED, NO_TLS = "silent connection", "too many silent connections", "no TLS"


class Comer(Protocol):
    """What is made for a connection on which somebody has spoken: a protocol of asyncio."""

    @property
    def is_known(self) -> bool:
        """Whether it has shown who it is."""
        ...

    @property
    def is_open(self) -> bool: ...

    def abort(self) -> None: ...


class _Coming:
    __slots__ = ("connection", "host", "session", "task", "timer")

    def __init__(self, host: str, connection: socket.socket) -> None:
        self.host = host
        self.connection: socket.socket | None = connection
        """Until somebody has spoken on it and a transport has it."""
        self.session: Comer | None = None
        self.task: asyncio.Task[None] | None = None
        self.timer: asyncio.TimerHandle | None = None


class Door:
    def __init__(
        self, listener: socket.socket, tls: ssl.SSLContext, make: Callable[[], Comer], refusals: Refusals
    ) -> None:
        """`listener`: listens already and does not block."""
        self._listener, self._tls, self._make, self._refusals = listener, tls, make, refusals
        self._coming: dict[_Coming, None] = {}
        self._greet_at_s = 0.0
        self._accepting = asyncio.create_task(self._accept())

    def close(self) -> None:
        """Accept no more; who is in stays."""
        self._accepting.cancel()
        self._listener.close()
        for one in list(self._coming):
            self._end(one)

    async def _accept(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                connection, source = await loop.sock_accept(self._listener)
            except ConnectionError:
                continue
            except OSError:  # no more file descriptors: those that say nothing have some
                self._crowd_out()
                await asyncio.sleep(0.05)
                continue
            self._look_who_is_in()
            if len(self._coming) >= WAITING:
                self._crowd_out()
            connection.setblocking(False)
            one = _Coming(str(source[0]), connection)
            self._coming[one] = None
            one.timer = loop.call_later(HELLO_S, self._too_long, one)
            loop.add_reader(connection, self._speaks, one)
            if len(self._coming) > CROWD:
                await asyncio.sleep(PACE_S)

    def _speaks(self, one: _Coming) -> None:
        if one.connection is not None:
            asyncio.get_running_loop().remove_reader(one.connection)
            one.task = asyncio.get_running_loop().create_task(self._greet(one, one.connection))

    async def _turn(self) -> None:
        """Until the next handshake may begin."""
        now_s = asyncio.get_running_loop().time()
        at_s = max(now_s, self._greet_at_s)
        self._greet_at_s = at_s + (GREET_S if len(self._coming) > CROWD else 0.0)
        if at_s > now_s:
            await asyncio.sleep(at_s - now_s)

    async def _greet(self, one: _Coming, connection: socket.socket) -> None:
        await self._turn()
        one.connection = None
        try:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            make: Any = self._make
            _, one.session = await asyncio.get_running_loop().connect_accepted_socket(
                make, connection, ssl=self._tls, ssl_handshake_timeout=HANDSHAKE_S
            )
        except (ssl.SSLError, ConnectionError, OSError) as fault:
            connection.close()
            if one in self._coming:
                reason = SILENT if isinstance(fault, ConnectionAbortedError) else NO_TLS
                self._refusals.add(reason, one.host, getattr(fault, "reason", "") or "")
                self._end(one)

    def _look_who_is_in(self) -> None:
        for one in [one for one in self._coming if one.session is not None]:
            assert one.session is not None
            if one.session.is_known or not one.session.is_open:
                self._end(one, keep=True)

    def _crowd_out(self) -> None:
        hosts = Counter(one.host for one in self._coming)
        if hosts:
            most = hosts.most_common(1)[0][0]
            oldest = next(one for one in self._coming if one.host == most)
            self._refusals.add(CROWDED, most)
            self._end(oldest)

    def _too_long(self, one: _Coming) -> None:
        if one.session is None or (not one.session.is_known and one.session.is_open):
            self._refusals.add(SILENT, one.host)
        self._end(one, keep=one.session is not None and one.session.is_known)

    def _end(self, one: _Coming, *, keep: bool = False) -> None:
        with contextlib.suppress(KeyError):
            del self._coming[one]
        if one.timer is not None:
            one.timer.cancel()
        if one.connection is not None:
            asyncio.get_running_loop().remove_reader(one.connection)
            one.connection.close()
        if not keep:
            if one.session is not None:
                one.session.abort()
            elif one.task is not None:
                one.task.cancel()
