"""Members that find the view by themselves: what is left for the driver to do, and when such a run is over.

Decided here: who founds the system knows the others; newcomers, and those who have lost sight of everybody, are told
the addresses at which somebody listens, as a list of seeds would. Pings never end, so a run is over when nothing else
is left to happen and everybody knows exactly who is there: that they come to know it is part of what a run shows.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from antecede.core.effects import Effect
from antecede.core.frames import Out, Ping, PingRequest, Pong, Sync
from antecede.core.machine import Dice, Machine, Peer
from antecede.core.membership.wrapper import Managed
from antecede.sim.dice import stream
from antecede.sim.driver import Driver
from antecede.sim.process import Process
from antecede.sim.told import local_us, peer_of

__all__ = ["UNHEARD", "Found"]

UNHEARD = "refused though both are there"
"""The note of a fault: one did not listen to another, and neither of them was gone in the end."""

UPKEEP = (Ping, PingRequest, Pong, Sync, Out)


def managed(process: Process) -> Managed:
    assert isinstance(process.machine, Managed)
    return process.machine


class Found:
    def __init__(self, driver: Driver) -> None:
        self.driver = driver
        self.where = stream(driver.scenario.seed, "attachments")
        delay_us = driver.latency.range_us if driver.latency else None
        self._probing = driver.scenario.probing(delay_us)
        self._periods = 0

    def wrap(self, machine: Machine, peer: Peer, dice: Dice) -> Machine:
        layout = self.driver.layout
        return Managed(machine, peer, self._probing, dice, single=layout.single_home, groups=layout.table)

    def begin(self) -> None:
        driver = self.driver
        view = {p.name: peer_of(driver, p) for p in driver.all}
        for process in driver.all:
            driver.told(process, process.machine.view(view, local_us(driver, process)), driver.now_us)
        for process in driver.all:
            driver.told(process, process.machine.start(local_us(driver, process)), driver.now_us)
        for process in driver.all:
            if process.role == "subscriber":
                self._attach(process, driver.layout.at[process.base])
        driver.at(driver.now_us + self._probing.period_us, self._watch)

    def _attach(self, process: Process, at: tuple[str, ...]) -> None:
        now_us = local_us(self.driver, process)
        self.driver.told(process, process.machine.subscribe(process.filters, at, now_us), self.driver.now_us)

    def came(self, process: Process, at: tuple[str, ...], now_us: int) -> None:
        """It is given its seeds and does the rest itself."""
        driver = self.driver
        seeds = {p.name: peer_of(driver, p) for p in self._seeds(process)}
        if process.role == "subscriber":
            self._attach(process, at)
        driver.told(process, process.machine.view(seeds, local_us(driver, process)), now_us)
        driver.told(process, process.machine.start(local_us(driver, process), joining=True), now_us)

    def _seeds(self, asking: Process) -> list[Process]:
        """Who listens at the known addresses: those who have begun; where nobody has, the first of those who wait is
        to begin alone."""
        voters = [p for p in self.driver.all if p.alive and p.role != "subscriber" and p is not asking]
        begun = [p for p in voters if managed(p).begun]
        if begun or asking.role == "subscriber":
            return begun or voters
        return [p for p in voters if p.name < asking.name]

    def crashed(self, process: Process, now_us: int) -> None:
        """The others find out."""

    def leaves(self, process: Process, now_us: int) -> list[Effect]:
        return managed(process).leave(local_us(self.driver, process))

    def brokers(self, process: Process) -> Mapping[str, tuple[str, ...]]:
        return managed(process).brokers()

    def move(self, process: Process, places: tuple[str, ...], now_us: int) -> None:
        if now_us < process.off_until_us:
            if process.alive:
                self.driver.at(process.off_until_us, partial(self._move_late, process, places))
            return
        self.driver.told(process, process.machine.move(places, local_us(self.driver, process)), now_us)

    def _move_late(self, process: Process, places: tuple[str, ...], now_us: int) -> None:
        """It slept: what it wants may have changed meanwhile, or the place be gone. Then it looks for one itself."""
        if places[0] in self.driver.layout.table.carrying(self.brokers(process), process.filters):
            self.move(process, places, now_us)

    # -- the end of a run ------------------------------------------------------------------------------------------

    def _watch(self, now_us: int) -> None:
        driver = self.driver
        living = [process for process in driver.all if process.alive]
        if self._calm(living, now_us) and (driver.workload is None or not driver.workload.idle(now_us)):
            for process in living:
                managed(process).rest()
            self._count_refusals()
            return
        self._periods += 1
        for process in living:
            machine = managed(process)
            if self._periods % self._probing.sync == 0 and machine.begun and process.role != "subscriber":
                machine.met([p.name for p in self._seeds(process)])
            if now_us >= process.off_until_us and (not machine.begun or machine.alone()):
                seeds = [p.name for p in self._seeds(process)]
                if seeds or (not machine.begun and process.role != "subscriber"):
                    driver.told(process, machine.contact(seeds, local_us(driver, process)), now_us)
        driver.at(now_us + self._probing.period_us, self._watch)

    def _calm(self, living: list[Process], now_us: int) -> bool:
        """Nothing left but pings, and everybody knows who is there."""
        for process in living:
            if not managed(process).begun or managed(process).inner.next_wake() is not None:
                return False
        agenda = self.driver.agenda
        for bucket in (agenda.current, *agenda.buckets.values()):
            if any(self._matters(item, now_us) for item in bucket):
                return False
        voters = {p.name for p in living if p.role != "subscriber"}
        everybody = {p.name for p in living}
        for process in living:
            known = {n.name for n in managed(process).table.present()}
            if process.role == "subscriber":
                if known - {process.name} != voters or managed(process).places():
                    return False
            elif known != everybody:
                return False
        return True

    def _matters(self, item: tuple[Any, ...], now_us: int) -> bool:
        when_us, process, step, frame, _ = item
        if when_us < now_us or (process is None and step == self._watch):
            return False
        return process is None or (process.alive and frame is not None and not isinstance(frame, UPKEEP))

    def _count_refusals(self) -> None:
        """Whoever is not listened to must be gone in the end, or the one who did not listen: else say so."""
        driver = self.driver
        for process in driver.all:
            for name in managed(process).refused if process.alive else ():
                driver.count("refused")
                if name in driver.book:
                    driver.count(UNHEARD)
