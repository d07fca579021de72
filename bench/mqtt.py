"""The MQTT door beside mosquitto: processor time per delivery with the same clients; and damaged packets by thousands.

    python bench/mqtt.py cpu [--messages 5000 --subscribers 4]
    python bench/mqtt.py damaged [--packets 100000 --connections 8]
    python bench/mqtt.py js --modules node_modules [--messages 300]      (npm install mqtt; node)

`cpu` runs a broker of each kind in a process of its own, publishes with paho at QoS 0 and 1 to subscribers of paho, and
divides what that process used by the deliveries. `damaged` sends packets with flipped bits, cut and stretched, over few
connections, while an honest client goes on; it says how many were refused, how memory grew and what that client saw.
`js` has mqtt.js over WebSocket and native clients talk through two brokers: questions of one kind are answered by the
other, everybody reads all, and the records are judged. Exit 1 if something was lost, came twice or out of order.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import select
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import mqtt5

from antecede.live.client import connect
from antecede.live.mqtt.packets import Breach, Reader
from antecede.trace.check import check
from tests.live.mqtt.damage import damaged
from tests.live.mqtt.harness import Paho, brokers, until


def free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


@contextmanager
def process(command: list[str], port: int) -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as running:
        try:
            until_s = time.monotonic() + 30
            while True:
                try:
                    socket.create_connection(("127.0.0.1", port), 1).close()
                    break
                except OSError:
                    if time.monotonic() > until_s:
                        raise
                    time.sleep(0.05)
            yield running
        finally:
            running.terminate()
            running.wait(20)


@contextmanager
def antecede() -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    port = free_port()
    command = ["broker", "--listen", f"127.0.0.1:{free_port()}", "--mqtt", str(port), "--log-level", "error"]
    code = "import sys; from antecede.cli import main; sys.exit(main())"
    with process([sys.executable, "-c", code, *command], port) as running:
        yield running, port


@contextmanager
def mosquitto() -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    port = free_port()
    with process([shutil.which("mosquitto") or "mosquitto", "-p", str(port)], port) as running:
        yield running, port


def used_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory_mb(pid: int) -> float:
    lines = Path(f"/proc/{pid}/status").read_text("ascii").splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS"))


def deliver(pid: int, port: int, qos: int, messages: int, subscribers: int) -> tuple[float, float, int]:
    """Microseconds of the broker per delivery, seconds in all, and how many did not come."""
    subs = [Paho(port).connect() for _ in range(subscribers)]
    for sub in subs:
        sub.subscribe("bench/#", qos=qos)
    with Paho(port).connect() as pub:
        before_s, began_s = used_s(pid), time.monotonic()
        for n in range(messages):
            pub.client.publish("bench/1", b"%08d" % n + b"." * 92, qos)
            if n % 200 == 199:  # as a client that looks after its own queue
                until(lambda n=n: all(len(sub.messages) > n - 400 for sub in subs), 30)  # type: ignore[misc]
        until(lambda: all(len(sub.messages) == messages for sub in subs), 60)
        spent_s, took_s = used_s(pid) - before_s, time.monotonic() - began_s
    came = sum(len(sub.messages) for sub in subs)
    for sub in subs:
        sub.close()
    return 1e6 * spent_s / max(1, came), took_s, messages * subscribers - came


def cpu(messages: int, subscribers: int) -> int:
    missing = 0
    print(f"{messages} messages of 100 bytes, {subscribers} subscribers, paho on both sides")
    print(f"{'broker':<12}{'QoS':>4}{'us per delivery':>18}{'deliveries/s':>15}{'missing':>9}")
    for name, broker in (("antecede", antecede), ("mosquitto", mosquitto)):
        if name == "mosquitto" and shutil.which("mosquitto") is None:
            print("mosquitto is not installed")
            continue
        for qos in (0, 1):
            with broker() as (running, port):
                each_us, took_s, lost = deliver(running.pid, port, qos, messages, subscribers)
            missing += lost
            print(f"{name:<12}{qos:>4}{each_us:>18.1f}{messages * subscribers / took_s:>15.0f}{lost:>9}")
    return 1 if missing else 0


def hostile(packets: int, connections: int) -> int:
    """Connections that are closed are opened again."""
    dice, refused = random.Random(2), 0
    for _ in range(packets):  # each by itself, for a connection ends with the first that is refused
        reader = Reader()
        try:
            list(reader.feed(mqtt5.ConnectPacket("hostile").write()))
            list(reader.feed(damaged(dice)))
        except Breach:
            refused += 1
    print(
        f"{packets} damaged packets, each by itself: {refused} refused, the others are packets still, or wait for more"
    )
    dice, sent, opened = random.Random(1), 0, 0
    connect = mqtt5.ConnectPacket("hostile", clean_start=True).write()
    with antecede() as (running, port), Paho(port).connect() as honest:
        honest.subscribe("steady", qos=1)
        before_mb, waits, published = memory_mb(running.pid), list[float](), 0
        socks: list[socket.socket | None] = [None] * connections
        while sent < packets:
            for place in range(connections):
                sock = socks[place]
                try:
                    if sock is None:
                        sock = socks[place] = socket.create_connection(("127.0.0.1", port), 5)
                        opened += 1
                        sock.sendall(connect.replace(b"hostile", b"host%03d" % place))
                    sock.sendall(damaged(dice))
                    sent += 1
                    while select.select([sock], [], [], 0)[0]:
                        if not sock.recv(65_536):
                            raise ConnectionResetError
                except OSError:
                    if sock is not None:
                        sock.close()
                    socks[place] = None
            if sent % 1_000 < connections:
                began_s = time.monotonic()
                honest.publish("steady", b"%d" % published, 1)
                published += 1
                honest.got(published, 30)
                waits.append(time.monotonic() - began_s)
        for sock in socks:
            if sock is not None:
                sock.close()
        grown_mb, alive = memory_mb(running.pid) - before_mb, running.poll() is None
        came = [message.payload for message in honest.messages]
    waits.sort()
    print(f"{sent} damaged packets over {opened} connections, {connections} at a time; the broker lives: {alive}")
    print(f"memory grew by {grown_mb:.1f} MB; {published} honest messages, {len(came)} came, in order")
    print(f"round trip of those: median {1e3 * statistics.median(waits):.1f} ms, worst {1e3 * waits[-1]:.1f} ms")
    return 0 if alive and came == [b"%d" % n for n in range(published)] else 1


TALK = """
const mqtt = require("mqtt"), [urls, count] = [process.argv.slice(1, 3), Number(process.argv[3])], seen = [[], []];
const clients = urls.map((url) => mqtt.connect(url, { protocolVersion: 5, reconnectPeriod: 0 }));
let ready = 0;
clients.forEach((client, n) => {
  client.on("connect", () => client.subscribe("talk/#", { qos: 1 }, () => { if (++ready == 2) console.log("ready"); }));
  client.on("message", (topic, payload) => {
    const text = payload.toString();
    seen[n].push(text);
    if (n == 1 && text.startsWith("native ")) client.publish("talk/js", "answer to " + text, { qos: 1 });
    if (n == 0 && text == "go") for (let i = 0; i < count; i++) client.publish("talk/js", "js " + i, { qos: i % 3 });
    if (seen.every((one) => one.length == 4 * count + 1)) setTimeout(() => {
      process.stdout.write(JSON.stringify(seen), () => process.exit(0)); }, 500);
  });
});
"""
"""Two clients, one at each broker: the first publishes when it is told to, the second answers native questions."""


def js(modules: str, messages: int) -> int:
    total = 4 * messages + 1

    async def native(url: str, records: str) -> list[str]:
        """A native client that asks, answers, and reads all."""
        async with (
            connect(url, name="nat", records=records) as here,
            here.subscribe("talk/#", queue=total, own=True) as inbox,
        ):
            await here.publish("talk/native", b"go")
            for n in range(messages):
                here.publish_nowait("talk/native", b"native %d" % n, within=60)
            seen = list[str]()
            while len(seen) < total:
                seen.append((await inbox.get(20)).payload.decode())
                if seen[-1].startswith("js "):
                    here.publish_nowait("talk/native", f"answer to {seen[-1]}".encode(), within=60)
            return seen

    with tempfile.TemporaryDirectory() as records:
        with brokers(2, records=Path(records)) as two:
            urls = ["ws://{}:{}/mqtt".format(*(one.pages.address or ())) for one in two.brokers]
            script = ["node", "-e", TALK, *urls, str(messages)]
            with subprocess.Popen(script, stdout=subprocess.PIPE, env={**os.environ, "NODE_PATH": modules}) as node:
                assert node.stdout is not None and node.stdout.readline() == b"ready\n", "node: npm install mqtt"
                began_s = time.monotonic()
                orders = [two.call(native(two.brokers[0].url, records)), *json.loads(node.communicate(timeout=60)[0])]
                took_s = time.monotonic() - began_s
        findings = check(records).findings
    twice = sum(len(one) - len(set(one)) for one in orders)
    missing = sum(total - len(set(one)) for one in orders)
    early = 0
    for order in orders:
        place = {text: n for n, text in enumerate(order)}
        early += sum(
            place[text] < place[text.removeprefix("answer to ")] for text in order if text.startswith("answer")
        )
        for kind in ("js", "native"):
            own = [int(text.split()[1]) for text in order if text.startswith(f"{kind} ")]
            early += own != sorted(own)
    print(f"mqtt.js at two brokers and a native client, {total} messages to each of the three in {took_s:.1f} s:")
    print(f"missing {missing}, twice {twice}, out of order {early}, findings of the oracle {len(findings)}")
    return 1 if missing or twice or early or findings else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("cpu", "damaged", "js"))
    parser.add_argument("--messages", type=int, help="5,000, or 300 each for js")
    parser.add_argument("--modules", default="node_modules", help="where npm has put mqtt")
    parser.add_argument("--subscribers", type=int, default=4)
    parser.add_argument("--packets", type=int, default=100_000)
    parser.add_argument("--connections", type=int, default=8)
    told = parser.parse_args()
    if told.what == "cpu":
        return cpu(told.messages or 5_000, told.subscribers)
    if told.what == "js":
        return js(str(Path(told.modules).resolve()), told.messages or 300)
    return hostile(told.packets, told.connections)


if __name__ == "__main__":
    sys.exit(main())
