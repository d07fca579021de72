"""What was refused, and why: counted always, logged now and then.

Decided here: each reason is logged when it first occurs and then at most once in a while, with how often it occurred
meanwhile: whoever is refused must not be able to fill a disk. Sentences hold no secrets; nothing else is logged.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable

__all__ = ["Refusals"]

log = logging.getLogger("antecede.broker")

QUIET_S = 10.0
"""Seconds between two lines about one reason."""


class Refusals:
    def __init__(self, now_s: Callable[[], float]) -> None:
        self.counts: Counter[str] = Counter()
        """Reason -> how often."""
        self._now_s = now_s
        self._said: dict[str, tuple[float, int]] = {}
        """Reason -> when it was logged last, and how often it had occurred by then."""

    def add(self, reason: str, who: str, sentence: str = "") -> None:
        self.counts[reason] += 1
        now_s, count = self._now_s(), self.counts[reason]
        at_s, before = self._said.get(reason, (now_s - QUIET_S, 0))
        if now_s - at_s >= QUIET_S:
            self._said[reason] = now_s, count
            more = f", and {count - before - 1} more since the last such line" if count - before > 1 else ""
            log.warning("refused %s: %s%s%s", who, reason, f" ({sentence})" if sentence else "", more)
