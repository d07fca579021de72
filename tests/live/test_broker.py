"""A broker: found by an address, refused under a name that is taken, back under the next one when it was expelled."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path

import pytest

from antecede.core.effects import Expelled
from antecede.errors import InputError
from antecede.live.broker import Broker
from antecede.live.client import connect
from antecede.testing import LocalCluster
from antecede.trace.check import check
from antecede.trace.parquet import read_rows
from tests.live.cluster import until
from tests.live.keys.keyed import Keyed

ANY = "127.0.0.1:0"


def test_brokers_find_all_others_through_one_and_share_run_and_clock() -> None:
    async def main() -> None:
        async with (
            Broker(ANY, name="A") as a,
            Broker(ANY, name="B", join=[a.url]) as b,
            Broker(ANY, name="C", join=[b.url]) as c,
        ):
            brokers = (a, b, c)
            assert await until(lambda: all(set(x.managed.brokers()) == {"A", "B", "C"} for x in brokers), 10)
            assert a.run == b.run == c.run and a.clock.base_us == b.clock.base_us == c.clock.base_us
            assert await until(lambda: all(x.machine.joined for x in brokers), 10)

    asyncio.run(main())


def test_a_taken_name_is_refused_and_a_default_name_is_the_port(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))  # whoever runs this may have keys

    async def main() -> None:
        async with Broker(ANY, name="A") as a, Broker(ANY) as other:
            assert other.name == f"b{other.address[1]}"
            with pytest.raises(InputError, match="There is a broker A at"):
                await Broker(ANY, name="A", join=[a.url]).start()

    asyncio.run(main())
    with pytest.raises(InputError, match="incarnation"):
        Broker(ANY, name="A.1")
    with pytest.raises(InputError, match=r"not the loopback.*antecede keys init"):
        Broker("0.0.0.0:7400")
    with pytest.raises(InputError, match=r"not the loopback.*antecede keys init"):
        Broker(ANY, join=["192.0.2.1:7400"])
    with pytest.raises(InputError, match=r"not the name .b\.example."):
        Broker("b.example:7400", keys=Keyed(tmp_path / "keys").directory)
    with pytest.raises(InputError, match="add --advertise"):
        Broker("0.0.0.0:7400", keys=tmp_path / "keys")
    with pytest.raises(InputError, match=r"not for 192\.0\.2\.1"):
        Broker("0.0.0.0:7400", keys=tmp_path / "keys", advertise="192.0.2.1:7400")
    with pytest.raises(InputError, match="is no filter"):
        Broker(ANY, table={"room#": []})


def test_a_broker_that_was_expelled_comes_back_and_its_clients_with_it(tmp_path: Path) -> None:
    async def main() -> None:
        async with (
            Broker(ANY, name="A", records=str(tmp_path)) as a,
            Broker(ANY, name="B", join=[a.url]) as b,
            connect(a.url, name="ann") as ann,
            connect(b.url, name="bob") as bob,
            bob.subscribe("t") as inbox,
        ):
            assert await until(lambda: set(a.managed.brokers()) == {"A", "B"}, 10)
            await ann.publish("t", b"before")
            a._said(Expelled("B"))
            assert await until(lambda: a.name == "A.1", 10)
            assert await until(lambda: set(b.managed.brokers()) == {"A.1", "B"}, 10)
            await ann.publish("t", b"after")
            assert [(await inbox.get(10)).payload for _ in range(2)] == [b"before", b"after"]

    asyncio.run(main())
    rows = [(row.process, row.kind, row.reason) for row in read_rows(tmp_path) if row.kind in ("crash", "restart")]
    assert rows == [("A", "crash", "expelled"), ("A.1", "restart", None), ("A.1", "crash", "left")]


def test_a_broker_that_was_stopped_for_long_leaves_nothing_that_others_may_have_forgotten(tmp_path: Path) -> None:
    async def main() -> None:
        async with (
            Broker(ANY, name="A", records=str(tmp_path)) as a,
            Broker(ANY, name="B", join=[a.url]) as b,
            connect(a.url, name="ann") as ann,
        ):
            assert await until(lambda: set(a.managed.brokers()) == {"A", "B"}, 10)
            await ann.publish("t", b"before")
            asleep_us = a.settings.remember_us
            a._silence._now_us = lambda: a.clock.lasting_us() + asleep_us
            assert await until(lambda: a._silence._old, 10)
            a._said(Expelled("B"))
            assert await until(lambda: a.name == "A.1", 10)
            assert await until(lambda: set(b.managed.brokers()) == {"A.1", "B"}, 10)

    asyncio.run(main())
    rows = [(row.process, row.message, row.peer) for row in read_rows(tmp_path) if row.kind == "arrive"]
    assert ("A.1", "ann:1", "B") in rows and ("A.1", "ann:1", "A") not in rows


def test_the_log_tells_of_brokers_that_come_and_go(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario(cluster: LocalCluster) -> None:
        await asyncio.sleep(3)
        cluster.kill("B")
        await asyncio.sleep(60)

    with caplog.at_level("INFO", "antecede.broker"):
        LocalCluster(brokers=3).run(scenario)
    gone = [message for message in caplog.messages if " is gone: " in message]
    assert "B is here" in caplog.messages and gone == ["B is gone: it stopped, crashed or cannot be reached"] * 2


def test_a_broker_joins_a_cluster_with_a_full_store_page_by_page_and_the_others_go_on(tmp_path: Path) -> None:
    """The whole store in one answer kept donors and newcomer so busy that all of them were declared dead."""

    async def scenario(cluster: LocalCluster) -> tuple[int, list[str]]:
        async with cluster.connect("ann", at="A") as ann, cluster.connect("bob", at="B") as bob:
            for _ in range(100):
                for n in range(60):
                    (ann if n % 2 else bob).publish_nowait("room/1", bytes(100))
                await ann.flush()
                await bob.flush()
            c = await cluster.start("C")
            assert not c.ready, "what only A and B have would be lost if these were stopped now"
            async with cluster.connect("eve", at="C") as eve, eve.subscribe("room/#") as inbox:
                await ann.publish("room/1", b"after")
                assert (await inbox.get(10)).payload == b"after" and c.ready
            return len(c.machine.store), sorted(c.managed.brokers())

    kept, there = LocalCluster(2, loss=0.05, delay_s=(0.02, 0.04), seed=5, records=str(tmp_path)).run(scenario)
    assert kept == 6_001 and there == ["A", "B", "C"]
    arrived = [row for row in read_rows(tmp_path) if (row.process, row.kind) == ("C", "arrive")]
    assert len({row.message for row in arrived}) == 6_001
    assert max(Counter(row.at_us for row in arrived).values()) < 1_000, "so many were dealt with at once"
    assert check(tmp_path).clean
