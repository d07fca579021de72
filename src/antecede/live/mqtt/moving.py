"""A session as a value: what one broker tells another so that it can go on there.

Decided here: what moves. The frontier of its machine, so that the next life of that machine begins where this one
ended; its subscriptions; what is on its way to the client and from it; and all that waits for it, which counts as
delivered when it is told, for the broker that keeps it may be gone when the client comes to read it. A will does not
move: it has been published by then, or the client that is back cancels it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from antecede.core.membership.news import split_name
from antecede.core.message import Message
from antecede.errors import RemoteProtocolError
from antecede.live.mqtt.flight import Arrived, Sent
from antecede.live.mqtt.mapping import told
from antecede.live.mqtt.subscriptions import Subscription
from antecede.wire import restore, save

if TYPE_CHECKING:
    from antecede.live.mqtt.session import MqttSession

__all__ = ["Moved", "next_name", "pack", "read_moved", "unpack"]


class Carried(msgspec.Struct, array_like=True, frozen=True):
    """A message that was delivered, as far as a client sees it."""

    sender: str
    seq: int
    topic: str
    payload: bytes
    deadline_us: int | None
    order: str


class Flying(msgspec.Struct, array_like=True, frozen=True):
    number: int
    qos: int
    retain: bool
    received: bool
    identifiers: tuple[int, ...]
    message: Carried


class Moved(msgspec.Struct, array_like=True, frozen=True):
    name: str
    """What its machine was called."""
    frontier: bytes
    expiry_s: int
    subscriptions: list[tuple[str, int, bool, bool, int | None, str | None]]
    flying: list[Flying]
    line: list[Carried]
    arrived: list[tuple[int, int, bytes, str, bool]]
    """Publications of the client that are not settled: number, quality, digest, id, whether it is safe."""
    acknowledged: dict[int, bytes]


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Moved).decode


def _carried(message: Message) -> Carried:
    return Carried(message.sender, message.seq, message.topics[0], message.payload, message.deadline_us, message.order)


def _message(one: Carried) -> Message:
    return Message(one.sender, one.seq, (one.topic,), one.payload, one.deadline_us, None, None, one.order)


def pack(session: MqttSession) -> bytes:
    """All of it; its machine has handed over what waited."""
    line = [_carried(message) for message in session.take_all()]
    flying = [
        Flying(number, one.qos, one.retain, one.received, one.identifiers, _carried(one.told.message))
        for number, one in session.departures.sent.items()
    ]
    arrivals = session.arrivals
    return _encode(
        Moved(
            session.seat.name,
            save(session.seat.machine.application.frontier()),
            session.expiry_s,
            [tuple(one) for one in session.subscriptions.by_filter.values()],  # type: ignore[misc]
            flying,
            line,
            [(number, one.qos, one.digest, one.id, one.safe) for number, one in arrivals.open.items()],
            arrivals.acknowledged,
        )
    )


def read_moved(data: bytes) -> Moved:
    try:
        return _decode(data)
    except (msgspec.MsgspecError, RecursionError) as fault:
        raise RemoteProtocolError(f"no session: {fault}") from None


def next_name(moved: Moved) -> str:
    """The next life of its machine."""
    base, life = split_name(moved.name)
    return f"{base}.{life + 1}"


def unpack(moved: Moved, session: MqttSession) -> None:
    """Before its machine begins."""
    for row in moved.subscriptions:
        session.subscriptions.add(Subscription(*row))
    session.seat.goes_on(restore(moved.frontier), session.subscriptions.filters, own=session.subscriptions.any_own)
    session.expiry_s = moved.expiry_s
    for one in moved.flying:
        sent = Sent(told(_message(one.message)), one.qos, one.retain, one.identifiers)
        session.departures.put(one.number, sent, received=one.received)
    session.line.extend(told(_message(one)) for one in moved.line)
    for number, qos, digest, id, safe in moved.arrived:
        if safe:  # of the others nobody knows: a repeat is published as if it were new
            session.arrivals.open[number] = Arrived(qos, digest)
            session.arrivals.open[number].id, session.arrivals.open[number].safe = id, True
    session.arrivals.acknowledged.update(moved.acknowledged)
