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

from collections import deque
from collections.abc import Mapping

from antecede.core.frames import Grown, Item, Origins
from antecede.core.interest import Interest
from antecede.core.marks import join, tops_of, waited_for
from antecede.core.message import Envelope, Mark, Stamp, id_of_mark, make_id, series_of, split_id
from antecede.core.order.channel import Channel, as_sent, newest
from antecede.core.order.reader import Reader, everything
from antecede.core.order.vector import close

__all__ = ["INDEX", "WINDOW", "IndexReader", "Log", "item_stamp"]

INDEX = ""
"""The one stream of an attachment."""
WINDOW = 512
"""So many items may be on their way that the client has not acknowledged: it bounds the bitmap of causes, and what a
slow client is flooded with. Raising it costs both; lowering it costs throughput over long distances."""


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

    def lacking(self, index: int) -> int:
        """How many numbers up to this one do not lie behind."""
        front = self.front.get(INDEX, 0)
        return max(0, index - front) - sum(n <= index for n in self.above.get(INDEX, ()))

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
    """What one attachment was and is to be sent: what its client has, and its part of a channel (`channel.py`).

    The channel is its own, or shared with others that are sent the same (`home/sharing.py`); then everything is sent in
    the turn in which it came. All numbers here are the client's indexes (`sent`, `acked`, `low`, `top`); the channel
    counts in places, which are more by `offset` where it is shared, since it was there before. Example: Bob, whose
    last index was 40, joined the channel when that had come to place 100: his offset is 60. When he has acknowledged
    index 45, `low` is 45 here; in the channel `low` is the place up to which all its clients have, perhaps 103.
    """

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
        """Where the client began. A group may have begun later than others, having lost everything: nothing is sent
        that lies behind in all groups the client wants."""
        self.hidden: dict[str, int] = {}
        """The newest of each sender that was said to lie behind where some of its groups began: it was not sent."""
        self.missed: frozenset[str] = frozenset()
        """Messages that were late at the client when they came from its last home: they are not sent either."""
        self.channel = Channel(plain=plain)
        self.shared, self.offset = False, 0
        self.published: dict[str, int] = {}
        """Up to where, in each of its two series, the client need not publish anything again,"""
        self.unacked: set[str] = set()
        """but for these messages,"""
        self._safe: set[str] = set()
        """and which later ones it need not."""
        self.grown: Grown | None = None
        """The last change of its filters, and from which number it holds."""
        self.sent = 0
        """Up to here items are on their way, or have arrived; the others wait for acknowledgements."""
        self.acked = 0
        self.low = 0
        """Up to here nothing can be had any more: it is acknowledged, or was let go of."""
        self._overdue = 0
        """Up to here items were on their way when the last round was."""
        self._since: deque[tuple[int, int]] = deque()
        """Where the channel is shared: from which number on items were sent when which number was acknowledged."""

    @property
    def top(self) -> int:
        """The newest number."""
        return self.channel.top - self.offset

    @property
    def entries(self) -> dict[int, Item]:
        """What can be had, by its number, as the client was sent it."""
        channel, offset = self.channel, self.offset
        if not self.shared:
            return channel.entries
        entries: dict[int, Item] = {}
        since = [*self._since, (self.sent + 1, self.acked), (self.top + 1, 0)]
        at = 0
        for index in range(self.low + 1, self.top + 1):
            while index >= since[at + 1][0]:
                at += 1
            entries[index] = as_sent(channel.entries[index + offset], since[at][1] + offset, offset)
        return entries

    @property
    def lowest(self) -> Mapping[str, int]:
        """Per stream, the lowest that the client has not acknowledged (nor any other client of its channel)."""
        return self.channel.lowest

    @property
    def bytes(self) -> int:
        """What can be had costs at most about so much."""
        return self.channel.bytes

    # -- who shares a channel --------------------------------------------------------------------------------------

    def is_drained(self) -> bool:
        """Whether the client has all there is."""
        return self.acked == self.low == self.top

    def join(self, channel: Channel) -> None:
        """From here on it is sent what a channel is given: it has acknowledged everything before that."""
        self.channel, self.shared, self.offset = channel, True, channel.top - self.top

    def leave(self) -> None:
        """From here on it has a channel of its own, as if it always had."""
        items = [Item(item.index, item.after, item.envelope) for item in self.entries.values()]
        self.channel = self.channel.copy(items, self.acked, self.offset)
        self.shared, self.offset = False, 0
        self._since.clear()

    # -- its publications ------------------------------------------------------------------------------------------

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
        if seq == upto + 1 and not self._safe:
            self.published[series] = seq
        elif seq > upto:
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

    # -- what it is sent -------------------------------------------------------------------------------------------

    def takes(self, envelope: Envelope) -> bool:
        """False: the message lies in the client's past, or behind where it began, or was late there."""
        own = envelope.stamp.own
        if self.missed and envelope.message.id in self.missed:
            return False
        if self.frontier:
            for stream, n in own:
                if n <= self.frontier.get(stream, 0):
                    return False
        if self.began:
            began, concerns = self.began, self.interest.concerns
            if all(n <= began.get(stream, 0) for stream, n in own if concerns(stream)):
                return False
        return True

    def append(self, envelope: Envelope) -> Item | None:
        """The next item of a client with a channel of its own; None where it does not take the message.

        Its causes are named now, or when it is sent: what waits beyond the window does without, since the bitmap is as
        wide as what is not acknowledged. (What was sent and let go of since is named: the client may have it, and hold
        it.)"""
        if not self.takes(envelope):
            return None
        channel = self.channel
        item = channel.append(envelope)
        if item.index <= self.acked + WINDOW and channel.named == item.index - 1:
            channel.name_causes(item)
        return item

    def lags(self) -> bool:
        """Asked each round: whether the client had a whole round to acknowledge something and did not, or has not heard
        what cannot be had any more. Whoever is a little behind is left to acknowledge by itself."""
        lags = self.acked < self._overdue or self.low > self.acked
        self._overdue = self.sent
        return lags

    def due(self) -> list[Item]:
        """What may be sent now and was not yet: with the causes that are not acknowledged meanwhile."""
        acked, channel = self.acked, self.channel
        if self.shared:
            if not self._since or self._since[-1][1] != acked:
                self._since.append((self.sent + 1, acked))
            items = channel.items(self.sent + self.offset, acked + self.offset, self.offset)
            self.sent = self.top
            return items
        until = min(self.top, acked + WINDOW)
        items = [channel.entries[index] for index in range(self.sent + 1, until + 1)]
        self.sent = max(self.sent, until)
        for item in items:
            if item.index > channel.named:
                channel.name_causes(item)
            elif item.after.bit_length() >= item.index - acked:
                item.after = newest(item.after, item.index - 1 - acked)
        return items

    def is_crowded(self, messages: int, size: int) -> bool:
        """Whether more waits, in messages or bytes, than is kept for one client."""
        return self.top - self.low > messages or self.bytes > size

    def shed(self, messages: int, size: int) -> list[Item]:
        """Let go of the oldest until so many messages, and bytes, are left: they cannot be had any more. (Of a channel
        of its own: others may still have them.)"""
        channel, shed = self.channel, list[Item]()
        entries = channel.entries
        while len(entries) > messages or (channel.bytes > size and len(entries) > 1):
            self.low += 1
            shed.append(channel.let_go(self.low))
        if shed:
            channel.low = self.low
            self.sent, channel.named = max(self.sent, self.low), max(channel.named, self.low)
        return shed

    def acknowledge(self, index: int) -> None:
        index = min(index, self.sent)
        if index <= self.acked:
            return
        self.acked, self.low = index, max(self.low, index)
        if not self.shared:
            self.channel.acknowledge(index)
        while len(self._since) > 1 and self._since[1][0] <= index + 1:
            self._since.popleft()
