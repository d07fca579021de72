"""What the doors of several brokers ask each other: who holds a session, what is retained, where MQTT is spoken.

Decided here: a client that comes to one broker takes its session along from whichever broker holds it; of two that
come at the same time, to two brokers, the later one wins by the clock that brokers share; a broker that begins takes
over what others retain; and a broker that does not answer in time has nothing. Questions go over connections between
brokers' own ports, as visitors, so whatever protects those protects these.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from antecede.core.frames import Data
from antecede.core.message import Envelope
from antecede.errors import AntecedeError
from antecede.live.address import text_of
from antecede.live.calling import Turned
from antecede.live.mqtt.moving import Moved, pack, read_moved
from antecede.live.session import Control, Question, Reply, Session
from antecede.live.visiting import visit
from antecede.wire import decode, encode

if TYPE_CHECKING:
    from antecede.live.mqtt.door import Door

__all__ = ["Beaten", "Claim", "Peers"]

log = logging.getLogger("antecede.mqtt")

ANSWER_S = 2.0
"""How long another broker is waited for."""
SAFE_S = 1.0
"""How long a session that moves waits until what it published is safe."""
CHUNK = 256 * 2**10
"""Bytes of one reply."""
TAKE, KEPT, WHERE = "mqtt take", "mqtt kept", "mqtt where"

Claim = tuple[int, str]
"""When a client came, and to which broker: the greatest wins."""


class Beaten(AntecedeError):
    """Another client has come under the same identifier, later, elsewhere."""


class Take(msgspec.Struct, array_like=True, frozen=True):
    client_id: str
    fresh: bool
    """Whether its client wants to begin anew: then the session only ends."""
    claim: Claim


_LATER = b"\0"
"""Instead of a session: a client that came later is being admitted here."""

_take = msgspec.msgpack.Decoder(Take).decode
_encode = msgspec.msgpack.Encoder().encode


class Peers:
    def __init__(self, door: Door) -> None:
        self._door = door
        self._claims: dict[str, Claim] = {}
        """Clients that are being admitted here."""

    # -- asking ----------------------------------------------------------------------------------------------------

    def others(self) -> list[str]:
        broker = self._door.broker
        return [name for name in broker.managed.brokers() if name != broker.name]

    async def ask(self, name: str, subject: str, body: bytes = b"") -> list[bytes]:
        """What that broker replies; nothing where it does not."""
        broker, replies = self._door.broker, list[bytes]()
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        def heard(session: Session, said: Control) -> None:
            if isinstance(said, Reply) and not done.done():
                replies.append(said.body)
                if not said.more:
                    done.set_result(None)

        def lost(session: Session) -> None:
            if not done.done():
                done.set_exception(ConnectionResetError("it closed the connection"))

        where = broker.where(name)
        if where is None:
            return []
        try:
            async with asyncio.timeout(ANSWER_S):
                session = (await visit(broker, where, broker.name, heard=heard, lost=lost)).session
                session.say(Question(subject, body))
                await done
            session.close()
        except (OSError, TimeoutError, Turned) as fault:
            done.cancel()
            log.warning("%s does not answer (%s): %s", name, subject, fault)
            return []
        return [one for one in replies if one]

    async def take(self, client_id: str, fresh: bool) -> Moved | None:
        """The session of this identifier, from whichever broker holds it. Raises Beaten."""
        broker, others = self._door.broker, self.others()
        claim = (broker.clock.now_us(), broker.name)
        if not others:
            return None
        self._claims[client_id] = claim
        try:
            body = _encode(Take(client_id, fresh, claim))
            answers = await asyncio.gather(*(self.ask(name, TAKE, body) for name in others))
            if self._claims.get(client_id) != claim or any(_LATER in one for one in answers):
                raise Beaten("Another client has come under this identifier.")
        finally:
            if self._claims.get(client_id) == claim:
                del self._claims[client_id]
        found = [b"".join(one) for one in answers if one]
        return read_moved(found[0]) if found else None

    async def where(self, names: Sequence[str]) -> str | None:
        """Where one of these brokers speaks MQTT, as HOST:PORT."""
        for name in names:
            said = await self.ask(name, WHERE)
            if said:
                return said[0].decode()
        return None

    async def catch_up(self) -> None:
        """Take over what others retain; this broker has begun."""
        door = self._door
        while not door.stopping and not door.broker.machine.joined:
            await asyncio.sleep(0.02)
        for name in self.others():
            for body in await self.ask(name, KEPT):
                frame = decode(body)
                assert isinstance(frame, Data)
                for envelope in frame.envelopes:
                    if door.broker.machine.interest.wants(envelope.message.topics):
                        door.retained.learned(envelope, door.broker.clock.now_us())

    # -- answering -------------------------------------------------------------------------------------------------

    def asked(self, session: Session, question: Question) -> None:
        self._door.start(self._answer(session, question))

    async def _answer(self, session: Session, question: Question) -> None:
        bodies: list[bytes] = []
        if question.subject == TAKE:
            given = await self._give(_take(question.body))
            bodies = [given[place : place + CHUNK] for place in range(0, len(given), CHUNK)]
        elif question.subject == KEPT:
            bodies = [encode(Data(tuple(some))) for some in self._kept()]
        elif question.subject == WHERE and self._door.address is not None:
            bodies = [text_of(self._door.address).encode()]
        for place, body in enumerate(bodies or [b""], 1):
            session.say(Reply(body, more=place < len(bodies)))

    async def _give(self, asked: Take) -> bytes:
        mine = self._claims.get(asked.client_id)
        if mine is not None:
            if mine > asked.claim:
                return _LATER
            self._claims[asked.client_id] = asked.claim  # the one that is being admitted here sees that it is beaten
        door = self._door
        session = door.sessions.get(asked.client_id)
        if session is None:
            return b""
        door.release(session, fresh=asked.fresh)
        if door.sessions.get(asked.client_id) is not session or asked.fresh or not session.seat.is_ready:
            if door.sessions.get(asked.client_id) is session:
                door.end(session)
            return b""
        del door.sessions[asked.client_id]
        session.wills.goodbye()
        await session.seat.flush(SAFE_S)
        state = pack(session)
        door.end(session)
        return state

    def _kept(self) -> list[list[Envelope]]:
        batches: list[list[Envelope]] = []
        size = CHUNK
        for one in list(self._door.retained.by_topic.values()):
            if size >= CHUNK:
                batches.append([])
                size = 0
            batches[-1].append(one.envelope)
            size += len(one.envelope.message.payload) + 200
        return batches
