"""How large anything on the wire may be, and why. Both ends check: what a peer would refuse is never sent."""

from __future__ import annotations

__all__ = [
    "MAX_CELLS",
    "MAX_DATAGRAM",
    "MAX_FILTER",
    "MAX_FRAME",
    "MAX_MARKS",
    "MAX_NAME",
    "MAX_NEWS",
    "MAX_NUMBER",
    "MAX_PAYLOAD",
    "MAX_RANK",
]

MAX_FRAME = 16 * 2**20
"""Bytes. Everything decoded is bounded by a small multiple of this; a snapshot of a well filled store still fits.
Batches stay far below it: see MAX_DATAGRAM."""

MAX_DATAGRAM = 60_000
"""Bytes. A UDP datagram over IPv4 carries at most 65,507; the rest is left for the transport's own header and, later,
a key's nonce and tag."""

MAX_PAYLOAD = 48 * 2**10
"""Bytes. One message with a stamp of 1,024 marks still fits one datagram. Larger things are published by reference."""

MAX_NAME = 512
"""Characters of one sender, topic, filter or stream. Names are remembered by every process: they should be names."""

MAX_FILTER = 1536
"""Characters of one filter with its predicate (`core/where.py`)."""

MAX_MARKS = 2**16
"""Marks in one stamp or digest. Reaching it means that streams are not collected; it bounds a hostile grid of names."""

MAX_CELLS = 2**19
"""Own marks of messages, and groups of nodes, in one batch: topics are written once for many messages, so bytes do not
bound them. Raising it costs memory, about 100 bytes each; lowering it, how full a store one snapshot can tell of."""

MAX_NEWS = 2**14
"""Items of news in one frame: as many processes as a full exchange can tell of. A table beyond it is hostile."""

MAX_NUMBER = 2**63 - 1
"""Counters, indexes, times: what a signed 64-bit column of the trace can hold."""

MAX_RANK = 2**62
"""Ranks: times travel as their distance from the rank, which must fit 64 bits too."""
