"""Who lives, who believes whom alive, who is attached where: the start, crashes, restarts, moves, partitions.

Decided here: when these happen (all drawn before the run), what the driver tells machines about it - `detect_ms` after
the fact - and where a subscriber goes whose broker is gone. Until there is a membership protocol, the view is the
driver's to tell.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from antecede.core.machine import Peer
from antecede.sim.dice import between, pick, stream
from antecede.sim.driver import Driver
from antecede.sim.growth import Growth
from antecede.sim.layout import Partition, carriers
from antecede.sim.process import Process

__all__ = ["Faults"]


class Faults:
    def __init__(self, driver: Driver, busy_until_us: int) -> None:
        self.driver = driver
        self.busy_until_us = busy_until_us
        """When the last publication is planned: crashes and moves happen before, their consequences may follow."""
        self.view: dict[str, Peer] = {}
        """What everybody believes; replaced, never changed, for machines may keep it."""
        self._detect_us = int(driver.scenario.detect_ms * 1000)
        self._dice = stream(driver.scenario.seed, "faults")
        self._where = stream(driver.scenario.seed, "attachments")
        self._standing: list[Partition] = []
        self._lives: dict[str, int] = {}

    # -- the start -------------------------------------------------------------------------------------------------

    def begin(self) -> None:
        driver, layout = self.driver, self.driver.layout
        flat = driver.facts.flat
        for name, groups in layout.brokers.items():
            self._spawn(name, "member" if flat else "broker", groups)
        for name, groups in layout.filters.items():
            self._spawn(name, "member" if flat else "subscriber", groups)
        self.view = {p.name: self._peer(p) for p in driver.all}
        for process in driver.all:
            driver.told(process, process.machine.view(self.view, self._local(process)), driver.now_us)
        for process in driver.all:
            driver.told(process, process.machine.start(self._local(process)), driver.now_us)
        for process in driver.all:
            if process.role == "subscriber":
                self._attach(process, layout.at[process.base], driver.now_us)
        self._plan()

    def _local(self, process: Process) -> int:
        return self.driver.now_us + process.offset_us

    def _peer(self, process: Process) -> Peer:
        return Peer(process.name, process.role, process.groups, self.driver.site.get(process.base, ""))

    def _spawn(self, name: str, role: str, groups: tuple[str, ...]) -> Process:
        driver = self.driver
        scenario = driver.scenario
        skew_us = int(scenario.skew_ms * 1000)
        offset_us = int(between(stream(scenario.seed, "clock", name), -skew_us, skew_us))
        machine = driver.build(
            scenario.builds, scenario.reading, name=name, role=role, groups=() if role == "subscriber" else groups,
            settings=driver.settings, dice=stream(scenario.seed, "machine", name),
        )  # fmt: skip
        process = Process(name, role, machine, groups, offset_us)
        if role == "subscriber":
            process.filters = groups
        driver.all.append(process)
        driver.book[name] = process
        driver.changed()
        return process

    def _plan(self) -> None:
        driver, scenario, dice = self.driver, self.driver.scenario, self._dice
        span_us = self.busy_until_us - scenario.start_us
        for process in list(driver.all):
            crashes, comes_back = dice.random() < scenario.crash, dice.random() < scenario.restart
            crash_us = scenario.start_us + int(dice.random() * span_us)
            back_us = crash_us + int(between(dice, 0.5, 3.0) * self._detect_us) + 1
            if crashes:
                driver.at(crash_us, partial(self._crash, process))
                if comes_back:
                    driver.at(back_us, partial(self._restart, process))
        for split in driver.layout.partitions:
            driver.at(split.begin_us, partial(self._split, split, True))
            driver.at(split.end_us, partial(self._split, split, False))
        if scenario.move and not driver.facts.flat:
            for name in driver.layout.filters:
                self._next_move(name, scenario.first_us)
        Growth(driver, self).plan()

    # -- partitions ------------------------------------------------------------------------------------------------

    def _split(self, split: Partition, begins: bool, now_us: int) -> None:
        """Who hears whom while several partitions stand: those who are on the same side in each."""
        if begins:
            self._standing.append(split)
        else:
            self._standing.remove(split)
        side = {name: tuple(s.side[name] for s in self._standing) for name in split.side}
        self.driver.network.side = side if self._standing else None

    # -- crashes ---------------------------------------------------------------------------------------------------

    def _crash(self, process: Process, now_us: int) -> None:
        driver = self.driver
        process.alive = False
        del driver.book[process.name]
        driver.changed()
        driver.records.note(process, "crash", now_us)
        driver.at(now_us + self._detect_us, partial(self._tell, process, False))

    def _restart(self, old: Process, now_us: int) -> None:
        """The same place, an empty memory: a new process with a new name."""
        driver = self.driver
        life = self._lives[old.base] = self._lives.get(old.base, 0) + 1
        process = self._spawn(f"{old.base}.{life}", old.role, old.groups)
        process.ready = process.role == "subscriber"
        process.filters = old.filters
        driver.records.note(process, "restart", now_us)
        view = {**self.view, process.name: self._peer(process)}
        driver.told(process, process.machine.view(view, self._local(process)), now_us)
        driver.told(process, process.machine.start(self._local(process), joining=True), now_us)
        if process.role == "subscriber":
            self._attach(process, old.at, now_us)
        driver.at(now_us + self._detect_us, partial(self._tell, process, True))

    def _tell(self, process: Process, is_there: bool, now_us: int) -> None:
        """Everybody learns that a process is there, or no longer."""
        driver = self.driver
        if is_there and not process.alive:
            return
        view = dict(self.view)
        if is_there:
            view[process.name] = self._peer(process)
        else:
            view.pop(process.name, None)
        self.view = view
        for other in driver.all:
            if other.alive:
                own = view if other.name in view else {**view, other.name: self._peer(other)}
                driver.told(other, other.machine.view(own, self._local(other)), now_us)
        for other in driver.all:
            if other.alive and other.role == "subscriber":
                self._repair(other, now_us)

    # -- attachments -----------------------------------------------------------------------------------------------

    def living(self, base: str) -> Process | None:
        """The process that is in this place now, if any is alive."""
        life = self._lives.get(base, 0)
        return self.driver.book.get(f"{base}.{life}" if life else base)

    def brokers(self) -> Mapping[str, tuple[str, ...]]:
        """The brokers everybody believes in, and what they carry."""
        return {name: peer.groups for name, peer in self.view.items() if peer.role == "broker"}

    def _attach(self, process: Process, at: tuple[str, ...], now_us: int) -> None:
        """A first attachment; a restarted subscriber may have to look for brokers that are still there."""
        process.at = at
        driver = self.driver
        if not all(name in self.view for name in at):
            process.at = self._places(process, tuple(n for n in at if n in self.view)) or at
        driver.told(process, process.machine.subscribe(process.filters, process.at, self._local(process)), now_us)

    def _repair(self, process: Process, now_us: int) -> None:
        """Move away from brokers that are gone; without a better place, wait for one to come back."""
        left = tuple(name for name in process.at if name in self.view)
        if len(left) < len(process.at):
            places = self._places(process, left)
            if places:
                self._move(process, places, now_us)

    def _places(self, process: Process, left: tuple[str, ...]) -> tuple[str, ...]:
        """Where to attach, given the places that are `left`: first a broker that carries all that is wanted."""
        candidates = carriers(self.brokers(), process.filters)
        first = [name for name in left if name in candidates][:1]
        if not first:
            if not candidates:
                return ()
            first = [pick(self._where, candidates)]
        if self.driver.layout.single_home:
            return (first[0],)
        return (first[0], *(name for name in left if name != first[0]))

    def _move(self, process: Process, places: tuple[str, ...], now_us: int) -> None:
        process.at = places
        self.driver.told(process, process.machine.move(places, self._local(process)), now_us)

    def _next_move(self, base: str, from_us: int) -> None:
        when_us = from_us + 1 + int(self._dice.random() * 2_000_000 / self.driver.scenario.move)
        if when_us < self.busy_until_us:
            self.driver.at(when_us, partial(self._migrate, base))

    def _migrate(self, base: str, now_us: int) -> None:
        """One of a subscriber's brokers is exchanged for another that carries what it had from there."""
        self._next_move(base, now_us)
        process = self.living(base)
        if process is None:
            return
        brokers = self.brokers()
        place = int(self._where.random() * len(process.at))
        had = brokers.get(process.at[place], ())
        wanted = process.filters if place == 0 else tuple(g for g in process.filters if g in had)
        candidates = [name for name in carriers(brokers, wanted) if name not in process.at] if wanted else []
        if candidates:
            new = pick(self._where, candidates)
            self._move(process, (*process.at[:place], new, *process.at[place + 1 :]), now_us)
