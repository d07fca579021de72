"""Which unordered messages a client of `home` has had, from whatever home: they are no part of its frontier's clock.

Decided here: that this is bounded. Who wants some topics of an entry never has the numbers of its streams in a row, and
would remember each for ever. The oldest are taken for had, with those between them: no later home sends any of these.
This one may still, if they are so late; what it repeats is known by its number, and by its name for `memory_us`.
"""

from __future__ import annotations

from antecede.core.message import Mark, Stamp
from antecede.core.order.reader import Reader, everything

__all__ = ["UNORDERED_KEPT", "Heard"]

UNORDERED_KEPT = 4_096
"""Numbers of one stream that are remembered one by one. Costs memory; lowering it, where an unordered message is so
late that so many others of its sender overtook it, and its client moved meanwhile, that message."""


class Heard(Reader):
    def __init__(self) -> None:
        super().__init__(everything, dense=False)
        self._taken: dict[str, int] = {}
        """Per stream, up to where all are taken for had."""

    def add(self, stamp: Stamp) -> None:
        self.delivered(stamp, forced=False)
        for stream, _ in stamp.own:
            over = self.over.get(stream, ())
            if len(over) > UNORDERED_KEPT:
                upto = self._taken[stream] = sorted(over)[len(over) // 2]
                self.start_at({stream: upto})

    def has(self, own: tuple[Mark, ...]) -> bool:
        """For sure: not where it is only taken for had."""
        return any(self.behind(stream, n) and n > self._taken.get(stream, 0) for stream, n in own)
