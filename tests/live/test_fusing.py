"""Fusion at brokers: the numbers of `fuse` over the broker's own deliveries, through moves and the loss of a home."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import antecede
from antecede.core.content import read_fields
from antecede.errors import InputError
from antecede.live.client import Client
from antecede.live.fusing import Result
from antecede.live.testing import LocalCluster
from antecede.spark.readings import fuse_table
from antecede.trace.check import check
from antecede.trace.parquet import read_rows

SPEC = antecede.fuse(values=["value"], by="room", every_us=1_000_000)
SAME = ("cut", "cut_us", "rows", "count", "value_count", "value_mean", "value_min", "value_max", "absent", "causes")


async def measure(client: Client, n: int) -> str:
    """A reading: its value in the payload, its room in a header."""
    body = json.dumps({"value": n % 17}).encode()
    return await client.publish(f"sensors/{n % 3}", body, headers={"room": "abc"[n % 3]})


def delivered_at(broker: str, records: Path) -> pa.Table:
    """What a broker delivered, in its order, with what the publications say: the input of `fuse`."""
    rows = list(read_rows(records))
    told = {row.message: row for row in rows if row.kind == "publish"}
    mine = [row for row in rows if row.process == broker and row.kind == "deliver"]
    mine.sort(key=lambda row: row.step)
    said = [(told[row.message], read_fields(told[row.message].headers)) for row in mine]
    said = [(row, fields) for row, fields in said if (row.groups or ("",))[0].startswith("sensors/")]
    return pa.table(
        {
            "id": [row.message for row, _ in said],
            "causal_pos": range(len(said)),
            "at_us": [row.at_us for row, _ in said],
            "value": [float(fields["payload.value"]) for _, fields in said],
            "room": [str(fields["room"]) for _, fields in said],
        }
    )


def flat(results: list[Result]) -> list[dict[str, Any]]:
    return [{name: row[name] for name in ("room", *SAME)} for result in results for row in result.results]


def test_results_are_those_of_fuse_over_what_the_broker_delivered(tmp_path: Path) -> None:
    async def scenario(cluster: LocalCluster) -> list[Result]:
        async with (
            cluster.connect("ann", at="A") as ann,
            cluster.connect("bob", at="B") as bob,
            cluster.connect("eve", at="A") as eve,
            bob.subscribe("sensors/#") as heard,
            eve.subscribe("sensors/#", fuse=SPEC) as fused,
        ):
            found = []
            for n in range(60):
                await measure(ann, 2 * n)
                await heard.get(30)
                await measure(bob, 2 * n + 1)
                await asyncio.sleep(0.1)
            while len(found) < 5:
                found.append(await fused.get(30))
            return found

    results = LocalCluster(brokers=2, loss=0.2, seed=3, records=str(tmp_path)).run(scenario)
    table = delivered_at("A", tmp_path)
    cuts = fuse_table(table, values=["value"], by="room", time="at_us", every_us=1_000_000).to_pylist()
    want = [{name: row[name] for name in ("room", *SAME)} for row in cuts if row["cut"] < 5]
    assert flat(results) == want and len(want) >= 15
    assert [result.number for result in results] == [1, 2, 3, 4, 5] and {result.began for result in results} == {""}
    rows = list(read_rows(tmp_path))
    assert not any(row.kind in ("join", "arrive", "deliver") for row in rows if row.process == "eve")
    assert check(tmp_path).clean


def test_a_move_takes_the_fold_along(tmp_path: Path) -> None:
    async def scenario(cluster: LocalCluster) -> list[Result]:
        async with (
            cluster.connect("ann", at="A") as ann,
            cluster.connect("eve", at="A") as eve,
            eve.subscribe("sensors/#", fuse=antecede.fuse(values=["value"], by="room", every=10)) as fused,
        ):
            found = []
            for n in range(100):
                await measure(ann, n)
                if n in (24, 57):
                    eve.node.move(("B" if n == 24 else "A",))
                    await asyncio.sleep(1)
            while len(found) < 10:
                found.append(await fused.get(60))
            return found

    results = LocalCluster(brokers=2, loss=0.1, seed=4, records=str(tmp_path)).run(scenario)
    cuts = fuse_table(delivered_at("A", tmp_path), values=["value"], by="room", every=10).to_pylist()
    rows = [row for result in results for row in result.results]
    assert [{n: row[n] for n in ("room", *SAME) if n != "cut_us"} for row in rows] == [
        {n: row[n] for n in ("room", *SAME) if n != "cut_us"} for row in cuts
    ]
    assert [result.number for result in results] == list(range(1, 11))
    assert [result.began for result in results].count("moved") == 2
    assert check(tmp_path).clean


def test_without_its_home_it_begins_anew_and_says_so(tmp_path: Path) -> None:
    async def scenario(cluster: LocalCluster) -> list[Result]:
        async with (
            cluster.connect("ann", at="B") as ann,
            cluster.connect("eve", at="A") as eve,
            eve.subscribe("sensors/#", fuse=antecede.fuse(values=["value"], every=5)) as fused,
        ):
            found = []
            for n in range(12):
                await measure(ann, n)
            found += [await fused.get(30) for _ in range(2)]
            cluster.kill("A")
            await asyncio.sleep(30)
            for n in range(12):
                await measure(ann, n)
            return found + [await fused.get(30) for _ in range(2)]

    results = LocalCluster(brokers=2, records=str(tmp_path)).run(scenario)
    assert [(result.number, result.cut, result.began) for result in results] == [
        (1, 0, ""), (2, 1, ""), (3, 0, "anew"), (4, 1, ""),
    ]  # fmt: skip
    assert check(tmp_path).clean


def test_what_is_published_after_a_result_follows_its_cut(tmp_path: Path) -> None:
    async def scenario(cluster: LocalCluster) -> list[str]:
        async with (
            cluster.connect("ann", at="A") as ann,
            cluster.connect("eve", at="B") as eve,
            cluster.connect("carl", at="A") as carl,
            carl.subscribe("#") as seen,
            eve.subscribe("sensors/#", fuse=antecede.fuse(values=["value"], every=4)) as fused,
        ):
            for n in range(4):
                await measure(ann, n)
            result = await fused.get(30)
            await eve.publish("alarms", b"!", after=result)
            with pytest.raises(InputError, match="never had"):
                await eve.publish("alarms", b"!", after="ann:4")
            return [(await seen.get(30)).topic for _ in range(5)]

    told = LocalCluster(brokers=2, loss=0.1, records=str(tmp_path)).run(scenario)
    assert told == ["sensors/0", "sensors/1", "sensors/2", "sensors/0", "alarms"]
    alarm = next(row for row in read_rows(tmp_path) if row.message == "eve:1" and row.kind == "publish")
    assert alarm.after == ("ann:4",)
    assert check(tmp_path).clean


def test_a_predicate_selects_what_is_fused_and_closing_ends_it() -> None:
    async def scenario(cluster: LocalCluster) -> tuple[Result, int]:
        async with cluster.connect("ann") as ann, cluster.connect("eve") as eve:
            spec = antecede.fuse(values=["payload.value"], every=3)
            async with eve.subscribe("sensors/#", fuse=spec, where="payload.value >= 5") as fused:
                for n in range(8):
                    await measure(ann, n)
                result = await fused.get(30)
            await asyncio.sleep(1)
            return result, sum(len(broker.machine.fusions.by_key) for broker in cluster.brokers.values())

    result, left = LocalCluster(brokers=2).run(scenario)
    assert result.results[0]["payload.value_max"] == 7 and result.rows == 3 and left == 0


def test_what_cannot_be_fused_is_refused() -> None:
    async def scenario(cluster: LocalCluster) -> None:
        async with cluster.connect("eve", at="A") as eve:
            with pytest.raises(InputError, match="Not every broker carries"):
                await eve.subscribe("some/#", fuse=SPEC).__aenter__()
            with pytest.raises(InputError, match="fuse= goes with"):
                eve.subscribe("all/#", fuse=SPEC, own=True)  # type: ignore[call-overload]
            with pytest.raises(InputError, match="in one way"):
                antecede.fuse(values=["value"])

    LocalCluster(brokers=2, table={"all/#": [], "some/#": ["A"]}).run(scenario)
