"""A broker's pages: alive, ready, numbers, status; and nothing else."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from antecede.live.broker import Broker
from antecede.live.keys.tls import caller_tls
from tests.live.keys.keyed import Keyed


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
            broker.machine.joined = False  # it waits for a snapshot
            assert (await get(broker, b"GET /ready HTTP/1.1"))[0] == 503
            code, body = await get(broker, b"GET /status?x=1 HTTP/1.1")
            assert code == 200 and json.loads(body)["name"] == "A"
            assert (await get(broker, b"GET /none HTTP/1.1"))[0] == 404
            assert (await get(broker, b"POST /status HTTP/1.1"))[0] == 400
            assert (await get(broker, b"GET /" + b"x" * 10_000 + b" HTTP/1.1"))[0] == 400

    asyncio.run(main())


def test_with_keys_pages_come_over_tls_and_numbers_to_those_who_may_watch(tmp_path: Path) -> None:
    keyed = Keyed(tmp_path)

    async def ask(broker: Broker, page: str, token: str = "") -> tuple[int, bytes]:
        reader, writer = await asyncio.open_connection(*broker.pages.address, ssl=caller_tls(keyed.ca))
        shown = f"Authorization: Bearer {token}\r\n" if token else ""
        writer.write(f"GET {page} HTTP/1.1\r\nHost: x\r\n{shown}\r\n".encode())
        answer = await asyncio.wait_for(reader.read(), 10)
        writer.close()
        head, _, body = answer.partition(b"\r\n\r\n")
        return int(head.split()[1]), body

    async def main() -> None:
        async with keyed.broker("A", http=0) as broker:
            watch = keyed.token("prometheus", (), (), watch=True)
            assert (await ask(broker, "/health"))[0] == (await ask(broker, "/ready"))[0] == 200
            for page in ("/status", "/metrics", "/status?x"):
                assert (await ask(broker, page))[0] == (await ask(broker, page, keyed.token("ann")))[0] == 401
                code, body = await ask(broker, page, watch)
                assert code == 200 and watch.encode() not in body
            assert b'antecede_refusals_total{reason="no token"} 3.0' in (await ask(broker, "/metrics", watch))[1]
            with pytest.raises((OSError, AssertionError, IndexError, asyncio.IncompleteReadError)):
                await get(broker, b"GET /status HTTP/1.1")  # plain

    asyncio.run(main())
