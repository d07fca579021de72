"""Ordered messages that came to a client of `home` and were not delivered: too late, or there was no room for them.

A message that follows such a one at another home would wait for its number, so for a while the next home is told not to
send it again. Example: p:3 came too late for Bob, who moves from A to B. He tells B so: B does not send p:3, and p:4,
which follows it, waits for nothing.
"""

from __future__ import annotations

from antecede.core.order.numbered import WINDOW

__all__ = ["Missed"]


class Missed:
    def __init__(self, grace_us: int) -> None:
        self.grace_us = grace_us
        """For so long a home may still have one."""
        self._at_us: dict[str, int] = {}
        """Message -> when it came, the newest last: no more than one home can have sent."""

    def note(self, message_id: str, now_us: int) -> None:
        self._at_us.pop(message_id, None)
        self._forget(now_us, WINDOW - 1)
        self._at_us[message_id] = now_us

    def __contains__(self, message_id: str) -> bool:
        return message_id in self._at_us

    def ids(self, now_us: int) -> tuple[str, ...]:
        self._forget(now_us, WINDOW)
        return tuple(self._at_us)

    def _forget(self, now_us: int, most: int) -> None:
        missed, limit = self._at_us, now_us - self.grace_us
        while missed and (len(missed) > most or next(iter(missed.values())) < limit):
            del missed[next(iter(missed))]
