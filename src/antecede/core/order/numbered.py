"""The home broker's delivery index (ours, PROTOCOLS s3.6): one numbered stream per attachment.

Writer: the log of an attachment gives each forwarded message the next index and says which newer-than-acknowledged
indexes are its causes, all of them, as a bitmap. A lower index is not a cause by itself: that is what lets concurrent
messages pass each other (H6) and keeps a missing one from taking innocent ones with it (H7b, trap 2). Plain mode leaves
the bitmap out and takes every lower index for a cause.
Reader: an index lies behind by itself, never by reaching past it.

What waits for a client that does not acknowledge is bounded (`Log.shed`): the oldest numbers are let go of, and the
client is told up to where none can be had any more. It passes those; what comes after them is delivered.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Mapping

from antecede.core.frames import Grown, Item, Origins
from antecede.core.interest import Interest
from antecede.core.marks import join, tops_of, waited_for
from antecede.core.message import Envelope, Mark, Stamp, id_of_mark, make_id, series_of, split_id
from antecede.core.order.reader import Reader, everything
from antecede.core.order.vector import close

__all__ = ["INDEX", "OVERHEAD", "WINDOW", "IndexReader", "Log", "item_stamp"]

INDEX = ""
"""The one stream of an attachment."""
WINDOW = 512
"""So many items may be on their way that the client has not acknowledged: it bounds the bitmap of causes, and what a
slow client is flooded with. Raising it costs both; lowering it costs throughput over long distances."""
OVERHEAD = 256
"""Bytes that an item costs beside its payload, about: its stamp, its names, its place in the log."""


class IndexReader(Reader):
    def __init__(self) -> None:
        super().__init__(everything, dense=False)

    def precedes(self, a: Stamp, b: Stamp) -> bool:
        return a.own[0] in b.needs

    def delivered(self, stamp: Stamp, *, forced: bool) -> None:
        if forced:
            for mark in stamp.needs:
                if not self.behind(*mark):
                    self._put_behind(mark)
        self._put_behind(stamp.own[0])

    def skipped(self, own: tuple[Mark, ...], stamp: Stamp | None) -> None:
        self._put_behind(own[0])  # the bitmap is transitive: whoever needs it names its causes too

    def _put_behind(self, mark: Mark) -> None:
        stream, n = mark
        if n > self.front.get(stream, 0):
            self.above.setdefault(stream, set()).add(n)
            self._compact(stream)
            self._free(stream, n, n)

    def pass_to(self, index: int) -> None:
        """None up to here can be had any more. (Whoever holds some of them sees to it that they do not wait for each
        other.)"""
        before = self.front.get(INDEX, 0)
        if index > before:
            self.front[INDEX] = index
            above = self.above.get(INDEX)
            if above is not None:
                above.difference_update([n for n in above if n <= index])
                self._compact(INDEX)
            self._free(INDEX, before + 1, self.front[INDEX])

    def restart(self) -> None:
        """A new attachment numbers from one again."""
        self.front.clear()
        self.above.clear()
        self.watched.clear()
        self.freed.clear()


def item_stamp(item: Item, behind: int) -> Stamp:
    """The index tier's stamp of an item, without what lies behind anyway: all indexes up to `behind`. The stamp its
    publisher gave it rides along. (Digits are read one by one: taking bits from a wide number costs its width each.)"""
    index = item.index
    after = item.after & ((1 << max(index - 1 - behind, 0)) - 1)
    needs = []
    if after:
        digits = bin(after)[:1:-1]
        bit = digits.find("1")
        while bit >= 0:
            needs.append((INDEX, index - 1 - bit))
            bit = digits.find("1", bit + 1)
    return Stamp(((INDEX, index),), tuple(needs), {}, index, item.envelope.stamp)


class Log:
    """What one attachment was and is to be sent."""

    def __init__(
        self, number: int, interest: Interest, frontier: Mapping[str, int], cut: tuple[str, ...], *, plain: bool
    ) -> None:
        self.number = number
        self.cut = cut
        """Where a newcomer began, as message ids: the same however often it asks."""
        self.origins: Origins = ()
        self.interest = interest
        self.frontier = frontier
        """Marks of all messages in the client's past when it attached. A message is not sent if any one of its own
        marks lies at or below the frontier of that stream."""
        self.began: Mapping[str, int] = {}
        """And where it began. A group may have begun later than others, having lost everything: nothing is sent that
        lies behind in all groups the client wants."""
        self.hidden: dict[str, int] = {}
        """The newest of each sender that was said to lie behind where some of its groups began: it was not sent."""
        self.missed: frozenset[str] = frozenset()
        """Nor what was late at the client when it came from its last home."""
        self.plain = plain
        self.entries: dict[int, Item] = {}
        self.published: dict[str, int] = {}
        """Up to where, in each of its two series, the client need not publish anything again, but for"""
        self.unacked: set[str] = set()
        self._safe: set[str] = set()
        """And what else it need not."""
        self.grown: Grown | None = None
        """The last change of its filters, and from which number it holds."""
        self.top = 0
        self.sent = 0
        """Up to here items are on their way, or have arrived; the others wait for acknowledgements."""
        self.acked = 0
        self.low = 0
        """Up to here nothing can be had any more: it is acknowledged, or was let go of."""
        self.bytes = 0
        """What the entries cost, about."""
        self._overdue = 0
        """Up to here items were on their way when the last round was."""
        self._named = 0
        """Up to here items say which are their causes; the others say so when they are sent."""
        self._chains: dict[str, Chain] = {}
        self._numbers: dict[str, deque[int]] = {}
        """Per stream, what the entries hold of it, in their order, which is ascending, but for"""
        self._turned: set[str] = set()
        self.lowest: dict[str, int] = {}
        """Per stream, the lowest that the client has not acknowledged."""

    def keeps(self, mark: Mark) -> bool:
        """Whether its client publishes this message of its own again, until it is told that it is safe."""
        message_id = id_of_mark(mark)
        if mark[1] <= self.published.get(series_of(mark[0]), 0):
            return message_id in self.unacked
        return message_id not in self._safe

    def safe(self, message_id: str) -> None:
        """The client is told so."""
        self.unacked.discard(message_id)
        series, seq = split_id(message_id)
        upto = self.published.get(series, 0)
        if seq > upto:
            self._safe.add(message_id)
            while (following := make_id(series, upto + 1)) in self._safe:
                self._safe.remove(following)
                upto += 1
            self.published[series] = upto

    def unknown(self) -> Grown | None:
        """A change of which the client may not know yet: nothing numbered since is acknowledged."""
        return self.grown if self.grown is not None and self.acked < self.grown.first else None

    def hide(self, cut: tuple[str, ...]) -> None:
        join(self.hidden, tops_of(cut))

    def passed(self, frontier: Mapping[str, int], index: int) -> dict[str, int]:
        """What a client with this past has passed or is about to: what it was sent above `index`, and all before it."""
        passed = close(waited_for(item.envelope.stamp for item in self.entries.values() if item.index > index))
        join(passed, frontier)
        return passed

    def append(self, envelope: Envelope) -> Item | None:
        """The next item; None when it lies in the client's past, or behind where it began, or was late there."""
        own = envelope.stamp.own
        if self.missed and envelope.message.id in self.missed:
            return None
        if self.frontier:
            for stream, n in own:
                if n <= self.frontier.get(stream, 0):
                    return None
        if self.began:
            began, concerns = self.began, self.interest.concerns
            if all(n <= began.get(stream, 0) for stream, n in own if concerns(stream)):
                return None
        self.top = index = self.top + 1
        self.entries[index] = item = Item(index, 0, envelope)
        self.bytes += OVERHEAD + len(envelope.message.payload)
        for stream, n in own:
            numbers = self._numbers.get(stream)
            if numbers is None:
                self._numbers[stream], self.lowest[stream] = deque((n,)), n
                continue
            if n < numbers[-1]:
                self._turned.add(stream)
                self.lowest[stream] = min(n, self.lowest[stream])
            numbers.append(n)
        if index <= self.acked + WINDOW and self._named == index - 1:
            self._name_causes(item)
        return item

    def _name_causes(self, item: Item) -> None:
        """For each item once, in their order. (What waits beyond the window does without: the bitmap is as wide as
        what is not acknowledged. What was sent and let go of since is named: the client may have it, and hold it.)"""
        self._named = index = item.index
        window = index - 1 - self.acked
        if self.plain:
            item.after = (1 << window) - 1
            return
        after, stamp, chains = 0, item.envelope.stamp, self._chains
        covers = stamp.covers
        for stream in covers if len(covers) < len(chains) else chains:
            if stream in covers and stream in chains:
                after |= chains[stream].up_to(covers[stream], index)
        item.after = _newest(after, window)
        if item.envelope.message.order != "none":
            for stream, n in stamp.own:
                chain = chains.get(stream)
                if chain is None:
                    chain = chains[stream] = Chain()
                chain.append(n, index, self.acked)

    def lags(self) -> bool:
        """Asked each round: whether the client had a whole round to acknowledge something and did not, or has not heard
        what cannot be had any more. Whoever is a little behind is left to acknowledge by itself."""
        lags = self.acked < self._overdue or self.low > self.acked
        self._overdue = self.sent
        return lags

    def due(self) -> list[Item]:
        """What may be sent now and was not yet: with the causes that are not acknowledged meanwhile."""
        acked, entries = self.acked, self.entries
        until = min(self.top, acked + WINDOW)
        items = [entries[index] for index in range(self.sent + 1, until + 1)]
        self.sent = max(self.sent, until)
        for item in items:
            if item.index > self._named:
                self._name_causes(item)
            elif item.after.bit_length() >= item.index - acked:
                item.after = _newest(item.after, item.index - 1 - acked)
        return items

    def shed(self, messages: int, size: int) -> list[Item]:
        """Let go of the oldest until so many messages, and bytes, are left: they cannot be had any more."""
        entries, shed = self.entries, list[Item]()
        while len(entries) > messages or (self.bytes > size and len(entries) > 1):
            self.low += 1
            shed.append(self._let_go(self.low))
        if shed:
            self.sent, self._named = max(self.sent, self.low), max(self._named, self.low)
        return shed

    def acknowledge(self, index: int) -> None:
        index = min(index, self.sent)
        if index <= self.acked:
            return
        for done in range(self.low + 1, index + 1):
            self._let_go(done)
        self.acked, self.low = index, max(self.low, index)
        for stream in [stream for stream, chain in self._chains.items() if not chain.trim(self.acked)]:
            del self._chains[stream]

    def _let_go(self, index: int) -> Item:
        item = self.entries.pop(index)
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


def _newest(after: int, count: int) -> int:
    """A bitmap without what lies further back than so many numbers. (A wide mask is made only where it is needed.)

    >>> bin(_newest(0b1011, 4)), bin(_newest(0b1011, 3))
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
                mask = _newest(mask, index - acked)
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
