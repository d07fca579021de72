"""Vector with the deadlines of causes (Baldoni, Mostefaoui, Raynal 1996: Delta-causal order): when to stop waiting.

Every message lives equally long, so what precedes a message expires before it does, and its sender's earlier ones do
too. A stamp therefore says, for each stream it covers, when the newest cause there expires: a receiver that lacks it
waits until then and no longer. (The paper's entries are the times themselves; they are numbers here as well, since
times cannot show a gap in a sender's own stream.)
"""

from __future__ import annotations

from collections.abc import Sequence

from antecede.core.message import Envelope, Message, Stamp
from antecede.core.order.vector import VectorWriter

__all__ = ["DeltaWriter"]


class DeltaWriter(VectorWriter):
    def __init__(self, name: str) -> None:
        super().__init__(name, flat=True)
        self._until: dict[str, tuple[int, int]] = {}
        """Per stream the newest message heard of, and its deadline."""

    def stamp(self, message: Message, after: Sequence[Stamp] | None) -> Stamp:
        stamp = super().stamp(message, after)
        stamp.extra = {stream: self._until[stream][1] for stream in stamp.covers}
        self._hear(stamp, message)
        return stamp

    def learn(self, envelope: Envelope) -> None:
        super().learn(envelope)
        self._hear(envelope.stamp, envelope.message)

    def _hear(self, stamp: Stamp, message: Message) -> None:
        assert isinstance(stamp.extra, dict) and message.deadline_us is not None
        heard = [(stream, n, stamp.extra[stream]) for stream, n in stamp.covers.items()]
        for stream, n, until_us in (*heard, *((stream, n, message.deadline_us) for stream, n in stamp.own)):
            if n > self._until.get(stream, (0, 0))[0]:
                self._until[stream] = (n, until_us)
