"""MQTT over WebSocket, at `/mqtt` of the HTTP port: frames to bytes and back, for clients in browsers.

Decided here: the subprotocol is `mqtt`, and whoever does not ask for it is refused; packets may be cut by frames
anywhere, so only their bytes are passed on; text frames end the connection. A browser says from which page it comes:
pages of this host, of the loopback and of files may connect, others not, for any page that somebody looks at could
otherwise speak to a broker on that machine. The protocol itself is that of the package `websockets`, without its I/O.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from websockets.frames import Frame, Opcode
from websockets.http11 import Request
from websockets.protocol import State
from websockets.server import ServerProtocol
from websockets.typing import Subprotocol

from antecede.live.mqtt.connection import MAX_WAITING, MqttConnection
from antecede.live.mqtt.packets import MAX_PACKET

if TYPE_CHECKING:
    from antecede.live.mqtt.door import Door

__all__ = ["PATH", "converse", "is_welcome"]

PATH = "/mqtt"
LOOPBACK = ("localhost", "127.0.0.1", "::1")
READ = 1 << 16
MAX_MESSAGE = 4 * MAX_PACKET
"""Bytes of one message of WebSocket, which may hold several packets."""


class Line:
    """What an MqttConnection writes to."""

    def __init__(self, protocol: ServerProtocol, writer: asyncio.StreamWriter) -> None:
        self._protocol, self._writer = protocol, writer
        self.connection: MqttConnection | None = None
        self._reading = asyncio.Event()
        self._reading.set()
        self._draining: asyncio.Task[None] | None = None

    def write(self, data: bytes) -> None:
        if self._protocol.state is State.OPEN:
            self._protocol.send_binary(data)
            self.flush()

    def flush(self) -> None:
        """What the protocol wants to say."""
        for data in self._protocol.data_to_send():
            if data:
                self._writer.write(data)
            elif self._writer.can_write_eof():
                self._writer.write_eof()
        if self._writer.transport.get_write_buffer_size() > MAX_WAITING and self._draining is None:
            if self.connection is not None:
                self.connection.pause_writing()
            self._draining = asyncio.get_running_loop().create_task(self._drain())

    async def _drain(self) -> None:
        try:
            await self._writer.drain()
        except ConnectionError:
            return
        finally:
            self._draining = None
        if self.connection is not None:
            self.connection.resume_writing()

    def can_write_eof(self) -> bool:
        return True

    def write_eof(self) -> None:
        if self._protocol.state is State.OPEN:
            self._protocol.send_close(1000)
            self.flush()

    def pause_reading(self) -> None:
        self._reading.clear()

    def resume_reading(self) -> None:
        self._reading.set()

    async def may_read(self) -> None:
        await self._reading.wait()

    def abort(self) -> None:
        self._reading.set()
        self._writer.transport.abort()


async def converse(door: Door, head: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """From the request, which has come, to the end of the connection."""
    protocol = ServerProtocol(subprotocols=[Subprotocol("mqtt")], max_size=MAX_MESSAGE)
    line = Line(protocol, writer)
    connection: MqttConnection | None = None
    data = head
    try:
        while data:
            protocol.receive_data(data)
            for event in protocol.events_received():
                if isinstance(event, Request):
                    connection = _accept(door, protocol, event, line)
                elif isinstance(event, Frame) and connection is not None:
                    _take(event, protocol, connection)
            line.flush()
            if connection is None or protocol.close_expected():
                break
            await line.may_read()
            data = await reader.read(READ)
    except (ConnectionError, TimeoutError):
        pass
    finally:
        if connection is not None:
            connection.connection_lost(None)
        try:
            await writer.drain()
        except ConnectionError:
            pass


def _accept(door: Door, protocol: ServerProtocol, request: Request, line: Line) -> MqttConnection | None:
    response = protocol.accept(request)
    if response.status_code == 101 and not is_welcome(request.headers.get("Origin"), request.headers.get("Host")):
        response = protocol.reject(403, "A page of another host may not speak to this broker.\n")
    if response.status_code == 101 and protocol.subprotocol != "mqtt":
        response = protocol.reject(400, "This path speaks MQTT: ask for the subprotocol mqtt.\n")
    protocol.send_response(response)
    if response.status_code != 101:
        return None
    connection = line.connection = MqttConnection(door)
    connection.connection_made(line)
    return connection


def is_welcome(origin: str | None, host: str | None) -> bool:
    """Whether a page from there may connect.

    >>> [is_welcome(one, "broker:80") for one in (None, "null", "http://broker", "http://localhost:3000", "https://x.org")]
    [True, True, True, True, False]
    """
    if origin is None or origin == "null":
        return True
    name = urlsplit(origin).hostname
    return name in LOOPBACK or (name is not None and name == urlsplit(f"//{host}").hostname)


def _take(frame: Frame, protocol: ServerProtocol, connection: MqttConnection) -> None:
    if frame.opcode is Opcode.TEXT:
        protocol.fail(1003, "MQTT is binary")
    elif frame.opcode in (Opcode.BINARY, Opcode.CONT):
        connection.data_received(bytes(frame.data))
