"""What those cost a broker who do not behave: a subscriber that stops reading, and strangers that send nonsense.

    python bench/campaign_bounds.py reader [--messages 300000]
    python bench/campaign_bounds.py frames [--frames 200000]

`reader`: two brokers, a subscriber that blocks and stops reading, another one that reads, and a publisher. Memory of
both must not grow once the stated backlog is full (65,536 messages or 64 MiB) and a minute of headers is remembered,
which takes some 200,000 messages; all that the idle one missed must be counted as `overflow` (and at most what was on
its way to it beside that); and the other one's latency must be what it was while both were reading. `frames`: one
broker under frames that are cut short, changed, too large, or sent twice, by datagrams and over connections: each
dropped and counted, nothing in the log, memory flat, and a client that behaves is served as before. Exit 1 where one of
these fails.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import socket
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import msgspec
from bench.fleet import ClientProcess, Fleet, memory_mb
from bench.tables import Table, show

from antecede.core.frames import Ack, Attach, Detach, Grow, Ping, Publish, Sync, Want
from antecede.core.membership.news import News
from antecede.core.message import Envelope, Message, Stamp
from antecede.core.order.numbered import WINDOW
from antecede.live.client import connect
from antecede.live.datagram import prefix_for
from antecede.live.session import CLIENT, VERSION, Hello
from antecede.wire import encode

QUEUE = 100
PARTS = 5
GROWTH_MB = 24.0
"""How much a broker's memory may differ between two moments at which it should not: allocators keep what they had."""
PATIENCE_S = 120.0

GOOD = [
    encode(frame)
    for frame in (
        Ack(1, 3), Attach(1, ("#",), None), Attach(2, ("a/#", "b"), {"x@0": 7}, ("x:9",), 9), Want(1, (1, 2, 7)),
        Detach(2), Ping(1, ()), Sync((), True), Sync((News("x", "subscriber", (), "", ("A",), 2),)),
        Grow(1, 1, ("t",), 0, {}), Publish((Envelope(Message("x", 1, ("t",), b"payload"), Stamp((("x@0", 1),))),)),
    )
]  # fmt: skip


# -- a subscriber that stops reading ---------------------------------------------------------------------------------


