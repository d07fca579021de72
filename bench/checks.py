"""What `bench/core.py` asks of an Inbox: what a held message takes, and what the delivery check costs."""

from __future__ import annotations

import argparse
import gc
import random
import statistics
import time
import tracemalloc
from collections import deque
from collections.abc import Callable
from typing import Any

from bench.tables import Table

from antecede.core.deadline.inbox import Inbox
from antecede.core.effects import Deliver
from antecede.core.interest import Interest
from antecede.core.message import Envelope, Message, Stamp
from antecede.core.order.graph import GraphWriter
from antecede.core.order.numbered import INDEX, IndexReader, Log, item_stamp
from antecede.core.order.reader import Reader
from antecede.core.order.vector import VectorWriter
from antecede.core.recipes import CHAIN

__all__ = ["BATCH", "DEADLINE_MS", "World", "check", "held"]

DEADLINE_MS = (300.0, 600.0)

# -- a stream of messages, stamped by real Writers -------------------------------------------------------------------

SITES = 8
LAG = 8
"""A site has delivered all but the last 0 to LAG messages of the others when it publishes."""
EACH_US = 5_000
"""Between publications: 200 a second."""
ROUND = 10
"""Messages between two rounds, in which what is stable is told and what has expired is forgotten."""
STABLE = 40
"""So many messages later everybody has one."""
GROUPS = ("G1", "G2")
GRACE_US = 2_000_000
BATCH = 20
"""Messages timed together. Few, so that what is timed is not what the cache lost meanwhile."""


class World:
    """Messages of `senders`, in the order in which they are published, as they travel between brokers."""

    def __init__(self, order: str, senders: int, deadlines: bool) -> None:
        self.dice = random.Random(senders)
        self.order, self.deadlines = order, deadlines
        self.names = [f"P{n}" for n in range(senders)]
        self.sites = [self.writer(f"site{n}") for n in range(SITES)]
        self.hosted = {name: self._share(n % SITES, name) for n, name in enumerate(self.names)}
        self.seq = dict.fromkeys(self.names, 0)
        self.stamp_ns: list[int] = []
        self.now_us = 0
        self._recent: deque[tuple[int, int, Envelope]] = deque(maxlen=STABLE)
        self._reached = [0] * SITES
        self._count = 0

    def writer(self, name: str) -> Any:
        if self.order == "graph":
            return GraphWriter(name, Interest(GROUPS), deadlines=self.deadlines, slack_us=0, grace_us=GRACE_US)
        return VectorWriter(name, flat=False, chain=1 if self.deadlines else CHAIN)

    def _share(self, site: int, name: str) -> Any:
        """A sender that has delivered whatever its site has: 1,024 of them then cost no more than eight."""
        if self.order == "graph":
            return self.sites[site]  # takes the sender from the message
        writer = VectorWriter(name, flat=False, chain=1 if self.deadlines else CHAIN)
        writer._tips, writer._leaves = self.sites[site]._tips, self.sites[site]._leaves
        return writer

    def publish(self) -> Envelope:
        dice, number = self.dice, self._count
        at = dice.randrange(len(self.names))
        name, site = self.names[at], at % SITES
        self._catch_up(site, number - dice.randrange(LAG + 1))
        self._count += 1
        self.now_us = self._count * EACH_US
        self.seq[name] += 1
        topics = GROUPS if dice.random() < 0.25 else (GROUPS[dice.randrange(2)],)
        deadline_us = None
        if self.deadlines:
            deadline_us = self.now_us + int(1000 * dice.uniform(*DEADLINE_MS))
        message = Message(name, self.seq[name], topics, b"x" * 32, deadline_us)
        writer, home = self.hosted[name], self.sites[site]
        writer.rank = home.rank
        start_ns = time.process_time_ns()
        envelope: Envelope = writer.relay(Envelope(message, writer.stamp(message, None)))
        self.stamp_ns.append(time.process_time_ns() - start_ns)
        home.rank = writer.rank
        if len(self._recent) == STABLE:
            oldest = self._recent[0][2]
            for one in self.sites:
                one.heard(dict(oldest.stamp.own))
        self._recent.append((number, site, envelope))
        if self._count % ROUND == 0:
            for one in self.sites:
                one.forget(self.now_us)
        return envelope

    def _catch_up(self, site: int, until: int) -> None:
        for number, origin, envelope in self._recent:
            if self._reached[site] <= number < until:
                if origin != site:
                    self.sites[site].learn(self.sites[site].arrived(envelope))
                self._reached[site] = number + 1


