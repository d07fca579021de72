"""A subscriber that counts by rounds (001 s2.2, 004): what it asks for where only a round is known.

One colour leads to a round, not to a message, and to no more than one round. So in `colour` a broker's digest says in
which rounds its senders sent something (004 GS2, the summary), and messages of those rounds that are not here are asked
for.
"""

from __future__ import annotations

from collections.abc import Mapping

from antecede.core.frames import Digest, Frame, Request
from antecede.core.message import Mark
from antecede.core.order.colour import ROUNDS
from antecede.core.repair.asking import open_ranges, ranges_of
from antecede.core.roles.receiver import Parts
from antecede.core.roles.subscriber import Subscriber

__all__ = ["RoundSubscriber"]


class RoundSubscriber(Subscriber):
    def __init__(self, parts: Parts) -> None:
        super().__init__(parts)
        self._lacks: dict[str, list[int]] = {}
        """Rounds of a sender that a summary named and that are not here."""

    def asked(self, marks: list[Mark]) -> tuple[str, ...]:
        return super().asked([mark for mark in marks if mark[0] != ROUNDS])

    def request(self, marks: list[Mark]) -> Frame:
        """By round, where only that is known; of what a summary named exactly that; else all that lies between."""
        named = [mark for mark in marks if mark[0] == ROUNDS or mark[1] in self._lacks.get(mark[0], ())]
        others = [mark for mark in marks if mark not in named]
        return Request((*ranges_of(named), *open_ranges(others, self.past.front, self.past.held)))

    def compared(self, frame: Digest, sender: str, now_us: int) -> None:
        for stream, mask in frame.done.items():
            top = frame.offer.get(stream, 0)
            rounds = [top - 1 - j for j in range(mask.bit_length()) if mask >> j & 1]
            lacks = [n for n in rounds if self.past.lacks((stream, n))]
            self._lacks[stream] = lacks
            for n in lacks:
                self.wants.offered((stream, n), sender, now_us)

    def haves(self, have: Mapping[str, int], behind: Mapping[str, int]) -> Mapping[str, int]:
        if not any(self._lacks.values()):
            return have
        return {s: min(n, behind[s]) if self._lacks.get(s) else n for s, n in have.items()}
