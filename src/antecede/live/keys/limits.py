"""How much one client may ask of a broker that goes by keys: what is limited, and how a rate is kept.

Decided here: whoever sends faster than its rate is read more slowly, so that nothing is lost and its own connection
pushes back; everything else beyond a limit is refused with a sentence. The defaults are far above what a client needs
that behaves.
"""

from __future__ import annotations

from dataclasses import dataclass

from antecede.errors import InputError
from antecede.wire import MAX_PAYLOAD

__all__ = ["LIMITS", "Bucket", "Limits"]

LIMITS = ("rate", "size", "subscriptions", "pending", "connections")

BURST_S = 2.0
"""Seconds' worth of frames that may come at once."""


@dataclass(slots=True, frozen=True)
class Limits:
    """Of one client; raising one costs what it says."""

    rate: int = 10_000
    """Messages and other frames a second. Costs the others' time."""
    size: int = MAX_PAYLOAD
    """Bytes of one message."""
    subscriptions: int = 1_000
    """Filters at a time. Costs time with every message."""
    pending: int = 65_536
    """Messages that may wait for it. Costs memory."""
    connections: int = 100
    """Connections with one token."""

    def __post_init__(self) -> None:
        for name in LIMITS:
            if getattr(self, name) < 1:
                raise InputError(f"A limit of {getattr(self, name)} {name} lets nobody in: 1 is the least.")
        if self.size > MAX_PAYLOAD:
            raise InputError(f"A message has at most {MAX_PAYLOAD} bytes: limit_size cannot be {self.size}.")


class Bucket:
    """A token bucket: filled at a rate, full after BURST_S.

    >>> bucket = Bucket(100)
    >>> bucket.take(200, now_s=5.0), bucket.take(50, now_s=5.0), bucket.take(1, now_s=6.0)
    (0.0, 0.5, 0.0)
    """

    __slots__ = ("_at_s", "_left", "rate")

    def __init__(self, rate: int) -> None:
        self.rate = rate
        self._left = rate * BURST_S
        self._at_s: float | None = None

    def take(self, count: int, now_s: float) -> float:
        """Takes them in any case; returns for how many seconds nothing more should be taken."""
        if self._at_s is not None:
            self._left = min(self.rate * BURST_S, self._left + (now_s - self._at_s) * self.rate)
        self._at_s = now_s
        self._left -= count
        return max(0.0, -self._left / self.rate)