def inbox_of(reader: Reader, learn: Callable[[Envelope], None] | None) -> Inbox:
    def on_deliver(envelope: Envelope, now_us: int) -> None:
        if learn is not None:
            learn(envelope)

    return Inbox(reader, [], on_deliver, guard_us=0, memory_us=30_000_000)


# -- held ------------------------------------------------------------------------------------------------------------


def held(options: argparse.Namespace) -> Table:
    table: Table = []
    for deadlines in (False, True):
        first = 0.0
        for count in options.held:
            world = World("vector", 8, deadlines)
            missing = world.publish()
            for name in world.hosted:  # whatever follows needs it
                world.hosted[name].learn(missing)
            envelopes = [world.publish() for _ in range(count)]
            inbox = inbox_of(Reader(Interest(GROUPS).concerns, dense=False), None)
            gc.collect()
            tracemalloc.start()
            for envelope in envelopes:
                inbox.accept(envelope, 0)
            per_held = tracemalloc.get_traced_memory()[0] / count
            tracemalloc.stop()
            assert len(inbox.held) == count, (len(inbox.held), count)
            start_s = time.process_time()
            inbox.accept(missing, 0)
            settle_us = 1e6 * (time.process_time() - start_s) / count
            assert len(inbox.out) == count + 1
            first = first or per_held
            table.append({
                "deadlines": "yes" if deadlines else "no", "held": count, "bytes/held": per_held,
                "over first": per_held / first, "us/release": settle_us,
            })  # fmt: skip
    return table


# -- check -----------------------------------------------------------------------------------------------------------


def check(options: argparse.Namespace) -> Table:
    table: Table = []
    for order in ("graph", "home"):
        for deadlines in (False, True):
            by_senders = {n: steps_of(order, n, deadlines, options.batches) for n in options.senders}
            first, last = options.senders[0], options.senders[-1]
            for step in by_senders[first]:
                row: dict[str, Any] = {"order": order, "deadlines": "yes" if deadlines else "no", "step": step}
                row |= {f"us at {n}": by_senders[n][step] for n in options.senders}
                row[f"{last} over {first}"] = by_senders[last][step] / by_senders[first][step]
                table.append(row)
    return table


def steps_of(order: str, senders: int, deadlines: bool, batches: int) -> dict[str, float]:
    """Microseconds per message of each step, in the order of the real path."""
    world = World(order, senders, deadlines)
    path: GraphPath | HomePath = GraphPath(world) if order == "graph" else HomePath(world)
    warm = max(1000, 4 * senders) // BATCH  # everybody has sent, and the first have been forgotten
    took: dict[str, list[float]] = {}
    gc.collect()
    gc.disable()  # nothing here makes cycles, and looking for them would fall on one step or another
    try:
        for batch in range(warm + batches):
            if batch == warm:
                world.stamp_ns.clear()
            for step, per_message_us in path.take([world.publish() for _ in range(BATCH)]).items():
                if batch >= warm:
                    took.setdefault(step, []).append(per_message_us)
    finally:
        gc.enable()
    steps = {step: statistics.median(values) for step, values in took.items()}
    whole = {}
    for step, parts in path.whole.items():
        whole[step] = sum(steps[part] for part in parts)
    steps = whole | {f"  {step}": us for step, us in steps.items()}
    return steps | {"  (publish: stamp and relay)": statistics.median(world.stamp_ns) / 1000}


class Stopwatch:
    def __init__(self) -> None:
        self.took: dict[str, float] = {}
        self._at_ns = time.process_time_ns()

    def lap(self, step: str, messages: int) -> None:
        now_ns = time.process_time_ns()
        self.took[step] = (now_ns - self._at_ns) / 1000 / max(1, messages)
        self._at_ns = time.process_time_ns()


