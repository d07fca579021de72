"""One client process of a campaign, which `bench/fleet.py` starts: publishes as told, keeps a journal of what comes.

    python bench/fleet_client.py ORDER    # one object of JSON

    order   name, addresses, records, filters; journal, safe: files; within: seconds; queue, overflow, payload, topic
    in      {"upto": 500}: publish up to number 500    {"read": false}: stop taking    {"stop": true}
            {"forget": true}: the latencies so far
    out     {"ready": true}    {"sent": 500, "got": 1200, "fates": {...}}    {"ended": true}

Decided here: what was handed over is in the journal, and with it, every so often, the frontier; a next life of the
client cuts the journal back to where its frontier was saved, and goes on from there. So what comes twice, or never, is
seen in the journal alone. With `safe` each message is awaited, and noted there once it is known to be safe.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.fleet import topic_of

import antecede
from antecede.errors import AntecedeError, EnvironmentFault
from antecede.live.client import Client
from antecede.live.inbox import Fate, Inbox

CALLS = 10
"""How often brokers are called before a client gives up."""
SAVE_EVERY = 20
"""Messages from one saved frontier to the next."""


class Journal:
    """Ids, one a line, and beside them where the frontier was saved."""

    def __init__(self, path: Path) -> None:
        self.path, self.saved = path, path.with_suffix(".saved")
        self.known: set[str] = set()
        self.frontier: bytes | None = None
        self.again = 0
        """Messages that came although they lay at or before the frontier."""
        size = 0
        if self.saved.exists():
            told = json.loads(self.saved.read_text("utf-8"))
            self.frontier, size = bytes.fromhex(told["frontier"]), told["size"]
        if path.exists():
            os.truncate(path, size)
            self.known = set(path.read_text("utf-8").split())
        self.file = path.open("a", encoding="utf-8")

    def left_out(self, fate: Fate) -> None:
        """What no broker holds any more is noted beside the journal."""
        if fate.fate == "lost":
            with self.path.with_suffix(".gone").open("a", encoding="utf-8") as file:
                file.write(fate.id + "\n")

    def add(self, message_id: str) -> None:
        self.again += message_id in self.known
        self.known.add(message_id)
        self.file.write(message_id + "\n")

    def save(self, frontier: bytes) -> None:
        self.file.flush()
        temporary = self.saved.with_suffix(".tmp")
        told = {"frontier": frontier.hex(), "size": self.path.stat().st_size}
        temporary.write_text(json.dumps(told), "utf-8")
        temporary.replace(self.saved)


class Worker:
    def __init__(self, order: dict[str, Any]) -> None:
        self.order = order
        self.journal = Journal(Path(order["journal"])) if order.get("journal") else None
        self.upto = self.sent = self.got = 0
        self.safe = Path(order["safe"]) if order.get("safe") else None
        self.reading = asyncio.Event()
        self.reading.set()
        self.allowed = asyncio.Event()
        self.latencies_ms: list[float] = []

    async def run(self) -> None:
        order = self.order
        options = {key: order[key] for key in ("queue", "overflow") if key in order}
        heard = self.journal.left_out if self.journal is not None else None
        named = {"name": order["name"], "records": order.get("records")}
        async with contextlib.AsyncExitStack() as stack:
            node = await self.connected(stack, lambda: antecede.connect(*order["addresses"], **named, on_fate=heard))
            since = self.journal.frontier if self.journal is not None else None
            async with node.subscribe(*order["filters"], since=since, **{"queue": 1_000_000, **options}) as inbox:
                if self.journal is not None and self.journal.frontier is None:
                    self.journal.save(inbox.frontier)
                say({"ready": True, "name": node.name})
                tasks = [
                    asyncio.create_task(one) for one in (self.take(inbox), self.publish(node), self.report(node, inbox))
                ]
                await self.obey()
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
                if self.journal is not None:
                    self.journal.save(inbox.frontier)
                self.tell(node, inbox)
        say({"ended": True})

    async def connected(self, stack: contextlib.AsyncExitStack, connect: Callable[[], Client]) -> Client:
        """On a machine that is busy with all others of a campaign, brokers may answer later than `connect` waits."""
        for tries_left in reversed(range(CALLS)):
            try:
                return await stack.enter_async_context(connect())
            except EnvironmentFault:
                if not tries_left:
                    raise
        raise AssertionError

    async def obey(self) -> None:
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader()
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
        while line := await reader.readline():
            told = json.loads(line)
            if "upto" in told:
                self.upto = told["upto"]
                self.allowed.set()
            if "read" in told:
                (self.reading.set if told["read"] else self.reading.clear)()
            if told.get("forget"):
                self.latencies_ms.clear()
            if told.get("stop"):
                return

    async def take(self, inbox: Inbox) -> None:
        async for message in inbox:
            self.got += 1
            if message.sent_at is not None and self.got % 8 == 0:
                late = time.time() - message.sent_at.timestamp()
                self.latencies_ms.append(1e3 * late)
            if self.journal is not None:
                self.journal.add(message.id)
                if self.got % SAVE_EVERY == 0:
                    self.journal.save(inbox.frontier)
            await self.reading.wait()

    async def publish(self, node: Client) -> None:
        order = self.order
        while True:
            while self.sent >= self.upto:
                self.allowed.clear()
                await self.allowed.wait()
            topic = order.get("topic") or topic_of(order["name"], self.sent + 1)
            payload = b"%d" % self.sent + bytes(order.get("payload", 100))
            if self.safe is not None:
                self.sent += 1
                with contextlib.suppress(AntecedeError):
                    message_id = await node.publish(topic, payload, within=order.get("within"))
                    with self.safe.open("a", encoding="utf-8") as file:
                        file.write(f"{message_id} {topic}\n")
                await asyncio.sleep(order.get("pause_s", 0.0))
                continue
            if node.pending > 500:
                await asyncio.sleep(0.002)
                continue
            node.publish_nowait(topic, payload, within=order.get("within"))
            self.sent += 1
            if self.sent % 8 == 0:
                await asyncio.sleep(order.get("pause_s", 0.0))

    async def report(self, node: Client, inbox: Inbox) -> None:
        while True:
            self.tell(node, inbox)
            await asyncio.sleep(0.1)

    def tell(self, node: Client, inbox: Inbox) -> None:
        late = sorted(self.latencies_ms)
        body: dict[str, Any] = {
            "sent": self.sent, "pending": node.pending, "got": self.got, "fates": inbox.fates(), "state": node.state,
        }  # fmt: skip
        if late:
            body |= {"p50_ms": late[len(late) // 2], "p99_ms": late[int(len(late) * 0.99)]}
        if self.journal is not None:
            body["again"] = self.journal.again
        say(body)


def say(body: dict[str, Any]) -> None:
    print(json.dumps(body), flush=True)


if __name__ == "__main__":
    asyncio.run(Worker(json.loads(sys.argv[1])).run())
