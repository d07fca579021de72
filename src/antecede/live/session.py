"""One connection between a client and a broker: how bytes become frames, and what both say before the first one.

A connection is a row of records: four bytes of length, then that many bytes. A record is a frame of `wire`, whose first
byte is its version, or, after a zero byte, something the two processes say to each other below the protocol: HELLO and
WELCOME when the connection begins, REFUSED when it must not, LEAVING when the broker is about to stop.

Decided here: a length is believed only up to a limit, and before anything is kept for it; one malformed record ends the
connection, for its sender is not to be believed; whoever reads too slowly loses frames once so many bytes wait for it,
as on any network that loses (the protocol sends again what matters); and a broker takes from each connection a share at
a time. Example: Eve sends 2,000 messages at once, Ann one. The broker takes 32 of Eve's, then Ann's, then 32 of Eve's;
what is left waits here as bytes, and while they are many Eve's connection is not read: TCP makes her wait.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import msgspec

from antecede.core.frames import Frame, Publish
from antecede.errors import RemoteProtocolError
from antecede.live.keys.rights import Rights
from antecede.wire import decode_in_parts

if TYPE_CHECKING:
    from antecede.live.keys.guard import Bearer

__all__ = [
    "CLIENT",
    "MAX_GREETING",
    "MAX_RECORD",
    "PLENTY",
    "SHARE",
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
    "weight",
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
SHARE = 32
"""Messages and other frames that a broker takes from one connection before it looks at the others: a few milliseconds
of its time. Raising it makes the others wait for whoever sends much; lowering it costs datagrams."""
PLENTY = 64 * 2**10
"""Bytes that may wait for their turn; while there are more the connection is not read. Costs memory per connection."""
_ALL = 2**62
_LENGTH = 4


def weight(frame: Frame) -> int:
    """What it counts for: messages and other frames."""
    return len(frame.envelopes) or 1 if isinstance(frame, Publish) else 1


class Said(msgspec.Struct, frozen=True):
    """What two processes say to each other below the protocol."""


class Hello(Said, array_like=True, frozen=True, tag=1):
    version: int
    role: str
    name: str
    """What it wants to be called; the answer says what it is called."""
    fresh: bool = True
    """Whether it has no memory: then a name that was used before gets its next incarnation."""
    life: int = -1
    """The incarnation it had, if it was declared dead and begins again: it yields to a later one."""
    site: str = ""
    """Where it listens itself, if it is a broker; when and where it began, if it is a client that has."""
    table: dict[str, list[str]] | None = None
    """A broker's: the table in its settings, which must be that of all others."""
    token: str = ""
    """What shows that it may come in, where keys are asked for: a client's token, a broker's proof."""

    def __repr__(self) -> str:
        return f"Hello({self.version}, {self.role!r}, {self.name!r})"


class Welcome(Said, array_like=True, frozen=True, tag=2):
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


class Refused(Said, array_like=True, frozen=True, tag=3):
    reason: str
    final: bool = False
    """Whether no other broker would say otherwise."""


class Leaving(Said, array_like=True, frozen=True, tag=4):
    """The broker stops soon: go elsewhere, it still listens for a moment."""

    reason: str = ""


class Question(Said, array_like=True, frozen=True, tag=5):
    """A broker asks another one something that is no matter of the protocol, such as who holds a session."""

    subject: str
    body: bytes = b""


class Reply(Said, array_like=True, frozen=True, tag=6):
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
        self.share = _ALL
        """Messages and other frames that are taken in one turn."""
        self._on_control, self._on_frames, self._on_lost = on_control, on_frames, on_lost
        self._kept = bytearray()
        self._at = 0
        """So much of it has been taken in this turn."""
        self._parts: Iterator[Frame] | None = None
        """What is left of a record that was too large for one turn."""
        self._turn: asyncio.Handle | None = None
        self._held = self._paused = False

    # -- in --------------------------------------------------------------------------------------------------------

    def connection_made(self, transport: Any) -> None:
        self.pipe = transport

    def connection_lost(self, exc: Exception | None) -> None:
        if self.pipe is not None:
            self.pipe = None
            if self._held and not self.fault:  # what had come still counts
                self._held = False
                self._turn = asyncio.get_running_loop().call_soon(self._take)
            if self._turn is None:
                self._on_lost(self)

    def data_received(self, data: bytes) -> None:
        self.bytes_in += len(data)
        self._kept += data
        if self._turn is None and not self._held:
            self._take()
        elif len(self._kept) > PLENTY:
            self._pause()

    def _take(self) -> None:
        """One share of what has come. A fault on this side ends the connection (the event loop says so in the log);
        what has come still counts."""
        self._turn = None
        left, frames, fault = self.share, list[Frame](), ""
        try:
            try:
                while left > 0 and not self.fault and (one := self._next()) is not None:
                    if isinstance(one, Said):
                        frames = self._hand_on(frames)
                        self._on_control(self, one)
                        left -= 1
                    else:
                        frames.append(one)
                        left -= weight(one)
            except RemoteProtocolError as error:
                fault = str(error)
            self._hand_on(frames)
            if fault and not self.fault:
                self.refuse(fault)
        except BaseException:
            left = 0
            self.abort()
            raise
        finally:
            del self._kept[: self._at]
            self._at = 0
            self._go_on(more=left <= 0)

    def _hand_on(self, frames: list[Frame]) -> list[Frame]:
        if frames and not self.fault:
            self._on_frames(self, frames)
        return []

    def _go_on(self, *, more: bool) -> None:
        """The others' turn; then the next share, if anything waits."""
        if self.fault:
            self._kept.clear()
            self._parts, more = None, False
        if more and not self._held:
            self._turn = asyncio.get_running_loop().call_soon(self._take)
        if self.pipe is None:
            if self._turn is None:
                self._on_lost(self)
        elif more and len(self._kept) > PLENTY:
            self._pause()
        elif self._paused and not (more or self._held or self.pipe.is_closing()):
            self._paused = False
            self.pipe.resume_reading()

    def _pause(self) -> None:
        if self.pipe is not None and not self._paused:
            self._paused = True
            self.pipe.pause_reading()

    def _next(self) -> Frame | Control | None:
        """What comes next, if it has come."""
        if self._parts is not None:
            frame = next(self._parts, None)
            if frame is not None:
                return frame
            self._parts = None
        kept, at = self._kept, self._at + _LENGTH
        if len(kept) < at:
            return None
        size = int.from_bytes(kept[self._at : at], "little")
        if not 2 <= size <= self.most:
            raise RemoteProtocolError(f"a record of {size} bytes")
        if len(kept) < at + size:
            return None
        record = bytes(kept[at : at + size])
        self._at = at + size
        if not record[0]:
            return self._said(record)
        if not self.peer:
            raise RemoteProtocolError("a frame before HELLO")
        self._parts = decode_in_parts(record, self.share)
        return next(self._parts)

    def _said(self, record: bytes) -> Control:
        try:
            said: Control = _decoder.decode(memoryview(record)[1:])
            return said
        except (msgspec.MsgspecError, RecursionError) as fault:
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
        """Take nothing more for a while: what is sent meanwhile waits at its sender."""
        if self.pipe is not None:
            self._held = True
            self._pause()
            asyncio.get_running_loop().call_later(seconds, self._read_on)

    def _read_on(self) -> None:
        if self._held:
            self._held = False
            self._take()
