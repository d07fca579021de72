"""A broker: found by an address, refused under a name that is taken, back under the next one when it was expelled."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from antecede.core.effects import Expelled
from antecede.errors import EnvironmentFault, InputError
from antecede.live.broker import Broker
from antecede.live.client import connect
from antecede.live.status import status_of
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


async def slow_reader(cluster: LocalCluster, messages: int, pause_s: float) -> tuple[int, Broker]:
    """The last broker that carries room/# stops while bob, who takes one message every `pause_s`, has most to read."""
    taken, (a, *_) = 0, cluster.brokers.values()
    async with (
        cluster.connect("ann", at="A") as ann,
        cluster.connect("bob", at="A") as bob,
        bob.subscribe("room/#", queue=10, overflow="block") as inbox,
    ):
        for _ in range(messages):
            ann.publish_nowait("room/1", b"")
        await ann.flush(30)
        stopping = asyncio.create_task(a.stop(5.0))
        with contextlib.suppress(TimeoutError):
            while await inbox.get(6):
                taken += 1
                await asyncio.sleep(pause_s)
        await stopping
    return taken, a


@pytest.mark.parametrize("others", [[], ["B"]])
def test_a_broker_that_stops_waits_for_clients_that_no_other_one_can_serve(
    others: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    """Alone, or beside one that does not carry what they want."""
    table = {"room/#": ["A"], "hall/#": []} if others else None
    taken, _ = LocalCluster(1 + len(others), table=table).run(lambda cluster: slow_reader(cluster, 2_000, 0.002))
    assert taken == 2_000 and "are lost" not in caplog.text


def test_what_a_stopped_broker_could_not_hand_over_is_counted_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    taken, _ = LocalCluster().run(lambda cluster: slow_reader(cluster, 2_000, 0.01))
    (left,) = map(int, re.findall(r"bob has not acknowledged (\d+) messages", caplog.text))
    assert 2_000 - taken <= left < 2_000 and taken < 2_000, (taken, left)


def test_the_only_broker_takes_nothing_more_once_it_is_told_to_stop() -> None:
    """What ann publishes meanwhile is not called safe, and the broker that begins there next gets it."""

    async def scenario(cluster: LocalCluster) -> bytes:
        a = cluster.brokers["A"]
        async with (
            cluster.connect("ann") as ann,
            cluster.connect("bob") as bob,
            bob.subscribe("room/#", queue=1, overflow="block") as slow,
        ):
            for _ in range(600):
                ann.publish_nowait("room/1", b"")
            await ann.flush(30)
            stopping = asyncio.create_task(a.stop(1.0))
            await asyncio.sleep(0.1)
            ann.publish_nowait("hall/1", b"later")
            await stopping
            assert slow.fates()["queued"] and ann.pending == 1
            await cluster.start("A")
            await ann.flush(60)
        return b"safe"

    assert LocalCluster().run(scenario) == b"safe"


def test_a_broker_that_the_table_does_not_name_says_so_and_calls_nothing_safe(caplog: pytest.LogCaptureFixture) -> None:
    """B carries nothing: what ann publishes there is safe once A, which carries it, has begun."""

    async def scenario(cluster: LocalCluster) -> bool:
        cluster.kill("A")
        await asyncio.sleep(20)
        async with cluster.connect("ann", at="B") as ann:
            with pytest.raises(EnvironmentFault, match="not known to be safe"):
                await ann.publish("room/1", b"", within=5)
            kept = ann.publish_nowait("room/1", b"")
            await asyncio.sleep(5)
            assert ann.pending
            a = await cluster.start("A")
            await ann.flush(30)
            return kept in a.machine.store

    cluster = LocalCluster(2, table={"room/#": ["A"], "hall/#": ["A", "D"]})
    assert cluster.run(scenario)
    assert "B carries nothing: no entry of the table names it. The table names A, D" in caplog.text
    assert "A carries nothing" not in caplog.text


@pytest.mark.parametrize("table", [{"room/#": []}, {"room/#": ["B"], "hall/#": ["A", "B"]}, {"$#": ["A"]}])
def test_clients_ask_and_reply_whatever_the_table_says(table: dict[str, list[str]]) -> None:
    async def scenario(cluster: LocalCluster) -> bytes:
        async with cluster.connect("ann") as ann, cluster.connect("bob") as bob, bob.subscribe("room/#") as inbox:
            asking = asyncio.create_task(ann.request("room/1", b"where?", within=10))
            await bob.reply(await inbox.get(10), b"at the usual place")
            return (await asking).payload

    assert LocalCluster(2, table=table).run(scenario) == b"at the usual place"


def test_brokers_that_began_alone_with_different_tables_say_why_they_do_not_join(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def scenario(cluster: LocalCluster) -> None:
        first = Broker(
            "127.0.0.1:7501", name="X", join=["127.0.0.1:7502"], table={"room/#": []}, network=cluster.network
        )
        second = Broker("127.0.0.1:7502", name="Y", table={"hall/#": []}, network=cluster.network)
        await first.start()
        await second.start()
        second.seeds = [first.address]  # as SIGHUP sets them
        await asyncio.sleep(60)
        await first.stop()
        await second.stop()

    LocalCluster().run(scenario)
    said = [line for line in caplog.messages if "cannot join" in line]
    assert sorted(line.partition(":")[0] for line in said) == ["X cannot join 127.0.0.1", "Y cannot join 127.0.0.1"]
    which = "have one table: 'hall/#' is in that of Y and not in that of X. Give all the same."
    assert all(line.endswith(which) for line in said)


def test_one_address_to_join_is_no_row_of_letters_and_log_lines_fit_a_terminal(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def main() -> None:
        async with Broker(ANY, name="A") as a, Broker(ANY, name="B", join=a.url) as b:
            assert b.seeds == [a.address] and b.run == a.run

    with caplog.at_level("INFO", "antecede.broker"):
        asyncio.run(main())
    assert any(line.startswith("broker B listens on ") for line in caplog.messages)
    assert max(map(len, caplog.messages)) + len("12:00:00 WARNING ") <= 80


def test_the_log_warns_of_a_clock_that_is_further_off_than_deadlines_allow_for(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def scenario(cluster: LocalCluster) -> dict[str, Any]:
        clock = cluster.brokers["B"].clock
        await asyncio.sleep(10)
        clock.base_us += 900
        await asyncio.sleep(10)
        assert "the clock of" not in caplog.text
        clock.base_us += 49_100
        await asyncio.sleep(30)
        return status_of(cluster.brokers["A"])

    status = LocalCluster(2).run(scenario)
    said = [line for line in caplog.messages if "the clock of" in line]
    assert sorted(line[:14] for line in said) == ["the clock of A", "the clock of B"]
    assert any(re.search(r"of B is (49|50)\.\d ms ahead of this one's, more than 1\.0 ms", line) for line in said), said
    assert status["clock_bound_us"] == 1_000 and abs(status["clock_offsets"]["B"]["offset_us"] - 50_000) < 2_000
