"""Members that are told the view: everybody learns of everything at once, `detect_ms` after the fact.

Decided here: what the driver tells machines of who is there, when, and that it moves subscribers whose broker is gone.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from antecede.core.effects import Effect
from antecede.core.machine import Dice, Machine, Peer
from antecede.core.membership.choose_broker import choose
from antecede.sim.dice import stream
from antecede.sim.driver import Driver
from antecede.sim.process import Process

__all__ = ["Told", "local_us", "peer_of"]


def peer_of(driver: Driver, process: Process) -> Peer:
    return Peer(process.name, process.role, process.groups, driver.site.get(process.base, ""))


def local_us(driver: Driver, process: Process) -> int:
    return driver.now_us + process.offset_us


class Told:
    def __init__(self, driver: Driver) -> None:
        self.driver = driver
        self.view: dict[str, Peer] = {}
        """What everybody believes; replaced, never changed, for machines may keep it."""
        self.where = stream(driver.scenario.seed, "attachments")
        self._detect_us = int(driver.scenario.detect_ms * 1000)

    def wrap(self, machine: Machine, peer: Peer, dice: Dice) -> Machine:
        return machine

    def begin(self) -> None:
        driver = self.driver
        self.view = {p.name: peer_of(driver, p) for p in driver.all}
        for process in driver.all:
            driver.told(process, process.machine.view(self.view, local_us(driver, process)), driver.now_us)
        for process in driver.all:
            driver.told(process, process.machine.start(local_us(driver, process)), driver.now_us)
        for process in driver.all:
            if process.role == "subscriber":
                self._attach(process, driver.layout.at[process.base], driver.now_us)

    def came(self, process: Process, at: tuple[str, ...], now_us: int) -> None:
        """One that comes back or is new knows who is there; the others learn of it later."""
        driver = self.driver
        view = {**self.view, process.name: peer_of(driver, process)}
        driver.told(process, process.machine.view(view, local_us(driver, process)), now_us)
        driver.told(process, process.machine.start(local_us(driver, process), joining=True), now_us)
        if process.role == "subscriber":
            self._attach(process, at, now_us)
        driver.at(now_us + self._detect_us, partial(self._tell, process, True))

    def crashed(self, process: Process, now_us: int) -> None:
        self.driver.at(now_us + self._detect_us, partial(self._tell, process, False))

    def leaves(self, process: Process, now_us: int) -> list[Effect]:
        """It says good-bye: that takes no longer than a frame does."""
        soon_us = min(self._detect_us, int(self.driver.scenario.delay_ms[1] * 1000))
        self.driver.at(now_us + soon_us, partial(self._tell, process, False))
        return process.machine.unsubscribe(local_us(self.driver, process))

    def _tell(self, process: Process, is_there: bool, now_us: int) -> None:
        """Everybody learns that a process is there, or no longer."""
        driver = self.driver
        if is_there and not process.alive:
            return
        if is_there or process.name not in self.view:  # who came and went meanwhile was there too
            self._show_all({**self.view, process.name: peer_of(driver, process)}, now_us)
        if not is_there:
            self._show_all({name: peer for name, peer in self.view.items() if name != process.name}, now_us)
        for other in driver.all:
            if other.alive and other.role == "subscriber":
                self._repair(other, now_us)

    def _show_all(self, view: dict[str, Peer], now_us: int) -> None:
        self.view = view
        for other in self.driver.all:
            if other.alive:
                self._show(other, view, now_us)

    def _show(self, process: Process, view: dict[str, Peer], now_us: int) -> None:
        """Who sleeps sees it when it wakes up."""
        if now_us < process.off_until_us:
            if process.alive:
                self.driver.at(process.off_until_us, partial(self._show, process, view))
            return
        own = view if process.name in view else {**view, process.name: peer_of(self.driver, process)}
        self.driver.told(process, process.machine.view(own, local_us(self.driver, process)), now_us)

    # -- attachments -----------------------------------------------------------------------------------------------

    def brokers(self, process: Process) -> Mapping[str, tuple[str, ...]]:
        """The brokers everybody believes in, and what they carry."""
        return {name: peer.groups for name, peer in self.view.items() if peer.role == "broker"}

    def _attach(self, process: Process, at: tuple[str, ...], now_us: int) -> None:
        """A first attachment; a restarted subscriber may have to look for brokers that are still there."""
        process.at = at
        driver = self.driver
        if not all(name in self.view for name in at):
            process.at = self._places(process, tuple(n for n in at if n in self.view)) or at
        subscribe = process.machine.subscribe
        driver.told(process, subscribe(process.filters, process.at, local_us(driver, process)), now_us)

    def _repair(self, process: Process, now_us: int) -> None:
        """Move away from brokers that are gone; without a better place, wait for one to come back."""
        left = tuple(name for name in process.at if name in self.view)
        if len(left) < len(process.at):
            places = self._places(process, left)
            if places:
                self.move(process, places, now_us)

    def _places(self, process: Process, left: tuple[str, ...]) -> tuple[str, ...]:
        layout, brokers = self.driver.layout, self.brokers(process)
        return choose(brokers, process.filters, left, self.where, single=layout.single_home, groups=layout.table)

    def move(self, process: Process, places: tuple[str, ...], now_us: int) -> None:
        if now_us < process.off_until_us:
            if process.alive:
                self.driver.at(process.off_until_us, partial(self._move_late, process, places))
            return
        process.at = places
        self.driver.told(process, process.machine.move(places, local_us(self.driver, process)), now_us)

    def _move_late(self, process: Process, places: tuple[str, ...], now_us: int) -> None:
        """It slept: what it wants may have changed meanwhile, or the place be gone."""
        if places[0] in self.driver.layout.table.carrying(self.brokers(process), process.filters):
            self.move(process, places, now_us)
        else:
            self._repair(process, now_us)
