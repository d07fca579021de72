"""Connections that have not said who they are: how long each may be silent, and how many there may be.

Decided here: whoever connects says HELLO within a few seconds or is closed, and of many that say nothing the oldest
goes first, so that silence costs a broker a stated number of connections and keeps nobody else out.
"""

from __future__ import annotations

import asyncio

from antecede.live.session import Session

__all__ = ["HELLO_S", "MOST", "Strangers"]

HELLO_S = 10.0
"""Seconds until HELLO must have come. Raising it keeps the silent for longer; lowering it, slow networks out."""
MOST = 256
"""Connections without HELLO. Raising it costs sockets; lowering it, where very many connect at once, some who would
have said it."""


class Strangers:
    def __init__(self) -> None:
        self.turned_away = 0
        """Connections this broker closed: silent, refused, or what came over them made no sense."""
        self._silent: dict[Session, asyncio.TimerHandle] = {}
        self._open: set[Session] = set()
        """Every connection, whoever it turned out to be: brokers that only ask a question are at no hub."""

    def __len__(self) -> int:
        return len(self._silent)

    def came(self, session: Session) -> None:
        loop = asyncio.get_running_loop()
        self._open.add(session)
        self._silent[session] = loop.call_later(HELLO_S, self._close, session, f"no HELLO within {HELLO_S:.0f} s")
        if len(self._silent) > MOST:
            self._close(next(iter(self._silent)), "too many connect and say nothing: try again")

    def spoke(self, session: Session) -> None:
        timer = self._silent.pop(session, None)
        if timer is not None:
            timer.cancel()

    def lost(self, session: Session) -> None:
        self.spoke(session)
        self._open.discard(session)
        self.turned_away += bool(session.fault)

    def abort(self) -> None:
        """Close every connection without a word, as if the process had been killed."""
        for session in list(self._open):
            session.abort()

    def _close(self, session: Session, reason: str) -> None:
        self.spoke(session)
        session.refuse(reason)
