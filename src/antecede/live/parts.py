"""Frames that are larger than a datagram: cut into parts, put together again, and mended part by part.

Decided here: who gets some parts of a frame asks for the others after a moment, again and again, and gives up after a
while (its protocol then asks for the whole); who sent them keeps them for as long. All of it is bounded in bytes, and
the oldest goes first. A part is `version, sender, number of the frame, index, count, bytes`.
"""

from __future__ import annotations

from collections.abc import Iterator

from antecede.errors import RemoteProtocolError
from antecede.wire import MAX_FRAME

__all__ = ["PART", "WANTED", "Parts"]

PART, WANTED = 0x81, 0x82
"""The first byte of a datagram that holds a part, or says which parts are missing; others hold frames."""

KEPT_BYTES = 32 * 2**20
"""Of frames that were sent in parts. Costs memory; lowering it, repairs of frames sent at once to many."""
OPEN_FRAMES = 16
"""Frames per sender of which some parts are here. What comes beyond replaces the oldest."""
OPEN_BYTES = 64 * 2**20
"""Bytes of such frames, all senders together."""
ASK_S = 0.02
"""Seconds without a new part after which the missing ones are asked for."""
TRIES = 40
"""How often in a row without a new part; then what is there is dropped."""
ASKED = 256
"""Parts asked for in one datagram."""
LEAST = 64
"""Bytes of a part at least, but for the last one: it bounds how many parts a peer can claim that there are."""


class Partial:
    __slots__ = ("count", "pieces", "size", "touched_s", "tries")

    def __init__(self, count: int, now_s: float) -> None:
        self.count = count
        self.pieces: dict[int, bytes] = {}
        self.size = 0
        self.touched_s = now_s
        self.tries = 0


class Parts:
    def __init__(self) -> None:
        self.refused = 0
        """Frames of which parts came and that were given up."""
        self._number = 0
        self._kept: dict[int, list[bytes]] = {}
        self._kept_bytes = 0
        self._open: dict[tuple[str, int], Partial] = {}
        self._open_bytes = 0
        self._done: dict[tuple[str, int], None] = {}

    # -- out -------------------------------------------------------------------------------------------------------

    def cut(self, prefix: bytes, data: bytes, size: int) -> list[bytes]:
        """The datagrams of one encoded frame, each of at most `size` bytes."""
        self._number = (self._number + 1) % 2**32
        head = bytes((PART,)) + prefix[1:] + self._number.to_bytes(4, "little")
        room = size - len(head) - 6
        count = -(-len(data) // room)
        datagrams = [
            b"".join((head, n.to_bytes(3, "little"), count.to_bytes(3, "little"), data[n * room : (n + 1) * room]))
            for n in range(count)
        ]
        self._kept[self._number] = datagrams
        self._kept_bytes += len(data)
        while self._kept_bytes > KEPT_BYTES and len(self._kept) > 1:
            self._kept_bytes -= sum(map(len, self._kept.pop(next(iter(self._kept)))))
        return datagrams

    def wanted(self, body: memoryview) -> list[bytes]:
        """The datagrams that somebody misses, as far as they are kept."""
        if len(body) < 4 or (len(body) - 4) % 3 or len(body) > 4 + 3 * ASKED:
            raise RemoteProtocolError("a request for parts that is none")
        kept = self._kept.get(int.from_bytes(body[:4], "little"), [])
        indexes = [int.from_bytes(body[at : at + 3], "little") for at in range(4, len(body), 3)]
        return [kept[index] for index in indexes if index < len(kept)]

    # -- in --------------------------------------------------------------------------------------------------------

    def take(self, sender: str, body: memoryview, now_s: float) -> bytes | None:
        """One part; the whole frame if that was the last one missing."""
        if len(body) < 11:
            raise RemoteProtocolError("a part of nothing")
        number, index, count = (int.from_bytes(body[a:b], "little") for a, b in ((0, 4), (4, 7), (7, 10)))
        if not index < count <= MAX_FRAME // LEAST or (index < count - 1 and len(body) < LEAST):
            raise RemoteProtocolError("a part outside its frame")
        key = (sender, number)
        if key in self._done:
            return None
        partial = self._open.get(key)
        if partial is None:
            self._make_room(sender)
            partial = self._open[key] = Partial(count, now_s)
        if partial.count != count or partial.size + len(body) > MAX_FRAME + 10 * count:
            self._drop(key)
            raise RemoteProtocolError("parts that do not fit together")
        if index not in partial.pieces:
            partial.pieces[index] = bytes(body[10:])
            partial.size += len(body) - 10
            self._open_bytes += len(body) - 10
            partial.touched_s, partial.tries = now_s, 0
        if len(partial.pieces) < count:
            return None
        del self._open[key]
        self._open_bytes -= partial.size
        self._done[key] = None
        while len(self._done) > 4 * OPEN_FRAMES:
            del self._done[next(iter(self._done))]
        return b"".join(partial.pieces[n] for n in range(count))

    def _make_room(self, sender: str) -> None:
        mine = [key for key in self._open if key[0] == sender]
        for key in mine[: max(0, len(mine) + 1 - OPEN_FRAMES)]:
            self._drop(key)
        while self._open_bytes > OPEN_BYTES:
            self._drop(next(iter(self._open)))

    def _drop(self, key: tuple[str, int]) -> None:
        self._open_bytes -= self._open.pop(key).size
        self.refused += 1

    @property
    def waiting(self) -> bool:
        """Whether some frame is not all there."""
        return bool(self._open)

    def missing(self, prefix: bytes, now_s: float) -> Iterator[tuple[str, bytes]]:
        """The parts that are missing and to be asked for now: (sender, datagram)."""
        for key, partial in list(self._open.items()):
            if now_s < partial.touched_s + ASK_S:
                continue
            partial.touched_s, partial.tries = now_s, partial.tries + 1
            if partial.tries > TRIES:
                self._drop(key)
                continue
            absent = [n for n in range(partial.count) if n not in partial.pieces][:ASKED]
            body = b"".join(n.to_bytes(3, "little") for n in absent)
            yield key[0], bytes((WANTED,)) + prefix[1:] + key[1].to_bytes(4, "little") + body
