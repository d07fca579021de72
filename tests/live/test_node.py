"""The third driver: the same machines on a real network, judged by the same oracle."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from antecede.core.effects import Deliver, Discard, Effect, Send
from antecede.core.frames import Data, Frame
from antecede.core.machine import Machine, Peer, Settings
from antecede.core.message import NO_STAMP, Envelope, Message
from antecede.core.recipes import RECIPES, build
from antecede.live.datagram import Outgoing
from antecede.live.node import Clock, Node
from antecede.live.transport import MemoryNetwork, UdpTransport
from antecede.trace.check import check
from antecede.trace.parquet import StreamAppender


class Echo:
    """The smallest machine: tells everyone, delivers what it hears, and asks to be woken once."""

    role = "member"

    def __init__(self, name: str) -> None:
        self.name = name
        self.others: tuple[str, ...] = ()
        self.sent = 0
        self.due_us: int | None = None
        self.woken: list[int] = []

    def start(self, now_us: int, *, joining: bool = False) -> list[Effect]:
        return []

    def view(self, members: Mapping[str, Peer], now_us: int) -> list[Effect]:
        self.others = tuple(sorted(set(members) - {self.name}))
        return []

    def subscribe(self, filters: Sequence[str], at: Sequence[str], now_us: int) -> list[Effect]:
        return []

    def unsubscribe(self, now_us: int) -> list[Effect]:
        return []

    def move(self, to: Sequence[str], now_us: int) -> list[Effect]:
        return []

    def publish(
        self,
        topics: Sequence[str],
        payload: bytes,
        now_us: int,
        *,
        deadline_us: int | None = None,
        after: Sequence[str] | None = None,
    ) -> tuple[Message, list[Effect]]:
        self.sent += 1
        message = Message(self.name, self.sent, tuple(topics), payload, deadline_us)
        return message, [Send(self.others, Data((Envelope(message, NO_STAMP),)))]

    def receive(self, frame: Frame, sender: str, now_us: int) -> list[Effect]:
        return [Deliver(m, "causes") if m.payload else Discard(m.id, "foreign") for m in frame.messages()]

    def wake(self, now_us: int) -> list[Effect]:
        self.woken.append(now_us)
        self.due_us = None
        return []

    def next_wake(self) -> int | None:
        return self.due_us


class Rows:
    """Keeps rows in memory, and how many writes they took."""

    def __init__(self) -> None:
        self.rows: list[Sequence[Any]] = []
        self.writes = 0

    def append(self, rows: Sequence[Sequence[Any]]) -> None:
        self.rows += rows
        self.writes += 1


async def until(condition: Callable[[], object], seconds: float = 5.0) -> bool:
    end = asyncio.get_running_loop().time() + seconds
    while not condition():
        if asyncio.get_running_loop().time() > end:
            return False
        await asyncio.sleep(0.005)
    return True


def everyone(names: Sequence[str]) -> dict[str, Peer]:
    return {name: Peer(name, "member", ()) for name in names}


def test_one_turn_is_one_datagram_and_one_write() -> None:
    async def main() -> None:
        network = MemoryNetwork()
        rows = {name: Rows() for name in "ab"}
        got: list[Message] = []
        nodes = {n: Node(Echo(n), network.transport(n), records=rows[n], on_deliver=got.append) for n in "ab"}
        for node in nodes.values():
            node.start(everyone("ab"))
        for n in range(16):
            nodes["a"].publish(("t",), b"%d" % n if n != 3 else b"")
        assert await until(lambda: len(got) == 15)
        assert nodes["a"].transport.counts.sent == 1
        assert (rows["a"].writes, rows["b"].writes) == (1, 0)  # from b nothing left: its rows may wait, but not long
        assert await until(lambda: rows["b"].writes == 1, 1.0)
        kinds = [row[5] for row in rows["b"].rows]
        assert (kinds.count("arrive"), kinds.count("deliver"), kinds.count("discard")) == (16, 15, 1)
        for node in nodes.values():
            node.close("quiet")
            node.close()
        assert [row[3] for row in rows["b"].rows] == list(range(33))
        assert rows["b"].rows[-1][5] == "end"

    asyncio.run(main())


def test_rows_are_written_before_frames_leave() -> None:
    async def main() -> None:
        network = MemoryNetwork()
        transport = network.transport("a")
        rows = Rows()
        seen: list[int] = []
        send = transport.send

        def watched(frames: Sequence[Outgoing]) -> None:
            seen.append(len(rows.rows))
            send(frames)

        transport.send = watched  # type: ignore[method-assign]
        node = Node(Echo("a"), transport, records=rows)
        node.start(everyone("ab"))
        node.publish(("t",), b"x")
        await asyncio.sleep(0.01)
        assert seen == [1]
        node.close()

    asyncio.run(main())


def test_the_timer_fires_when_due_and_never_before() -> None:
    async def main() -> None:
        machine = Echo("a")
        node = Node(machine, MemoryNetwork().transport("a"), clock=Clock(base_us=0))
        node.start(everyone("a"))
        due_us = machine.due_us = node.clock.now_us() + 20_000
        node.view(everyone("a"))
        assert await until(lambda: machine.woken)
        assert due_us <= machine.woken[0] < due_us + 2_000_000
        await asyncio.sleep(0.02)
        assert len(machine.woken) == 1
        node.close()

    asyncio.run(main())


def test_what_the_application_publishes_on_delivery_leaves_in_the_same_turn() -> None:
    async def main() -> None:
        network = MemoryNetwork()
        a, b = Node(Echo("a"), network.transport("a")), Node(Echo("b"), network.transport("b"))
        answers: list[bytes] = []

        def answer(message: Message) -> None:
            b.publish(("t",), b"re " + message.payload)

        b.on_deliver = answer
        a.on_deliver = lambda message: answers.append(message.payload)
        for node in (a, b):
            node.start(everyone("ab"))
        for n in range(4):
            a.publish(("t",), b"%d" % n)
        assert await until(lambda: len(answers) == 4)
        assert b.transport.counts.sent == 1
        a.close()
        b.close()

    asyncio.run(main())


def test_an_application_that_fails_does_not_hold_back_the_machine() -> None:
    async def main() -> None:
        node = Node(Echo("a"), MemoryNetwork().transport("a"))
        node.start(everyone("ab"))

        def fail(message: Message) -> None:
            node.publish(("t",), b"before the fault")
            raise ZeroDivisionError

        node.on_deliver = fail
        with pytest.raises(ZeroDivisionError):
            node.arrived([("b", Data((Envelope(Message("b", 1, ("t",), b"x"), NO_STAMP),)))])
        assert node.transport.counts.unsent == 1  # it was handed to the transport; there is no b
        node.close()

    asyncio.run(main())


def test_clocks_with_the_same_base_agree() -> None:
    first, second = Clock(5), Clock(5)
    before = first.now_us()
    assert before <= second.now_us() <= first.now_us()


GROUPS = ("G1", "G2")
BROKERS = ("A", "B", "C", "D")
CLIENTS = tuple(f"c{n}" for n in range(8))


class Cluster:
    """4 brokers and 8 clients of one recipe on loopback UDP with injected loss, all in this process."""

    def __init__(self, recipe: str, directory: Path, loss: float, deadlines: bool) -> None:
        self.flat = RECIPES[recipe].flat
        self.clients_publish = RECIPES[recipe].clients_publish
        self.delivered = 0
        settings = Settings(
            deadlines=deadlines, round_us=40_000, retry_us=25_000, patience_us=2_000, trip_us=1_000, hop_us=50_000,
            guard_us=20_000,
            grace_us=500_000, memory_us=1_000_000,
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
            transport = UdpTransport(name, loss=loss, seed=1)
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
            node.publish(topics, b"%d" % n, deadline_us=due_us)
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


@pytest.mark.parametrize("recipe", [r for r in ("solicit", "home", "graph", "cbcast") if r in RECIPES])
def test_four_brokers_and_eight_clients_at_ten_percent_loss(recipe: str, tmp_path: Path) -> None:
    async def main() -> None:
        cluster = Cluster(recipe, tmp_path, loss=0.1, deadlines=False)
        assert await cluster.run(300, None, seconds=20), "the cluster did not become quiet"
        report = check(tmp_path, scenario={"recipe": recipe}, idle=False)
        assert report.findings == []
        assert report.clean
        assert report.fates["delivered"] == report.pairs > 0

    asyncio.run(main())


@pytest.mark.parametrize("recipe", [r for r in ("solicit", "home") if r in RECIPES])
def test_with_deadlines_nothing_is_late_and_most_arrives(recipe: str, tmp_path: Path) -> None:
    async def main() -> None:
        cluster = Cluster(recipe, tmp_path, loss=0.1, deadlines=True)
        await cluster.run(300, 600_000, seconds=10)
        report = check(tmp_path, scenario={"recipe": recipe, "skew_ms": 0}, idle=False)
        assert [f for f in report.findings if f.verdict in ("inversion", "late", "duplicate", "gap", "false")] == []
        assert report.fates["delivered"] > 0.9 * report.pairs

    asyncio.run(main())
