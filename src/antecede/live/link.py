"""A client's connection to its home: which broker it calls, and what it does when the connection is lost.

Decided here: the home it had is called first, for a connection may break though the broker lives; then the brokers that
membership knows, in a random order; then the addresses the application gave. When nobody answers it waits, twice as
long each time and never exactly as long as others. A broker that says it is leaving is not called again before others,
and one that does not carry what the client wants says where others are, no more.
"""

from __future__ import annotations

import asyncio
import logging
import ssl
from collections.abc import Callable, Iterable, Sequence

from antecede.core.frames import Frame, Published
from antecede.errors import InputError
from antecede.live.address import Address, text_of
from antecede.live.calling import Answered, Silent, Turned, call
from antecede.live.datagram import MAX_BODY, Outgoing
from antecede.live.network import Network
from antecede.live.node import Clock
from antecede.live.session import CLIENT, VERSION, Control, Hello, Leaving, Refused, Session, Welcome
from antecede.live.transport import Counts, Received, encoded

__all__ = ["Link"]

log = logging.getLogger("antecede.client")

FIRST_PAUSE_S, LAST_PAUSE_S = 0.05, 2.0
"""Between two rounds of calls that nobody answers."""
ANSWER_S, SECURE_ANSWER_S = 2.0, 4.0
"""How long an answer is waited for; with TLS there is a handshake, which a broker under attack begins later."""


