"""MQTT over WebSocket at the HTTP port: paho, mqtt.js in Node, and what is refused."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
from pathlib import Path

import mqtt5
import pytest
from websockets.sync.client import connect as websocket

from antecede.live.mqtt.websocket import is_welcome
from tests.live.mqtt.harness import Brokers, Paho, until

SCRIPT = """
const mqtt = require("mqtt");
const [url, count] = [process.argv[2], Number(process.argv[3])];
const client = mqtt.connect(url, { protocolVersion: 5, reconnectPeriod: 0 });
const seen = [];
client.on("error", (fault) => { console.error(fault); process.exit(1); });
client.on("message", (topic, payload, packet) => {
  seen.push([topic, payload.toString(), packet.properties.userProperties ? packet.properties.userProperties.k : null]);
  const options = { qos: 1, properties: { messageExpiryInterval: 9 } };
  if (topic === "js/in") client.publish("js/out", "re " + payload, options);
  if (seen.length === count) { console.log(JSON.stringify(seen)); client.end(); }
});
client.on("connect", () => client.subscribe("js/in", { qos: 1 }, () => console.log("ready")));
"""


def http_port(one: Brokers) -> int:
    return one.brokers[0].pages.address[1]


def test_paho_over_websocket(one: Brokers) -> None:
    with Paho(http_port(one), transport="websockets") as web, Paho(one.port()).connect() as tcp:
        web.client.ws_set_options("/mqtt")
        web.connect()
        web.subscribe("ws/#", qos=2)
        tcp.publish("ws/1", b"x" * 20_000, 2)
        web.publish("ws/2", b"own", 1)
        assert web.got(2) == [b"x" * 20_000, b"own"]


def test_packets_may_be_cut_by_frames_anywhere_and_text_ends_it(one: Brokers) -> None:
    with websocket(f"ws://127.0.0.1:{http_port(one)}/mqtt", subprotocols=["mqtt"]) as line:  # type: ignore[list-item]
        data = mqtt5.ConnectPacket("frames", clean_start=True).write() + mqtt5.PingReqPacket().write()
        for place in range(0, len(data), 5):
            line.send(data[place : place + 5])
        answer = b""
        while len(answer) < 4 or not answer.endswith(b"\xd0\x00"):
            said = line.recv(10)
            assert isinstance(said, bytes)
            answer += said
        assert isinstance(mqtt5.read(memoryview(answer))[0], mqtt5.ConnAckPacket)
        line.send("text")
        assert until(lambda: "frames" not in one.door().sessions)


def test_who_asks_for_no_mqtt_or_comes_from_elsewhere_is_refused(one: Brokers) -> None:
    def ask(*headers: str) -> bytes:
        key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="
        lines = ["GET /mqtt HTTP/1.1", "Host: x", "Upgrade: websocket", "Connection: Upgrade", key]
        with socket.create_connection(("127.0.0.1", http_port(one)), 10) as sock:
            text = "\r\n".join([*lines, "Sec-WebSocket-Version: 13", *headers, "", ""])
            sock.sendall(text.encode())
            return sock.recv(65536).split(b"\r\n", 1)[0]

    assert b"101" in ask("Sec-WebSocket-Protocol: mqtt")
    assert b"101" in ask("Sec-WebSocket-Protocol: mqtt", "Origin: http://localhost:3000")
    assert b"400" in ask()
    assert b"403" in ask("Sec-WebSocket-Protocol: mqtt", "Origin: https://elsewhere.example")
    with socket.create_connection(("127.0.0.1", http_port(one)), 10) as sock:
        sock.sendall(b"GET /health HTTP/1.1\r\n\r\n")
        assert sock.recv(100).startswith(b"HTTP/1.1 200")


def test_is_welcome() -> None:
    assert is_welcome("http://broker.lan:80", "broker.lan:8080") and not is_welcome("http://a.b", None)


def modules() -> Path | None:
    """Where mqtt.js is installed: $ANTECEDE_NODE_MODULES, or beside the checkout."""
    beside = Path(__file__).resolve().parents[4] / "extra-mqtt" / "node_modules"
    for path in (Path(os.environ.get("ANTECEDE_NODE_MODULES", "/nowhere")), beside):
        if (path / "mqtt").is_dir():
            return path
    return None


@pytest.mark.skipif(shutil.which("node") is None, reason="Node is not installed")
@pytest.mark.skipif(modules() is None, reason="mqtt.js is not installed: set ANTECEDE_NODE_MODULES")
def test_mqtt_js_over_websocket(one: Brokers, tmp_path: Path) -> None:
    script = tmp_path / "client.js"
    script.write_text(SCRIPT, "utf-8")
    with Paho(one.port()).connect() as paho:
        paho.subscribe("js/out", qos=1)
        node = subprocess.Popen(
            ["node", str(script), f"ws://127.0.0.1:{http_port(one)}/mqtt", "30"], text=True, stdout=subprocess.PIPE,
            env={**os.environ, "NODE_PATH": str(modules())},
        )  # fmt: skip
        assert node.stdout is not None and node.stdout.readline() == "ready\n"
        for n in range(30):
            paho.publish("js/in", b"%d" % n, 1, UserProperty=[("k", "v")])
        said, _ = node.communicate(timeout=30)
        assert [one[1] for one in json.loads(said)] == [str(n) for n in range(30)]
        assert paho.got(30) == [b"re %d" % n for n in range(30)]
        node.wait(10)
