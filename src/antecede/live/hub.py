"""What a broker sends and receives with: datagrams to brokers, connections to clients, one batch of both per turn.

Decided here: a name with an open connection is a client and is written to there, every other name is a broker; a client
may send only what clients send, under the name it was welcomed by; and a new connection under a client's name takes the
place of the old one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Protocol

from antecede.core.frames import (
    Ack,
    Attach,
    Detach,
    Frame,
    Fuse,
    Grow,
    Out,
    Ping,
    PingRequest,
    Pong,
    Publish,
    Retired,
    Sync,
    Want,
)
from antecede.live.address import Address
from antecede.live.datagram import MAX_BODY, Outgoing
from antecede.live.session import Leaving, Session
from antecede.live.transport import Counts, Received, Transport, encoded

if TYPE_CHECKING:
    from antecede.live.keys.guard import Guard

__all__ = ["Datagrams", "Hub"]

FROM_CLIENTS = (Publish, Attach, Ack, Want, Grow, Fuse, Detach, Retired, Ping, PingRequest, Pong, Sync, Out)


class Datagrams(Transport, Protocol):
    """What reaches brokers."""

    where: Callable[[str], Address | None]
    """Asked where a broker listens."""

    def rename(self, name: str) -> None: ...

    def skip(self) -> None:
        """Drop what has come and was not read."""


class Hub:
    def __init__(self, datagrams: Datagrams) -> None:
        self.datagrams = datagrams
        self.name = datagrams.name
        self.sessions: dict[str, Session] = {}
        self.counts: Counts = datagrams.counts
        self.connections = 0
        """Ever accepted."""
        self.bytes_in = self.bytes_out = 0
        """Of connections that have ended."""
        self.guard: Guard | None = None
        """Looks at what clients send, where keys say what they may."""
        self.takes_publications = True
        """False: those of clients are dropped unseen, since nobody would have them in a moment."""
        self._on_batch: Callable[[Received], None] | None = None
        self._is_open = False
        self.on_brokers: Callable[[], None] = _nothing
        """Called when frames of other brokers have come, before they are handed on."""

    def open(self, on_batch: Callable[[Received], None]) -> None:
        """A machine begins, perhaps after another one."""
        self._on_batch = on_batch
        if not self._is_open:
            self._is_open = True
            self.datagrams.open(self._from_brokers)
        else:  # it was for the last one: told that it is dead, the next one would believe that of itself
            self.datagrams.skip()

    def close(self) -> None:
        """A machine ends; the sockets stay for the next one (see `shut`)."""
        self._on_batch = None

    def shut(self) -> None:
        for session in list(self.sessions.values()):
            session.close()
        self.sessions.clear()
        self.datagrams.close()

    def abort(self) -> None:
        """As `shut`, without a word: what was written may be lost."""
        for session in list(self.sessions.values()):
            session.abort()
        self.sessions.clear()
        self.datagrams.close()

    def rename(self, name: str) -> None:
        self.name = name
        self.datagrams.rename(name)

    # -- clients ---------------------------------------------------------------------------------------------------

    def welcome(self, session: Session) -> None:
        """From now on this connection is the client that it says it is."""
        before = self.sessions.get(session.peer)
        self.sessions[session.peer] = session
        self.connections += 1
        if before is not None and before is not session:
            before.refuse(f"another connection has come under the name {session.peer}")

    def lost(self, session: Session) -> None:
        self.bytes_in += session.bytes_in
        self.bytes_out += session.bytes_out
        if self.sessions.get(session.peer) is session:
            del self.sessions[session.peer]

    def say_leaving(self, reason: str, clients: Iterable[str]) -> None:
        for client in clients:
            self.sessions[client].say(Leaving(reason))

    def drop_clients(self) -> None:
        for session in list(self.sessions.values()):
            session.close()

    def from_client(self, session: Session, frames: list[Frame]) -> None:
        if self.sessions.get(session.peer) is not session:
            self.counts.refused += len(frames)  # its place is taken
            return
        if self.guard is not None:
            frames = self.guard.passed(session, frames)
        batch: Received = [(session.peer, frame) for frame in frames if isinstance(frame, FROM_CLIENTS)]
        self.counts.refused += len(frames) - len(batch)
        if not self.takes_publications:
            batch = [(client, frame) for client, frame in batch if not isinstance(frame, Publish)]
        self._arrived(batch)

    def _from_brokers(self, batch: Received) -> None:
        self.on_brokers()
        self._arrived(batch)

    def _arrived(self, batch: Received) -> None:
        if self._on_batch is not None and batch:
            self._on_batch(batch)

    # -- out -------------------------------------------------------------------------------------------------------

    def send(self, frames: Sequence[Outgoing]) -> None:
        sessions = self.sessions
        to_clients: dict[str, list[bytes]] = {}
        to_brokers: list[Outgoing] = []
        for to, frame in frames:
            clients = [name for name in to if name in sessions]
            if not clients:
                to_brokers.append((to, frame))
                continue
            if len(clients) < len(to):
                to_brokers.append((tuple(name for name in to if name not in sessions), frame))
            for data in encoded(frame, MAX_BODY, self.counts, len(clients)):
                for name in clients:
                    to_clients.setdefault(name, []).append(data)
        if to_brokers:
            self.datagrams.send(to_brokers)
        for name, records in to_clients.items():
            if not sessions[name].send(records):
                self.counts.unsent += len(records)


def _nothing() -> None:
    """Nobody asked to be called."""
