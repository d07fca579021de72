"""The client of `home` (ours, PROTOCOLS s3.6): publishes through its home broker and reads one numbered stream.

Ids and causes belong to the client, so they survive its brokers: the client carries its frontier (marks of everything
in its past) to the next home, and publishes again, under the same id, each message that no home has acknowledged.
Example: Bob has delivered p:1 to p:3 and published b:1; A, his home, crashes before it acknowledged b:1. He attaches
at B with the frontier p@G:3: B sends him p:4, and he publishes b:1 again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from antecede.core.effects import Deliver, Discard, Effect, Move, Send, Shed
from antecede.core.frames import (
    Ack,
    Attach,
    Attached,
    Detach,
    Frame,
    Fused,
    Grown,
    Item,
    Items,
    Published,
    Received,
    Retired,
    Top,
    Want,
)
from antecede.core.home.application import Application
from antecede.core.home.causes import Causes
from antecede.core.home.filters import Growing
from antecede.core.home.fusing import Fusing
from antecede.core.home.handover import QueuedInbox
from antecede.core.home.missed import Missed
from antecede.core.home.outbox import Outbox
from antecede.core.home.retiring import Naming
from antecede.core.interest import Interest, group_of
from antecede.core.marks import beyond, cut_of, join, loose_of, newest_of, put, tops_of, waited_for
from antecede.core.message import Envelope, Mark, Message, Publication, id_of_mark, series_of
from antecede.core.order.numbered import INDEX, WINDOW, IndexReader, item_stamp
from antecede.core.order.unordered import LooseReader, LooseWriter
from antecede.core.order.vector import VectorWriter
from antecede.core.publishing import accepted
from antecede.core.roles.receiver import Parts, Receiver, Timer
from antecede.core.topics import covers
from antecede.errors import InputError

__all__ = ["Client"]


class Client(Receiver):
    role = "subscriber"
    inbox: QueuedInbox

    def __init__(self, parts: Parts, *, upper: VectorWriter) -> None:
        super().__init__(parts)
        self.upper = upper
        """The Order towards everybody: its clock is this client's frontier."""
        self.heard = LooseReader()
        """The unordered messages that this client has had, from any home: they are no part of that clock."""
        self.loose = LooseWriter(parts.name, flat=False, slack_us=self.settings.slack_us, groups=parts.groups)
        self._seq = 0
        self.attachment = 0
        self.home: str | None = None
        self.outbox = Outbox(self)
        self.growing = Growing(self)
        self.fusing = Fusing(self)
        self._fresh = True
        self.start_marks: dict[str, int] = {}
        """The cut at which this client began: the marks of its first home's past."""
        self.missed = Missed(self.settings.grace_us)
        self._attach_at: int | None = None
        self._ack_at: int | None = None
        self._top = self._looked = self._acked = self._low = 0
        self.causes = Causes(parts.name)
        self.application = Application(self)
        self.handover = self.application.handover
        self.naming = Naming(self)
        self.inbox.application, self.inbox.handover = self.application, self.handover

    def start(self, now_us: int, *, joining: bool = False) -> list[Effect]:
        return []

    def begin_behind(self, marks: Mapping[str, int]) -> None:
        """This client is a later life of one that began behind these marks: no home tells it where to begin."""
        if not self._fresh or self._seq or self.loose.seq or self.home is not None:
            raise InputError(f"{self.name} has begun already: only a new client can begin at a saved frontier.")
        self._fresh = False
        self.start_marks = dict(marks)

    # -- attaching -------------------------------------------------------------------------------------------------

    def subscribe(self, filters: Sequence[str], at: Sequence[str], now_us: int) -> list[Effect]:
        """Attach to a home broker; a client that is attached there already only changes its filters (GROW)."""
        self.groups.check_filters(filters)
        stays = self.joined and at[0] == self.home
        if self._fresh:
            self.interest = Interest(filters)
        elif set(filters) != set(self.interest.filters) or not set(filters) <= set(self.growing.filters):
            self.growing.want(filters, now_us)
            if stays:
                self.growing.ask(now_us)
        if not stays:
            self._go(at[0], now_us)
        return self.flush(now_us)

    def move(self, to: Sequence[str], now_us: int) -> list[Effect]:
        if self.home is not None and to[0] != self.home:  # who has unsubscribed has nowhere to go
            self._go(to[0], now_us)
        return self.flush(now_us)

    def _go(self, home: str, now_us: int) -> None:
        if self.growing.filters:
            self.out.append(Move(home, self.cut()))
        self._attach(home, now_us)

    def unsubscribe(self, now_us: int) -> list[Effect]:
        if self.home is not None:
            self.attachment += 1
            self.growing.leave(self.growing.filters)
            self.out.append(Send((self.home,), Detach(self.attachment)))
        self.home, self.joined, self._attach_at = None, False, None
        self.inbox.clear()
        self.handover.clear()
        return self.flush(now_us)

    def _attach(self, home: str, now_us: int) -> None:
        """A new attachment: what was held of the old one is dropped, the new home sends it again."""
        self.attachment += 1
        self.home, self.joined = home, False
        self.inbox.clear()
        self.inbox.forget(self.handover.attach())
        assert isinstance(self.reader, IndexReader)
        self.reader.restart()
        self.wants.clear()
        self._top = self._looked = self._acked = self._low = 0
        self._ack_at = None
        self.growing.attached()
        self._send_attach(now_us)
        self.fusing.attached(now_us)
        self.outbox.publish_again(now_us)

    def frontier(self) -> tuple[dict[str, int], dict[str, int]]:
        """This client's frontier, and its own cut where that is newer: no home is to send any of that again."""
        frontier = {**self.upper.past(), **self.heard.front}
        self.application.extend(frontier, attaching=not self.joined)
        return frontier, dict(beyond(self.start_marks, frontier))

    def behind(self) -> int:
        """The index up to which all items of this attachment lie behind."""
        return self.past.upto(INDEX)

    def _done(self) -> int:
        """The index up to which all items lie behind and none of them waits for room in a queue."""
        waiting = self.handover.lowest_at_door()
        return self.behind() if waiting is None else min(self.behind(), waiting - 1)

    def _send_attach(self, now_us: int) -> None:
        assert self.home is not None
        self._attach_at = now_us + 2 * self.settings.retry_us
        frontier, began = self.frontier()
        attach = Attach(
            self.attachment, self.interest.filters, None if self._fresh else frontier, tuple(self.outbox.unacked),
            self._seq, self.loose.seq, self.growing.attaching(), began,
            (*self.missed.ids(now_us), *self.application.waiting()),
        )  # fmt: skip
        self.out.append(Send((self.home,), attach))

    def _on_attached(self, frame: Attached, sender: str, now_us: int) -> None:
        if frame.attachment != self.attachment or sender != self.home or self.joined:
            return
        self.joined, self._attach_at = True, None
        if self._fresh:
            self._fresh = False
            self.start_marks = dict(frame.start)
            self.heard.start_at(loose_of(frame.start))
            self.growing.join(self.interest.filters, sender, frame.cut, frame.origins)
        else:
            self.growing.confirmed(self.growing.change, sender, frame.cut, frame.origins)

    # -- out -------------------------------------------------------------------------------------------------------

    def publish(self, publication: Publication, now_us: int) -> tuple[Message, list[Effect]]:
        publication = accepted(self, publication)
        after = publication.after
        stamps = None if after is None else self.causes.stamps(after)
        if after is None or stamps is None:
            declared = self.application.declared(publication)
        else:
            stamps = [*self.naming.recalled(stamps), *self.causes.cuts(after)]
            declared = self.causes.as_recorded(after)
        if publication.order == "none":
            envelope = self.loose.envelope(publication, now_us)
        else:
            self._seq += 1
            if declared is not after:
                publication = publication._replace(after=declared)
            told = publication.message(self.name, self._seq)
            envelope = Envelope(told, self.upper.stamp(told, stamps))
        self.past.note(envelope.message)
        self.causes.remember(envelope)
        self.outbox.publish(envelope, now_us)
        self.handover.put_own(envelope, now_us)
        return envelope.message, self.flush(now_us)

    def dismiss(self, wanted: Callable[[Message], bool], now_us: int) -> list[tuple[int, Message]]:
        """What waits or is held and is no longer wanted is let go of, and may come again some day: their numbers."""
        waiting = self.handover.dismiss(wanted, now_us)
        self.inbox.forget(one.envelope.message.id for one in waiting)
        held = self.inbox.dismiss(wanted, now_us)
        return [(one.index, one.envelope.message) for one in waiting] + [
            (envelope.stamp.own[0][1], envelope.message) for envelope in held
        ]

    def waits(self) -> bool:
        """Whether a message waits to be delivered here."""
        return bool(self.inbox.held or self.handover.waiting())

    def retire(self, marks: Mapping[str, int]) -> Iterable[str]:
        """Streams are over everywhere, up to these marks. Returns those whose unordered messages are remembered."""
        self.causes.retire(marks)
        self.start_marks = dict(beyond(self.start_marks, marks))
        self.application.retire(marks)
        return *self.heard.front, *self.heard.above

    def took_result(self, name: str, cut: tuple[str, ...], marks: Mapping[str, int], rank: int) -> None:
        """A result that was fused for it: what it publishes after that follows its cut."""
        self.causes.remember_cut(name, cut, marks, rank)
        self.upper.follow(rank)

    def may_want(self, stream: str) -> bool:
        """Whether a stream may hold what this client wants."""
        return self.groups.wanted(self.interest.filters).concerns(stream)

    def never_came(self, envelope: Envelope) -> tuple[str, ...]:
        """The causes, in ids, that were owed to this client and have not come although a message that follows them is
        delivered now: its home had to let it go without them. Only where this client wants a whole group can it be told
        that what is missing is owed. Example: Bob wants `room/#`, an entry of the table, and `hall/1`, part of another:
        that ann:1 in `room/2` never came he hears, of ann:2 in `hall/1` he does not."""
        tops, marks = self.tops, list[Mark]()
        for stamp in waited_for((self.naming.learned(envelope).stamp,)):
            before = [(stream, stamp.covers[stream]) for stream, _ in stamp.own if stream in stamp.covers]
            marks = [mark for mark in (*stamp.needs, *before) if mark[1] > tops.get(series_of(mark[0]), 0)]
        if not marks:
            return ()
        past, began, cuts = self.upper.past(), self.start_marks, dict[str, int]()
        for cut in self.growing.began():
            join(cuts, tops_of(cut))
        beyond_all = [
            (s, n) for s, n in marks if n > max(past.get(s, 0), began.get(s, 0), cuts.get(series_of(s), 0))
        ]  # fmt: skip
        ids = {id_of_mark(mark): None for mark in beyond_all if self._wants_all_of(group_of(mark[0]))}
        return tuple(one for one in ids if one not in self.inbox.seen and one not in self.missed)

    def _wants_all_of(self, group: str) -> bool:
        """Whether each message of a group is owed."""
        groups = self.groups
        return any(groups.meets(f, group) and covers(f, groups.filters((group,))[0]) for f in self.growing.filters)

    def say_home(self, frame: Frame) -> None:
        assert self.home is not None
        self.out.append(Send((self.home,), frame))

    def causes_of(self, message_id: str) -> tuple[str, ...]:
        """What a delivered message follows, as ids: the newest of each sender. Empty where that is forgotten."""
        stamp = self.causes.known(message_id)
        return () if stamp is None else cut_of(newest_of(stamp.covers))

    # -- in --------------------------------------------------------------------------------------------------------

    def receive(self, frame: Frame, sender: str, now_us: int) -> list[Effect]:
        if isinstance(frame, Published):
            if self.home in (None, sender):  # what its home was told it sends, it sends until that home says so
                self.outbox.safe(frame.ids, now_us)
        elif isinstance(frame, Received):
            if sender == self.home:
                self.outbox.received(frame.ids, now_us)
        elif isinstance(frame, Attached):
            self._on_attached(frame, sender, now_us)
        elif isinstance(frame, Fused):
            self.fusing.on_fused(frame, sender, now_us)
        elif isinstance(frame, Retired):
            if sender == self.home:
                self.naming.on_retired(frame, now_us)
            else:
                self.out.append(Send((sender,), Detach(self.attachment)))
        elif isinstance(frame, (Items, Grown, Top)):
            if sender == self.home and frame.attachment == self.attachment and not self._fresh:
                if isinstance(frame, Top):
                    self._on_top(frame, now_us)
                else:  # they say as much as ATTACHED
                    if isinstance(frame, Grown):
                        self._top = max(self._top, min(frame.first - 1, self._reach()))
                        self.growing.confirmed(frame.change, sender, frame.cut, frame.origins)
                    self._on_items(frame.items, now_us)
            else:
                self._ignore(frame, sender)
        return self.flush(now_us)

    def _ignore(self, frame: Items | Grown | Top, sender: str) -> None:
        """A frame of an attachment that has ended (H1): its numbers mean nothing any more."""
        if not self._fresh:
            self.out += [Discard(message.id, "foreign") for message in frame.messages()]
        if sender != self.home:
            self.out.append(Send((sender,), Detach(self.attachment)))

    def _on_items(self, items: tuple[Item, ...], now_us: int) -> None:
        assert self.home is not None
        reach = self._reach()
        for item in items[self._take_in_turn(items, reach, now_us) :]:
            if item.index > reach:
                self.out.append(Discard(item.envelope.message.id, "foreign"))
                continue
            self._on_item(item, now_us)
            if item.index > self._top:
                self._top = item.index
        self._want_missing(self._looked + 1, now_us)
        if self.inbox.blocked:
            self.want_blocked(self.home, now_us)
        self.acknowledge_some(now_us, came=bool(items))

    def _take_in_turn(self, items: tuple[Item, ...], reach: int, now_us: int) -> int:
        """The usual case: all numbers before the first of these lie behind, nothing is held, and the others come one
        after the other. Then each is ready whatever its causes, and nobody looks at them. Returns how many of them are
        so; of the next one something else is to be said (`_on_item`)."""
        inbox, queues, growing = self.inbox, self.handover.queues, self.growing
        if not items or not inbox.is_next(items[0].index):
            return 0
        first = index = items[0].index
        low, came, owed, passed, seen = self._low, inbox.seen, growing.owed, growing.passed, self.content
        ready: list[Envelope] = []
        deliver, to_learn = self.out.append, ready.append
        for item in items[: inbox.room()]:
            envelope = item.envelope
            message = envelope.message
            if item.index != index or item.gone or message.order == "none" or not low < index <= reach:
                break
            if message.id in came or index in passed or not owed.takes(message, seen):
                break
            if message.deadline_us is not None and inbox.is_late(message, now_us):
                break
            came[message.id] = now_us
            if queues:
                inbox.pass_next(index)
                self.handover.put_next(envelope, "causes", index, now_us)
            else:
                deliver(Deliver(message, "causes"))
                to_learn(envelope)
            index += 1
        if index > first:
            inbox.pass_next(index - 1)
        self._all_delivered(ready)
        self._top = max(self._top, index - 1)
        return index - first

    def _on_item(self, item: Item, now_us: int) -> None:
        message = item.envelope.message
        envelope, unordered = Envelope(message, item_stamp(item, self.behind())), message.order == "none"
        if unordered and self._has(item, now_us):
            self._pass(envelope, now_us)
        elif message.id in self.inbox.seen and message.id not in self.inbox.held:  # it came by an earlier number
            if not item.gone:
                self.out.append(Discard(message.id, "duplicate"))
            self._pass(envelope, now_us)
        elif item.index in self.growing.passed or not self._is_owed(item):
            self._dismiss(item, envelope, now_us)
        elif item.gone:
            self._skip(item, envelope, now_us)
        elif item.index <= self._low and message.id not in self.inbox.seen:  # its home said that it is not to come
            self.inbox.seen[message.id] = now_us
            self.out.append(Discard(message.id, "overflow"))
        else:
            if not unordered and self.inbox.is_late(message, now_us):
                self.missed.note(message.id, now_us)
            self.inbox.accept(envelope, now_us)

    def _is_owed(self, item: Item) -> bool:
        """Whether this client's filters want an item. Of an item that is gone only the topics are known: its home
        looked at the rest."""
        owed, message = self.growing.owed, item.envelope.message
        return owed.wants(message.topics) if item.gone else owed.takes(message, self.content)

    def acknowledge_some(self, now_us: int, *, came: bool = False) -> None:
        """Acknowledge half a window at once; fewer items, or repeats of acknowledged ones, can wait a little."""
        some = self._done() - self._acked
        if some >= WINDOW // 2:
            self._acknowledge(now_us)
        elif (some or came) and self._ack_at is None and self.home is not None:
            self._ack_at = now_us + (self.settings.retry_us >> 1)

    def _dismiss(self, item: Item, envelope: Envelope, now_us: int) -> None:
        """An item is not wanted: it was numbered before the home knew the filters of now, or before this client knows
        at which cut they begin."""
        if not item.gone:
            again = self.growing.came(item.index)
            self.out.append(Discard(envelope.message.id, "duplicate" if again else "foreign"))
        self.growing.dismiss(item.index, envelope.message, came=not item.gone)
        self._pass(envelope, now_us)

    def _skip(self, item: Item, envelope: Envelope, now_us: int) -> None:
        """Only the header of an item came: it expired, or everybody else had it before this client came back. In the
        second case no home need speak of it again (H13)."""
        if envelope.message.deadline_us is not None:
            if self.inbox.is_late(envelope.message, now_us):  # by this clock too; else it is asked for again
                self.inbox.skip(envelope, "expired", now_us)
                if envelope.message.order == "none":
                    self.heard.skipped(item.envelope.stamp.own, item.envelope.stamp)
                else:
                    self.missed.note(envelope.message.id, now_us)
        else:
            self.inbox.skip(envelope, "gone", now_us)
            put(self.start_marks, item.envelope.stamp.own)

    def _pass(self, envelope: Envelope, now_us: int) -> None:
        self.reader.skipped(envelope.stamp.own, None)
        self.inbox.deliver_ready(now_us)

    def _has(self, item: Item, now_us: int) -> bool:
        """Whether an unordered message came by an earlier home. If one before it did not come, the frontier says
        nothing of it. (Or later ones say that it has expired: then it is late, or was already.)"""
        message = item.envelope.message
        if not self.heard.had(item.envelope.stamp.own):
            return False
        if self.inbox.is_late(message, now_us) and not item.gone and message.id not in self.inbox.seen:
            return False
        if not item.gone:
            self.out.append(Discard(message.id, "duplicate"))
        return True

    def _on_top(self, frame: Top, now_us: int) -> None:
        if frame.low > self.behind():
            self._low = frame.low
            never = self.inbox.never_came(frame.low)
            if never:
                assert self.home is not None
                self.out.append(Shed(self.home, never))
            self.inbox.pass_to(frame.low, now_us)
            self.acknowledge_some(now_us)
        self._top = max(self._top, min(frame.top, self._reach()))
        self._want_missing(self.behind() + 1, now_us)
        if self._done() >= frame.top:
            self._acknowledge(now_us)

    def _reach(self) -> int:
        """No home has more than WINDOW on its way: a number beyond twice that is not believed."""
        return self.behind() + 2 * WINDOW

    def _want_missing(self, first: int, now_us: int) -> None:
        """Indexes that were passed over, from `first` on: lost or still on their way."""
        assert self.home is not None
        past, wants = self.past, self.wants
        patience_us, backed = self.settings.patience_us, not self.settings.deadlines  # else the next TOP asks again
        for index in range(max(first, self.behind() + 1), self._top + 1):
            if past.lacks((INDEX, index)) and wants.get((INDEX, index)) is None:
                wants.want((INDEX, index), self.home, None, now_us, patience_us=patience_us, backed=backed)
        self._looked = self._top

    def delivered(self, envelope: Envelope, now_us: int) -> None:
        """A message was handed over, with the stamp of its publisher: this client's past now, and a cause of what it
        publishes."""
        if envelope.message.order != "none":
            self._learn(self.naming.learned(envelope))
        else:
            self.past.note(envelope.message)
        self.causes.remember(envelope)

    def _all_delivered(self, envelopes: Sequence[Envelope]) -> None:
        """The same for ordered messages, in the order in which they were handed over. Of a sender's messages that came
        one after the other the last tells all: what they follow, and up to where its sender's lie behind."""
        last: Envelope | None = None
        for envelope in map(self.naming.learned, envelopes):
            if last is not None and not envelope.stamp.replaces(last.stamp):
                self._learn(last)
            last = envelope
        if last is not None:
            self._learn(last)
        self.causes.remember_all(envelopes)

    def _learn(self, envelope: Envelope) -> None:
        self.upper.learn(envelope)
        self.past.note(envelope.message)

    def _acknowledge(self, now_us: int) -> None:
        assert self.home is not None
        self._ack_at, self._acked = None, self._done()
        self.out.append(Send((self.home,), Ack(self.attachment, self._acked)))

    # -- who is there ----------------------------------------------------------------------------------------------

    def sources(self, mark: Mark) -> Sequence[str]:
        return (self.home,) if self.home is not None and self.home in self.members else ()

    def may_ask(self, peer: str) -> bool:
        return False  # nobody but its home

    def absent_since(self, mark: Mark, wanted_us: int) -> int | None:
        return None  # an index ends with its attachment and is never given up before: the next home sends it again

    def asked(self, marks: list[Mark]) -> tuple[str, ...]:
        return ()  # it knows indexes, not ids

    def request(self, marks: list[Mark]) -> Frame:
        return Want(self.attachment, tuple(sorted(n for _, n in marks)))

    # -- time ------------------------------------------------------------------------------------------------------

    def timers(self) -> Iterator[Timer]:
        yield self.handover.next_us(), self.handover.wake
        if self.home is not None and self.home in self.members:
            yield self._attach_at, self._send_attach
            yield self._ack_at, self._acknowledge
            yield self.growing.at_us, self.growing.ask
            yield self.fusing.at_us, self.fusing.ask
            yield self.outbox.next_us(), self.outbox.resend
