"""Spark reads live topics through kills of the query and of a broker; then the counts are reconciled.

    python bench/spark_live.py [--messages N] [--rate N] [--seed S]

Two brokers, each a process; two clients that publish, each answering the other now and then; and a query, a process with
a Spark of its own, that reads all topics into a table. The query is ended with kill -9 twice, with everything it started,
and stopped once; one broker is ended with kill -9 and comes back. Then the table is read through its manifest, without
Spark: every message that was published is a row, once, and stands after its causes. Exit 1 where that does not hold.
Takes about two minutes.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import pyarrow.parquet as pq

import antecede
from antecede.spark import sink

MAX_ROWS = 5_000


def query(folder: Path, brokers: str) -> None:
    """The process that is killed."""
    from antecede.spark import session

    spark = session("local[2]", small=True)
    live = spark.readStream.format("antecede").option("brokers", brokers).option("topics", "t/#")
    rows = live.option("spool", str(folder / "spool")).option("max_rows", MAX_ROWS).load()
    writer = rows.writeStream.format("antecede").option("checkpointLocation", str(folder / "checkpoint"))
    running = writer.trigger(processingTime="200 milliseconds").start(str(folder / "table"))
    signal.signal(signal.SIGTERM, lambda *_: running.stop())
    while running.isActive:
        time.sleep(0.1)
    if running.exception() is not None:
        sys.exit(str(running.exception()))


class Processes:
    """What runs beside this process; each is the first of a group of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.there: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, name: str, *words: str) -> None:
        with (self.folder / f"{name}.log").open("ab") as log:
            self.there[name] = subprocess.Popen(
                [sys.executable, *words], stdout=log, stderr=log, start_new_session=True
            )  # fmt: skip

    def start_broker(self, name: str, port: int, other: int) -> None:
        words = ("broker", "--listen", f"127.0.0.1:{port}", "--name", name, "--join", f"127.0.0.1:{other}")
        self.start(name, "-m", "antecede", *words, "--state", str(self.folder / "state"))

    def start_query(self, brokers: str) -> None:
        self.start("query", __file__, "--query", str(self.folder), "--brokers", brokers)

    def kill(self, name: str) -> None:
        process = self.there.pop(name)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def stop(self, name: str) -> int:
        process = self.there.pop(name)
        process.terminate()
        code = process.wait(60)
        return code

    def end(self) -> None:
        for name in list(self.there):
            self.kill(name)


def rows_in(folder: Path) -> int:
    return sum(sink.table_rows(folder / "table").values()) if (folder / "table" / "_manifest").is_dir() else 0


async def publish(nodes: list[antecede.Client], count: int, rate: int, dice: random.Random, ids: list[str]) -> None:
    """At a pace; every tenth message waits until the one before is safe, and answers it."""
    begun = time.monotonic()
    for n in range(count):
        node = nodes[dice.randrange(len(nodes))]
        while node.pending > 5_000:
            await asyncio.sleep(0.01)
        ids.append(node.publish_nowait(f"t/{dice.randrange(20)}", b"%d" % n, headers={"n": str(n)}))
        if n % 50 == 0:
            await asyncio.sleep(max(0.001, begun + n / rate - time.monotonic()))
    for node in nodes:
        await node.flush(120)


async def answer(node: antecede.Client, ids: list[str], most: int) -> None:
    """Each answers some of what it sees, so that causes run between senders."""
    async with node.subscribe("t/#", queue=100_000) as inbox:
        async for message in inbox:
            if message.text.isdigit() and int(message.text) % 10 == 0 and len(ids) < most:
                ids.append(node.publish_nowait("t/answers", b"answer", after=message))


async def story(processes: Processes, brokers: list[int], count: int, rate: int, seed: int) -> list[str]:
    folder, dice = processes.folder, random.Random(seed)
    urls = [f"antecede://127.0.0.1:{port}" for port in brokers]

    async def until_rows(least: int) -> None:
        end = time.monotonic() + 240
        while rows_in(folder) < least and time.monotonic() < end:
            if processes.there["query"].poll() is not None:
                raise SystemExit((folder / "query.log").read_text()[-2000:])
            await asyncio.sleep(0.1)

    async with antecede.connect(*urls, name="ann") as ann, antecede.connect(*urls[::-1], name="bob") as bob:
        processes.start_query(",".join(urls))
        while not list((folder / "spool").glob("*.arrow")):
            await asyncio.sleep(0.1)
        ids: list[list[str]] = [[], [], []]
        answering = [asyncio.create_task(answer(node, said, count // 5)) for node, said in ((ann, ids[1]), (bob, ids[2]))]
        publishing = asyncio.create_task(publish([ann, bob], count, rate, dice, ids[0]))
        for n, what in enumerate(("kill", "broker", "kill", "stop")):
            await until_rows((n + 1) * count // 6)
            print(f"  {rows_in(folder):>7} rows are in the table: {what}", flush=True)
            if what == "broker":
                processes.kill("A")
                await asyncio.sleep(3)
                processes.start_broker("A", *brokers)
            elif what == "kill":
                processes.kill("query")
                processes.start_query(",".join(urls))
            else:
                print(f"  the query ended with {processes.stop('query')}", flush=True)
                await asyncio.sleep(2)
                processes.start_query(",".join(urls))
        await publishing
        await asyncio.sleep(2)
        await ann.flush(60)
        await bob.flush(60)
        for task in answering:
            task.cancel()
        published = [one for said in ids for one in said]
        await until_rows(len(published))
        await asyncio.sleep(2)  # nothing more may come
        return published


def reconcile(folder: Path, published: list[str]) -> int:
    rows = [row for file in sink.files(folder / "table") for row in pq.read_table(file).to_pylist()]
    fates, places = Counter(row["fate"] for row in rows), {row["id"]: row["causal_pos"] for row in rows}
    ids = Counter(row["id"] for row in rows)
    missing, twice = set(published) - set(ids), [one for one, n in ids.items() if n > 1]
    unknown = set(ids) - set(published)
    early = sum(places[one] > row["causal_pos"] for row in rows for one in row["causes"] or () if one in places)
    edges = sum(one in places for row in rows for one in row["causes"] or ())
    holes = sorted(row["causal_pos"] for row in rows) != list(range(len(rows)))
    print(f"published {len(published)}, rows {len(rows)} by fate {dict(fates)}")
    print(f"missing {len(missing)}, twice {len(twice)}, unknown {len(unknown)}, holes {holes}, {early} of {edges} causes late")
    return int(bool(missing or twice or unknown or early or holes))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--messages", type=int, default=30_000)
    parser.add_argument("--rate", type=int, default=600, help="messages a second")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--query", help=argparse.SUPPRESS)
    parser.add_argument("--brokers", help=argparse.SUPPRESS)
    said = parser.parse_args()
    if said.query:
        query(Path(said.query), said.brokers)
        return 0
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (str(Path(__file__).parents[1] / "src"), os.environ.get("PYTHONPATH"))))
    dice = random.Random()
    ports = [dice.randrange(20_000, 30_000), dice.randrange(30_000, 32_000)]
    with tempfile.TemporaryDirectory() as place:
        processes = Processes(Path(place))
        try:
            processes.start_broker("A", *ports)
            processes.start_broker("B", *ports[::-1])
            time.sleep(2)
            begun = time.monotonic()
            published = asyncio.run(story(processes, ports, said.messages, said.rate, said.seed))
            print(f"{time.monotonic() - begun:.0f} seconds")
            return reconcile(Path(place), published)
        finally:
            processes.end()


if __name__ == "__main__":
    sys.exit(main())
