"""A broker seen from outside: four pages over HTTP, for machines and for people with curl.

    /health    200 while the process lives           /ready     200 while it takes clients, else 503
    /metrics   Prometheus                            /status    JSON: who is there, what waits, what was counted

Decided here: a small server of our own, for four pages need no framework: GET only, one answer per connection, requests
of a bounded size and time, and the loopback only.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

from antecede.errors import EnvironmentFault
from antecede.live.address import Address
from antecede.live.metrics import CONTENT_TYPE, metrics_of
from antecede.live.status import status_of

if TYPE_CHECKING:
    from antecede.live.broker import Broker

__all__ = ["Pages"]

log = logging.getLogger("antecede.broker")

MAX_REQUEST = 8192
"""Bytes of a request with all its headers."""
PATIENCE_S = 5.0
"""Seconds that a request may take to come."""

Page = tuple[int, str, bytes]


class Pages:
    def __init__(self, broker: Broker) -> None:
        self.broker = broker
        self.address: Address = ("127.0.0.1", 0)
        self._server: asyncio.Server | None = None
        self._pages: dict[str, Callable[[], Page]] = {
            "/health": lambda: (200, "text/plain", b"alive\n"),
            "/ready": self._ready,
            "/metrics": self._metrics,
            "/status": self._status,
        }

    async def open(self, port: int) -> None:
        """Port 0: the system chooses."""
        try:
            self._server = await asyncio.start_server(self._serve, "127.0.0.1", port, limit=MAX_REQUEST)
        except OSError as fault:
            raise EnvironmentFault(f"cannot serve http on port {port}: {fault.strerror or fault}") from None
        self.address = self._server.sockets[0].getsockname()[:2]

    def close(self) -> None:
        if self._server is not None:
            self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(PATIENCE_S):
                head = await reader.readuntil(b"\r\n\r\n")
            code, kind, body = self._answer(head)
        except (TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, ConnectionError):
            code, kind, body = 400, "text/plain", b"not a request\n"
        line = f"HTTP/1.1 {code} {_REASONS[code]}\r\n"
        headers = f"Content-Type: {kind}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        try:
            writer.write(line.encode() + headers.encode() + body)
            await writer.drain()
        except ConnectionError:
            pass
        finally:
            writer.close()

    def _answer(self, head: bytes) -> Page:
        words = head.split(b"\r\n", 1)[0].decode("latin-1").split()
        if len(words) != 3 or words[0] != "GET":
            return 400, "text/plain", b"only GET is answered\n"
        page = self._pages.get(words[1].partition("?")[0])
        if page is None:
            return 404, "text/plain", ("there are " + " ".join(self._pages) + "\n").encode()
        try:
            return page()
        except EnvironmentFault as fault:
            return 501, "text/plain", f"{fault}\n".encode()
        except Exception:
            log.exception("a page failed")
            return 500, "text/plain", b"a mistake of ours: see the log\n"

    def _ready(self) -> Page:
        return (200, "text/plain", b"ready\n") if self.broker.ready else (503, "text/plain", b"not ready\n")

    def _metrics(self) -> Page:
        return 200, CONTENT_TYPE, metrics_of(self.broker)

    def _status(self) -> Page:
        return 200, "application/json", json.dumps(status_of(self.broker), indent=2).encode() + b"\n"


_REASONS = {
    200: "OK", 400: "Bad Request", 404: "Not Found", 500: "Internal Server Error", 501: "Not Implemented",
    503: "Service Unavailable",
}  # fmt: skip
