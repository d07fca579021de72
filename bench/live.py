"""What a delivery costs a user, beside other systems: CPU, throughput and latency, everything as it is installed.

    python bench/live.py [--messages 8000] [--payload 128,1024] [--only NAME]...

Two loads on the loopback: four publishers to eight subscribers through one server, and eight clients that all publish
and subscribe. Three processes: the server, and two with the clients. First as fast as it goes, with at most WINDOW
messages on their way (batches of 16): CPU microseconds per delivery, of clients and server apart, and deliveries per
second. Then 1,000 messages a second, one by one: the median and the 99th percentile of publish to delivery. Absolute
figures depend on the machine; what counts is the ratio within one run. CPU is counted from when everybody is ready, so
imports and connecting do not count. The others promise order per publisher at most: they are yardsticks, not equals.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import mmap
import os
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.peers import PEERS, Connection, Peer
from bench.tables import Table, show

BATCH = 16
WINDOW = 1_024
"""Messages that may be on their way: enough to keep everybody busy, few enough that nobody drops any."""
RATE = 1_000
"""Messages a second for latencies."""
PATIENCE_S = 30.0
LOADS = {"4 to 8": ((4, True, False), (8, False, True)), "8 to 8": ((4, True, True), (4, True, True))}
"""The clients of the two processes: how many, whether they publish, whether they subscribe."""


class Progress:
    """Counters that both client processes see: how many deliveries each has had."""

    def __init__(self, path: Path, mine: int) -> None:
        self.file = path.open("r+b")
        self.map = mmap.mmap(self.file.fileno(), 16)
        self.mine = mine
        self.count = 0

    def add(self) -> None:
        self.count += 1
        struct.pack_into("<Q", self.map, 8 * self.mine, self.count)

    def total(self) -> int:
        first, second = struct.unpack_from("<QQ", self.map)
        return int(first + second)


# -- one process with clients ----------------------------------------------------------------------------------------


async def clients(order: dict[str, Any]) -> dict[str, Any]:
    peer = next(one for one in PEERS if one.name == order["peer"])
    count, publishes, subscribes = order["clients"]
    progress = Progress(Path(order["progress"]), order["mine"])
    latencies: list[float] = []
    size, receivers = order["payload"], order["receivers"]
    done = asyncio.Event()
    loop = asyncio.get_running_loop()
    timed = False

    def heard(payload: bytes) -> None:
        progress.add()
        if timed:
            latencies.append(time.monotonic() - struct.unpack_from("<d", payload)[0])
        if progress.count >= expected:
            loop.call_soon_threadsafe(done.set)

    connections: list[Connection] = []
    for n in range(count):
        connection = await peer.connect(order["port"], f"c{order['mine']}{n}")
        connections.append(connection)
        if subscribes:
            await connection.subscribe(heard)
    result: dict[str, Any] = {}
    sent = 0
    for phase, messages in (("flood", order["messages"]), ("paced", order["paced"])):
        expected = progress.count + messages * count
        base = progress.total() if phase == "flood" else order["messages"] * receivers
        timed = phase == "paced"
        done.clear()
        say({"ready": phase})
        await told()
        result[f"{phase}_from_s"], start_cpu_s = time.monotonic(), time.process_time()
        if publishes:
            share = messages // order["publishing"]
            if phase == "flood":
                await flood(connections, share, size, lambda base=base: progress.total() - base, receivers, order)
            else:
                await paced(connections, share, size, order)
            sent += share
        if subscribes:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(done.wait(), PATIENCE_S)
            result[f"{phase}_until_s"] = time.monotonic()
        say({"done": phase})
        await told()
        result[f"{phase}_cpu_s"] = time.process_time() - start_cpu_s
    result["delivered"] = progress.count
    result["latencies_ms"] = [1e3 * one for one in latencies]
    for connection in connections:
        with contextlib.suppress(Exception):
            await connection.close()
    return result


async def flood(
    connections: list[Connection], share: int, size: int, delivered: Any, receivers: int, order: dict[str, Any]
) -> None:
    """As fast as it goes: this process's part of all messages, and no more on their way than WINDOW."""
    clients_here, everybody = len(connections), order["publishing"]
    sent, end = 0, time.monotonic() + PATIENCE_S
    while sent < share * clients_here:
        while sent * everybody / clients_here - delivered() / receivers > WINDOW and time.monotonic() < end:
            await asyncio.sleep(0.0005)
        for connection in connections:
            stamp = struct.pack("<d", time.monotonic())
            await connection.publish([stamp + bytes(size - 8)] * BATCH)
            sent += BATCH
        await asyncio.sleep(0)


async def paced(connections: list[Connection], share: int, size: int, order: dict[str, Any]) -> None:
    """One message at a time, RATE a second from everybody together."""
    loop = asyncio.get_running_loop()
    start, pause = loop.time(), order["publishing"] / len(connections) / RATE
    for n in range(share * len(connections)):
        stamp = struct.pack("<d", time.monotonic())
        await connections[n % len(connections)].publish([stamp + bytes(size - 8)])
        await asyncio.sleep(max(0.0, start + (n + 1) * pause - loop.time()))


def say(body: dict[str, Any]) -> None:
    print(json.dumps(body), flush=True)


