"""A broker seen from outside: four pages over HTTP, for machines and for people with curl.

    /health    200 while the process lives           /ready     200 while it takes clients, else 503
    /metrics   Prometheus                            /status    JSON: who is there, what waits, what was counted

Decided here: a small server of our own, for four pages need no framework: GET only, one answer per connection, requests
of a bounded size and time. A broker is ready when it has taken over what other brokers keep: from then on another one
may be stopped. A broker without keys serves them on the loopback; one with keys where it listens, over TLS, and shows
its numbers to those whose token says that they may watch.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from antecede.errors import EnvironmentFault
from antecede.live.address import Address, in_use
from antecede.live.keys.tls import HANDSHAKE_S
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

NUMBERS = ("/metrics", "/status")
"""Pages that say who is there and what is published."""

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
        door: dict[str, Any] = {}
        host, protection = "127.0.0.1", self.broker.protection
        if protection is not None:
            host = self.broker.listen[0]
            door = {"ssl": protection.keys.door(), "ssl_handshake_timeout": HANDSHAKE_S}
        try:
            self._server = await asyncio.start_server(self._serve, host, port, limit=MAX_REQUEST, **door)
        except OSError as fault:
            raise EnvironmentFault(in_use((host, port), fault, "--http")) from None
        self.address = self._server.sockets[0].getsockname()[:2]

    def close(self) -> None:
        if self._server is not None:
            self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(PATIENCE_S):
                head = await reader.readuntil(b"\r\n\r\n")
            if self.broker.door is not None and head.startswith(b"GET /mqtt") and is_upgrade(head):
                from antecede.live.mqtt.websocket import converse

                try:
                    await converse(self.broker.door, head, reader, writer)
                finally:
                    writer.close()
                return
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
        if words[1].startswith(NUMBERS) and not self._may_watch(head):
            return 401, "text/plain", b"this needs `Authorization: Bearer TOKEN`, of a token made with --watch\n"
        try:
            return page()
        except EnvironmentFault as fault:
            return 501, "text/plain", f"{fault}\n".encode()
        except Exception:
            log.exception("a page failed")
            return 500, "text/plain", b"a mistake of ours: see the log\n"

    def _may_watch(self, head: bytes) -> bool:
        protection = self.broker.protection
        return protection is None or protection.guard.may_watch(bearer_in(head))

    def _ready(self) -> Page:
        return (200, "text/plain", b"ready\n") if self.broker.ready else (503, "text/plain", b"not ready\n")

    def _metrics(self) -> Page:
        return 200, CONTENT_TYPE, metrics_of(self.broker)

    def _status(self) -> Page:
        return 200, "application/json", json.dumps(status_of(self.broker), indent=2).encode() + b"\n"


def is_upgrade(head: bytes) -> bool:
    """Whether a request asks for WebSocket.

    >>> is_upgrade(b"GET /mqtt HTTP/1.1\\r\\nUPGRADE: WebSocket\\r\\n\\r\\n"), is_upgrade(b"GET / HTTP/1.1\\r\\n\\r\\n")
    (True, False)
    """
    lines = [line.partition(b":") for line in head.lower().split(b"\r\n")[1:]]
    return any(name == b"upgrade" and value.strip() == b"websocket" for name, _, value in lines)


def bearer_in(head: bytes) -> str:
    """The token that a request shows, if it does.

    >>> bearer_in(b"GET / HTTP/1.1\\r\\nHost: x\\r\\nauthorization: Bearer ant1.a.b\\r\\n\\r\\n")
    'ant1.a.b'
    """
    for line in head.decode("latin-1").split("\r\n")[1:]:
        name, _, value = line.partition(":")
        if name.strip().lower() == "authorization" and value.strip()[:7].lower() == "bearer ":
            return value.strip()[7:].strip()
    return ""


_REASONS = {
    200: "OK", 400: "Bad Request", 401: "Unauthorized", 404: "Not Found", 500: "Internal Server Error",
    501: "Not Implemented", 503: "Service Unavailable",
}  # fmt: skip
