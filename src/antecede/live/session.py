"""One connection between a client and a broker: how bytes become frames, and what both say before the first one.

A connection is a row of records: four bytes of length, then that many bytes. A record is a frame of `wire`, whose first
byte is its version, or, after a zero byte, something the two processes say to each other below the protocol: HELLO and
WELCOME when the connection begins, REFUSED when it must not, LEAVING when the broker is about to stop.

Decided here: a length is believed only up to a limit, and before anything is kept for it; one malformed record ends the
connection, for its sender is not to be believed; and whoever reads too slowly loses frames once so many bytes wait for
it, as on any network that loses (the protocol sends again what matters).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import msgspec

from antecede.core.frames import Frame
from antecede.errors import RemoteProtocolError
from antecede.live.keys.rights import Rights
from antecede.wire import decode

if TYPE_CHECKING:
    from antecede.live.keys.guard import Bearer

__all__ = [
    "CLIENT",
    "MAX_GREETING",
    "MAX_RECORD",
    "VERSION",
    "VISITOR",
    "Control",
    "Hello",
    "Leaving",
    "Question",
    "Refused",
    "Reply",
    "Session",
    "Welcome",
]

VERSION = 1
"""The version of what two processes say to each other; frames have a version of their own."""
CLIENT, VISITOR = "client", "visitor"
"""The callers that say HELLO: one that stays and exchanges frames, or one that only wants to know who is there."""

MAX_RECORD = 4 * 2**20
"""Bytes of one record. Batches stay below a datagram; what is larger is a frontier or a view of thousands."""
MAX_GREETING = 128 * 2**10
"""Bytes of the first record to a broker, whose sender is not known yet: a table and a token."""
MAX_WAITING = 8 * 2**20
"""Bytes that may wait for a peer that reads slowly; beyond it frames to it are dropped. Costs memory per connection."""
_LENGTH = 4


class Hello(msgspec.Struct, array_like=True, frozen=True, tag=1):
    version: int
    role: str
    name: str
    """What it wants to be called; the answer says what it is called."""
    fresh: bool = True
    """Whether it has no memory: then a name that was used before gets its next incarnation."""
    life: int = -1
    """The incarnation it had, if it was declared dead and begins again: it yields to a later one."""
    site: str = ""
    """Where it listens itself, if it is a broker,"""
    table: dict[str, list[str]] | None = None
    """and the table in its settings, which must be that of all others."""
    token: str = ""
    """What shows that it may come in, where keys are asked for: a client's token, a broker's proof."""

    def __repr__(self) -> str:
        return f"Hello({self.version}, {self.role!r}, {self.name!r})"


class Welcome(msgspec.Struct, array_like=True, frozen=True, tag=2):
    version: int
    name: str
    """What the caller is called from now on."""
    broker: str
    table: dict[str, list[str]]
    """The cluster's table: filter -> the brokers that carry it, none named: all."""
    run: str
    """The name of this execution, the same at all brokers and clients: their records belong together."""
    clock_us: int
    """The broker's clock when it answered."""
    brokers: dict[str, str]
    """Every broker it knows, and where each listens."""
    machine: str = ""
    """On which machine it runs; on the same one clocks can agree exactly:"""
    base_us: int = 0
    """what it adds to the monotonic clock."""
    rights: Rights | None = None
    """What the caller's token lets it do, where tokens are asked for,"""
    size: int = 0
    """and the limits that a client keeps by itself: bytes of a message,"""
    subscriptions: int = 0
    """filters at a time; 0: none."""


class Refused(msgspec.Struct, array_like=True, frozen=True, tag=3):
    reason: str
    final: bool = False
    """Whether no other broker would say otherwise."""


class Leaving(msgspec.Struct, array_like=True, frozen=True, tag=4):
    """The broker stops soon: go elsewhere, it still listens for a moment."""

    reason: str = ""


class Question(msgspec.Struct, array_like=True, frozen=True, tag=5):
    """A broker asks another one something that is no matter of the protocol, such as who holds a session."""

    subject: str
    body: bytes = b""


class Reply(msgspec.Struct, array_like=True, frozen=True, tag=6):
    body: bytes = b""
    more: bool = False
    """Whether another one follows."""


Control: TypeAlias = Hello | Welcome | Refused | Leaving | Question | Reply

_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(Control)


class Pipe(Protocol):
    """What a session writes to: an asyncio transport, or memory."""

    def write(self, data: bytes, /) -> None: ...
    def close(self) -> None: ...
    def abort(self) -> None: ...
    def get_write_buffer_size(self) -> int: ...
    def is_closing(self) -> bool: ...
    def pause_reading(self) -> None: ...
    def resume_reading(self) -> None: ...


