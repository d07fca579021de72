"""A client process follows its machine: when that wants another home, the connection goes there."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from antecede.core.effects import Expelled
from antecede.errors import EnvironmentFault, InputError
from antecede.live.broker import Broker
from antecede.live.client import connect
from antecede.live.testing import LocalCluster
from antecede.trace.check import check
from tests.live.cluster import until


def test_the_connection_follows_the_machine_to_another_home() -> None:
    async def main() -> None:
        async with (
            Broker("127.0.0.1:0", name="A") as a,
            Broker("127.0.0.1:0", name="B", join=[a.url]) as b,
            connect(a.url, name="ann") as ann,
            connect(b.url, name="bob") as bob,
            ann.subscribe("t") as inbox,
        ):
            assert await until(lambda: set(ann.managed.brokers()) == {"A", "B"}, 10)
            ann.node.move(("B",))
            assert await until(lambda: ann._link.peer == "B" and ann.machine.joined, 10)
            await bob.publish("t", b"1")
            assert (await inbox.get(10)).payload == b"1"

    asyncio.run(main())


def test_nothing_works_before_it_is_entered() -> None:
    with pytest.raises(InputError, match="async with"):
        connect().publish_nowait("t", b"")


def test_a_second_client_of_the_same_name_is_the_next_life_and_the_first_one_ends() -> None:
    async def main() -> None:
        states: list[str] = []
        async with (
            Broker("127.0.0.1:0", name="A") as broker,
            connect(broker.url, name="ann", on_state=lambda state, _: states.append(state)) as first,
        ):
            await first.publish("t", b"")
            async with connect(broker.url, name="ann") as second:
                assert second.name == "ann.1"
                await second.publish("t", b"")
                assert await until(lambda: first.closed, 10)
            assert states[-1] == "closed"
            with pytest.raises(InputError, match="closed"):
                await first.publish("t", b"")

    asyncio.run(main())


def test_a_client_that_was_taken_for_dead_goes_on_where_it_was(tmp_path: Path) -> None:
    async def scenario(cluster: LocalCluster) -> list[str]:
        async with cluster.connect("ann") as ann, cluster.connect("bob") as bob, bob.subscribe("t") as inbox:
            for n in range(3):
                await ann.publish("t", b"%d" % n)
            told = [(await inbox.get(10)).text for _ in range(2)]
            bob._heard(Expelled("A"))
            ann._heard(Expelled("A"))
            await asyncio.sleep(0)
            with pytest.raises(EnvironmentFault, match="beginning again"):
                ann.publish_nowait("t", b"too early")
            assert await ann.publish("t", b"3") == "ann.1:1"  # waits until it has begun again
            told += [(await inbox.get(30)).text for _ in range(2)]
            assert bob.name == "bob.1" and inbox.fates()["delivered"] == 4
            return told

    assert LocalCluster(brokers=2, seed=1, records=str(tmp_path)).run(scenario) == ["0", "1", "2", "3"]
    assert check(tmp_path).findings == []


def test_what_was_not_safe_when_it_was_taken_for_dead_is_said() -> None:
    async def scenario(cluster: LocalCluster) -> None:
        async with cluster.connect("ann", at="A") as ann:
            await ann.publish("t", b"")
            publishing = asyncio.create_task(ann.publish("t", b""))
            await asyncio.sleep(0)
            ann._heard(Expelled("A"))
            with pytest.raises(EnvironmentFault, match="publish it again"):
                await publishing
            assert await ann.publish("t", b"") == "ann.1:1"

    LocalCluster(brokers=2, delay_s=(0.05, 0.1), seed=1).run(scenario)


SOME = {"room/#": [], "alerts/#": ["A", "B"]}


def test_a_broker_that_does_not_carry_what_a_client_wants_is_never_its_home() -> None:
    """It would get some of it, or nothing, and not know."""

    async def scenario(cluster: LocalCluster) -> str | None:
        async with (
            cluster.connect("ann", at="C") as ann,
            cluster.connect("bob", at="A") as bob,
            ann.subscribe("alerts/#") as inbox,
        ):
            assert ann.home in ("A", "B")
            servers = cluster.network.servers
            busy = {one: servers.pop(one) for one in [cluster.brokers[name].address for name in "AB"]}
            cluster.brokers[ann.home].hub.sessions["ann"].abort()
            await asyncio.sleep(1.0)
            assert ann.state == "away"
            servers.update(busy)
            await bob.publish("alerts/1", b"1")
            assert (await inbox.get(30)).payload == b"1"
            return ann.home

    assert LocalCluster(brokers=3, table=SOME).run(scenario) in ("A", "B")


def test_a_subscription_waits_for_a_broker_that_carries_it() -> None:
    async def scenario(cluster: LocalCluster) -> str | None:
        for name in "AB":
            cluster.kill(name)
        await asyncio.sleep(30)
        async with cluster.connect("ann", at="C") as ann:
            inbox = ann.subscribe("alerts/#")
            waiting = asyncio.create_task(inbox.__aenter__())
            await asyncio.sleep(5)
            assert not waiting.done() and not ann.machine.joined
            await cluster.start("A")
            await waiting
            await ann.publish("alerts/1", b"")
            home = ann.home
            await inbox.aclose()
            return home

    assert LocalCluster(brokers=3, table=SOME).run(scenario) == "A.1"


def test_a_frontier_tells_a_broker_of_a_life_that_it_had_not_heard_of() -> None:
    """Two lives under one name would both number from one."""

    async def scenario(cluster: LocalCluster) -> str:
        async with cluster.connect("ann", at="A") as ann:
            bob = await cluster.connect("bob", at="A").__aenter__()
            inbox = await bob.subscribe("t").__aenter__()
            await ann.publish("t", b"1")
            await inbox.get(10)
            frontier = inbox.frontier
            cluster.brokers["B"].managed.table.entries.pop("bob", None)
            bob.end()
            await ann.publish("t", b"2")
            bob = await cluster.connect("bob", at="B").__aenter__()
            assert bob.name == "bob"
            inbox = await bob.subscribe("t", since=frontier).__aenter__()
            assert (await inbox.get(10)).payload == b"2"
            name = bob.name
            await bob.aclose()
            return name

    assert LocalCluster(brokers=2).run(scenario) == "bob.1"


def test_a_callback_that_raises_is_logged_and_ends_neither_turn_nor_connection(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def fail(*_: object) -> None:
        raise ValueError("a mistake of the application")

    async def scenario(cluster: LocalCluster) -> tuple[str | None, dict[str, int]]:
        async with (
            cluster.connect("ann", at="B") as ann,
            cluster.connect("bob", at="A", on_state=fail, on_fate=fail) as bob,
            bob.subscribe("t", queue=1) as inbox,
            bob.subscribe("end") as end,
        ):
            for n in range(4):
                ann.publish_nowait("t", b"%d" % n)
            await ann.publish("end", b"", after=[])
            await end.get(10)
            cluster.kill("A")
            await ann.publish("t", b"4")
            while (await inbox.get(60)).payload != b"4":
                pass
            return bob.home, bob.fates()

    home, fates = LocalCluster(brokers=2).run(scenario)
    assert home == "B" and fates["overflow"] >= 3
    assert "a callback of the application failed" in caplog.text and "a mistake of the application" in caplog.text