async def told() -> str:
    line = asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline)
    return await asyncio.wait_for(line, 4 * PATIENCE_S)


# -- one measurement -------------------------------------------------------------------------------------------------


def measure(peer: Peer, load: str, messages: int, paced_messages: int, payload: int) -> dict[str, Any]:
    groups = LOADS[load]
    receivers = sum(count for count, _, subscribes in groups if subscribes)
    publishing = sum(count for count, publishes, _ in groups if publishes)
    messages -= messages % (publishing * BATCH)
    paced_messages -= paced_messages % publishing
    with tempfile.TemporaryDirectory() as folder:
        directory, port = Path(folder), free_port()
        progress = directory / "progress"
        progress.write_bytes(bytes(16))
        server = subprocess.Popen(peer.serve(port, directory), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        workers: list[subprocess.Popen[str]] = []
        try:
            wait_for(port)
            for mine, group in enumerate(groups):
                order = {
                    "peer": peer.name, "port": port, "clients": group, "mine": mine, "progress": str(progress),
                    "messages": messages, "paced": paced_messages, "payload": payload, "receivers": receivers,
                    "publishing": publishing,
                }  # fmt: skip
                command = [sys.executable, str(Path(__file__).resolve()), "--worker", json.dumps(order)]
                workers.append(subprocess.Popen(command, stdin=-1, stdout=-1, text=True, bufsize=1))
            server_s = {}
            for phase in ("flood", "paced"):
                for one in workers:
                    expect(one, "ready", phase)
                if phase == "flood":
                    time.sleep(0.5)
                before_s = cpu_of(server.pid)
                tell(workers)
                for one in workers:
                    expect(one, "done", phase)
                server_s[phase] = cpu_of(server.pid) - before_s
                tell(workers)
            results = [json.loads(answer(one)) for one in workers]
        finally:
            for one in (*workers, server):
                with contextlib.suppress(subprocess.TimeoutExpired):
                    one.wait(2 if one is not server else 0)
                one.terminate()
                with contextlib.suppress(subprocess.TimeoutExpired):
                    one.wait(5)
                one.kill()
                one.wait()
    delivered = sum(one["delivered"] for one in results)
    owed = (messages + paced_messages) * receivers
    deliveries = max(1, messages * receivers)
    latencies = sorted(x for one in results for x in one["latencies_ms"])
    took_s = max(one.get("flood_until_s", 0.0) for one in results) - min(one["flood_from_s"] for one in results)
    return {
        "system": peer.name,
        "client us": sum(one["flood_cpu_s"] for one in results) * 1e6 / deliveries,
        "server us": server_s["flood"] * 1e6 / deliveries,
        "deliveries/s": deliveries / took_s,
        "p50 ms": statistics.median(latencies) if latencies else None,
        "p99 ms": latencies[int(len(latencies) * 0.99)] if latencies else None,
        "delivered %": 100 * delivered / owed,
    }


def free_port() -> int:
    """A port with a free neighbour (a proxy of ZeroMQ takes two)."""
    while True:
        with socket.socket() as one, socket.socket() as two:
            one.bind(("127.0.0.1", 0))
            port: int = one.getsockname()[1]
            with contextlib.suppress(OSError, OverflowError):
                two.bind(("127.0.0.1", port + 1))
                return port


def wait_for(port: int) -> None:
    end = time.monotonic() + 60
    while time.monotonic() < end:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.05)
    raise SystemExit(f"nothing listens on port {port} after 60 s")


def cpu_of(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def tell(workers: list[subprocess.Popen[str]]) -> None:
    for one in workers:
        assert one.stdin is not None
        one.stdin.write("go\n")
        one.stdin.flush()


def answer(one: subprocess.Popen[str]) -> str:
    assert one.stdout is not None
    line = one.stdout.readline()
    if not line:
        raise SystemExit(f"a client process ended early: {one.args!r}")
    return line


def expect(one: subprocess.Popen[str], what: str, phase: str) -> None:
    said = json.loads(answer(one))
    if said != {what: phase}:
        raise SystemExit(f"expected {what} {phase}, heard {said}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--messages", type=int, default=8_000, help="as fast as it goes")
    parser.add_argument("--paced", type=int, default=2_000, help=f"at {RATE} a second")
    parser.add_argument("--payload", default="128,1024", help="bytes, separated by commas")
    parser.add_argument("--load", action="append", choices=tuple(LOADS))
    parser.add_argument("--only", action="append", metavar="NAME", help="systems whose name begins so")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        say(asyncio.run(clients(json.loads(options.worker))))
        return
    chosen = [p for p in PEERS if not options.only or any(p.name.startswith(name) for name in options.only)]
    for peer in chosen:
        if (cure := peer.lacking()) is not None:
            print(f"{peer.name}: not measured ({cure})")
    there = [peer for peer in chosen if peer.lacking() is None]
    for load in options.load or LOADS:
        for payload in map(int, options.payload.split(",")):
            table: Table = []
            for peer in there:
                table.append(measure(peer, load, options.messages, options.paced, payload))
                print(f"  {peer.name}: done", file=sys.stderr, flush=True)
            show(f"{load}, {payload} B, {options.messages:,} messages; CPU us per delivery", table)


if __name__ == "__main__":
    main()
