"""All that keys do for one broker, put together: TLS, sealed datagrams, the guard of its clients, what is refused.

Decided here: whenever a broker looks whether it is alone, several times a second at most, the files are looked at again
and the tokens of those who are connected are judged again.
"""

from __future__ import annotations

import socket
import ssl
from collections.abc import Callable, Sequence
from dataclasses import replace

from antecede.core.machine import Settings
from antecede.core.membership.news import News
from antecede.live.keys.door import Comer, Door
from antecede.live.keys.guard import Guard
from antecede.live.keys.limits import Limits
from antecede.live.keys.refusals import Refusals
from antecede.live.keys.sealing import Sealing
from antecede.live.keys.store import Keys
from antecede.live.session import Session

__all__ = ["Protection"]


class Protection:
    def __init__(
        self,
        keys: Keys,
        limits: Limits,
        now_s: Callable[[], float],
        sessions: Callable[[], Sequence[Session]],
        known: Callable[[str], News | None],
    ) -> None:
        """`now_s`: seconds since 1970 by the clock that all brokers share."""
        self.keys, self.limits = keys, limits
        self.refusals = Refusals(now_s)
        self.guard = Guard(keys, limits, self.refusals, now_s, sessions, known)
        self.sealing = Sealing(lambda: keys.ring, now_s, self.refusals)
        self._now_s = now_s

    # -- what the network asks for ---------------------------------------------------------------------------------

    def door(self, listener: socket.socket, make: Callable[[], Comer]) -> Door:
        return Door(listener, self.keys.door(), make, self.refusals)

    @property
    def caller(self) -> ssl.SSLContext:
        return self.keys.caller()

    def proof(self, name: str) -> str:
        return self.keys.proof(name, self._now_s())

    # -- in time ---------------------------------------------------------------------------------------------------

    def look_again(self) -> None:
        """At the files, and at those who are connected."""
        self.keys.look_again()
        self.guard.look_at_sessions()

    def settings(self, settings: Settings) -> Settings:
        """A broker's, with what these limits say."""
        return replace(settings, backlog=self.limits.pending)
