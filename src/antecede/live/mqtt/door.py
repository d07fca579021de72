"""The second door of a broker: MQTT 5 clients come in here, each as a client machine beside the broker.

Decided here: who has which client identifier (the last CONNECT wins), which sessions there are, what a client is told
when it comes (CONNACK) and why it is turned away; and what is counted. A session's machine has a fresh name, so that
ids can hold any client identifier.
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
from collections import Counter
from collections.abc import AsyncIterator, Coroutine, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import mqtt5

from antecede.core.message import Message
from antecede.errors import AntecedeError, EnvironmentFault
from antecede.live.address import Address, in_use, text_of
from antecede.live.keys.door import Door as Gate
from antecede.live.keys.rights import Refusal, Rights
from antecede.live.mqtt.aliases import MAX_ALIASES, Aliases
from antecede.live.mqtt.connection import KEEP_ALIVE_S, MqttConnection
from antecede.live.mqtt.flight import RECEIVE_MAX
from antecede.live.mqtt.mapping import Told, asks_for_ids, told
from antecede.live.mqtt.moving import next_name, unpack
from antecede.live.mqtt.packets import MAX_PACKET
from antecede.live.mqtt.peers import Beaten, Peers
from antecede.live.mqtt.retained import Retained
from antecede.live.mqtt.session import MqttSession

if TYPE_CHECKING:
    from antecede.live.broker import Broker

__all__ = ["MAX_CONNECTIONS", "Door"]

log = logging.getLogger("antecede.mqtt")

MAX_CONNECTIONS = 10_000
"""Connections at once; more are closed at once. Costs memory and descriptors."""
BACKLOG = 128
"""Connections that the system holds until they are let in."""
MAX_CLIENT_ID = 1_024
"""Bytes of a client identifier."""
FAREWELL_S = 0.5
"""How long a broker that stops waits until its clients have closed."""
REMEMBERED = 512
"""Messages that were read not long ago: several sessions want the same ones."""


class Door:
    def __init__(self, broker: Broker) -> None:
        self.broker = broker
        self.sessions: dict[str, MqttSession] = {}
        self.retained = Retained()
        self.counts: Counter[str] = Counter()
        self.address: Address | None = None
        self.stopping = False
        self.connections: set[MqttConnection] = set()
        self._server: asyncio.Server | None = None
        self._gate: Gate | None = None
        """Where keys are asked for, instead of a server."""
        self._locks: dict[str, tuple[asyncio.Lock, int]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._told: dict[str, Told] = {}
        self.peers = Peers(self)

    # -- listening -------------------------------------------------------------------------------------------------

    async def open(self, host: str, port: int) -> None:
        """Port 0: the system chooses."""
        protection = self.broker.protection
        try:
            if protection is None:
                make = asyncio.get_running_loop().create_server
                self._server = await make(lambda: MqttConnection(self), host, port)
                self.address = self._server.sockets[0].getsockname()[:2]
            else:  # whoever only connects, or trickles, is kept from those who are in as at the broker's own port
                family = socket.AF_INET6 if ":" in host else socket.AF_INET
                listener = socket.create_server((host, port), family=family, backlog=BACKLOG)
                listener.setblocking(False)
                self.address = listener.getsockname()[:2]
                self._gate = protection.door(listener, lambda: MqttConnection(self))
        except OSError as fault:
            raise EnvironmentFault(in_use((host, port), fault, "--mqtt")) from None

    def _shut(self) -> None:
        """Let nobody else in."""
        for way in (self._server, self._gate):
            if way is not None:
                way.close()

    def opened(self, connection: MqttConnection) -> None:
        self.connections.add(connection)
        self.counts["connections"] += 1
        if len(self.connections) > MAX_CONNECTIONS:
            self.counts["turned_away"] += 1
            asyncio.get_running_loop().call_soon(connection.abort)

    def closed(self, connection: MqttConnection) -> None:
        self.connections.discard(connection)

    async def stop(self) -> None:
        """Tell all clients, and let go of all sessions."""
        self.stopping = True
        self._shut()
        for connection in list(self.connections):
            if connection.session is not None:
                connection.session.expiry_s = max(1, connection.session.expiry_s)
            connection.disconnect(0x8B, "the broker stops")
        for session in list(self.sessions.values()):
            self.end(session)
        while self._tasks:
            await asyncio.gather(*self._tasks, return_exceptions=True)
            await asyncio.sleep(0)
        until_s = asyncio.get_running_loop().time() + FAREWELL_S
        while self.connections and asyncio.get_running_loop().time() < until_s:
            await asyncio.sleep(0.02)
        for connection in list(self.connections):
            connection.abort()
        await asyncio.sleep(0)  # their sockets close in the next turn, which may be the last of this loop

    def abort(self) -> None:
        """Without a word, as if the process had been killed."""
        self._shut()
        for session in self.sessions.values():
            session.over = True
            session.seat.end()
        for connection in list(self.connections):
            connection.abort()

    # -- connecting ------------------------------------------------------------------------------------------------

    def connect(self, connection: MqttConnection, packet: mqtt5.ConnectPacket) -> None:
        self.start(self._answer(connection, packet))

    def start(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._finished)

    def _finished(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            log.error("a mistake of ours", exc_info=task.exception())

    async def _answer(self, connection: MqttConnection, packet: mqtt5.ConnectPacket) -> None:
        try:
            await self._connect(connection, packet)
        except BaseException:
            connection.abort()  # or its client would wait for a CONNACK for ever
            raise

    async def _connect(self, connection: MqttConnection, packet: mqtt5.ConnectPacket) -> None:
        connection.problems = packet.request_problem_info
        if packet.authentication_method is not None:
            connection.refuse(0x8C, "no authentication method is known here")
            return
        if len(packet.client_id.encode()) > MAX_CLIENT_ID:
            connection.refuse(0x85, f"a client identifier has at most {MAX_CLIENT_ID} bytes")
            return
        if packet.receive_max == 0 or packet.max_packet_size == 0:
            connection.refuse(0x82, "a receive maximum or maximum packet size of 0")
            return
        if not self.broker.receives or self.stopping:
            connection.refuse(0x88, "the broker is not ready: try another, or again in a moment")
            return
        token = (packet.password or b"").decode(errors="replace")
        rights = self._rights(packet, token)
        if isinstance(rights, Refusal):
            connection.refuse(0x87, rights.sentence)
            return
        assigned = None if packet.client_id else f"auto-{os.urandom(8).hex()}"
        client_id = connection.client_id = packet.client_id or assigned or ""
        if rights is not None:
            client_id = f"{rights.name}/{client_id}"
        async with self._alone(client_id):
            if connection.over or self.stopping:
                connection.refuse(0x88, "the broker stops")
                return
            try:
                session, present = await self._session(client_id, packet.clean_start, rights, token, assigned)
            except Beaten as fault:
                connection.refuse(0x89, str(fault))
                return
            except AntecedeError as fault:
                connection.refuse(0x88, str(fault))
                return
            if connection.is_over():
                self._abandon(session)
                return
            self._admit(connection, packet, session, present, assigned)

    @asynccontextmanager
    async def _alone(self, client_id: str) -> AsyncIterator[None]:
        """One CONNECT of a client identifier after the other."""
        lock, waiting = self._locks.get(client_id, (asyncio.Lock(), 0))
        self._locks[client_id] = (lock, waiting + 1)
        try:
            async with lock:
                yield
        finally:
            lock, waiting = self._locks.pop(client_id)
            if waiting > 1:
                self._locks[client_id] = (lock, waiting - 1)

    def _rights(self, packet: mqtt5.ConnectPacket, token: str) -> Rights | Refusal | None:
        """Where keys are asked for, the password is a token; None: they are not."""
        protection = self.broker.protection
        if protection is None:
            return None
        rights = protection.guard.judged(token, f"MQTT client {packet.client_id!r}"[:80])
        if isinstance(rights, Rights) and packet.will is not None and not rights.may_publish(packet.will.topic):
            return Refusal("topic without right", rights.why_not_publish(packet.will.topic))
        return rights

    async def _session(
        self, client_id: str, fresh: bool, rights: Rights | None, token: str, assigned: str | None
    ) -> tuple[MqttSession, bool]:
        """The session of this client identifier, wherever it is, and whether there was one."""
        session = self.sessions.get(client_id)
        if session is not None:
            self.release(session, fresh=fresh)
            if self.sessions.get(client_id) is session:
                if not fresh and not session.over and session.seat.is_ready:
                    return session, True
                self.end(session)
        moved = None if assigned is not None else await self.peers.take(client_id, fresh)
        if moved is None:
            prefix = "" if rights is None else f"{rights.name}-"
            session = MqttSession(self, client_id, f"{prefix}m{os.urandom(6).hex()}", token)
        else:
            session = MqttSession(self, client_id, next_name(moved), token)
            unpack(moved, session)
        await session.seat.sit()
        self.sessions[client_id] = session
        return session, moved is not None

    def release(self, session: MqttSession, *, fresh: bool) -> None:
        """Another client has come under its identifier. `fresh`: and begins anew, so this session ends."""
        if session.connection is not None:
            if fresh:
                session.expiry_s = 0
            session.connection.disconnect(0x8E, "another client has come under this identifier")

    def _abandon(self, session: MqttSession) -> None:
        """The client of a session went while it was being admitted."""
        if session.connection is None and session.expiry_s == 0:
            self.end(session)

    def _admit(
        self,
        connection: MqttConnection,
        packet: mqtt5.ConnectPacket,
        session: MqttSession,
        present: bool,
        assigned: str | None,
    ) -> None:
        keep_alive_s = min(packet.keep_alive, KEEP_ALIVE_S)
        connection.aliases = Aliases(packet.topic_alias_max)
        connection.max_packet = packet.max_packet_size
        connection.ids = asks_for_ids(packet.user_properties)
        session.attached(connection, packet)
        connection.admit(session, packet, keep_alive_s)
        connack = mqtt5.ConnAckPacket(
            session_present=present,
            assigned_client_id=assigned,
            server_keep_alive=keep_alive_s if keep_alive_s != packet.keep_alive else None,
            receive_max=RECEIVE_MAX,
            topic_alias_max=MAX_ALIASES,
            max_packet_size=MAX_PACKET,
            shared_subscription_available=False,
            user_properties=[("antecede-name", session.seat.name)] if connection.ids else None,
        )
        connection.welcome(connack.write())
        log.debug("%s connected as %s", session.client_id, session.seat.name)
        if present and session.connection is connection:
            session.send_again()

    def end(self, session: MqttSession) -> None:
        """The session is over: its machine leaves when what it published is safe."""
        if self.sessions.get(session.client_id) is session:
            del self.sessions[session.client_id]
        self.start(session.end())

    def sends_elsewhere(self, session: MqttSession, filter: str) -> bool:
        """Whether this broker does not carry it and another one does: then the client is sent there."""
        managed = session.seat.managed
        carriers = managed.groups.carrying(managed.brokers(), (*session.subscriptions.filters, filter))
        if self.broker.name in carriers or session.connection is None:
            return False
        self.start(self._send(session.connection, filter, carriers))
        return True

    async def _send(self, connection: MqttConnection, filter: str, carriers: Sequence[str]) -> None:
        where = await self.peers.where(carriers)
        connection.disconnect(0x9C, f"{filter} is carried by {', '.join(carriers) or 'nobody'}", server_reference=where)

    def begun(self) -> None:
        """The broker has begun, perhaps again: others may retain what it does not know."""
        self.start(self.peers.catch_up())

    def status(self) -> dict[str, Any]:
        """For /status: who is here, what is kept, what was counted."""
        return {
            "address": None if self.address is None else text_of(self.address),
            "connections": len(self.connections),
            "sessions": len(self.sessions),
            "retained": len(self.retained),
            "counts": dict(self.counts),
        }

    # -- what the broker delivers ----------------------------------------------------------------------------------

    def told(self, message: Message) -> Told:
        """Read once for all sessions that want it."""
        known = self._told.get(message.id)
        if known is None:
            known = self._told[message.id] = told(message)
            if len(self._told) > REMEMBERED:
                del self._told[next(iter(self._told))]
        return known

    def delivered(self, message: Message) -> None:
        """At the broker, in its order."""
        one = self.told(message)
        if one.more.retain:
            envelope = self.broker.machine.store.by_id.get(message.id)
            if envelope is not None:
                self.retained.delivered(envelope, one, self.broker.clock.now_us())