class Session(asyncio.Protocol):
    """Either end. `on_control(session, said)`, `on_frames(session, frames)` and `on_lost(session)` are called in the
    event loop; frames that came together are handed on together."""

    def __init__(
        self,
        on_control: Callable[[Session, Control], None],
        on_frames: Callable[[Session, list[Frame]], None],
        on_lost: Callable[[Session], None],
    ) -> None:
        self.peer = ""
        """The process at the other end, once it has said its name."""
        self.pipe: Pipe | None = None
        self.fault: str = ""
        """Why this end closed the connection, if it did."""
        self.bytes_in = self.bytes_out = self.dropped = 0
        self.bearer: Bearer | None = None
        """What the other end may do, at a broker that goes by keys."""
        self.visits = False
        """Whether the other end was told who is there, as a broker: it may ask questions."""
        self.most = MAX_RECORD
        """Bytes of a record that are believed now."""
        self._on_control, self._on_frames, self._on_lost = on_control, on_frames, on_lost
        self._kept = bytearray()

    # -- in --------------------------------------------------------------------------------------------------------

    def connection_made(self, transport: Any) -> None:
        self.pipe = transport

    def connection_lost(self, exc: Exception | None) -> None:
        if self.pipe is not None:
            self.pipe = None
            self._on_lost(self)

    def data_received(self, data: bytes) -> None:
        self.bytes_in += len(data)
        kept = self._kept
        kept += data
        frames: list[Frame] = []
        at, end = 0, len(kept)
        try:
            while end - at >= _LENGTH:
                size = int.from_bytes(kept[at : at + _LENGTH], "little")
                if not 2 <= size <= self.most:
                    raise RemoteProtocolError(f"a record of {size} bytes")
                if end - at - _LENGTH < size:
                    break
                record = bytes(kept[at + _LENGTH : at + _LENGTH + size])
                at += _LENGTH + size
                if record[0]:
                    if not self.peer:
                        raise RemoteProtocolError("a frame before HELLO")
                    frames.append(decode(record))
                else:
                    if frames:
                        self._on_frames(self, frames)
                        frames = []
                    self._on_control(self, self._said(record))
        except RemoteProtocolError as fault:
            self.refuse(str(fault))
            return
        finally:
            if frames and self.pipe is not None:
                self._on_frames(self, frames)
        del kept[:at]

    def _said(self, record: bytes) -> Control:
        try:
            said: Control = _decoder.decode(memoryview(record)[1:])
            return said
        except msgspec.MsgspecError as fault:
            raise RemoteProtocolError(f"neither frame nor greeting: {fault}") from None

    # -- out -------------------------------------------------------------------------------------------------------

    @property
    def is_known(self) -> bool:
        """Whether the other end has been welcomed, as a client or as a broker that asks."""
        return bool(self.peer) or self.visits

    @property
    def is_open(self) -> bool:
        return self.pipe is not None

    def say(self, said: Control) -> None:
        if self.pipe is not None:
            body = b"\0" + _encoder.encode(said)
            self._write(len(body).to_bytes(_LENGTH, "little") + body)

    def send(self, frames: Sequence[bytes]) -> bool:
        """Encoded frames, in one write; False: too much waits already, or it is closed, and they are dropped."""
        pipe = self.pipe
        if pipe is None or pipe.get_write_buffer_size() > MAX_WAITING:
            self.dropped += len(frames)
            return False
        parts: list[bytes] = []
        for frame in frames:
            parts.append(len(frame).to_bytes(_LENGTH, "little"))
            parts.append(frame)
        self._write(b"".join(parts))
        return True

    def _write(self, data: bytes) -> None:
        assert self.pipe is not None
        self.bytes_out += len(data)
        self.pipe.write(data)

    def refuse(self, reason: str, *, final: bool = False) -> None:
        """Say why, then close."""
        self.fault = reason
        self.say(Refused(reason, final))
        self.close()

    def close(self) -> None:
        """What was written still leaves."""
        if self.pipe is not None:
            self.pipe.close()

    def abort(self) -> None:
        if self.pipe is not None:
            self.pipe.abort()

    def hold(self, seconds: float) -> None:
        """Read nothing more for a while: what is sent meanwhile waits at its sender."""
        if self.pipe is not None:
            self.pipe.pause_reading()
            asyncio.get_running_loop().call_later(seconds, self._read_on)

    def _read_on(self) -> None:
        if self.pipe is not None and not self.pipe.is_closing():
            self.pipe.resume_reading()
