"""Authorised traffic under attack: two brokers with keys, and what each attack does to the latency of others.

    python bench/keys.py [--seconds 3] [--pairs 5] [--connections 500] [--only NAME]...

A publisher at one broker sends a hundred messages a second to a subscriber at the other, over TLS and sealed
datagrams. Seconds in peace and seconds in which another process attacks take turns, so that whatever else the machine
does falls on both: connections that say nothing, a byte a second, tokens that are none, wrong, expired, revoked, or
of another topic, datagrams forged, altered and replayed, and a client that floods as fast as it can. Printed, of each
attack: median and 99th percentile of publish to delivery in peace and under it (of the turns' percentiles the median,
which one hiccup of the machine does not move), how often it was refused and for what, messages that did not come
(there must be none), and the load of the machine. A p99 above twice that in peace ends with 1. The attacker shares
the machine: on two cores part of what it costs is its own CPU.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import itertools
import json
import os
import random
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.tables import Table, show

from antecede.errors import AntecedeError
from antecede.live.address import parse_address
from antecede.live.client import Client, connect
from antecede.live.inbox import Inbox
from antecede.live.keys import store
from antecede.live.keys.refusals import Refusals
from antecede.live.keys.sealing import Sealing
from antecede.live.keys.store import Keys
from antecede.live.keys.tls import caller_tls
from antecede.live.keys.tokens import rights_for

RATE = 100
COMMAND = [sys.executable, "-c", "import sys; from antecede.cli import main; sys.exit(main())"]


class World:
    """Where the brokers are, and what an attacker may have got hold of."""

    def __init__(self, told: dict[str, Any]) -> None:
        self.told = told
        self.url: str = told["urls"][1]
        self.address = parse_address(self.url)
        self.ca: str = told["ca"]
        self.connections: int = told["connections"]
        self.tokens: dict[str, str] = told["tokens"]
        self.directory = Path(told["directory"])


# -- attacks ---------------------------------------------------------------------------------------------------------


async def silent(world: World) -> None:
    """Connections that say nothing; as they are shut, new ones come."""

    async def one() -> None:
        while True:
            with contextlib.suppress(OSError):
                reader, writer = await asyncio.open_connection(*world.address)
                await reader.read()
                writer.close()
            await asyncio.sleep(0.5)

    await asyncio.gather(*(one() for _ in range(world.connections)))


async def trickle(world: World) -> None:
    """A greeting of which a byte comes every second, over TLS."""

    async def one() -> None:
        while True:
            with contextlib.suppress(OSError):
                _, writer = await asyncio.open_connection(*world.address, ssl=caller_tls(world.ca))
                for byte in b"\x40\0\0\0" + bytes(60):
                    writer.write(bytes((byte,)))
                    await writer.drain()
                    await asyncio.sleep(1)
            await asyncio.sleep(0.5)

    await asyncio.gather(*(one() for _ in range(min(100, world.connections))))


async def tokens(world: World) -> None:
    """Clients without a token, with a wrong, an expired and a revoked one, and one for another topic."""
    for n in itertools.count():
        kind = ("none", "wrong", "expired", "revoked", "other topic")[n % 5]
        with contextlib.suppress(AntecedeError):
            async with connect(world.url, tls=world.ca, token=world.tokens[kind]) as node:
                node.rights = None  # as a client would that does not care
                await node.publish("load/1", b"forbidden")
        await asyncio.sleep(0.02)


async def datagrams(world: World) -> None:
    """Forged, altered and replayed, as fast as a second of each allows: 2,000 a second."""
    dice, keys = random.Random(1), Keys(world.directory)
    caught = Sealing(lambda: keys.ring, time.time, Refusals(time.time)).seal("B", bytes(400))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
        while True:
            for _ in range(20):
                altered = bytearray(caught)
                altered[dice.randrange(len(altered))] ^= 1 << dice.randrange(8)
                for datagram in (caught, altered, dice.randbytes(400)):
                    with contextlib.suppress(OSError):
                        out.sendto(datagram, world.address)
            await asyncio.sleep(0.03)


async def flood(world: World) -> None:
    """A client with every right that publishes as fast as it can."""
    async with connect(world.url, tls=world.ca, token=world.tokens["flood"]) as node:
        while True:
            with contextlib.suppress(AntecedeError):
                node.publish_nowait("flood", bytes(200))
                continue
            await asyncio.sleep(0.001)


ATTACKS: dict[str, Callable[[World], Awaitable[None]]] = {
    "silent": silent, "trickle": trickle, "tokens": tokens, "datagrams": datagrams, "flood": flood,
}  # fmt: skip


# -- authorised traffic ----------------------------------------------------------------------------------------------


async def turns(world: World, seconds: float, pairs: int, attacker: list[str]) -> list[tuple[list[float], int]]:
    """Latencies in milliseconds and how many did not come: in peace, under attack, in peace, ..."""
    token, urls = world.tokens["load"], world.told["urls"]
    results: list[tuple[list[float], int]] = []
    async with (
        connect(urls[0], tls=world.ca, token=token) as ann,
        connect(urls[1], tls=world.ca, token=token) as bob,
        bob.subscribe("load/#", queue=10_000) as inbox,
    ):
        await asyncio.sleep(0.5)
        for _ in range(pairs):
            results.append(await load(ann, inbox, seconds))
            process = subprocess.Popen(attacker, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            try:
                assert process.stdout is not None
                await asyncio.to_thread(process.stdout.readline)  # its imports are done
                await asyncio.sleep(1.5)
                results.append(await load(ann, inbox, seconds))
            finally:
                process.kill()
                process.wait()
            await asyncio.sleep(1)
    return results


async def load(ann: Client, inbox: Inbox, seconds: float) -> tuple[list[float], int]:
    late_ms: list[float] = []
    count = int(RATE * seconds)

    async def take() -> None:
        while len(late_ms) < count:
            sent_s = struct.unpack("<d", (await inbox.get(20)).payload)[0]
            late_ms.append((time.monotonic() - sent_s) * 1000)

    taking, began_s = asyncio.create_task(take()), time.monotonic()
    for n in range(count):
        ann.publish_nowait("load/1", struct.pack("<d", time.monotonic()))
        await asyncio.sleep(max(0.0, began_s + (n + 1) / RATE - time.monotonic()))
    with contextlib.suppress(TimeoutError):
        await taking
    return late_ms, count - len(late_ms)


def refusals(world: World) -> dict[str, int]:
    totals: dict[str, int] = {}
    for http in world.told["http"]:
        request = urllib.request.Request(
            f"https://{http}/status", headers={"Authorization": f"Bearer {world.tokens['watch']}"}
        )
        with urllib.request.urlopen(request, timeout=10, context=caller_tls(world.ca)) as answer:
            for reason, count in json.load(answer)["refusals"].items():
                totals[reason] = totals.get(reason, 0) + count
    return totals


def row(name: str, world: World, seconds: float, pairs: int, attacker: list[str]) -> dict[str, Any]:
    before = refusals(world)
    results = asyncio.run(turns(world, seconds, pairs, attacker))
    after = refusals(world)
    why = {reason: count - before.get(reason, 0) for reason, count in after.items() if count > before.get(reason, 0)}
    p50s, p99s = (
        [
            statistics.median(statistics.quantiles(late_ms, n=100)[at] for late_ms, _ in results[turn::2])
            for turn in (0, 1)
        ]
        for at in (49, 98)
    )
    return {
        "under": name, "p50 in peace": p50s[0], "p50 ms": p50s[1], "p99 in peace": p99s[0], "p99 ms": p99s[1],
        "times": p99s[1] / p99s[0], "lost": sum(lost for _, lost in results), "load": os.getloadavg()[0],
        "refused": ", ".join(f"{reason} {count:,}" for reason, count in sorted(why.items())),
    }  # fmt: skip


def made(directory: Path, connections: int) -> dict[str, Any]:
    """Keys and tokens of a cluster on this machine."""
    now = datetime.now(UTC)
    store.init(directory / "keys", [], now)
    store.init(directory / "other", [], now)

    def token(name: str, where: str = "keys", seconds: int = 3600, topic: str = "load/#", watch: bool = False) -> str:
        rights = rights_for(name, (topic,), (topic,), int(time.time()) + seconds, watch=watch)
        return store.add_token(directory / where, rights)

    tokens = {
        "load": token("load"), "watch": token("watch", watch=True), "flood": token("flood", topic="flood"),
        "none": "", "wrong": token("eve", "other"), "expired": token("eve", seconds=-1), "revoked": token("gone"),
        "other topic": token("nosy", topic="elsewhere"),
    }  # fmt: skip
    store.revoke(directory / "keys", "gone", now)
    return {
        "ca": str(directory / "keys" / "ca.pem"), "directory": str(directory / "keys"), "tokens": tokens,
        "connections": connections,
    }  # fmt: skip


def started(directory: Path, name: str, join: list[str], log: Path) -> tuple[subprocess.Popen[str], str, str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        http = f"127.0.0.1:{free.getsockname()[1]}"
    arguments = ["broker", "--listen", "127.0.0.1:0", "--name", name, "--keys", str(directory / "keys"), "--http"]
    arguments += [http.rpartition(":")[2], "--state", str(directory), *(f"--join={url}" for url in join)]
    process = subprocess.Popen([*COMMAND, *arguments], stdout=subprocess.PIPE, stderr=log.open("w"), text=True)
    assert process.stdout is not None
    return process, process.stdout.readline().split()[-1], http


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--connections", type=int, default=500)
    parser.add_argument("--only", action="append", choices=[*ATTACKS])
    parser.add_argument("--attack", help=argparse.SUPPRESS)
    parser.add_argument("--told", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.attack:
        print("begins", flush=True)
        asyncio.run(ATTACKS[given.attack](World(json.loads(Path(given.told).read_text("utf-8")))))  # type: ignore[arg-type]
        return 0
    processes: list[subprocess.Popen[str]] = []
    with tempfile.TemporaryDirectory() as folder:
        directory = Path(folder)
        told = made(directory, given.connections)
        try:
            a, first, http = started(directory, "A", [], directory / "A.log")
            processes.append(a)
            b, second, other = started(directory, "B", [first], directory / "B.log")
            processes.append(b)
            told |= {"urls": [first, second], "http": [http, other]}
            (directory / "told.json").write_text(json.dumps(told), "utf-8")
            world = World(told)
            table: Table = []
            for name in given.only or ATTACKS:
                attacker = [sys.executable, __file__, "--attack", name, "--told", str(directory / "told.json")]
                table.append(row(name, world, given.seconds, given.pairs, attacker))
            leaked = [n for n, one in told["tokens"].items() if one and one in (directory / "B.log").read_text("utf-8")]
        finally:
            for process in processes:
                process.terminate()
                process.wait(20)
    show(f"{RATE} messages a second through two brokers with keys, {given.connections} silent connections", table)
    worse = [one["under"] for one in table if one["times"] > 2]
    lost = sum(one["lost"] for one in table)
    print(f"\np99 more than doubled under: {', '.join(worse) or 'none'}; lost: {lost}")
    print(f"tokens in the log: {', '.join(leaked) or 'none'}")
    return 1 if worse or lost or leaked else 0


if __name__ == "__main__":
    sys.exit(main())
