"""Spark reads live topics through kills of the query and of a broker; then the counts are reconciled.

    python bench/spark_live.py [--rows N] [--rate N] [--seed S] [--minutes M]

Two brokers, each a process; two clients that publish, each answering the other now and then; and a query, a process
with a Spark of its own, that reads all topics into a table. The query is ended with kill -9 twice, with everything it
started, and stopped once; one broker is ended with kill -9 and comes back. Then the table is read through its manifest,
without Spark: every message that was published is a row, once, and what was delivered stands after its causes. Exit 1
where that does not hold. A query that takes longer to come back than brokers hold what everybody else has had (about 15
seconds) finds rows of fate `lost`: they are counted, not forgiven silently.

It ends with a verdict whatever the machine: every step has a bound, all of them --minutes; while it waits it says every
ten seconds how far it is; and no more is published than the table has rows for, so that a machine that is slower than
--rate takes longer instead of falling behind. A step that takes longer than its bound is named, with the end of the
query's log, and what is there by then is reconciled: exit 2, for nothing is known of the rest.
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
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import pyarrow.parquet as pq

import antecede
from antecede.spark import sink

MAX_ROWS = 5_000
AHEAD = 2_000
"""Messages that may be published before they are rows: enough to be read together, few enough to be caught up with."""
SAY_S = 10.0


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
            )

    def start_broker(self, name: str, port: int, other: int) -> None:
        words = ("broker", "--listen", f"127.0.0.1:{port}", "--name", name, "--join", f"127.0.0.1:{other}")
        self.start(name, "-m", "antecede", *words, "--state", str(self.folder / "state"))

    def start_query(self, brokers: str) -> None:
        self.start("query", __file__, "--query", str(self.folder), "--brokers", brokers)

    def kill(self, name: str) -> None:
        process = self.there.pop(name)
        with suppress(ProcessLookupError):  # it has ended by itself
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def stop(self, name: str) -> int:
        process = self.there.pop(name)
        process.terminate()
        code = process.wait(60)
        with suppress(ProcessLookupError):  # what it had started and not ended
            os.killpg(process.pid, signal.SIGKILL)
        return code

    def end(self) -> None:
        for name in list(self.there):
            self.kill(name)


def rows_in(folder: Path) -> int:
    return sum(sink.table_rows(folder / "table").values()) if (folder / "table" / "_manifest").is_dir() else 0


class TooLong(Exception):
    """A step has taken longer than there is time for."""


class Watch:
    """Waits, says how far it is, and gives up when the time that all steps share is over."""

    def __init__(self, processes: Processes, minutes: float) -> None:
        self.processes, self.begun = processes, time.monotonic()
        self.end = self.begun + 60 * minutes
        self._said = 0.0
        self.rows = 0
        """In the table when it was last looked at."""

    async def until(self, what: str, condition: Callable[[], object]) -> None:
        folder = self.processes.folder
        while not condition():
            now = time.monotonic()
            query = self.processes.there.get("query")
            if query is not None and query.poll() is not None:
                raise TooLong(f"the query ended by itself while this waited for {what}: {self.log()}")
            if now > self.end:
                raise TooLong(f"no time is left, waiting for {what} ({self.rows} rows): {self.log()}")
            if now - self._said > SAY_S:
                self._said = now
                spooled = len(list((folder / "spool").glob("[0-9]*.arrow")))
                print(
                    f"  {now - self.begun:>4.0f} s, {self.rows} rows, {spooled} pieces wait in the spool: {what}",
                    flush=True,
                )
            await asyncio.sleep(0.2)

    async def until_rows(self, least: int) -> None:
        def reached() -> bool:
            self.rows = rows_in(self.processes.folder)
            return self.rows >= least

        await self.until(f"{least} rows", reached)

    def log(self) -> str:
        path = self.processes.folder / "query.log"
        return path.read_text(errors="replace")[-1500:] if path.exists() else "it has no log"


class Said:
    """What was published: ids that are known to be safe, and payloads of which that is not known."""

    def __init__(self) -> None:
        self.safe: set[str] = set()
        self.unsure: set[bytes] = set()
        self.fault = ""
        """Why the story did not come to its end."""
        self._room = asyncio.Semaphore(500)
        self._tasks: set[asyncio.Task[None]] = set()

    async def say(self, node: antecede.Client, topic: str, body: bytes, after: antecede.Message | None = None) -> None:
        await self._room.acquire()
        task = asyncio.create_task(self._say(node, topic, body, after))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _say(self, node: antecede.Client, topic: str, body: bytes, after: antecede.Message | None) -> None:
        try:
            self.safe.add(await node.publish(topic, body, after=after))
        except (antecede.EnvironmentFault, antecede.InputError):  # the client was taken for dead before it knew
            self.unsure.add(body)
        except asyncio.CancelledError:
            self.unsure.add(body)
            raise
        finally:
            self._room.release()

    @property
    def count(self) -> int:
        return len(self.safe) + len(self.unsure) + len(self._tasks)

    async def all_said(self, seconds: float) -> None:
        """What is not known to be safe by then may have come, or not."""
        if self._tasks:
            _, slow = await asyncio.wait(self._tasks, timeout=seconds)
            for task in slow:
                task.cancel()
            await asyncio.gather(*slow, return_exceptions=True)


async def publish(nodes: list[antecede.Client], rate: int, dice: random.Random, said: Said, watch: Watch) -> None:
    """Until it is cancelled: at this rate, or as fast as rows come."""
    for n in count():
        await said.say(nodes[dice.randrange(len(nodes))], f"t/{dice.randrange(20)}", b"%d" % n)
        if n % 10 == 0:
            await asyncio.sleep(10 / rate)
            while said.count > watch.rows + AHEAD:
                await asyncio.sleep(0.1)


async def answer(node: antecede.Client, said: Said) -> None:
    """Each answers some of what it sees, so that causes run between senders."""
    async with node.subscribe("t/#", queue=100_000) as inbox:
        async for message in inbox:
            if message.text.isdigit() and int(message.text) % 10 == 0:
                await said.say(node, "t/answers", f"{node.name} {message.text}".encode(), message)


async def story(processes: Processes, watch: Watch, brokers: list[int], step: int, rate: int, seed: int) -> Said:
    folder, dice, said = processes.folder, random.Random(seed), Said()
    urls = [f"antecede://127.0.0.1:{port}" for port in brokers]
    async with antecede.connect(*urls, name="ann") as ann, antecede.connect(*urls[::-1], name="bob") as bob:
        tasks: list[asyncio.Task[None]] = []
        try:
            processes.start_query(",".join(urls))
            await watch.until("the query", lambda: list((folder / "spool").glob("*.arrow")))
            tasks += [asyncio.create_task(answer(node, said)) for node in (ann, bob)]
            tasks.append(asyncio.create_task(publish([ann, bob], rate, dice, said, watch)))
            for what in ("kill", "broker", "kill", "stop"):
                await watch.until_rows(rows_in(folder) + step)
                print(f"  {watch.rows:>7} rows are in the table: {what}", flush=True)
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
            await watch.until_rows(rows_in(folder) + step)
            tasks.pop().cancel()
            await asyncio.sleep(3)
            for task in tasks:
                task.cancel()
            await said.all_said(30)
            await watch.until_rows(len(said.safe))
            await asyncio.sleep(2)  # nothing more may come
        except TooLong as late:
            said.fault = str(late)
        finally:
            for task in tasks:
                task.cancel()
            await said.all_said(1)
    return said


def reconcile(folder: Path, said: Said) -> int:
    """0: all is there. 1: what may not be. 2: it did not come to its end, and what is there may be."""
    files = sink.files(folder / "table") if rows_in(folder) else []
    rows = [row for file in files for row in pq.read_table(file).to_pylist()]
    fates, places = Counter(row["fate"] for row in rows), {row["id"]: row["causal_pos"] for row in rows}
    delivered = [row for row in rows if row["fate"] == "delivered"]
    missing, twice = said.safe - set(places), len(rows) - len(places)
    unknown = sum(row["id"] not in said.safe and row["payload"] not in said.unsure for row in delivered)
    edges = [(places[c], row["causal_pos"]) for row in delivered for c in row["causes"] if places.get(c) is not None]
    late = sum(cause > effect for cause, effect in edges)
    holes = sorted(row["causal_pos"] for row in delivered) != list(range(len(delivered)))
    print(f"published {len(said.safe)} (and {len(said.unsure)} perhaps), rows {len(rows)} by fate {dict(fates)}")
    print(f"missing {len(missing)}, twice {twice}, unknown {unknown}, holes {holes}")
    print(f"{late} of {len(edges)} causes stand after their effect")
    if said.fault:
        print(f"it did not come to its end, so {len(missing)} are not to be counted: {said.fault}")
        return 1 if twice or unknown or late or holes else 2
    wrong = bool(missing or twice or unknown or late or holes)
    print("verdict: " + ("wrong" if wrong else f"all is there, {fates['lost']} of it as lost"))
    return int(wrong)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000, help="rows in the table between two events")
    parser.add_argument("--rate", type=int, default=100, help="messages a second")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=12.0, help="for all of it; then the verdict is what there is")
    parser.add_argument("--port", type=int, help="of one broker, the other has the next; left out: drawn")
    parser.add_argument("--query", help=argparse.SUPPRESS)
    parser.add_argument("--brokers", help=argparse.SUPPRESS)
    said = parser.parse_args()
    if said.query:
        query(Path(said.query), said.brokers)
        return 0
    source = str(Path(__file__).resolve().parents[1] / "src")
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (source, os.environ.get("PYTHONPATH"))))
    dice = random.Random()
    ports = (
        [said.port, said.port + 1] if said.port else [dice.randrange(20_000, 30_000), dice.randrange(30_000, 32_000)]
    )
    with tempfile.TemporaryDirectory() as place:
        processes = Processes(Path(place))
        try:
            processes.start_broker("A", *ports)
            processes.start_broker("B", *ports[::-1])
            time.sleep(2)
            watch = Watch(processes, said.minutes)
            published = asyncio.run(story(processes, watch, ports, said.rows, said.rate, said.seed))
            print(f"{time.monotonic() - watch.begun:.0f} seconds")
            return reconcile(Path(place), published)
        finally:
            processes.end()


if __name__ == "__main__":
    sys.exit(main())