class Reader:
    def __init__(self, fleet: Fleet, messages: int) -> None:
        self.fleet, self.messages, self.warm = fleet, messages, messages // 10
        self.table: Table = []

    def run(self) -> list[str]:
        fleet = self.fleet
        fleet.start(records=False)
        common: dict[str, Any] = {"records": None, "filters": ["room/#"], "topic": "room/1"}
        idle = fleet.client("idle", **common, queue=QUEUE, overflow="block")
        other = fleet.client("other", **common)
        publisher = fleet.client("pub", **{**common, "filters": ["none"]}, pause_s=0.008)
        for one in (idle, other, publisher):
            one.hear("ready", 60)
        self.publish(publisher, other, self.warm)
        self.note("both read", other)
        idle.tell(read=False)
        for part in range(1, PARTS + 1):
            other.tell(forget=True)
            self.publish(publisher, other, self.warm + part * self.messages // PARTS)
            self.note(f"one idle for {part * self.messages // PARTS:,}", other)
        overflow = sum(fleet.status(name)["fates"].get("overflow", 0) for name in fleet.ports)
        idle.tell(read=True)
        got, before, total = idle.look()["got"], -1, self.warm + self.messages
        while got > before or got <= self.warm:
            time.sleep(3.0)
            got, before = idle.look()["got"], got
        show("A subscriber that stops reading", self.table)
        print(f"idle had {got:,} of {total:,}: {total - got:,} missed; its home counted {overflow:,} as overflow")
        return self.judge(got, overflow)

    def publish(self, publisher: ClientProcess, other: ClientProcess, upto: int) -> None:
        publisher.tell(upto=upto)
        self.until(lambda: other.look().get("got", 0) >= upto, f"the other had {other.said.get('got')} of {upto}")

    def until(self, condition: Any, what: str) -> None:
        moved_s, before = time.monotonic(), None
        while not condition():
            now = [one.look().get("got") for one in self.fleet.clients.values()]
            if now != before:
                before, moved_s = now, time.monotonic()
            if time.monotonic() > moved_s + PATIENCE_S:
                raise SystemExit(f"nothing moves any more: {what}")
            time.sleep(0.05)

    def note(self, phase: str, other: ClientProcess) -> None:
        time.sleep(0.3)
        told = other.look()
        row: dict[str, Any] = {"phase": phase, "p50 ms": told.get("p50_ms"), "p99 ms": told.get("p99_ms")}
        for name, process in self.fleet.brokers.items():
            status = self.fleet.status(name)
            row |= {f"{name} MB": memory_mb(process.pid), f"{name} stored": status["stored"]}
            row["overflow"] = row.get("overflow", 0) + status["fates"].get("overflow", 0)
        self.table.append(row)

    def judge(self, got: int, overflow: int) -> list[str]:
        wrong = []
        first, later = self.table[0], self.table[1:]
        for name in self.fleet.ports:
            full = [row for row in later if row["overflow"]]
            grown = later[-1][f"{name} MB"] - full[0][f"{name} MB"] if full else 0.0
            if grown > GROWTH_MB:
                wrong.append(f"{name} grew by {grown:.0f} MB after the backlog was full")
        missed = self.warm + self.messages - got
        if not 0 < missed <= overflow <= missed + WINDOW + QUEUE:
            wrong.append(f"{missed} were missed and {overflow} counted")
        if min(row["p50 ms"] for row in later) > 3 * first["p50 ms"] + 5:
            wrong.append("the other one's latency has changed")
        return wrong + self.fleet.complaints()


# -- nonsense --------------------------------------------------------------------------------------------------------


def spoilt(dice: random.Random) -> bytes:
    """A frame as it is (a replay), or with a bit flipped, cut short, or with something after it."""
    frame = bytearray(dice.choice(GOOD))
    kind = dice.randrange(5)
    if kind in (0, 1):
        frame[dice.randrange(1, len(frame))] ^= 1 << dice.randrange(8)
    elif kind == 2:
        del frame[dice.randrange(2, len(frame)) :]
    elif kind == 3:
        frame += dice.randbytes(dice.randrange(1, 20))
    return bytes(frame)


async def pour_datagrams(address: tuple[str, int], dice: random.Random, count: int) -> None:
    prefix = prefix_for("stranger")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
        for n in range(count):
            frame = spoilt(dice)
            datagram = prefix + len(frame).to_bytes(3, "little") + frame
            if n % 3 == 0:
                datagram = bytes((dice.choice((0x81, 0x82)),)) + datagram[1 : 1 + dice.randrange(1, 60)]
            elif n % 100 == 1:
                datagram += dice.randbytes(60_000)
            out.sendto(datagram, address)
            if n % 20 == 0:
                await asyncio.sleep(0.001)


async def pour_connections(address: tuple[str, int], dice: random.Random, count: int, each: int = 10) -> int:
    """So many frames over connections of up to `each` frames; returns how many connections that took. One that is
    malformed ends its connection, so most of them end early."""
    left = connections = 0
    while left < count:
        connections += 1
        reader, writer = await asyncio.open_connection(*address)
        if connections % 4:
            hello = b"\0" + msgspec.msgpack.encode(Hello(VERSION, CLIENT, f"x{connections % 16}"))
            writer.write(len(hello).to_bytes(4, "little") + hello)
            frames = [dice.choice(GOOD) for _ in range(each - 1)] + [spoilt(dice)]
            writer.write(b"".join(len(frame).to_bytes(4, "little") + frame for frame in frames))
            left += each
        else:
            writer.write(dice.choice((b"\xff\xff\xff\xff", b"GET / HTTP/1.1\r\n\r\n", dice.randbytes(200))))
            left += 1
        try:
            await writer.drain()
            async with asyncio.timeout(0.05):
                await reader.read(1)
        except (ConnectionError, TimeoutError):
            pass
        writer.close()
    return connections


async def frames(fleet: Fleet, count: int, each: int) -> list[str]:
    fleet.start(records=False)
    (name,) = fleet.ports
    process, address, dice = fleet.brokers[name], ("127.0.0.1", fleet.ports[name]), random.Random(1)
    wrong: list[str] = []
    table: Table = []
    connections = 0
    async with (
        connect(*fleet.addresses, name="ann") as ann,
        connect(*fleet.addresses, name="bob") as bob,
        bob.subscribe("mine") as inbox,
    ):
        for part in range(1, PARTS + 1):
            await pour_datagrams(address, dice, count // PARTS * 3 // 4)
            connections += await pour_connections(address, dice, count // PARTS // 4, each)
            began_s = time.monotonic()
            await ann.publish("mine", b"%d" % part)
            if (await inbox.get(30)).payload != b"%d" % part:
                wrong.append("a client that behaves was not served")
            served_ms = 1e3 * (time.monotonic() - began_s)
            told = fleet.status(name)
            network = {key.replace("_", " "): told["network"][key] for key in ("refused", "turned_away")}
            row = {"frames": count // PARTS * part, "connections": connections, **network, "MB": memory_mb(process.pid)}
            table.append({**row, "served in ms": served_ms, "known clients": len(told["clients"])})
    show("Malformed, truncated, oversized, replayed", table)
    if table[-1]["MB"] - table[0]["MB"] > GROWTH_MB:
        wrong.append(f"it grew by {table[-1]['MB'] - table[0]['MB']:.0f} MB")
    if table[-1]["refused"] < count // 10 or not table[-1]["turned away"]:
        wrong.append("what was dropped was not counted")
    return wrong + fleet.complaints()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("reader", "frames"))
    parser.add_argument("--messages", type=int, default=300_000)
    parser.add_argument("--frames", type=int, default=200_000)
    parser.add_argument("--out", type=Path, help="keep logs there")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        out = options.out or Path(folder)
        if options.what == "reader":
            with Fleet(out, names="AB", table={}) as fleet:
                wrong = Reader(fleet, options.messages).run()
        else:
            with Fleet(out, names="A", table={}) as fleet:
                wrong = asyncio.run(frames(fleet, options.frames, each=200))
    print("\nwrong: " + "; ".join(wrong) if wrong else "\nnothing wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
