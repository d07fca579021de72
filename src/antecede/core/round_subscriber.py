"""A subscriber that counts by rounds (`rounds`, 001 s2.2; `colour`, 004): what it asks for when only a round is known."""

from __future__ import annotations

from antecede.core.frames import Frame, Request
from antecede.core.message import Mark
from antecede.core.order.colour import ROUNDS
from antecede.core.spread.solicit import ranges_of
from antecede.core.subscriber import Subscriber

__all__ = ["RoundSubscriber"]


class RoundSubscriber(Subscriber):
    def asked(self, marks: list[Mark]) -> tuple[str, ...]:
        return super().asked([mark for mark in marks if mark[0] != ROUNDS])

    def request(self, marks: list[Mark]) -> Frame:
        by_round = [mark for mark in marks if mark[0] == ROUNDS]
        by_sender = [mark for mark in marks if mark[0] != ROUNDS]
        return Request((*ranges_of(by_round), *self.open_ranges(by_sender)))
