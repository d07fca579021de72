"""Messages in the order in which clients are sent them, each with its causes: for one client, or for many at once.

Clients that want the same are sent the same, so a home broker keeps it once for all of them (`home/sharing.py`). What a
client has acknowledged is its own affair (`order/numbered.py`): it is no part of a channel, which only knows up to
where all its clients have acknowledged (`floor`). Causes are named among all that lies above the floor; a client that
has acknowledged more is told of fewer of them. Example: Bob has acknowledged 7, Ann 9. Of message 11, which follows all
before it, the channel says that 10, 9 and 8 are causes; Bob is told of these three, Ann of 10 alone.

Everything here counts in the channel's own numbers, its *places*; a client counts from one, and its index of an item is
the place less an `offset`. Example: when the channel had come to place 100, Bob, whose last index was 40, joined it:
his offset is 60, and he is sent place 101 as 41. Where a client's index is meant, the argument is called `index`.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Iterable

from antecede.core.frames import Item
from antecede.core.message import Envelope

__all__ = ["OVERHEAD", "Channel", "as_sent", "newest"]

OVERHEAD = 256
"""Bytes that an item costs beside its payload, about: its stamp, its names, its place in the log."""


class Channel:
    __slots__ = (
        "_chains",
        "_numbers",
        "_ready",
        "_turned",
        "bytes",
        "entries",
        "floor",
        "low",
        "lowest",
        "named",
        "plain",
        "top",
    )

    def __init__(self, *, plain: bool) -> None:
        self.plain = plain
        self.entries: dict[int, Item] = {}
        self.top = 0
        self.floor = 0
        """Up to here all clients have acknowledged."""
        self.low = 0
        """Up to here nothing is kept."""
        self.bytes = 0
        """What the entries cost, about."""
        self.named = 0
        """Up to here items say which are their causes."""
        self._chains: dict[str, Chain] = {}
        self._numbers: dict[str, deque[int]] = {}
        """Per stream, what the entries hold of it, in their order."""
        self._turned: set[str] = set()
        """The streams of which that order is not ascending."""
        self.lowest: dict[str, int] = {}
        """Per stream, the lowest that is kept."""
        self._ready: dict[tuple[int, int, int], list[Item]] = {}
        """Answers of `items` since anything changed: clients that have acknowledged the same are sent the same."""

    def append(self, envelope: Envelope) -> Item:
        """The next item, under its place; its causes are not named yet."""
        self._ready.clear()
        self.top = place = self.top + 1
        self.entries[place] = item = Item(place, 0, envelope)
        self._count(item)
        return item

    def _count(self, item: Item) -> None:
        self.bytes += OVERHEAD + len(item.envelope.message.payload)
        for stream, n in item.envelope.stamp.own:
            numbers = self._numbers.get(stream)
            if numbers is None:
                self._numbers[stream], self.lowest[stream] = deque((n,)), n
                continue
            if n < numbers[-1]:
                self._turned.add(stream)
                self.lowest[stream] = min(n, self.lowest[stream])
            numbers.append(n)

    def name_causes(self, item: Item) -> None:
        """Say which items above the floor an item follows. The caller does this for each item once, in their order."""
        self.named = place = item.index
        window = place - 1 - self.floor
        if self.plain:
            item.after = (1 << window) - 1
            return
        after, stamp, chains = 0, item.envelope.stamp, self._chains
        covers = stamp.covers
        for stream in covers if len(covers) < len(chains) else chains:
            if stream in covers and stream in chains:
                after |= chains[stream].up_to(covers[stream], place)
        item.after = newest(after, window)
        if item.envelope.message.order != "none":
            for stream, n in stamp.own:
                chain = chains.get(stream)
                if chain is None:
                    chain = chains[stream] = Chain()
                chain.append(n, place, self.floor)

    def items(self, sent_place: int, acked_place: int, offset: int) -> list[Item]:
        """All items above `sent_place`, as a client is sent them that has acknowledged everything up to `acked_place`,
        and whose indexes are less by `offset` than the places. Nobody changes the answer: it is shared."""
        ready = self._ready.get((sent_place, acked_place, offset))
        if ready is None:
            entries = [self.entries[place] for place in range(sent_place + 1, self.top + 1)]
            ready = [as_sent(item, acked_place, offset) for item in entries]
            self._ready[sent_place, acked_place, offset] = ready
        return ready

    def acknowledge(self, place: int) -> None:
        """All clients have acknowledged what lies up to here."""
        for done in range(self.low + 1, place + 1):
            self.let_go(done)
        self.floor, self.low = place, max(self.low, place)
        for stream in [stream for stream, chain in self._chains.items() if not chain.trim(place)]:
            del self._chains[stream]

    def let_go(self, place: int) -> Item:
        item = self.entries.pop(place)
        envelope = item.envelope
        self.bytes -= OVERHEAD + len(envelope.message.payload)
        for stream, _ in envelope.stamp.own:
            numbers = self._numbers[stream]
            numbers.popleft()  # entries are let go of in their order
            if not numbers:
                del self._numbers[stream], self.lowest[stream]
                self._turned.discard(stream)
            else:
                self.lowest[stream] = min(numbers) if stream in self._turned else numbers[0]
        return item

    def copy(self, items: Iterable[Item], acked_index: int, offset: int) -> Channel:
        """The channel as it would be if it had always been of one client alone, which has acknowledged everything up to
        `acked_index`: its places are that client's indexes. `items`: those above, as the client was sent them."""
        mine = Channel(plain=self.plain)
        mine.top = mine.named = self.top - offset
        mine.floor = mine.low = acked_index
        for item in items:
            mine.entries[item.index] = item
            mine._count(item)
        for stream, chain in self._chains.items():
            rest = chain.above(acked_index + offset, offset)
            if rest.ns:
                mine._chains[stream] = rest
        return mine


