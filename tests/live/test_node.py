"""The third driver: the same machines on a real network, judged by the same oracle."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from antecede.core.effects import Deliver, Discard, Effect, Send
from antecede.core.frames import Data, Frame
from antecede.core.machine import Peer, Settings
from antecede.core.membership.news import DEAD, News
from antecede.core.membership.wrapper import Managed
from antecede.core.message import Envelope, Message, Publication, Stamp
from antecede.core.order.numbered import WINDOW
from antecede.core.recipes import RECIPES, build
from antecede.errors import InputError, RemoteProtocolError
from antecede.live.datagram import Outgoing
from antecede.live.faults import NONE, Faults
from antecede.live.memory import MemoryNetwork
from antecede.live.node import Clock, Node
from antecede.live.timing import PROBING
from antecede.trace.check import check
from antecede.wire import MAX_PAYLOAD
from tests.live.cluster import Cluster, until


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

    def publish(self, publication: Publication, now_us: int) -> tuple[Message, list[Effect]]:
        self.sent += 1
        message = Message(self.name, self.sent, tuple(publication.topics), publication.payload, publication.deadline_us)
        return message, [Send(self.others, Data((Envelope(message, Stamp(((self.name, self.sent),))),)))]

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


def everyone(names: Sequence[str]) -> dict[str, Peer]:
    return {name: Peer(name, "member", ()) for name in names}


class Late(Clock):
    """A clock that is set."""

    def __init__(self) -> None:
        super().__init__(0)
        self.at_us = 0

    def now_us(self) -> int:
        return self.at_us


def test_a_frame_that_comes_before_an_overdue_timer_frees_nothing_that_has_expired() -> None:
    async def main() -> None:
        network, rows, clock = MemoryNetwork(), Rows(), Late()
        machines = {
            name: build(
                "solicit", "repaired", name=name, role="member", groups=("g",), settings=Settings(),
                dice=random.Random(1),
            )
            for name in "abc"
        }  # fmt: skip
        node = Node(machines["c"], network.transport("c"), records=rows, clock=clock)
        node.start({name: Peer(name, "member", ("g",)) for name in "abc"})
        for name in "ab":
            machines[name].view({other: Peer(other, "member", ("g",)) for other in "abc"}, 0)
            machines[name].start(0)

        def sent(effects: list[Effect]) -> Data:
            return next(e.frame for e in effects if isinstance(e, Send) and isinstance(e.frame, Data))

        question = sent(machines["a"].publish(Publication(("g",), b"q", deadline_us=900_000), 0)[1])
        machines["b"].receive(question, "a", 0)
        answer = sent(machines["b"].publish(Publication(("g",), b"a", deadline_us=100_000), 0)[1])
        node.arrived([("b", answer)])
        clock.at_us = 150_000  # the event loop was busy: the timer of the answer is overdue when the question comes
        node.arrived([("a", question)])
        kinds = [
            (row[5], row[6], row[9]) for row in (node._recorder.rows or rows.rows) if row[5] in ("deliver", "discard")
        ]
        node.close()
        assert [one for one in kinds if one[1] == "b:1"] == [("discard", "b:1", "late")]
        assert ("deliver", "a:1", "causes") in kinds

    asyncio.run(main())


def test_one_turn_is_one_datagram_and_one_write() -> None:
    async def main() -> None:
        network = MemoryNetwork()
        rows = {name: Rows() for name in "ab"}
        got: list[Message] = []
        nodes = {n: Node(Echo(n), network.transport(n), records=rows[n], on_deliver=got.append) for n in "ab"}
        for node in nodes.values():
            node.start(everyone("ab"))
        for n in range(16):
            nodes["a"].publish(Publication(("t",), b"%d" % n if n != 3 else b""))
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
        node.publish(Publication(("t",), b"x"))
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
            b.publish(Publication(("t",), b"re " + message.payload))

        b.on_deliver = answer
        a.on_deliver = lambda message: answers.append(message.payload)
        for node in (a, b):
            node.start(everyone("ab"))
        for n in range(4):
            a.publish(Publication(("t",), b"%d" % n))
        assert await until(lambda: len(answers) == 4)
        assert b.transport.counts.sent == 1
        a.close()
        b.close()

    asyncio.run(main())


def test_a_payload_that_cannot_travel_is_refused_at_once() -> None:
    async def main() -> None:
        node = Node(Echo("a"), MemoryNetwork().transport("a"))
        node.start(everyone("a"))
        with pytest.raises(InputError, match="49153 bytes: at most 49152 travel"):
            node.publish(Publication(("t",), bytes(MAX_PAYLOAD + 1)))
        assert node.publish(Publication(("t",), bytes(MAX_PAYLOAD))).seq == 1, "the other one took no number"
        node.close()

    asyncio.run(main())


def test_a_client_that_lacks_all_it_may_be_sent_gets_it() -> None:
    """Asked for at once it is more than one datagram holds, the more so with a bitmap of hundreds of causes each."""

    async def main() -> None:
        network, settings = MemoryNetwork(), Settings(deadlines=False, round_us=40_000, retry_us=25_000)
        members = {n: Peer(n, "broker" if n == "B" else "subscriber", ("t",) if n == "B" else ()) for n in "Bps"}
        got: list[int] = []
        nodes = {}
        for name, peer in members.items():
            machine = build("home", "repaired", name=name, role=peer.role, groups=peer.groups, settings=settings,
                            dice=random.Random(name))  # fmt: skip
            heard = (lambda message: got.append(message.seq)) if name == "s" else None
            nodes[name] = Node(machine, network.transport(name), on_deliver=heard)
            nodes[name].start(members)
        for client in "ps":
            nodes[client].subscribe(("t",), ("B",))
        assert await until(lambda: nodes["p"].machine.joined and nodes["s"].machine.joined)
        nodes["B"].transport._faults = Faults(loss=1.0)
        for _ in range(WINDOW):
            nodes["p"].publish(Publication(("t",), bytes(70)))
        assert await until(lambda: nodes["B"].machine.logs["s"].sent == WINDOW) and not got
        nodes["B"].transport._faults = NONE
        assert await until(lambda: len(got) == WINDOW), f"{len(got)} of {WINDOW}"
        assert got == list(range(1, WINDOW + 1)) and nodes["B"].transport.counts.unsent == 0
        for node in nodes.values():
            node.close()

    asyncio.run(main())


def test_an_application_that_fails_does_not_hold_back_the_machine() -> None:
    async def main() -> None:
        node = Node(Echo("a"), MemoryNetwork().transport("a"))
        node.start(everyone("ab"))

        def fail(message: Message) -> None:
            node.publish(Publication(("t",), b"before the fault"))
            raise ZeroDivisionError

        node.on_deliver = fail
        with pytest.raises(ZeroDivisionError):
            node.arrived([("b", Data((Envelope(Message("b", 1, ("t",), b"x"), Stamp((("b", 1),))),)))])
        assert node.transport.counts.unsent == 1  # it was handed to the transport; there is no b
        node.close()

    asyncio.run(main())


class Picky(Echo):
    def receive(self, frame: Frame, sender: str, now_us: int) -> list[Effect]:
        if sender == "liar":
            raise RemoteProtocolError("nonsense")
        if sender.startswith("trap"):
            raise KeyError(sender)
        return super().receive(frame, sender, now_us)


def test_a_frame_that_is_refused_or_fails_takes_no_other_with_it() -> None:
    async def main() -> None:
        got: list[str] = []
        node = Node(Picky("a"), MemoryNetwork().transport("a"), on_deliver=lambda message: got.append(message.id))
        node.start(everyone("a"))
        batch = [
            (who, Data((Envelope(Message(who, 1, ("t",), b"x"), Stamp(((who, 1),))),)))
            for who in ("b", "liar", "c", "trap1", "d", "trap2", "e")
        ]
        node.arrived(batch[:3])
        assert got == ["b:1", "c:1"] and node.transport.counts.refused == 1
        got.clear()
        with pytest.raises(KeyError, match="trap1") as failed:  # the first: nothing fails unseen
            node.arrived(batch)
        assert failed.value.__notes__ == ["at a, on a data frame from trap1"]
        assert got == ["b:1", "c:1", "d:1", "e:1"]
        node.close()

    asyncio.run(main())


class Stumbling(Echo):
    """A machine that fails whenever it is woken."""

    def wake(self, now_us: int) -> list[Effect]:
        raise KeyError("stumbled")

    def next_wake(self) -> int | None:
        return 1


def test_a_machine_that_fails_on_a_timer_is_served_and_woken_again_but_not_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("antecede.live.node.FAILED_S", 0.05)

    async def main() -> None:
        faults: list[str] = []
        asyncio.get_running_loop().set_exception_handler(lambda _, what: faults.append(what["exception"].__notes__[0]))
        got: list[str] = []
        node = Node(Stumbling("a"), MemoryNetwork().transport("a"), on_deliver=lambda message: got.append(message.id))
        node.start(everyone("a"))
        assert await until(lambda: bool(faults))
        node.arrived([("b", Data((Envelope(Message("b", 1, ("t",), b"x"), Stamp((("b", 1),))),)))])
        assert got == ["b:1"], "a frame right after the fault is not lost, and raises nothing"
        await asyncio.sleep(0.2)
        assert 2 <= len(faults) <= 5 and set(faults) == {"at a, on a timer"}
        node.close()

    asyncio.run(main())


def test_clocks_with_the_same_base_agree() -> None:
    first, second = Clock(5), Clock(5)
    before = first.now_us()
    assert before <= second.now_us() <= first.now_us()


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
        assert [f for f in report.findings if f.verdict in ("inversion", "overdue", "duplicate", "gap", "false")] == []
        assert report.fates["delivered"] > 0.9 * report.pairs

    asyncio.run(main())


def test_a_frame_of_a_process_that_was_declared_dead_has_not_arrived() -> None:
    """Such a frame never reaches the machine inside: a row would be an arrival without an outcome."""

    def managed(name: str) -> Managed:
        dice = random.Random(1)
        inner = build("solicit", "repaired", name=name, role="member", groups=("g",), settings=Settings(), dice=dice)
        return Managed(inner, Peer(name, "member", ("g",)), PROBING, dice)

    async def main() -> None:
        members = {name: Peer(name, "member", ("g",)) for name in "ab"}
        rows, machine = Rows(), managed("b")
        node = Node(machine, MemoryNetwork().transport("b"), records=rows)
        node.start(members)
        frames = [Data((Envelope(Message("a", n, ("g",), b""), Stamp((("a@g", n),), ())),)) for n in (1, 2)]
        node.arrived([("a", frames[0])])
        machine.table.merge(News("a", "member", ("g",), state=DEAD))
        node.arrived([("a", frames[1])])
        node.close("stopped")
        assert list(machine.refused) == ["a"]
        assert [row[6] for row in rows.rows if row[5] == "arrive"] == ["a:1"]

    asyncio.run(main())
