"""A white board in the browser: mqtt.js over WebSocket, several pages, one causal order. Open the addresses it prints.

    python examples/whiteboard.py [--brokers 2] [--script node_modules/mqtt/dist/mqtt.min.js]
                                                         needs: pip install 'antecede[mqtt]'

Every page is an MQTT client of one of the brokers. A stroke follows all strokes that its painter had seen, so nobody
sees a correction before what it corrects; `clear` takes away what its presser saw and nothing that was drawn meanwhile
elsewhere. The board is kept as retained messages, one per stroke, so a page that is opened later sees it. mqtt.js comes
from a public address, or from the file that `--script` names (npm install mqtt); all else from this process.
"""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path

import antecede

PUBLIC = "https://unpkg.com/mqtt@5/dist/mqtt.min.js"
PAGE = """<!doctype html><meta charset="utf-8"><title>White board</title>
<style>body{font:16px sans-serif;margin:1em}canvas{border:1px solid #888;touch-action:none}</style>
<p><span id="state">connecting</span> <button id="clear">clear</button></p>
<canvas id="board" width="900" height="500"></canvas>
<script src="SCRIPT" onerror="document.getElementById('state').textContent = 'mqtt.js could not be loaded'"></script>
<script>
const url = "URL", strokes = new Map(), board = document.getElementById("board"), pen = board.getContext("2d");
const me = Math.random().toString(36).slice(2), colour = `hsl(${Math.random() * 360},80%,40%)`;
const client = mqtt.connect(url, { protocolVersion: 5, clientId: "board-" + me });
let drawing = null, count = 0;
client.on("connect", () => client.subscribe("board/#", { qos: 1, nl: true }));
client.on("connect", () => (document.getElementById("state").textContent = "connected to " + url));
client.on("close", () => (document.getElementById("state").textContent = "away"));
client.on("message", (topic, payload) => {
  if (payload.length) strokes.set(topic, JSON.parse(payload)); else strokes.delete(topic);
  paint();
});
function paint() {
  pen.clearRect(0, 0, board.width, board.height);
  for (const { colour, points } of drawing ? [...strokes.values(), drawing] : strokes.values()) {
    pen.strokeStyle = colour; pen.lineWidth = 3; pen.beginPath();
    points.forEach(([x, y], n) => (n ? pen.lineTo(x, y) : pen.moveTo(x, y)));
    pen.stroke();
  }
}
function say(topic, text) { client.publish(topic, text, { qos: 1, retain: true }); }
board.onpointerdown = (e) => {
  board.setPointerCapture(e.pointerId);
  drawing = { colour, points: [[e.offsetX, e.offsetY]] };
};
board.onpointermove = (e) => { if (drawing) { drawing.points.push([e.offsetX, e.offsetY]); paint(); } };
board.onpointerup = () => {
  if (!drawing) return;
  const topic = `board/${me}/${count++}`;
  strokes.set(topic, drawing); say(topic, JSON.stringify(drawing)); drawing = null; paint();
};
document.getElementById("clear").onclick = () => {
  for (const topic of strokes.keys()) say(topic, "");
  strokes.clear(); paint();
};
</script>"""


async def serve_page(page: str, script: bytes) -> tuple[asyncio.Server, int]:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked = await reader.readuntil(b"\r\n\r\n")
        is_script = asked.startswith(b"GET /mqtt.js ")
        body = script if is_script else page.encode()
        head = [
            "HTTP/1.1 200 OK",
            f"Content-Type: {'text/javascript' if is_script else 'text/html'}",
            f"Content-Length: {len(body)}",
            "Connection: close",
            "",
            "",
        ]
        writer.write("\r\n".join(head).encode() + body)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    return server, server.sockets[0].getsockname()[1]


async def main(count: int, script: str | None) -> None:
    source = PUBLIC if script is None else "/mqtt.js"
    text = b"" if script is None else Path(script).read_bytes()
    brokers: list[antecede.Broker] = []
    try:
        for n in range(count):
            join = [brokers[0].url] if brokers else []
            broker = antecede.Broker("127.0.0.1:0", name="ABCDEFGH"[n], join=join, http=0, mqtt=0)
            await broker.start()
            brokers.append(broker)
        for broker in brokers:
            host, port = broker.pages.address
            _, page = await serve_page(PAGE.replace("URL", f"ws://{host}:{port}/mqtt").replace("SCRIPT", source), text)
            print(f"a page at broker {broker.name}:  http://127.0.0.1:{page}", flush=True)
        print("Open both, draw, and stop with ctrl-C.", flush=True)
        await asyncio.Event().wait()
    finally:
        for broker in reversed(brokers):
            await broker.stop(1.0)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--brokers", type=int, default=2)
    parser.add_argument("--script", help="a file of mqtt.js; left out: the browser fetches it from a public address")
    given = parser.parse_args()
    try:
        asyncio.run(main(given.brokers, given.script))
    except KeyboardInterrupt:
        pass
