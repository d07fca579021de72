"""A cluster in memory: waiting takes no time, losses are mended, a seed repeats, and the oracle finds nothing."""

from __future__ import annotations

import asyncio
import random
import time
from pathlib import Path

import pytest

from antecede.core.topics import matches
from antecede.errors import InputError
from antecede.live.client import Client
from antecede.live.testing import LocalCluster
from antecede.trace.check import check
from antecede.trace.parquet import read_rows
from antecede.trace.record import digest


async def talk(cluster: LocalCluster) -> list[str]:
    """A question to everybody and everybody's answer, ten times; what carl saw."""
    async with (
        cluster.connect("ann") as ann,
        cluster.connect("bob") as bob,
        cluster.connect("carl") as carl,
        bob.subscribe("room/#") as his,
        carl.subscribe("room/#") as seen,
    ):
        told = []
        for n in range(10):
            await ann.publish("room/1", b"question %d" % n)
            question = await his.get(30)
            await bob.publish("room/1", b"answer %d" % n, after=question)
            told += [(await seen.get(30)).text for _ in range(2)]
        return told


def test_answers_follow_questions_whatever_is_lost(tmp_path: Path) -> None:
    for seed in range(3):
        records = tmp_path / str(seed)
        told = LocalCluster(brokers=3, loss=0.2, seed=seed, records=str(records)).run(talk)
        assert told == [f"{kind} {n}" for n in range(10) for kind in ("question", "answer")]
        assert check(records).clean


def test_the_same_seed_is_the_same_run(tmp_path: Path) -> None:
    digests = []
    for n in range(2):
        records = tmp_path / str(n)
        LocalCluster(brokers=2, loss=0.2, seed=5, records=str(records)).run(talk)
        digests.append(digest(sorted(read_rows(records))))
    assert digests[0] == digests[1]


def test_two_minutes_take_no_time() -> None:
    async def scenario(cluster: LocalCluster) -> float:
        async with cluster.connect("ann") as ann, cluster.connect("bob") as bob, bob.subscribe("t") as inbox:
            await asyncio.sleep(120)
            await ann.publish("t", b"1", within=60)
            await inbox.get(60)
            return asyncio.get_running_loop().time()

    began = time.monotonic()
    assert LocalCluster().run(scenario) > 120
    assert time.monotonic() - began < 60


def test_a_broker_is_killed_and_another_one_comes(tmp_path: Path) -> None:
    async def scenario(cluster: LocalCluster) -> list[str]:
        async with (
            cluster.connect("ann", at="A") as ann,
            cluster.connect("bob", at="B") as bob,
            bob.subscribe("t") as inbox,
        ):
            for n in range(30):
                await ann.publish("t", b"%d" % n)
                if n == 10:
                    cluster.kill("A")
                if n == 20:
                    await cluster.start("A")
            assert cluster.brokers["A"].name == "A.1" and ann.home != "A"
            return [(await inbox.get(60)).text for _ in range(30)]

    told = LocalCluster(brokers=3, loss=0.1, seed=2, records=str(tmp_path)).run(scenario)
    assert told == [str(n) for n in range(30)]
    assert check(tmp_path).clean


def test_a_deadline_that_cannot_be_kept_is_a_fate() -> None:
    async def scenario(cluster: LocalCluster) -> tuple[list[str], dict[str, int]]:
        async with cluster.connect("ann") as ann, cluster.connect("bob") as bob, bob.subscribe("t") as inbox:
            await ann.publish("t", b"read in time", within=5)
            await ann.publish("t", b"not read in time", within=1)
            told = [(await inbox.get(1)).text]
            await asyncio.sleep(2)
            return told, inbox.fates()

    told, fates = LocalCluster().run(scenario)
    assert told == ["read in time"] and fates == {"delivered": 1, "late": 1, "queued": 0}


def test_what_fails_inside_fails_the_run() -> None:
    async def scenario(cluster: LocalCluster) -> None:
        def broken() -> None:
            raise ZeroDivisionError

        asyncio.get_running_loop().call_later(1, broken)
        await asyncio.sleep(2)

    with pytest.raises(ZeroDivisionError):
        LocalCluster().run(scenario)
    with pytest.raises(InputError, match="1 to 64"):
        LocalCluster(brokers=0)


def test_four_brokers_with_overlapping_entries_eight_clients_and_a_network_that_loses_doubles_and_reorders(
    tmp_path: Path,
) -> None:
    """Everything is delivered, in order, once; the records of all together are clean."""
    table = {"room/#": ["A", "B", "C"], "+/door": ["B", "C", "D"], "alerts/#": []}
    topics = ("room/1", "room/door", "hall/door", "alerts/fire")
    wanted = (("room/#", "alerts/#"), ("+/door",), ("room/1",), ("alerts/#", "hall/door"))
    sent: dict[str, list[str]] = {topic: [] for topic in topics}

    async def scenario(cluster: LocalCluster) -> None:
        nodes = [await cluster.connect(f"p{n}").__aenter__() for n in range(8)]
        inboxes = [await node.subscribe(*wanted[n % 4], queue=10_000).__aenter__() for n, node in enumerate(nodes)]
        for n in range(240):
            node, topic = nodes[n % 8], topics[n * 7 % 11 % 4]
            sent[topic].append(node.publish_nowait(topic, b"%d" % n))
            await asyncio.sleep(0.005)
        for node in nodes:
            await node.flush(60)
        await asyncio.sleep(30)
        for node, inbox in zip(nodes, inboxes, strict=True):
            owed = {i for t in topics if any(matches(f, t) for f in inbox.filters) for i in sent[t]}
            owed -= {i for i in owed if i.startswith(f"{node.name}:")}
            assert {(await inbox.get(1)).id for _ in range(len(inbox))} == owed
            await node.aclose()

    cluster = LocalCluster(
        brokers=4, loss=0.1, duplicate=0.05, delay_s=(0.0005, 0.02), seed=11, table=table, records=str(tmp_path)
    )
    cluster.run(scenario)
    report = check(tmp_path)
    assert report.findings == [] and report.clean
    assert report.fates["delivered"] == report.pairs