def as_sent(item: Item, acked_place: int, offset: int) -> Item:
    """An item of a channel for one client: by its index there, with the causes that it has not acknowledged."""
    after = newest(item.after, item.index - 1 - acked_place)
    if after == item.after and not offset:
        return item
    return Item(item.index - offset, after, item.envelope, item.gone)


def newest(after: int, count: int) -> int:
    """A bitmap without what lies further back than so many numbers. (A wide mask is made only where it is needed.)

    >>> bin(newest(0b1011, 4)), bin(newest(0b1011, 3))
    ('0b1011', '0b11')
    """
    return after if after.bit_length() <= count else after & ((1 << count) - 1)


class Chain:
    """Unacknowledged entries of one stream, ascending, one at least: which indexes lie up to some n, without walking
    the log.

    `masks[i]` has a bit for each of the first i + 1 entries, counted back from the index of entry i.
    """

    __slots__ = ("indexes", "masks", "ns")

    def __init__(self) -> None:
        self.ns: list[int] = []
        self.indexes: list[int] = []
        self.masks: list[int] = []

    def append(self, n: int, index: int, acked: int) -> None:
        mask = 1
        if self.ns:
            if n <= self.ns[-1]:
                self._insert(n, index)
                return
            mask |= self.masks[-1] << (index - self.indexes[-1])
            if mask.bit_length() > index - acked:
                mask = newest(mask, index - acked)
        self.ns.append(n)
        self.indexes.append(index)
        self.masks.append(mask)

    def _insert(self, n: int, index: int) -> None:
        """Out of turn (a replay may do it): later entries then count back from this index, the highest so far."""
        at = bisect_right(self.ns, n)
        for place in range(at, len(self.ns)):
            self.masks[place] = (self.masks[place] << (index - self.indexes[place])) | 1
            self.indexes[place] = index
        mask = 1 if at == 0 else (self.masks[at - 1] << (index - self.indexes[at - 1])) | 1
        self.ns.insert(at, n)
        self.indexes.insert(at, index)
        self.masks.insert(at, mask)

    def above(self, floor: int, offset: int) -> Chain:
        """The entries with an index above `floor`, their indexes less `offset`."""
        keep, rest = bisect_right(self.indexes, floor), Chain()
        rest.ns, rest.masks = self.ns[keep:], self.masks[keep:]
        rest.indexes = [index - offset for index in self.indexes[keep:]]
        return rest

    def up_to(self, n: int, top: int) -> int:
        """Bit j: index top - 1 - j is in this stream, at or below n."""
        if self.ns[-1] <= n:  # the usual case: all of them
            return self.masks[-1] << (top - 1 - self.indexes[-1])
        at = bisect_right(self.ns, n)
        return self.masks[at - 1] << (top - 1 - self.indexes[at - 1]) if at else 0

    def trim(self, acked: int) -> bool:
        """Forget what was acknowledged; whether anything is left."""
        keep = bisect_right(self.indexes, acked)
        del self.ns[:keep], self.indexes[:keep], self.masks[:keep]
        return bool(self.ns)
