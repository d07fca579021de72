"""003 as printed: CAUSAL_DELIVERY holds a message back if `Overlapped_Multicast_Vectors > id.Overlapped_...`.

What `>` between vectors means the paper does not say. Three readings:

any        some entry is greater. The sender's own entry always is: nothing is ever delivered.
dominates  all entries are at least equal, and one is greater. Held back is what follows everything known here; whatever
           is concurrent to something is let through, before its causes too.
others     as `any`, but the sender's own entry does not count. Then nobody notices a gap in a sender's own messages.

A message that was delivered is no longer in the waiting list, so its second copy is taken in like a new one.
"""

from __future__ import annotations

from collections.abc import Callable

from antecede.core.message import Stamp
from antecede.core.printed.waiting import LiteralReader

__all__ = ["READINGS", "PrintedPullReader"]

READINGS = {"printed-a": "any", "printed-b": "dominates", "printed-c": "others"}


class PrintedPullReader(LiteralReader):
    def __init__(self, concerns: Callable[[str], bool], greater: str) -> None:
        super().__init__(concerns, dense=False)
        self.greater = greater
        self.vector: dict[str, int] = {}
        """id.Overlapped_Multicast_Vectors."""

    def ready(self, stamp: Stamp) -> bool:
        own = dict(stamp.own)
        theirs = {stream: n for stream, n in {**stamp.covers, **own}.items() if self._concerns(stream)}
        if self.greater == "others":
            theirs = {stream: n for stream, n in theirs.items() if stream not in own}
        if self.greater == "dominates":
            streams = {**theirs, **{s: n for s, n in self.vector.items() if self._concerns(s)}}
            at_least = all(theirs.get(s, 0) >= self.vector.get(s, 0) for s in streams)
            return not (at_least and any(theirs.get(s, 0) > self.vector.get(s, 0) for s in streams))
        return not any(n > self.vector.get(stream, 0) for stream, n in theirs.items())

    def delivered(self, stamp: Stamp, *, forced: bool) -> None:
        super().delivered(stamp, forced=True)
        for stream, n in (*stamp.covers.items(), *stamp.own):  # MAX(Overlapped_Multicast_Vectors)
            self.vector[stream] = max(n, self.vector.get(stream, 0))
