"""Bytes to MQTT 5 packets, and what is not believed: everything the codec would let through, or break on.

Decided here: a packet is refused by its length before anything is kept for it; texts are UTF-8 without NUL (the codec
would panic on others), reserved bits are zero, packet identifiers are not zero, a packet holds neither more nor less
than its kind does, a topic has no wildcards. Each breach has the reason code of the standard; the connection that
committed it is closed with it. A client of an older version is told so in that version's own words.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import mqtt5

from antecede.core.topics import EVERYTHING, is_filter
from antecede.errors import RemoteProtocolError
from antecede.live.message import MAX_BODY

__all__ = ["MAX_PACKET", "OLD_VERSION", "Breach", "OldVersion", "Reader", "parse"]

MAX_PACKET = MAX_BODY
"""Bytes of one packet: what it carries must fit a message. Said in CONNACK."""

OLD_VERSION = b"\x20\x02\x00\x01"
"""CONNACK of MQTT 3.1.1: unacceptable protocol version."""

MALFORMED, PROTOCOL_ERROR, UNSUPPORTED = 0x81, 0x82, 0x84
FILTER_INVALID, TOPIC_INVALID, TOO_LARGE = 0x8F, 0x90, 0x95

CONNECT, PUBLISH, SUBSCRIBE, UNSUBSCRIBE, PINGREQ, DISCONNECT, AUTH = 1, 3, 8, 10, 12, 14, 15
ACKS = (4, 5, 6, 7)
FLAGS = {6: 2, 8: 2, 10: 2}
"""What the low bits of the first byte are; 0 where nothing is said. PUBLISH has its own."""

_SIZES = {**dict.fromkeys((1, 23, 25, 36, 37, 40, 41, 42), 1), **dict.fromkeys((19, 33, 34, 35), 2),
          **dict.fromkeys((2, 17, 24, 39), 4)}  # fmt: skip
_TEXTS, _BINARIES = (3, 8, 18, 21, 26, 28, 31), (9, 22)
_VARIABLE, _PAIR = 11, 38


class Breach(RemoteProtocolError):
    """A client broke the protocol: the reason code it is told, and a sentence."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code = code


class OldVersion(Breach):
    """A client speaks MQTT 3: it gets OLD_VERSION instead of a CONNACK of version 5."""


class Reader:
    """What came on one connection so far, as packets."""

    def __init__(self, limit: int = MAX_PACKET) -> None:
        self.limit = limit
        self._kept = bytearray()
        self._connected = False

    @property
    def waiting(self) -> int:
        """Bytes of a packet that is not complete."""
        return len(self._kept)

    def keep(self, data: bytes) -> None:
        self._kept += data

    def feed(self, data: bytes) -> Generator[mqtt5.Packet, None, None]:
        """Raises Breach: nothing that follows is to be believed. One at a time, so that those before it count; those
        that are not asked for stay here."""
        self.keep(data)
        kept, at = self._kept, 0
        if not self._connected and kept and kept[0] >> 4 != CONNECT:
            raise Breach(PROTOCOL_ERROR, "a packet before CONNECT")
        try:
            while True:
                span = _span(kept, at, self.limit)
                if span is None:
                    break
                start, end = span
                first, body = kept[at], bytes(kept[start:end])
                whole = bytes(kept[at:end])
                at = end
                if not self._connected:
                    self._connected = True
                elif first >> 4 == CONNECT:
                    raise Breach(PROTOCOL_ERROR, "a second CONNECT")
                yield parse(first, body, whole)
        finally:
            del kept[:at]


