"""A broker's hub: clients by their connections, brokers by datagrams; only what clients may send is taken."""

from __future__ import annotations

import asyncio

from antecede.core.frames import Ack, Data, Digest, Items, Out, Publish, Top
from antecede.live.hub import Hub
from antecede.live.session import Leaving, Session
from antecede.live.transport import Received
from antecede.live.udp import UdpTransport
from tests.live.cluster import until
from tests.live.test_session import Pipe


def a_client(hub: Hub, name: str) -> tuple[Session, Pipe]:
    session, pipe = Session(lambda *_: None, hub.from_client, hub.lost), Pipe()
    session.connection_made(pipe)
    session.peer = name
    hub.welcome(session)
    return session, pipe


def test_clients_get_theirs_by_connection_and_brokers_by_datagram() -> None:
    async def main() -> None:
        here, there = UdpTransport("A"), UdpTransport("B")
        here.know({"B": there.address})
        hub = Hub(here)
        got: Received = []
        arrived = asyncio.Event()

        def take(batch: Received) -> None:
            got.extend(batch)
            arrived.set()

        there.open(take)
        _, pipe = a_client(hub, "ann")
        hub.send([(("ann", "B"), Top(1, 5)), (("B",), Top(1, 6)), (("ann",), Top(1, 7))])
        await asyncio.wait_for(arrived.wait(), 5)
        assert [(sender, frame.top) for sender, frame in got if isinstance(frame, Top)] == [("A", 5), ("A", 6)]
        assert len(pipe.data) == 2 * (4 + 5)
        hub.shut()
        there.close()

    asyncio.run(main())


def test_only_what_clients_send_is_taken_and_only_from_the_newest_connection() -> None:
    async def main() -> None:
        hub = Hub(UdpTransport("A"))
        got: Received = []
        hub.open(got.extend)
        first, pipe = a_client(hub, "ann")
        second, _ = a_client(hub, "ann")
        assert pipe.closed and "another connection" in first.fault
        hub.from_client(first, [Ack(1, 1)])
        hub.from_client(second, [Ack(1, 2), Digest({}, {}), Data(()), Items(1, ())])
        assert [(sender, frame.index) for sender, frame in got if isinstance(frame, Ack)] == [("ann", 2)]
        assert len(got) == 1 and hub.counts.refused == 4
        hub.takes_publications = False
        hub.from_client(second, [Publish(()), Ack(1, 3)])
        assert [type(frame) for _, frame in got] == [Ack, Ack]
        hub.lost(first)  # it was replaced: the newer one stays
        assert hub.sessions == {"ann": second}
        hub.lost(second)
        assert not hub.sessions
        hub.shut()

    asyncio.run(main())


def test_leaving_is_said_to_all_and_what_a_slow_client_misses_is_counted() -> None:
    async def main() -> None:
        hub = Hub(UdpTransport("A"))
        (_, one), (_, two) = a_client(hub, "ann"), a_client(hub, "bob")
        hub.say_leaving("it stops", ("ann", "bob"))
        heard: list[object] = []
        ear = Session(lambda session, said: heard.append(said), lambda *_: None, lambda *_: None)
        ear.data_received(bytes(one.data))
        assert heard == [Leaving("it stops")] and one.data == two.data
        one.waiting = 2**40
        hub.send([(("ann", "bob"), Top(1, 5))])
        assert hub.counts.unsent == 1
        hub.drop_clients()
        assert one.closed and two.closed
        hub.shut()

    asyncio.run(main())


def test_a_machine_may_follow_another_behind_the_same_sockets() -> None:
    async def main() -> None:
        hub = Hub(UdpTransport("A"))
        first: Received = []
        second: Received = []
        hub.open(first.extend)
        hub.close()
        session, _ = a_client(hub, "ann")
        hub.from_client(session, [Ack(1, 1)])
        hub.rename("A.1")
        hub.open(second.extend)
        hub.from_client(session, [Ack(1, 2)])
        assert not first and len(second) == 1 and hub.name == hub.datagrams.name == "A.1"
        hub.shut()

    asyncio.run(main())


def test_what_came_for_the_last_machine_is_not_read_by_the_next() -> None:
    async def main() -> None:
        hub, other = Hub(UdpTransport("A")), UdpTransport("B")
        assert isinstance(hub.datagrams, UdpTransport)
        other.know({"A": hub.datagrams.address})
        got: list[str] = []
        hub.open(lambda batch: None)
        other.open(lambda batch: None)
        other.send([(("A",), Out("A", 1, "B"))])
        hub.close()
        hub.open(lambda batch: got.extend(sender for sender, _ in batch))
        await asyncio.sleep(0.05)
        assert got == []
        other.send([(("A",), Out("A", 1, "B"))])
        assert await until(lambda: got == ["B"])
        hub.shut()
        other.close()

    asyncio.run(main())
