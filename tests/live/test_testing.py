"""A cluster in memory: waiting takes no time, losses are mended, a seed repeats, and the oracle finds nothing."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest

from antecede.errors import InputError
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
    with pytest.raises(InputError, match="1 to 26"):
        LocalCluster(brokers=0)
