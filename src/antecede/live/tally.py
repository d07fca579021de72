"""What a broker counts while it runs: fates, and how much time was left when a message was delivered.

Decided here: counting costs one addition per effect, and nothing is kept per message.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter

from antecede.core.effects import Answer, Ask, Discard, Effect
from antecede.core.message import Message

__all__ = ["SLACK_S", "Tally"]

SLACK_S = (0.0, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 60.0)
"""Upper bounds, in seconds, of how much time was left before the deadline."""


class Tally:
    def __init__(self) -> None:
        self.fates: Counter[str] = Counter()
        """`delivered`, and the reasons of what was discarded."""
        self.asked = self.answered = 0
        """Messages asked for because they were missing, and those given to others who asked."""
        self.slack = [0] * (len(SLACK_S) + 1)
        self.slack_sum_s = 0.0

    def delivered(self, message: Message, now_us: int) -> None:
        self.fates["delivered"] += 1
        if message.deadline_us is not None:
            left_s = (message.deadline_us - now_us) / 1e6
            self.slack[bisect_left(SLACK_S, left_s)] += 1
            self.slack_sum_s += left_s

    def said(self, effect: Effect) -> None:
        if isinstance(effect, Discard):
            self.fates[effect.reason] += 1
        elif isinstance(effect, Ask):
            self.asked += max(1, len(effect.messages))
        elif isinstance(effect, Answer):
            self.answered += max(1, len(effect.messages))
