"""Who lives and who is attached where: the start, crashes, restarts, newcomers, leavers, moves, partitions, naps.

Decided here: when these happen; all of it is drawn before the run, or from dice that nothing else draws from. How the
others come to know is another matter: `told` or `found`.
"""

from __future__ import annotations

import math
from functools import partial
from random import Random

from antecede.core.frames import Snapshot
from antecede.core.machine import Peer
from antecede.core.roles.broker import BrokerBase
from antecede.sim.dice import between, pick, shuffled, stream
from antecede.sim.driver import Driver
from antecede.sim.found import Found, managed
from antecede.sim.growth import Growth
from antecede.sim.layout import Partition
from antecede.sim.process import NEVER, Process
from antecede.sim.scenario import parse_perturb
from antecede.sim.told import Told

__all__ = ["Faults"]

SLOW = 0.5
"""How much of its time a process sleeps, where `perturb` says how many do."""
AWAKE_US = 1_000
"""The least time between two naps."""


class Faults:
    def __init__(self, driver: Driver, busy_until_us: int) -> None:
        self.driver = driver
        self.busy_until_us = busy_until_us
        """When the last publication is planned: crashes and moves happen before, their consequences may follow."""
        self.members = Found(driver) if driver.scenario.membership == "swim" else Told(driver)
        self._detect_us = int(driver.scenario.detect_ms * 1000)
        self._dice = stream(driver.scenario.seed, "faults")
        self._standing: list[Partition] = []
        self._lives: dict[str, int] = {}
        self._down: set[str] = set()
        """Who crashed and may still come back."""
        self._sleepers = self._who_sleeps()
        driver.expelled = self._expelled

    # -- the start -------------------------------------------------------------------------------------------------

    def begin(self) -> None:
        driver, layout = self.driver, self.driver.layout
        flat = driver.facts.flat
        for name, groups in layout.brokers.items():
            self._spawn(name, "member" if flat else "broker", groups)
        for name, groups in layout.filters.items():
            self._spawn(name, "member" if flat else "subscriber", groups)
        self.members.begin()
        self._plan()

    def _spawn(self, name: str, role: str, groups: tuple[str, ...]) -> Process:
        driver = self.driver
        scenario = driver.scenario
        skew_us = int(scenario.skew_ms * 1000)
        offset_us = int(between(stream(scenario.seed, "clock", name), -skew_us, skew_us))
        dice = stream(scenario.seed, "machine", name)
        machine = driver.build(
            scenario.builds, scenario.reading, name=name, role=role, groups=() if role == "subscriber" else groups,
            settings=driver.settings, dice=dice,
        )  # fmt: skip
        site = driver.site.get(name.partition(".")[0], "")
        machine = self.members.wrap(machine, Peer(name, role, groups, site), dice)
        process = Process(name, role, machine, groups, offset_us)
        if role == "subscriber":
            process.filters = groups
        driver.all.append(process)
        driver.book[name] = process
        driver.changed()
        self._plan_for(process)
        return process

    def _plan(self) -> None:
        driver, scenario, dice = self.driver, self.driver.scenario, self._dice
        span_us = self.busy_until_us - scenario.start_us
        for process in list(driver.all):
            crashes, comes_back = dice.random() < scenario.crash, dice.random() < scenario.restart
            crash_us = scenario.start_us + int(dice.random() * span_us)
            back_us = crash_us + int(between(dice, 0.5, 3.0) * self._detect_us) + 1
            if crashes and not (scenario.crash_brokers and process.name not in driver.layout.brokers):
                driver.at(crash_us, partial(self._crash, process, None))
                if comes_back and not scenario.crash_brokers:
                    driver.at(back_us, partial(self._restart, process))
        for split in driver.layout.partitions:
            driver.at(split.begin_us, partial(self._split, split, True))
            driver.at(split.end_us, partial(self._split, split, False))
        if scenario.move and not driver.facts.flat:
            for name in driver.layout.filters:
                self._next_move(name, scenario.first_us)
        for name, late in driver.layout.late.items():
            driver.at(late.when_us, partial(self._come, name))
        Growth(driver, self).plan()

    def _plan_for(self, process: Process) -> None:
        """What befalls one process, from dice of its own: leaving, naps, a leap of its clock."""
        driver, scenario, name = self.driver, self.driver.scenario, process.name
        begin_us = max(driver.now_us, scenario.first_us)
        if scenario.leave and not (scenario.brokers_stay and process.role == "broker"):
            rest_s = -math.log(1.0 - stream(scenario.seed, "leave", name).random()) / scenario.leave
            if begin_us + rest_s * 1_000_000 < self.busy_until_us:
                driver.at(begin_us + int(rest_s * 1_000_000), partial(self._leave, process))
        if self._sleepers is None or process.base in self._sleepers:
            self._next_nap(process, stream(scenario.seed, "naps", name), driver.now_us)
        if scenario.jump_ms:
            dice = stream(scenario.seed, "leap", name)
            when_us = driver.now_us + int(dice.random() * max(1, self.busy_until_us - driver.now_us))
            leap_us = int(between(dice, -scenario.jump_ms, scenario.jump_ms) * 1000)
            driver.at(when_us, partial(self._leap, process, leap_us))

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

    def _stop(self, process: Process, reason: str | None, now_us: int) -> None:
        driver = self.driver
        process.alive = False
        process.off_until_us = NEVER
        del driver.book[process.name]
        driver.changed()
        driver.records.note(process, "crash", now_us, reason=reason)

    def _crash(self, process: Process, reason: str | None, now_us: int) -> None:
        if process.alive:
            self._stop(process, reason, now_us)
            self._down.add(process.name)
            self.members.crashed(process, now_us)

    def _expelled(self, process: Process, now_us: int) -> None:
        """Others have declared it dead: it crashes, and comes back under its next name."""
        if process.alive:
            self.driver.count("expelled")
            inner = managed(process).inner
            legacy = inner.joining.bequeath() if isinstance(inner, BrokerBase) else None
            self._crash(process, "expelled", now_us)
            self.driver.at(now_us + self._detect_us // 2 + 1, partial(self._restart, process, legacy=legacy))

    def _restart(self, old: Process, now_us: int, *, legacy: Snapshot | None = None) -> None:
        """The same place, an empty memory: a new process with a new name. One that was expelled has what it had."""
        if old.name not in self._down:
            return
        self._down.remove(old.name)
        driver = self.driver
        life = self._lives[old.base] = self._lives.get(old.base, 0) + 1
        process = self._spawn(f"{old.base}.{life}", old.role, old.groups)
        process.ready = process.role == "subscriber"
        process.filters = old.filters
        driver.records.note(process, "restart", now_us)
        if legacy is not None:
            inner = managed(process).inner
            assert isinstance(inner, BrokerBase)
            inner.joining.inherit(legacy, old.name)
            driver.records.inherited(process, old.name, legacy, now_us)
        self.members.came(process, old.at, now_us)

    # -- churn -----------------------------------------------------------------------------------------------------

    def _come(self, name: str, now_us: int) -> None:
        driver = self.driver
        late = driver.layout.late[name]
        process = self._spawn(name, late.role, late.groups)
        process.ready = process.role == "subscriber"
        self.members.came(process, late.at, now_us)
        if driver.scenario.move and process.role == "subscriber":
            self._next_move(name, now_us)

    def _leave(self, process: Process, now_us: int) -> None:
        if not process.alive:
            return
        driver = self.driver
        driver.count("left")
        driver.told(process, self.members.leaves(process, now_us), now_us)
        if process.role != "subscriber":
            driver.records.note(process, "leave", now_us, groups=process.groups)
        self._stop(process, "left", now_us)

    # -- naps and leaps --------------------------------------------------------------------------------------------

    def _who_sleeps(self) -> set[str] | None:
        """By the name they begin with; None: everybody, also who comes later."""
        driver = self.driver
        reading, share = parse_perturb(driver.scenario.perturb)
        self._asleep = SLOW if reading == "some" else share
        if reading == "all":
            return None
        names = shuffled(stream(driver.scenario.seed, "sleepers"), [*driver.layout.brokers, *driver.layout.filters])
        count = 1 if reading == "one" else round(share * len(names)) if reading else 0
        return set(names[:count])

    def _next_nap(self, process: Process, dice: Random, from_us: int) -> None:
        mean_us = self.driver.scenario.nap_ms * 1000 * (1 - self._asleep) / self._asleep
        when_us = from_us + AWAKE_US + int(dice.random() * 2 * mean_us)
        if when_us < self.busy_until_us:
            self.driver.at(when_us, partial(self._nap, process, dice))

    def _nap(self, process: Process, dice: Random, now_us: int) -> None:
        if process.alive:
            process.off_until_us = now_us + int(self.driver.scenario.nap_ms * 1000)
            self.driver.naps.setdefault(process.name, []).append((now_us, process.off_until_us))
            self._next_nap(process, dice, process.off_until_us)

    def _leap(self, process: Process, leap_us: int, now_us: int) -> None:
        if process.alive:
            process.offset_us += leap_us
            self.driver.arm(process, now_us)

    # -- moves -----------------------------------------------------------------------------------------------------

    def living(self, base: str) -> Process | None:
        """The process that is in this place now, if any is alive."""
        life = self._lives.get(base, 0)
        return self.driver.book.get(f"{base}.{life}" if life else base)

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
        brokers, where = self.members.brokers(process), self.members.where
        place = int(where.random() * len(process.at))
        had = brokers.get(process.at[place], ())
        wanted = process.filters if place == 0 else tuple(g for g in process.filters if g in had)
        candidates = self.driver.layout.table.carrying(brokers, wanted) if wanted else []
        candidates = [name for name in candidates if name not in process.at]
        if candidates:
            new = pick(where, candidates)
            self.members.move(process, (*process.at[:place], new, *process.at[place + 1 :]), now_us)
