"""A broker's pages: alive, ready, numbers, status; and nothing else."""

from __future__ import annotations

import asyncio
import json

from antecede.live.broker import Broker


async def get(broker: Broker, line: bytes) -> tuple[int, bytes]:
    reader, writer = await asyncio.open_connection(*broker.pages.address)
    writer.write(line + b"\r\nHost: x\r\n\r\n")
    answer = await asyncio.wait_for(reader.read(), 10)
    writer.close()
    head, _, body = answer.partition(b"\r\n\r\n")
    return int(head.split()[1]), body


def test_alive_ready_and_status() -> None:
    async def main() -> None:
        async with Broker("127.0.0.1:0", name="A", http=0) as broker:
            assert await get(broker, b"GET /health HTTP/1.1") == (200, b"alive\n")
            assert await get(broker, b"GET /ready HTTP/1.1") == (200, b"ready\n")
            broker.ready = False
            assert (await get(broker, b"GET /ready HTTP/1.1"))[0] == 503
            code, body = await get(broker, b"GET /status?x=1 HTTP/1.1")
            assert code == 200 and json.loads(body)["name"] == "A"
            assert (await get(broker, b"GET /none HTTP/1.1"))[0] == 404
            assert (await get(broker, b"POST /status HTTP/1.1"))[0] == 400
            assert (await get(broker, b"GET /" + b"x" * 10_000 + b" HTTP/1.1"))[0] == 400

    asyncio.run(main())