class GraphPath:
    """A broker of both groups, and behind it a subscriber of one."""

    whole = {  # noqa: RUF012
        "BROKER'S CHECK": ("arrived", "accept, learn"),
        "SUBSCRIBER'S CHECK": ("subscriber: accept",),
    }

    def __init__(self, world: World) -> None:
        self.world = world
        self.writer: GraphWriter = world.writer("broker")
        self.inbox = inbox_of(Reader(Interest(GROUPS).concerns, dense=False), self.writer.learn)
        self.interest = Interest(GROUPS[:1])
        self.below = inbox_of(Reader(self.interest.concerns, dense=False), None)
        self.unstable: deque[Envelope] = deque()

    def take(self, batch: list[Envelope]) -> dict[str, float]:
        watch, count = Stopwatch(), len(batch)
        now_us = self.world.now_us - count * EACH_US  # when the first of them was published: none is late
        local = [self.writer.arrived(envelope) for envelope in batch]
        watch.lap("arrived", count)
        for envelope in local:
            self.inbox.accept(envelope, now_us)
        watch.lap("accept, learn", count)
        wanted = [envelope for envelope in local if self.interest.wants(envelope.message.topics)]
        watch.lap("", 1)
        projected = [self.writer.project(envelope, self.interest) for envelope in wanted]
        watch.lap("project, per interest", len(wanted))
        for envelope in projected:
            self.below.accept(envelope, now_us)
        watch.lap("subscriber: accept", len(wanted))
        for _ in range(count // ROUND):
            self.writer.forget(now_us)
        watch.lap("forget, per message", count)
        self.unstable.extend(batch)
        while len(self.unstable) > STABLE:
            self.writer.heard(dict(self.unstable.popleft().stamp.own))
        emptied(self.inbox)
        emptied(self.below)
        del watch.took[""]
        return watch.took


class HomePath:
    """A home broker of both groups, and behind it a client of one."""

    whole = {  # noqa: RUF012
        "BROKER'S CHECK": ("accept, learn",),
        "CLIENT'S CHECK": ("client: item, accept, learn",),
    }

    def __init__(self, world: World) -> None:
        self.world = world
        self.writer: VectorWriter = world.writer("broker")
        self.inbox = inbox_of(Reader(Interest(GROUPS).concerns, dense=False), self.writer.learn)
        self.interest = Interest(GROUPS[:1])
        self.log = Log(1, self.interest, {}, (), plain=False)
        self.upper: VectorWriter = world.writer("client")
        self.client = inbox_of(IndexReader(), self._learn)

    def _learn(self, envelope: Envelope) -> None:
        given = envelope.stamp.extra
        assert isinstance(given, Stamp)
        self.upper.learn(Envelope(envelope.message, given))

    def take(self, batch: list[Envelope]) -> dict[str, float]:
        watch, count = Stopwatch(), len(batch)
        now_us = self.world.now_us - count * EACH_US  # when the first of them was published: none is late
        for envelope in batch:
            self.inbox.accept(envelope, now_us)
        watch.lap("accept, learn", count)
        wanted = [envelope for envelope in batch if self.interest.wants(envelope.message.topics)]
        watch.lap("", 1)
        items = []
        for number, envelope in enumerate(wanted):
            items.append(self.log.append(envelope))
            self.log.due()
            if number % 8 == 7:
                self.log.acknowledge(self.log.top - 4)
        watch.lap("log: append, per client", len(wanted))
        front = self.client.reader.front
        for item in items:
            assert item is not None
            self.client.accept(Envelope(item.envelope.message, item_stamp(item, front.get(INDEX, 0))), now_us)
        watch.lap("client: item, accept, learn", len(wanted))
        emptied(self.inbox)
        emptied(self.client)
        del watch.took[""]
        return watch.took


def emptied(inbox: Inbox) -> None:
    assert not inbox.held
    assert all(isinstance(effect, Deliver) for effect in inbox.out), "every message is ready when it comes"
    inbox.out.clear()