def _span(kept: bytearray, at: int, limit: int) -> tuple[int, int] | None:
    """Where the body of the next packet begins and ends; None: it is not complete."""
    have = len(kept) - at
    if have < 2:
        return None
    length = shift = 0
    for place in range(at + 1, min(at + 5, len(kept))):
        byte = kept[place]
        length |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            if place > at + 1 and byte == 0:
                raise Breach(MALFORMED, "a length that is longer than it need be")
            if length + place + 1 - at > limit:
                raise Breach(TOO_LARGE, f"a packet of more than {limit} bytes")
            return (place + 1, place + 1 + length) if have >= place + 1 - at + length else None
    if have >= 5:
        raise Breach(MALFORMED, "a length of more than four bytes")
    return None


def parse(first: int, body: bytes, whole: bytes) -> mqtt5.Packet:
    """One packet, checked. `whole`: with its header."""
    kind = first >> 4
    check = _CHECKS.get(kind)
    if check is None:
        raise Breach(PROTOCOL_ERROR, f"a packet of type {kind}, which no client sends")
    if kind != PUBLISH and first & 0x0F != FLAGS.get(kind, 0):
        raise Breach(MALFORMED, "reserved bits of the first byte are set")
    try:
        check(first, body)
    except IndexError:
        raise Breach(MALFORMED, "a packet that ends too early") from None
    try:
        packet, size = mqtt5.read(memoryview(whole))
    except (ValueError, IndexError) as fault:
        raise Breach(_code_of(str(fault)), f"a malformed packet: {fault}") from None
    except BaseException as fault:  # the codec panics with a class of its own, which is no Exception
        if isinstance(fault, Exception) or type(fault).__name__ != "PanicException":
            raise
        raise Breach(MALFORMED, "a packet on which the codec breaks") from None
    if size != len(whole):
        raise Breach(MALFORMED, "a packet that is longer than what it holds")
    return packet


def _code_of(fault: str) -> int:
    if "opic alias must be != 0" in fault:
        return 0x94
    return PROTOCOL_ERROR if "Duplicate" in fault or "alias must be set" in fault else MALFORMED


# -- one check per kind: what the codec lets through -------------------------------------------------------------------


def _check_publish(first: int, body: bytes) -> None:
    qos = first >> 1 & 3
    if qos == 3 or (qos == 0 and first & 8):
        raise Breach(MALFORMED, "a quality of service that there is not")
    topic, at = _text(body, 0)
    if b"+" in topic or b"#" in topic:
        raise Breach(TOPIC_INVALID, "a topic with wildcards")
    if qos:
        at = _packet_id(body, at)
    _properties(body, at)


def _check_ack(first: int, body: bytes) -> None:
    at = _packet_id(body, 0)
    if len(body) > at + 1:
        _end(body, _properties(body, at + 1))


def _check_subscribe(first: int, body: bytes) -> None:
    at = _properties(body, _packet_id(body, 0))
    if at == len(body):
        raise Breach(PROTOCOL_ERROR, "SUBSCRIBE without a filter")
    while at < len(body):
        filter, at = _filter(body, at)
        options = body[at]
        at += 1
        if options & 0xC0 or options & 3 == 3 or options >> 4 & 3 == 3:
            raise Breach(MALFORMED, "reserved bits of subscription options are set")
        if options & 4 and filter.startswith(b"$share/"):
            raise Breach(PROTOCOL_ERROR, "no local on a shared subscription")


def _check_unsubscribe(first: int, body: bytes) -> None:
    at = _properties(body, _packet_id(body, 0))
    if at == len(body):
        raise Breach(PROTOCOL_ERROR, "UNSUBSCRIBE without a filter")
    while at < len(body):
        _, at = _filter(body, at)


