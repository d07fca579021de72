"""What links and processors cost, where a scenario says that they cost anything: time, and frames that find no room.

Decided here: a process sends through one link, one copy after the other; it deals with one frame at a time; while it is
busy so many frames wait as its buffer holds, and what comes then is lost and counted. Off unless asked for: without it
throughput is whatever is offered.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from antecede.sim.agenda import Agenda
from antecede.sim.network import Network
from antecede.sim.scenario import Scenario

__all__ = ["Costs", "LinkedNetwork"]


class Costs:
    def __init__(self, scenario: Scenario) -> None:
        self._bytes_us = scenario.link_kbytes_s / 1000
        self._cpu_us = int(scenario.cpu_us)
        self._buffer = scenario.buffer
        self._free_us: dict[str, int] = {}
        """When a sender's link is free."""
        self._busy_us: dict[str, int] = {}
        """When a receiver has dealt with all that it has."""
        self._here: dict[str, int] = {}
        """How many frames a receiver has not dealt with yet."""
        self.overflowed: dict[str, int] = {}
        """Per receiver: frames that found its buffer full."""

    def leaves_us(self, source: str, size: int, now_us: int) -> int:
        """When one more copy has gone through the sender's link."""
        if not self._bytes_us:
            return now_us
        free_us = max(now_us, self._free_us.get(source, 0)) + int(size / self._bytes_us)
        self._free_us[source] = free_us
        return free_us

    def done_us(self, name: str, now_us: int) -> int | None:
        """When a frame that comes now will have been dealt with; None: there is no room for it."""
        here = self._here.get(name, 0)
        if self._buffer and here > self._buffer:  # one is being dealt with, so many wait
            self.overflowed[name] = self.overflowed.get(name, 0) + 1
            return None
        self._here[name] = here + 1
        self._busy_us[name] = max(now_us, self._busy_us.get(name, 0)) + self._cpu_us
        return self._busy_us[name]

    def done(self, name: str) -> None:
        self._here[name] -= 1


class LinkedNetwork(Network):
    """A network whose senders have links of limited speed: copies of one frame leave one after the other."""

    __slots__ = ("costs",)
    costs: Costs

    def post(self, source: str, to: Sequence[str], frame: Any, ids: tuple[str, ...], now_us: int,
             book: Mapping[str, Any], agenda: Agenda) -> None:  # fmt: skip
        for name in to:
            leaves_us = self.costs.leaves_us(source, frame.size, now_us)
            super().post(source, (name,), frame, ids, leaves_us, book, agenda)
