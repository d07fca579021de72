"""Subscribers that change what they want while they are attached: when, and to which groups.

Decided here: changes come at the rate `grow`, of dice of their own, before the last publication; a subscriber then
wants other groups than before, one to all of those that the first of its brokers carries, and keeps of its further
brokers those that carry any of these.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from antecede.sim.dice import some, stream
from antecede.sim.driver import Driver

if TYPE_CHECKING:
    from antecede.sim.faults import Faults

__all__ = ["Growth"]


class Growth:
    def __init__(self, driver: Driver, faults: Faults) -> None:
        self.driver = driver
        self.faults = faults
        self._dice = stream(driver.scenario.seed, "growth")

    def plan(self) -> None:
        scenario = self.driver.scenario
        if scenario.grow and not self.driver.facts.flat:
            for base in self.driver.layout.filters:
                self._next(base, scenario.first_us)

    def _next(self, base: str, from_us: int) -> None:
        when_us = from_us + 1 + int(self._dice.random() * 2_000_000 / self.driver.scenario.grow)
        if when_us < self.faults.busy_until_us:
            self.driver.at(when_us, partial(self._change, base))

    def _change(self, base: str, now_us: int) -> None:
        self._next(base, now_us)
        process = self.faults.living(base)
        if process is None or not process.at:
            return
        brokers = self.faults.members.brokers(process)
        groups = self.driver.layout.wantable(brokers.get(process.at[0], ()))
        if len(groups) < 2:
            return
        filters = before = process.filters
        while set(filters) == set(before):
            filters = some(self._dice, groups)
        process.filters = filters
        first, *others = process.at
        process.at = (first, *(name for name in others if not set(filters).isdisjoint(brokers.get(name, ()))))
        local_us = now_us + process.offset_us
        self.driver.told(process, process.machine.subscribe(filters, process.at, local_us), now_us)