def _check_connect(first: int, body: bytes) -> None:
    name, at = _text(body, 0)
    version = body[at]
    if (name, version) in ((b"MQTT", 4), (b"MQIsdp", 3)):
        raise OldVersion(UNSUPPORTED, f"MQTT 3 (version {version}): this broker speaks 5 (mosquitto: -V 5)")
    if name != b"MQTT" or version != 5:
        raise Breach(UNSUPPORTED, f"neither MQTT nor version 5, but {name[:8]!r} and {version}")
    flags = body[at + 1]
    if flags & 1:
        raise Breach(MALFORMED, "a reserved bit of CONNECT is set")
    if flags >> 3 & 3 == 3 or (not flags & 4 and flags & 0x38):
        raise Breach(MALFORMED, "flags of a will that there is not")
    at = _properties(body, at + 4)
    _, at = _text(body, at)
    if flags & 4:
        at = _properties(body, at)
        topic, at = _text(body, at)
        if not topic or b"+" in topic or b"#" in topic:
            raise Breach(TOPIC_INVALID, "a will without a topic, or with wildcards in it")
        at = _binary(body, at)
    if flags & 0x80:
        _, at = _text(body, at)
    if flags & 0x40:
        at = _binary(body, at)
    _end(body, at)


def _check_reason(first: int, body: bytes) -> None:
    if len(body) > 1:
        _end(body, _properties(body, 1))


def _check_nothing(first: int, body: bytes) -> None:
    _end(body, 0)


_CHECKS: dict[int, Any] = {
    CONNECT: _check_connect,
    PUBLISH: _check_publish,
    **dict.fromkeys(ACKS, _check_ack),
    SUBSCRIBE: _check_subscribe,
    UNSUBSCRIBE: _check_unsubscribe,
    PINGREQ: _check_nothing,
    DISCONNECT: _check_reason,
    AUTH: _check_reason,
}


# -- the parts of a body -----------------------------------------------------------------------------------------------


def _text(body: bytes, at: int) -> tuple[bytes, int]:
    end = at + 2 + (body[at] << 8 | body[at + 1])
    text = body[at + 2 : end]
    if end > len(body):
        raise IndexError
    try:
        text.decode()
    except UnicodeDecodeError:
        raise Breach(MALFORMED, "a text that is not UTF-8") from None
    if 0 in text:
        raise Breach(MALFORMED, "a text with NUL in it")
    return text, end


def _filter(body: bytes, at: int) -> tuple[bytes, int]:
    text, end = _text(body, at)
    if not text:
        raise Breach(MALFORMED, "an empty filter")
    filter = text.decode()
    if filter == EVERYTHING or not is_filter(filter):
        raise Breach(FILTER_INVALID, "a filter with misplaced wildcards")
    return text, end


def _binary(body: bytes, at: int) -> int:
    end = at + 2 + (body[at] << 8 | body[at + 1])
    if end > len(body):
        raise IndexError
    return end


def _packet_id(body: bytes, at: int) -> int:
    if not body[at] and not body[at + 1]:
        raise Breach(MALFORMED, "packet identifier 0")
    return at + 2


def _end(body: bytes, at: int) -> None:
    if at != len(body):
        raise Breach(MALFORMED, "a packet that is longer than what it holds")


def _number(body: bytes, at: int) -> tuple[int, int]:
    value = 0
    for place in range(4):
        byte = body[at + place]
        value |= (byte & 0x7F) << (7 * place)
        if byte < 0x80:
            return value, at + place + 1
    raise Breach(MALFORMED, "a number of more than four bytes")


def _properties(body: bytes, at: int) -> int:
    """Where they end; their texts are texts, and none reaches beyond."""
    if body[at] == 0:
        return at + 1
    size, at = _number(body, at)
    end = at + size
    if end > len(body):
        raise IndexError
    while at < end:
        kind = body[at]
        at += 1
        if kind in _SIZES:
            at += _SIZES[kind]
        elif kind in _TEXTS:
            _, at = _text(body, at)
        elif kind == _PAIR:
            _, at = _text(body, at)
            _, at = _text(body, at)
        elif kind in _BINARIES:
            at = _binary(body, at)
        elif kind == _VARIABLE:
            _, at = _number(body, at)
        else:
            raise Breach(MALFORMED, f"property {kind}, which there is not")
    if at != end:
        raise Breach(MALFORMED, "properties that are longer than they say")
    return end
