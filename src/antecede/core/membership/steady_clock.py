"""Time that neither leaps nor runs back: what timeouts of a detector are counted in.

Decided here: between two looks at the clock at most `limit_us` pass. Whoever was suspended, or whose clock was set,
has heard nobody meanwhile, and that is nobody's fault but its own.
"""

from __future__ import annotations

__all__ = ["Steady"]


class Steady:
    def __init__(self, limit_us: int) -> None:
        self.limit_us = limit_us
        self.at_us = 0
        """Steady time."""
        self._seen_us: int | None = None

    def look(self, now_us: int) -> int:
        """The process's clock says `now_us`; returns steady time."""
        if self._seen_us is not None:
            self.at_us += min(max(now_us - self._seen_us, 0), self.limit_us)
        self._seen_us = now_us
        return self.at_us

    def local(self, due_us: int) -> int:
        """When, on the process's clock, steady time will be `due_us`."""
        return (self._seen_us or 0) + due_us - self.at_us
