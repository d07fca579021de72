"""Frames and saved state to bytes and back. This is the only place where bytes are made or believed.

`encode`/`decode` for frames (`decode_in_parts`: those of a client, some publications at a time), `measure` for what one
costs (`weigh`: one envelope), `freeze`/`thaw` for saved state, `save`/`restore` for the frontier of a client;
`limits` says how large anything may be and why. A peer's mistake is a RemoteProtocolError, the caller's an InputError;
nothing else is raised.
"""

from antecede.wire.envelopes import weigh
from antecede.wire.frames import VERSION, decode, decode_in_parts, encode, measure
from antecede.wire.frozen import freeze, thaw
from antecede.wire.limits import MAX_DATAGRAM, MAX_FRAME, MAX_MARKS, MAX_NAME, MAX_NUMBER, MAX_PAYLOAD
from antecede.wire.saved import restore, save

__all__ = [
    "MAX_DATAGRAM",
    "MAX_FRAME",
    "MAX_MARKS",
    "MAX_NAME",
    "MAX_NUMBER",
    "MAX_PAYLOAD",
    "VERSION",
    "decode",
    "decode_in_parts",
    "encode",
    "freeze",
    "measure",
    "restore",
    "save",
    "thaw",
    "weigh",
]
