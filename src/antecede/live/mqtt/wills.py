"""The will of a session: what is published for a client that went without a word.

Decided here: it is published when its delay is over or the session ends, whichever comes first; a client that is back
before then cancels it, and so does one that says good-bye. It comes from the session's own machine, so it follows all
that the client was sent and all that it published.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import mqtt5

__all__ = ["NO_LESS_S", "Wills"]

NO_LESS_S = 0.02
"""Seconds are promised as a minimum: by so much the client's clock and the network may see them shorter."""


class Wills:
    def __init__(self, publish: Callable[[mqtt5.Will], None]) -> None:
        self._publish = publish
        self.will: mqtt5.Will | None = None
        """What the client last said in CONNECT."""
        self._timer: asyncio.TimerHandle | None = None

    def connected(self, will: mqtt5.Will | None) -> None:
        """The client is back, or here for the first time."""
        self._cancel()
        self.will = will

    def goodbye(self) -> None:
        """The client went as it should."""
        self._cancel()
        self.will = None

    def lost(self) -> None:
        """The client went without a word."""
        if self.will is not None and self._timer is None:
            if self.will.will_delay_interval:
                loop = asyncio.get_running_loop()
                self._timer = loop.call_later(self.will.will_delay_interval + NO_LESS_S, self.execute)
            else:
                self.execute()

    def execute(self) -> None:
        """Now: its time has come, or the session ends."""
        self._cancel()
        will, self.will = self.will, None
        if will is not None:
            self._publish(will)

    def _cancel(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