def test_a_client_that_is_killed_again_and_again_goes_on_from_its_saved_frontier() -> None:
    """Nothing at or before a frontier comes again, nothing after it is missed, and order is kept."""

    async def publish(ann: Client) -> None:
        for n in range(60):
            await ann.publish("t", b"%d" % n)
            await asyncio.sleep(0.05)

    async def scenario(cluster: LocalCluster) -> list[str]:
        dice, told, frontier = random.Random(5), [], None
        async with cluster.connect("ann") as ann:
            bob = await cluster.connect("bob").__aenter__()
            inbox = await bob.subscribe("t").__aenter__()
            publishing = asyncio.create_task(publish(ann))
            while len(told) < 60:
                told.append((await inbox.get(60)).text)
                frontier = inbox.frontier  # saved with the result
                if dice.random() < 0.06:
                    bob.end()  # as a kill would: no good-bye, and what waited in the queue is gone
                    await asyncio.sleep(dice.random())
                    bob = await cluster.connect("bob").__aenter__()
                    inbox = await bob.subscribe("t", since=frontier).__aenter__()
            assert int(bob.name.removeprefix("bob.")) >= 4  # lives
            await publishing
            await bob.aclose()
        return told

    assert LocalCluster(brokers=2, loss=0.1, seed=3).run(scenario) == [str(n) for n in range(60)]


def test_a_lone_broker_comes_back_as_its_next_life_and_waits_for_what_it_cannot_know_to_be_gone() -> None:
    async def scenario(cluster: LocalCluster) -> tuple[str | None, float]:
        loop = asyncio.get_running_loop()
        async with cluster.connect("ann") as ann, cluster.connect("bob") as bob, bob.subscribe("t") as inbox:
            await ann.publish("t", b"1")
            await inbox.get(10)
            cluster.kill("A")
            await asyncio.sleep(1)
            await cluster.start("A")
            began_s = loop.time()
            await ann.publish("t", b"2")
            assert (await inbox.get(60)).payload == b"2"
            waited_s = loop.time() - began_s
            await ann.publish("t", b"3")
            assert (await inbox.get(0.1)).payload == b"3", "once is enough"
            return bob.home, waited_s

    home, waited_s = LocalCluster(brokers=1).run(scenario)
    assert home == "A.1" and 14 < waited_s < 18


def test_clients_that_published_once_and_left_cost_nothing(tmp_path: Path) -> None:
    """A hundred of them: while they are new, every stamp and frontier names them; some minutes later nobody does, and
    whoever joins then, behind what was let go of, is judged clean."""

    async def scenario(cluster: LocalCluster) -> tuple[list[tuple[int, ...]], int]:
        async def once(name: str) -> None:
            async with cluster.connect(name) as node:
                await node.publish("room/0", b"hello")

        def sizes() -> tuple[int, ...]:
            machine, table = cluster.brokers["A"].machine, cluster.brokers["A"].managed.table.entries
            return len(inbox.frontier), len(machine.writer.past()), len(machine.tops), len(table)

        async def read() -> None:
            await asyncio.sleep(0.2)
            while len(inbox):
                await inbox.get()

        async with cluster.connect("ann") as node, node.subscribe("room/#", queue=1_000) as inbox:
            await node.publish("room/0", b"first")
            await read()
            found = [sizes()]
            for start in range(0, 100, 50):
                await asyncio.gather(*(once(f"v{n}") for n in range(start, start + 50)))
                await read()
                await node.publish("room/0", b"still here")
            found.append(sizes())
            for _ in range(45):  # a quiet system compares nothing, and so lets go of nothing
                await asyncio.sleep(4.0)
                await node.publish("room/0", b"still here")
                await read()
            found.append(sizes())
            async with cluster.connect("late") as late, late.subscribe("room/#") as letters:
                await node.publish("room/0", b"last")
                return found, int((await letters.get(30)).text == "last")

    (before, with_all, after), came = LocalCluster(2, seed=5, records=str(tmp_path)).run(scenario)
    assert came == 1
    assert with_all[0] > before[0] + 200 and min(with_all[1:]) > 50
    assert after[0] <= before[0] + 2 and after[1:3] == before[1:3], (before, with_all, after)
    assert after[3] == 3, "two brokers and ann"
    report = check(tmp_path)
    assert report.clean and not report.findings


def test_brokers_that_do_not_run_are_named() -> None:
    async def kill(cluster: LocalCluster) -> None:
        cluster.kill("Z")

    async def at(cluster: LocalCluster) -> None:
        cluster.connect(at="Z")

    async def alone(cluster: LocalCluster) -> None:
        cluster.kill("A")
        cluster.connect()

    for scenario in (kill, at):
        with pytest.raises(InputError, match=r"No broker 'Z' runs here: there are A\."):
            LocalCluster().run(scenario)
    with pytest.raises(InputError, match="No broker runs here any more"):
        LocalCluster().run(alone)
