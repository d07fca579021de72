"""The driver of machines on a virtual clock.

Decided here: when a machine is told what, and when it is woken. What it sends goes to the network, what it says to the
records; the rows `publish`, `arrive`, `crash`, `restart` and `end` are the driver's own. `Driver.loop` is the loop that
every driver has: take what is next, tell the machine, carry out what it asks, note when it wants to be woken.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from antecede.core.effects import Deliver, Effect, Expelled, Join, Send
from antecede.core.frames import Base
from antecede.core.machine import Machine
from antecede.core.message import UNORDERED, Message, Publication
from antecede.core.roles.round_broker import leaves_us
from antecede.sim.agenda import Agenda
from antecede.sim.costs import Costs, LinkedNetwork
from antecede.sim.dice import between, stream
from antecede.sim.layout import Layout
from antecede.sim.network import Latency, Network, read_latency
from antecede.sim.process import NEVER, Process
from antecede.sim.records import FLUSH_ROWS, Records, Sink
from antecede.sim.scenario import RecipeFacts, Scenario
from antecede.trace.witness import seen_payload

__all__ = ["Build", "Driver", "Measure", "Workload", "follows"]

NO_MESSAGES = Base.messages
"""What frames have that carry no messages."""
SPIN = 100_000
"""A machine that was woken this often and still wants to be woken at once is broken: better to say so than to hang."""


class Build(Protocol):
    def __call__(self, recipe: str, reading: str, *, name: str, role: str, groups: tuple[str, ...], settings: Any,
                 dice: Any) -> Machine: ...  # fmt: skip


Measure = Callable[[Any], tuple[int, int]]
"""Frame -> bytes on the wire, of which stamps."""


class Workload(Protocol):
    """Who publishes what, and when."""

    def begin(self, driver: Driver) -> None: ...
    def delivered(self, process: Process, message: Message, now_us: int) -> None: ...
    def idle(self, now_us: int) -> bool:
        """Nothing is in flight and nobody wants to be woken: put something on the agenda, or say False."""
        ...


class Driver:
    def __init__(
        self, scenario: Scenario, facts: RecipeFacts, layout: Layout, build: Build, sink: Sink | None, digest: bool,
        measure: Measure | None = None,
    ) -> None:  # fmt: skip
        self._measure = measure or _wire_measure()
        self.scenario, self.facts, self.layout, self.build = scenario, facts, layout, build
        self.agenda = Agenda()
        names = [*layout.brokers, *layout.filters, *layout.late]
        latency = None
        if scenario.latency:
            latency = Latency(read_latency(Path(scenario.latency)), names, stream(scenario.seed, "hosts"))
        self.latency = latency
        self.costs = Costs(scenario) if scenario.costs else None
        self.network = Network(scenario, stream(scenario.seed, "network"), latency)
        if self.costs is not None:
            self.network = LinkedNetwork(scenario, stream(scenario.seed, "network"), latency)
            self.network.costs = self.costs
        places = latency.sites(scenario.sites) if latency else {n: i % scenario.sites for i, n in enumerate(names)}
        self.site = {name: f"site{place}" for name, place in places.items()} if scenario.sites > 1 else {}
        """Where each process is, by the name it began with; nowhere in particular if there is one site."""
        self.settings = scenario.settings(facts, latency.range_us if latency else None)
        self.records = Records(scenario.run, sink, digest)
        self.now_us = scenario.start_us
        self.book: dict[str, Process] = {}
        """The living, by name."""
        self.all: list[Process] = []
        self.rows = self.records.rows
        self.run_name = scenario.run
        self.events = 0
        self.published = 0
        self.progress: Callable[[int], None] | None = None
        """Who wants to know how many messages are published."""
        self.notes: dict[str, int] = {}
        self.naps: dict[str, list[tuple[int, int]]] = {}
        """Who slept, from when to when, on the true clock."""
        self.testimony: list[tuple[str, int, str, bytes]] = []
        self.workload: Workload | None = None
        self.listener: Callable[[Process, Message, int], None] | None = None
        self.expelled: Callable[[Process, int], None] = _nobody_is
        """What to do with a process that others have declared dead."""
        self._deadline_dice = stream(scenario.seed, "deadlines")
        self._undated_dice = stream(scenario.seed, "undated")
        self._publishers: list[Process] | None = None

    # -- the loop --------------------------------------------------------------------------------------------------

    def loop(self, limit_us: int) -> bool:
        """Until nothing is left to happen (True) or the limit is reached (False)."""
        perform, arrived, push = self.perform, self.records.arrived, self.agenda.push
        events, costs = 0, self.costs
        for day in self.agenda.days_in_turn():
            for now_us, process, sender, frame, ids in day:
                if now_us > limit_us:
                    self.now_us = limit_us
                    self.events += events
                    return False
                if process is None:  # the driver's own: a publication, a crash, a partition
                    self.now_us = now_us
                    sender(now_us)
                    continue
                if now_us < process.off_until_us:
                    if process.alive:
                        self._later(process, sender, frame, ids, now_us)
                    continue
                local_us = now_us + process.offset_us
                if frame is not None and costs is not None:
                    self._queue(process, sender, frame, ids, now_us)
                    continue
                if frame is not None:
                    if ids and (process.admits is None or process.admits(sender)):
                        arrived(process, sender, frame, ids, now_us)
                    effects = process.receive(frame, sender, local_us)
                    soonest_us = now_us
                elif now_us == process.wake_us:
                    process.wake_us = NEVER
                    due_us = process.next_wake()
                    if due_us is None:
                        continue
                    if due_us > local_us:
                        self.arm(process, now_us)
                        continue
                    effects = process.machine.wake(local_us)
                    soonest_us = now_us + 1
                else:
                    continue  # an earlier timer took its place
                events += 1
                if effects:
                    perform(process, effects, now_us)
                due_us = process.next_wake()
                if due_us is not None:
                    wake_us = due_us - process.offset_us
                    if wake_us < soonest_us:
                        wake_us = soonest_us
                        if frame is None:
                            self._spins(process)
                    if wake_us < process.wake_us:
                        process.wake_us = wake_us
                        push((wake_us, process, None, None, None))
            self.now_us = now_us
        self.events += events
        return True

    def perform(self, process: Process, effects: list[Effect], now_us: int) -> None:
        """Carry out what a machine asked for: frames to the network, everything else to the records."""
        effect: Any  # told apart by class below, without the price of isinstance
        for effect in effects:
            kind = effect.__class__
            if kind is Send:
                frame, to = effect.frame, effect.to
                size = frame.size
                if size < 0:
                    frame.size, frame.control = self._measure(frame)
                    size = frame.size
                total = process.sent.get(frame.kind)
                if total is None:
                    total = process.sent[frame.kind] = [0, 0, 0]
                count = len(to)
                total[0] += count
                total[1] += count * size
                total[2] += count * frame.control
                ids = () if frame.__class__.messages is NO_MESSAGES else tuple([m.id for m in frame.messages()])
                self.network.post(process.name, to, frame, ids, now_us, self.book, self.agenda)
            elif kind is Deliver:
                message = effect.message
                step = process.step
                process.step = step + 1
                self.rows.append(
                    (self.run_name, process.name, process.role, step, now_us + process.offset_us, "deliver",
                     message.id, None, None, effect.reason,
                     None, None, None, None, now_us, None, None, None, None, None)
                )  # fmt: skip
                if self.listener is not None:
                    self.listener(process, message, now_us)
            elif kind is Expelled:
                self.at(now_us, partial(self.expelled, process))
            else:
                if kind is Join and not process.ready:
                    process.ready = True
                    self.changed()
                self.records.effect(process, effect, now_us)

    def _queue(self, process: Process, sender: str, frame: Any, ids: tuple[str, ...], now_us: int) -> None:
        """Where processors take time: a frame has come, and is dealt with when those before it are."""
        assert self.costs is not None
        when_us = self.costs.done_us(process.name, now_us)
        if when_us is None:
            self.count("overflowed")
        else:
            self.at(when_us, partial(self._deal_with, process, sender, frame, ids))

    def _deal_with(self, process: Process, sender: str, frame: Any, ids: tuple[str, ...], now_us: int) -> None:
        assert self.costs is not None
        if process.alive and now_us < process.off_until_us:
            self.at(process.off_until_us, partial(self._deal_with, process, sender, frame, ids))
            return
        self.costs.done(process.name)
        if process.alive:
            self.events += 1
            if ids and (process.admits is None or process.admits(sender)):
                self.records.arrived(process, sender, frame, ids, now_us)
            self.told(process, process.receive(frame, sender, now_us + process.offset_us), now_us)

    def _later(self, process: Process, sender: Any, frame: Any, ids: Any, now_us: int) -> None:
        """It is asleep: what comes waits, and so does its timer."""
        if frame is None:
            if now_us != process.wake_us:
                return
            process.wake_us = process.off_until_us
        self.agenda.push((process.off_until_us, process, sender, frame, ids))

    def arm(self, process: Process, now_us: int) -> None:
        """See to it that the machine is woken when it wants to be; timers already set for later are left to lapse."""
        due_us = process.next_wake()
        if due_us is not None:
            wake_us = max(now_us, due_us - process.offset_us)
            if wake_us < process.wake_us:
                process.wake_us = wake_us
                self.agenda.push((wake_us, process, None, None, None))

    def _spins(self, process: Process) -> None:
        process.spins += 1
        if process.spins > SPIN:
            raise RuntimeError(
                f"{process.name} was woken {SPIN} times in vain in run {self.run_name}: once woken, a machine must "
                "name a later time in `next_wake` (a role in `timers`, a Spread in `at_us`), or None"
            )

    def told(self, process: Process, effects: list[Effect], now_us: int) -> None:
        """After a call that is no frame and no timer."""
        if effects:
            self.perform(process, effects, now_us)
        self.arm(process, now_us)

    def at(self, when_us: int, step: Callable[[int], None]) -> None:
        """Let the driver itself do something at that time."""
        self.agenda.push((when_us, None, step, None, None))

    # -- publications ----------------------------------------------------------------------------------------------

    def publishers(self) -> list[Process]:
        """Who may publish now, in a fixed order."""
        if self._publishers is None:
            role = "member" if self.facts.flat else "subscriber" if self.facts.clients_publish else "broker"
            self._publishers = [p for p in self.all if p.alive and p.ready and p.role == role and p.groups]
        return self._publishers

    def changed(self) -> None:
        """Somebody came, went or became ready."""
        self._publishers = None

    def publish(
        self, process: Process, topics: tuple[str, ...], now_us: int, after: tuple[str, ...] | None = None,
        order: str | None = None,
    ) -> Message:  # fmt: skip
        scenario = self.scenario
        order = order or self.facts.orders[0]
        if order != "causal":
            after = None  # a weaker order has no causes to declare
        local_us = now_us + process.offset_us
        deadline_us = None
        if scenario.deadline_ms is not None:
            within_us = int(between(self._deadline_dice, *scenario.deadline_ms) * 1000)
            deadline_us = leaves_us(process.machine, local_us) + within_us
            if scenario.undated and self._undated_dice.random() < scenario.undated:
                deadline_us = None
        payload = b"x" * scenario.payload_bytes
        if scenario.witness:
            payload = _testament(process, after, order)
        message, effects = process.machine.publish(Publication(topics, payload, deadline_us, after, order), local_us)
        if scenario.witness:
            self._testify(process, message)
        self.records.note(process, "publish", now_us, message=message.id, groups=message.topics,
                  deadline_us=message.deadline_us, after=follows(message, after, order),
                  expires_us=message.expires_us)  # fmt: skip
        self.told(process, effects, now_us)
        self.records.flush(FLUSH_ROWS)
        self.published += 1
        if self.progress is not None:
            self.progress(self.published)
        return message

    def watch(self) -> None:
        """Keep what payloads say, at every delivery (`witness`)."""
        inner = self.listener

        def listen(process: Process, message: Message, now_us: int) -> None:
            self._testify(process, message)
            if inner is not None:
                inner(process, message, now_us)

        self.listener = listen

    def _testify(self, process: Process, message: Message) -> None:
        self.testimony.append((process.name, len(self.testimony), message.id, message.payload))
        if message.order != "none":
            process.seen.append(message.id)

    def count(self, what: str) -> None:
        self.notes[what] = self.notes.get(what, 0) + 1

    def totals(self) -> dict[str, dict[str, dict[str, int]]]:
        """Process -> frame kind -> frames, bytes and control bytes sent."""
        names = ("frames", "bytes", "control_bytes")
        return {
            p.name: {kind: dict(zip(names, p.sent[kind], strict=True)) for kind in sorted(p.sent)} for p in self.all
        }


def _wire_measure() -> Measure:
    from antecede.wire import measure  # here, so that a run whose bytes nobody counts needs no packages

    return measure


def _nobody_is(process: Process, now_us: int) -> None:
    raise RuntimeError(f"{process.name} was expelled, but nobody watches over members")


def follows(message: Message, after: tuple[str, ...] | None, order: str) -> tuple[str, ...] | None:
    """What the row says of causes: what was asked for, or more. A machine cannot talk a cause away."""
    if order == "none":
        return UNORDERED
    return None if message.after is None else () if order == "fifo" else after


def _testament(process: Process, after: Sequence[str] | None, order: str) -> bytes:
    """A payload that names what its sender had seen and must follow."""
    if order == "none":
        return seen_payload(())
    return seen_payload(process.seen if after is None and order == "causal" else _declared(process, after or ()))


def _declared(process: Process, after: Sequence[str]) -> list[str]:
    """Declared causes, and one's own last message, which is always one."""
    own = [m for m in process.seen if m.rpartition(":")[0] == process.name][-1:]
    return list(dict.fromkeys([*(m for m in after if m in process.seen), *own]))
