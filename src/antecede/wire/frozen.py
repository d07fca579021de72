"""Saved state to bytes and back: canonical, so that equal states have equal bytes and can be compared by hash.

Plain values only: None, bool, int, float, str, bytes, tuple, list, dict. Dicts are sorted by key. Tuples come back as
lists (as keys of a dict as tuples): who thaws knows which they were. Equality is that of the encoding: 1, 1.0 and True
differ.
"""

from __future__ import annotations

from typing import Any

from msgspec import MsgspecError
from msgspec.msgpack import Decoder, Encoder, Ext

from antecede.errors import InputError, RemoteProtocolError

__all__ = ["MAX_STATE", "STATE_VERSION", "freeze", "thaw"]

STATE_VERSION = 1
MAX_STATE = 2**30
"""Bytes. State lives in memory and in one Spark cell; a gibibyte means that something is not collected."""

_PREFIX = b"\xacS" + bytes((STATE_VERSION,))
_MAP, _BIG = 1, 2
_pack = Encoder(order="sorted").encode


def freeze(value: object) -> bytes:
    try:
        try:
            body = _pack(value)
        except (TypeError, OverflowError):
            # Keys that are no strings and integers beyond 64 bits are not plain MessagePack: wrap just these.
            body = _pack(_wrap(value))
    except (TypeError, OverflowError, ValueError, RecursionError, MsgspecError) as fault:
        raise InputError(f"this state cannot be saved: {fault}") from None
    if len(body) > MAX_STATE:
        raise InputError(f"a state of {len(body)} bytes; at most {MAX_STATE} are saved")
    return _PREFIX + body


def thaw(data: bytes | memoryview) -> Any:
    """What was frozen. Corrupt or foreign bytes are a RemoteProtocolError: somebody else wrote them."""
    if not len(_PREFIX) < len(data) <= MAX_STATE + len(_PREFIX):
        raise RemoteProtocolError(f"saved state of {len(data)} bytes")
    view = memoryview(data)
    if bytes(view[:2]) != _PREFIX[:2]:
        raise RemoteProtocolError("these bytes are not saved state")
    if view[2] != STATE_VERSION:
        raise RemoteProtocolError(f"saved state of version {view[2]}; this is version {STATE_VERSION}")
    try:
        return _unpack(view[3:])
    except (MsgspecError, TypeError, ValueError, RecursionError) as fault:
        raise RemoteProtocolError(f"corrupt saved state: {fault}") from None


def _wrap(value: object) -> object:
    if isinstance(value, dict):
        if all(isinstance(key, str) for key in value):
            return {key: _wrap(part) for key, part in value.items()}
        pairs = sorted((_pack(_wrap(key)), key) for key in value)
        return Ext(_MAP, _pack([[_wrap(key), _wrap(value[key])] for _, key in pairs]))
    if isinstance(value, list | tuple):
        return [_wrap(part) for part in value]
    if isinstance(value, int) and not -(2**63) <= value < 2**64:
        return Ext(_BIG, value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True))
    return value


def _unwrap(code: int, data: memoryview) -> object:
    if code == _BIG:
        return int.from_bytes(data, "little", signed=True)
    if code == _MAP:
        return {_as_key(key): part for key, part in _unpack(data)}
    raise ValueError(f"unknown extension {code}")


def _as_key(value: object) -> object:
    return tuple(map(_as_key, value)) if isinstance(value, list) else value


_unpack = Decoder(ext_hook=_unwrap).decode