class Link:
    """A Transport with one peer at a time."""

    def __init__(
        self,
        network: Network,
        clock: Clock,
        name: str,
        *,
        places: Callable[[], Iterable[tuple[str, Address]]],
        on_linked: Callable[[Answered], None],
        on_away: Callable[[str], None],
        on_published: Callable[[Sequence[str]], None],
        on_final: Callable[[], None],
        accepts: Callable[[Welcome], bool],
        tls: ssl.SSLContext | None = None,
        token: Callable[[], str] = str,
    ) -> None:
        """`tls`: with what brokers are verified; `token`: asked for each call, since tokens are renewed."""
        self.network, self.clock, self.name = network, clock, name
        self.counts = Counts()
        self._dice = network.dice(f"{name} link")
        self.session: Session | None = None
        self.fresh = True
        """Whether this client has never been welcomed."""
        self.moves = 0
        self.life = -1
        """The incarnation it had before it began again; -1: it never did."""
        self.site = ""
        """When and where it began, once it has: so brokers tell it from another client of its name."""
        self.refusal = ""
        """Why the last broker that answered refused."""
        self.is_final = False
        """Whether all others would refuse too."""
        self.stranger: Address | None = None
        """Where something took a call of the last round and did not answer in the words of a broker."""
        self._tls, self._token = tls, token
        self._places, self._on_linked, self._on_away = places, on_linked, on_away
        self._on_published, self._on_final, self._accepts = on_published, on_final, accepts
        self._on_batch: Callable[[Received], None] | None = None
        self._leaving: set[str] = set()
        self._cut = asyncio.Event()
        self.is_closed = False

    @property
    def peer(self) -> str | None:
        """The broker at the other end."""
        return None if self.session is None else self.session.peer

    # -- the transport of a node -----------------------------------------------------------------------------------

    def open(self, on_batch: Callable[[Received], None]) -> None:
        self._on_batch = on_batch

    def send(self, frames: Sequence[Outgoing]) -> None:
        session = self.session
        records: list[bytes] = []
        for to, frame in frames:
            if session is None or session.peer not in to:
                self.counts.unsent += 1
            else:
                records += encoded(frame, MAX_BODY, self.counts)
        if records and session is not None:
            if session.send(records):
                self.counts.sent += len(records)
                self.counts.bytes_sent += sum(map(len, records))
            else:
                self.counts.unsent += len(records)

    def close(self) -> None:
        """A machine ends; the connection stays for the next one (see `shut`)."""
        self._on_batch = None

    def begin_again(self, base: str, life: int) -> None:
        """The next machine of this client asks for its next name."""
        self.name, self.life, self.fresh = base, life, True
        self.go_elsewhere()

    def shut(self) -> None:
        self.is_closed = True
        self._cut.set()
        if self.session is not None:
            self.session.close()

    # -- the connection --------------------------------------------------------------------------------------------

    async def keep(self) -> None:
        """Until it is closed: be connected."""
        pause_s = FIRST_PAUSE_S
        while not self.is_closed:
            if await self._connect():
                pause_s = FIRST_PAUSE_S
                await self._cut.wait()
            else:
                self._leaving.clear()
                await asyncio.sleep(pause_s * (0.5 + self._dice.random()))
                pause_s = min(2 * pause_s, LAST_PAUSE_S)

    def _closing(self) -> bool:
        """Asked anew after every wait."""
        return self.is_closed

    def go_elsewhere(self) -> None:
        """The machine wants another home than this one."""
        if self.session is not None:
            self.session.close()
            self._lost(self.session)

    async def _connect(self) -> bool:
        tried: set[Address] = set()
        untrusted = 0
        self.stranger = None
        places = list(self._places())
        for broker, address in [p for p in places if p[0] not in self._leaving] + [
            p for p in places if p[0] in self._leaving
        ]:
            if address in tried or self.is_closed:
                continue
            tried.add(address)
            try:
                hello = Hello(VERSION, CLIENT, self.name, self.fresh, self.life, self.site, token=self._token())
                answered = await call(
                    self.network, address, hello, self.clock,
                    on_control=self._heard, on_frames=self._frames, on_lost=self._lost, tls=self._tls,
                    timeout_s=ANSWER_S if self._tls is None else SECURE_ANSWER_S,
                )  # fmt: skip
            except ssl.SSLCertVerificationError as fault:
                self.refusal = (
                    f"The certificate at {text_of(address)} is not to be trusted ({fault.verify_message}): "
                    "give the ca.pem of its cluster, and call it by a name that it is for."
                )
                log.info("%s: %s", self.name, self.refusal)
                untrusted += 1
                continue
            except InputError as fault:  # its token cannot be read
                self.refusal = str(fault)
                log.info("%s: %s", self.name, fault)
                untrusted += 1
                continue
            except (OSError, TimeoutError) as fault:
                if isinstance(fault, ssl.SSLError | ConnectionResetError | BrokenPipeError | Silent):
                    self.stranger = address
                log.debug("%s: nobody answers at %s (%s)", self.name, text_of(address), fault or broker)
                continue
            except Turned as refusal:
                self.refusal = str(refusal)
                log.info("%s: refused by %s: %s", self.name, text_of(address), refusal)
                if refusal.final:
                    self._end(str(refusal))
                    return False
                continue
            if self._closing():
                answered.session.close()
                return False
            if not self._accepts(answered.welcome):
                answered.session.close()
                continue
            self._cut.clear()
            self.session = answered.session
            self.name = answered.welcome.name
            self.fresh, self.life = False, -1
            self.moves += 1
            self._on_linked(answered)
            return self.session is not None
        if tried and untrusted == len(tried) and not self.moves:
            self._end(self.refusal)  # one that has been in waits: certificates and tokens are renewed
        return False

    def _end(self, refusal: str) -> None:
        """No broker will have this client, so none is called any more."""
        self.refusal, self.is_final = refusal, True
        self._on_final()

    def _frames(self, session: Session, frames: list[Frame]) -> None:
        if session is not self.session or self._on_batch is None:
            return
        self.counts.received += len(frames)
        self._on_batch([(session.peer, frame) for frame in frames])
        for frame in frames:
            if isinstance(frame, Published):
                self._on_published(frame.ids)

    def _heard(self, session: Session, said: Control) -> None:
        if session is not self.session:
            return
        if isinstance(said, Leaving):
            log.info("%s: %s is leaving", self.name, session.peer)
            self._leaving.add(session.peer)
            self.go_elsewhere()
        elif isinstance(said, Refused):
            self.refusal = said.reason
            log.warning("%s: %s closed the connection: %s", self.name, session.peer, said.reason)
            if said.final:
                self._end(said.reason)

    def _lost(self, session: Session) -> None:
        if session is self.session:
            self.session = None
            self._on_away(session.peer)
            self._cut.set()
