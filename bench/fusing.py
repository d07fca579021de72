"""Fusion at a home broker beside windows of arrival, over the same lossy run: who counts an effect without its cause?

    .venv/bin/python bench/fusing.py                    eight motes, a reporter that answers each reading
    .venv/bin/python bench/fusing.py --seconds 60 --loss 0.4

Readings expire after 400 ms and a third of the datagrams between brokers is lost, so reports overtake the readings that
they answer. A client asks its home broker for a result every 50 ms of the readings' own time. From the records come,
for the same broker, windows of 50 ms by arrival: each counts the latest of every sender that has arrived by its end.
Both are judged by happened-before as the records tell it: a result is wrong if it counts a message and neither the
cause of it nor anything later of that cause's sender. (That the numbers are those of `fuse` over the broker's `deliver`
rows is a test: tests/live/test_fusing.py.)
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import antecede
from antecede.core.message import split_id
from antecede.live.client import Client
from antecede.live.fusing import Result
from antecede.live.testing import LocalCluster
from antecede.trace.check import check
from antecede.trace.history import History, bits
from antecede.trace.parquet import read_rows
from antecede.trace.record import Row

EVERY_US = 50_000
MOTES = 8


@dataclass
class Outcome:
    results: int
    wrong: int
    windows: int
    wrong_windows: int
    findings: int


async def scenario(cluster: LocalCluster, seconds: float) -> list[Result]:
    motes = [cluster.connect(f"mote{n}", at="A") for n in range(MOTES)]
    reporter, watcher = cluster.connect("reporter", at="B"), cluster.connect("watcher", at="C")
    for client in (*motes, reporter, watcher):
        await client.__aenter__()
    found: list[Result] = []

    async def measure(mote: Client, number: int) -> None:
        for n in range(int(seconds * 2.5)):
            body = json.dumps({"value": 10 * number + n % 7}).encode()
            mote.publish_nowait("sensors/reading", body, within=0.4)
            await asyncio.sleep(0.4 + 0.01 * number)

    async def report() -> None:
        async with reporter.subscribe("sensors/reading") as inbox:
            async for reading in inbox:
                reporter.publish_nowait("sensors/report", b'{"value": 1}', within=0.4, after=reading)

    async def watch() -> None:
        spec = antecede.fuse(values=["value"], every_us=EVERY_US)
        async with watcher.subscribe("sensors/#", fuse=spec) as results:
            async for result in results:
                found.append(result)

    tasks = [asyncio.create_task(report()), asyncio.create_task(watch())]
    await asyncio.sleep(0.5)
    await asyncio.gather(*(measure(mote, n) for n, mote in enumerate(motes)))
    await asyncio.sleep(2)
    for client in (*motes, reporter, watcher):
        await client.aclose()
    await asyncio.gather(*tasks)
    return found


def windows(rows: Iterable[Row], broker: str) -> list[dict[str, int]]:
    """The latest of each sender that had arrived at the end of each window."""
    latest: dict[str, int] = {}
    found: list[dict[str, int]] = []
    end_us: int | None = None
    arrived = [row for row in rows if row.process == broker and row.kind == "arrive" and row.message is not None]
    for row in sorted(arrived, key=lambda row: row.step):
        if end_us is not None and row.at_us >= end_us:
            found.append(dict(latest))
        if end_us is None or row.at_us >= end_us:
            end_us = (row.at_us // EVERY_US + 1) * EVERY_US
        sender, seq = split_id(row.message or "")
        latest[sender] = max(seq, latest.get(sender, 0))
    return found


def is_wrong(cut: dict[str, int], history: History) -> bool:
    for sender, seq in cut.items():
        told = history.messages[history.index[f"{sender}:{seq}"]]
        for index in bits(told.ancestors):
            cause, number = split_id(history.messages[index].id)
            if cut.get(cause, 0) < number:
                return True
    return False


def run(directory: Path, *, seconds: float = 20.0, loss: float = 0.3, seed: int = 1) -> Outcome:
    cluster = LocalCluster(brokers=3, loss=loss, seed=seed, delay_s=(0.0005, 0.05), records=str(directory))
    results = cluster.run(lambda one: scenario(one, seconds))
    rows = list(read_rows(directory))
    history = History(rows)
    cuts = [dict(map(split_id, result.causes)) for result in results]
    seen = windows(rows, "C")
    return Outcome(
        len(cuts), sum(is_wrong(cut, history) for cut in cuts), len(seen), sum(is_wrong(one, history) for one in seen),
        len(check(directory).findings),
    )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--loss", type=float, default=0.3)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        outcome = run(Path(directory), seconds=given.seconds, loss=given.loss, seed=given.seed)
    print("results that count an effect without its cause:")
    print(f"  fused at the broker   {outcome.wrong:>5} of {outcome.results}")
    print(f"  windows of arrival    {outcome.wrong_windows:>5} of {outcome.windows}")
    print(f"the oracle finds {outcome.findings} faults")


if __name__ == "__main__":
    main()
