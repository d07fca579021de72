"""A whole cluster on loopback UDP in one process, with loss and records: for the node's tests and bench/soak.py."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from pathlib import Path

from antecede.core.machine import Machine, Peer, Settings
from antecede.core.message import Message, Publication
from antecede.core.recipes import RECIPES, build
from antecede.live.faults import Faults
from antecede.live.node import Clock, Node
from antecede.live.udp import UdpTransport
from antecede.trace.parquet import StreamAppender

__all__ = ["BROKERS", "CLIENTS", "GROUPS", "Cluster", "until"]

GROUPS = ("G1", "G2")
BROKERS = ("A", "B", "C", "D")
CLIENTS = tuple(f"c{n}" for n in range(8))


async def until(condition: Callable[[], object], seconds: float = 5.0) -> bool:
    end = asyncio.get_running_loop().time() + seconds
    while not condition():
        if asyncio.get_running_loop().time() > end:
            return False
        await asyncio.sleep(0.005)
    return True


class Cluster:
    """4 brokers and 8 clients of one recipe on loopback UDP with injected loss, all in this process."""

    def __init__(self, recipe: str, directory: Path, loss: float, deadlines: bool) -> None:
        self.flat = RECIPES[recipe].flat
        self.clients_publish = RECIPES[recipe].clients_publish
        self.delivered = 0
        settings = Settings(
            deadlines=deadlines, round_us=40_000, retry_us=25_000, patience_us=2_000, trip_us=1_000, hop_us=50_000,
            guard_us=20_000,
            grace_us=500_000 if deadlines else 5_000_000,  # where all is owed: longer than a busy machine stalls
            memory_us=1_000_000,
        )  # fmt: skip
        names = (*BROKERS, *CLIENTS)
        roles = {n: "member" if self.flat else "broker" if n in BROKERS else "subscriber" for n in names}
        carried = {n: GROUPS if self.flat or n in BROKERS else () for n in names}
        self.members = {n: Peer(n, roles[n], carried[n]) for n in names}
        clock = Clock()
        self.nodes: dict[str, Node] = {}
        self.appenders = []
        for number, name in enumerate(names):
            machine: Machine = build(
                recipe, "repaired", name=name, role=roles[name], groups=carried[name], settings=settings,
                dice=random.Random(number),
            )  # fmt: skip
            appender = StreamAppender(directory / f"{name}.arrow")
            self.appenders.append(appender)
            transport = UdpTransport(name, faults=Faults(loss=loss, seed=1))
            self.nodes[name] = Node(machine, transport, records=appender, on_deliver=self.count, clock=clock)
        book = {
            n: t.address
            for n, t in ((n, node.transport) for n, node in self.nodes.items())
            if isinstance(t, UdpTransport)
        }
        for node in self.nodes.values():
            assert isinstance(node.transport, UdpTransport)
            node.transport.know(book)

    def count(self, message: Message) -> None:
        self.delivered += 1

    def publishers(self) -> list[Node]:
        names = (*BROKERS, *CLIENTS) if self.flat else CLIENTS if self.clients_publish else BROKERS
        return [self.nodes[name] for name in names]

    async def run(self, messages: int, deadline_us: int | None, seconds: float) -> bool:
        for node in self.nodes.values():
            node.start(self.members)
        if not self.flat:
            for number, name in enumerate(CLIENTS):
                self.nodes[name].subscribe(GROUPS[: 1 + number % 2], [BROKERS[number % 4]])
            await asyncio.sleep(0.4)
        publishers, dice = self.publishers(), random.Random(3)
        for n in range(messages):
            node = publishers[n % len(publishers)]
            topics = (GROUPS, GROUPS[:1], GROUPS[1:])[int(dice.random() * 3)]
            due_us = None if deadline_us is None else node.clock.now_us() + deadline_us
            node.publish(Publication(topics, b"%d" % n, due_us))
            if n % 8 == 7:
                await asyncio.sleep(0.004)
        quiet = await until(lambda: all(node.machine.next_wake() is None for node in self.nodes.values()), seconds)
        if quiet:
            await asyncio.sleep(0.05)
        for node in self.nodes.values():
            node.close("quiet" if quiet else "stopped")
        for appender in self.appenders:
            appender.close()
        return quiet
