"""Frames that come before a carrier knows at which cut it begins: they wait until then.

Otherwise a message would be lost if the process that sent it crashed meanwhile. Example: C joins and has asked A for a
snapshot; B sends p:9 and crashes. C takes p:9 in as soon as the snapshot says where C begins.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from antecede.core.effects import Discard
from antecede.core.frames import Data, Frame, Publish, Rumours

if TYPE_CHECKING:
    from antecede.core.roles.carrier import Carrier

__all__ = ["MAX_EARLY", "EarlyFrames"]

MAX_EARLY = 4096
"""Frames that are kept while joining: a few round trips of traffic. Raising it costs memory."""


class EarlyFrames:
    def __init__(self, carrier: Carrier) -> None:
        self.carrier = carrier
        self._frames: list[tuple[Frame, str]] = []
        self._ids: set[str] = set()
        """The messages in these frames."""

    def keep(self, frame: Frame, sender: str) -> None:
        if isinstance(frame, (Data, Publish, Rumours)):
            ids = [message.id for message in frame.messages()]
            again = isinstance(frame, Publish) and self._ids.issuperset(ids)  # until it is acknowledged
            if len(self._frames) < MAX_EARLY and not again:
                self._frames.append((frame, sender))
                self._ids.update(ids)
            else:
                self.carrier.say(*[Discard(one, "duplicate" if one in self._ids else "overflow") for one in ids])

    def take(self, now_us: int) -> None:
        frames, self._frames = self._frames, []
        self._ids.clear()
        for frame, sender in frames:
            self.carrier.on_frame(frame, sender, now_us)
