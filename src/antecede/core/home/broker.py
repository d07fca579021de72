"""The broker of `home` (ours, PROTOCOLS s3.6): clients publish through it and get one numbered stream from it.

Among brokers it delivers in causal order like any other. A client's publication is relayed at once and otherwise
treated like a message from another broker. If the home carries none of its groups, the home only keeps and relays it.
The publication is acknowledged when another broker of its groups has it, or when there is no other and the home itself
carries it. Every message that the home delivers goes into the log of each attachment that wants it. Example: Ann
publishes m at A; A sends m to B and delivers it; B says that it has m, and A acknowledges m to Ann; Bob, attached at B,
gets m as the next number of his log.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

from antecede.core.effects import Discard, Effect, Send
from antecede.core.frames import (
    Ack,
    Attach,
    Attached,
    Data,
    Detach,
    Digest,
    Frame,
    Fuse,
    Fused,
    Gone,
    Grow,
    Grown,
    Item,
    Items,
    Kept,
    Publish,
    Quiet,
    Received,
    Retired,
    Top,
    Want,
)
from antecede.core.home.confirming import Confirming
from antecede.core.home.fusions import Fusions, HomeInbox
from antecede.core.home.retiring import Retiring
from antecede.core.home.sharing import Sharing
from antecede.core.interest import Interest
from antecede.core.marks import cut_of, join, loose_of, newest_of, ordered_of
from antecede.core.message import (
    COLLECTED,
    LOOSE,
    Envelope,
    Mark,
    Message,
    Publication,
    header_of,
    in_time,
    sender_of,
)
from antecede.core.order.numbered import WINDOW, Log
from antecede.core.order.vector import VectorWriter
from antecede.core.repair.answering import BATCH
from antecede.core.roles.broker import BrokerBase
from antecede.core.roles.receiver import Parts
from antecede.core.topics import split_filter
from antecede.core.where import parse_where
from antecede.errors import InputError, RemoteProtocolError

__all__ = ["HomeBroker"]


class HomeBroker(BrokerBase):
    def __init__(self, parts: Parts, *, plain: bool = False) -> None:
        super().__init__(parts)
        self.plain = plain
        self.store.memory_us = parts.settings.memory_us
        self.logs: dict[str, Log] = {}
        self.sharing = Sharing(self.logs, plain=plain)
        self._batches: dict[int, tuple[list[Item], list[tuple[Item, ...]]]] = {}
        """Items that were cut into batches in this turn: clients that share a channel are sent the same ones."""
        self.confirming = Confirming(self)
        self.fusions = Fusions(self)
        if isinstance(self.inbox, HomeInbox):
            self.inbox.passed_over = self.fusions.passed_over
        self.retiring = Retiring(self)
        self._doubted: set[str] = set()
        """Clients that are waited for although others gave up: are they still attached here?"""

    # -- who is there ----------------------------------------------------------------------------------------------

    def viewed(self, now_us: int) -> None:
        super().viewed(now_us)
        for name in [name for name in self.logs if name in self.departed]:
            self.sharing.detach(name)
        self.fusions.viewed()
        self.confirming.viewed()

    def publish(self, publication: Publication, now_us: int) -> tuple[Message, list[Effect]]:
        raise InputError(f"{self.name} is a broker: in recipe `home` its clients publish.")

    def absent_since(self, mark: Mark, wanted_us: int) -> int | None:
        """An attached client publishes again only what is not safe. No other message can still come from it."""
        left = super().absent_since(mark, wanted_us)
        if left is not None:
            return left
        log = self.logs.get(sender_of(mark[0]))
        return None if log is not None and log.keeps(mark) else wanted_us

    def is_being_sent(self, mark: Mark, now_us: int) -> bool:
        """A client may be attached elsewhere by now: it says so (DETACH) when it hears of its old numbers again.
        Example: each copy of p:1 is lost for longer than `grace_us`, p:2 came: its home A waits for p:1, and so B
        does."""
        if self.absent_since(mark, now_us) is not None:
            return False
        self._doubted.add(sender_of(mark[0]))
        self.rounds.begin(now_us)
        return True

    # -- publications ----------------------------------------------------------------------------------------------

    def _on_publish(self, frame: Publish, client: str, now_us: int) -> None:
        unsafe = []
        for envelope in frame.envelopes:
            self.groups.check_own(envelope)
            if self.retiring.retired:
                self.retiring.named_by(client, envelope.stamp.covers)
        for envelope in map(self.retiring.passed_on, frame.envelopes):
            message_id, topics = envelope.message.id, envelope.message.topics
            others = self.carriers_of(topics)
            if frame.headers_only:
                if message_id not in self.store.by_id:
                    self._skip_unsent(envelope, client, others, now_us)
            elif message_id in self.inbox.seen:
                self.out.append(Discard(message_id, "duplicate"))
                if others and message_id not in self.store.by_id and message_id not in self.inbox.held:
                    self.out.append(Send(others, Data((envelope,))))  # passed over here: only its client has it
            else:
                if others:
                    self.out.append(Send(others, Data((envelope,))))
                if self.interest.wants(topics):
                    self.take((envelope,), client, now_us)
                else:
                    self.inbox.seen[message_id] = now_us
                    self.out.append(Discard(message_id, "foreign"))
                    self.store.add(envelope)  # kept for others, never delivered here
                    self.retiring.note(envelope.stamp.own)
            if not self.confirming.publish(envelope, client, alone=not others and self.interest.wants(topics)):
                unsafe.append(message_id)
        if unsafe:
            self.out.append(Send((client,), Received(tuple(unsafe))))
            self.rounds.compare_again(now_us)

    def pass_on(self, envelopes: Sequence[Envelope], now_us: int) -> None:
        """The earlier incarnation kept messages for brokers that may have been out of its view: now they go there, and
        are kept here until all have them."""
        for envelope in envelopes:
            message_id, topics = envelope.message.id, envelope.message.topics
            if not self.interest.wants(topics) and in_time(envelope, now_us):
                self.inbox.seen[message_id] = now_us
                self.store.add(envelope)
                self.retiring.note(envelope.stamp.own)
                others = self.carriers_of(topics)
                if others:
                    self.out.append(Send(others, Data((envelope,), answer=True)))
                self.rounds.begin(now_us)

    def _skip_unsent(self, envelope: Envelope, client: str, others: tuple[str, ...], now_us: int) -> None:
        """A publication's deadline passed before any broker had it: all brokers skip it, or its sender's next message
        would wait for it."""
        deadline = envelope.message.deadline_us
        if deadline is not None and now_us > deadline:
            self.skip_expired(envelope, client, now_us)
            if others:
                self.out.append(Send(others, Gone((header_of(envelope),))))

    def on_frame(self, frame: Frame, sender: str, now_us: int) -> None:
        super().on_frame(frame, sender, now_us)
        if isinstance(frame, Data) and not frame.answer:
            self.confirming.took(frame.envelopes, sender)

    def compared(self, frame: Digest, sender: str, now_us: int) -> None:
        super().compared(frame, sender, now_us)
        self.confirming.compared(frame.have)

    def flush(self, now_us: int) -> list[Effect]:
        for client in self.sharing.fed(self.retiring.passed_on):
            log = self.logs.get(client)
            if log is not None:
                self._send_due(client, log, now_us)
                self._shed(client, log, now_us)
        self._batches.clear()
        self.confirming.flush()
        return super().flush(now_us)

    def done(self, have: Mapping[str, int]) -> Mapping[str, int]:
        """In each stream the number before the oldest message that a client has not acknowledged (trap 4)."""
        done = dict(have)
        for lowest in self.sharing.lowest():
            for stream, n in lowest.items():
                if n <= done.get(stream, 0):
                    done[stream] = n - 1
        return done

    def unsafe(self) -> Sequence[Envelope]:
        """Publications of clients, stored here or passed over, that no other broker is known to have."""
        return self.confirming.unsafe()

    def newest_unsafe(self) -> Mapping[str, int]:
        return self.confirming.newest()

    # -- what is named ---------------------------------------------------------------------------------------------

    def answer_for(self, envelope: Envelope, peer: str) -> Envelope:
        return self.retiring.passed_on(super().answer_for(envelope, peer))

    def keep(self, envelope: Envelope, now_us: int) -> None:
        super().keep(envelope, now_us)
        self.retiring.note(envelope.stamp.own)

    def start_for(self, interest: Interest) -> dict[str, int]:
        return self.retiring.must_name(super().start_for(interest))

    def cut(self) -> tuple[str, ...]:
        return cut_of(self._all_tops())

    def _all_tops(self) -> dict[str, int]:
        """The newest delivered here of each sender; of those that are not named any more, how many were let go of."""
        return {**self.tops, **(self._let_go() if self.retiring.enabled else {})}

    def _let_go(self) -> dict[str, int]:
        return {self.name + COLLECTED: self.store.collected}

    def forgotten(self) -> dict[str, int]:
        return self._let_go() if self.retiring.forgot else {}

    # -- streams that are over -------------------------------------------------------------------------------------

    def quiet_of(self, streams: Iterable[str]) -> list[str]:
        """The streams of which this broker keeps, holds and asks for nothing, and no client or peer may want more."""
        quiet = [stream for stream in streams if not self.store.keeps(stream) and not self.inbox.holds_of(stream)]
        if quiet:
            busy = self.wants.streams() | self.confirming.streams()
            busy.update(*self.sharing.lowest())
            quiet = [stream for stream in quiet if stream not in busy]
        return quiet

    def retire(self, marks: Mapping[str, int], now_us: int) -> None:
        """Streams are over everywhere, up to these marks: messages that wait for something of them need not."""
        self.reader.retire(marks)
        assert isinstance(self.writer, VectorWriter)
        self.writer.retire(marks)
        self.stability.retire(marks)
        self.confirming.retire(marks)
        self.losses.settled(marks)
        if self.reader.freed:
            self.inbox.deliver_ready(now_us)
            self.want_blocked(None, now_us)

    def forget_streams(self, streams: Iterable[str]) -> None:
        """A copy of one of their messages is a new message from now on."""
        self.reader.forget(streams)
        self.stability.forget_streams(streams)

    def kept(self) -> Iterator[Envelope]:
        """Messages and headers that a newcomer may be given, with the causes they had when they came."""
        return chain(self.store, self.store.kept_headers(), self.inbox.envelopes())

    # -- attachments -----------------------------------------------------------------------------------------------

    def forward(self, envelope: Envelope, now_us: int) -> None:
        self.fusions.delivered(envelope, now_us)
        self.sharing.give(envelope, self.content)

    def on_other(self, frame: Frame, sender: str, now_us: int) -> None:
        log = self.logs.get(sender)
        if isinstance(frame, Publish):
            self._on_publish(frame, sender, now_us)
        elif isinstance(frame, Attach):
            self._on_attach(frame, sender, now_us)
        elif isinstance(frame, Kept):
            self.confirming.on_kept(frame, sender)
        elif isinstance(frame, Fuse):
            self.fusions.on_fuse(frame, sender, now_us)
        elif isinstance(frame, Fused):
            self.fusions.on_fused(frame, sender, now_us)
        elif isinstance(frame, Quiet):
            self.retiring.on_quiet(frame, sender, now_us)
        elif isinstance(frame, Retired):
            self.retiring.on_retired(frame, sender, now_us)
        elif log is None:
            return
        elif isinstance(frame, Ack):
            if frame.attachment == log.number:
                log.acknowledge(frame.index)
                self._send_due(sender, log, now_us)
                self.sharing.acknowledged(sender)
        elif isinstance(frame, Want):
            if frame.attachment == log.number:
                self._resend(log, frame, sender, now_us)
        elif isinstance(frame, Grow):
            if frame.attachment == log.number:
                self._on_grow(frame, log, sender, now_us)
        elif isinstance(frame, Detach) and frame.attachment > log.number:
            self.sharing.detach(sender)

    def _on_attach(self, frame: Attach, sender: str, now_us: int) -> None:
        log = self.logs.get(sender)
        if sender in self.departed or (log is not None and log.number > frame.attachment):
            return
        fresh = frame.frontier is None
        if log is None or log.number < frame.attachment:
            interest = self.checked_interest(frame.filters)
            start = self.start_for(interest) if fresh else frame.began
            loose = loose_of(start)
            cut = self.cut() if frame.filters else ()  # who only publishes begins nowhere
            log = Log(frame.attachment, interest, frame.frontier or loose, cut, plain=self.plain)
            log.began, log.origins, log.missed = start, self.origins_for(interest), frozenset(frame.missed[-WINDOW:])
            self.sharing.attach(sender, log)
            log.published = {sender: frame.published, sender + LOOSE: frame.loose}
            log.unacked = set(frame.unacked)
            self.confirming.attached(sender, log)
            self.retiring.named_by(sender, {**frame.began, **(frame.frontier or {})})
            if fresh:
                log.hide(log.cut)
            else:
                replayed = self._gone_for(log, sender) + self._replay(log, (), sender, now_us, {})
                if frame.change:
                    log.cut = self._cut_before(replayed, {**log.frontier, **log.began})
                    log.hide(log.cut)
                    log.grown = Grown(log.number, frame.change, 1, log.cut, (), log.origins)
        attached = Attached(log.number, log.began if fresh else {}, log.cut, log.origins)
        self.out.append(Send((sender,), attached))
        self._send_replayed(sender, log, now_us)
        self.sharing.share(sender)

    def checked_interest(self, filters: tuple[str, ...]) -> Interest:
        for where in [where for _, where in map(split_filter, filters) if where is not None]:
            try:
                parse_where(where)
            except InputError as fault:
                raise RemoteProtocolError(str(fault)) from None
        return self.known_interest(filters)

    def _on_grow(self, frame: Grow, log: Log, client: str, now_us: int) -> None:
        """A client changes its filters: stored messages of the new groups are replayed (H8), without those that the
        client has passed or is about to pass.

        The log tells which those are, unless acknowledgements overtook the frame, or numbers were let go of that may
        still be on their way: then nothing is done, and the client asks again. Example: Bob asks after number 7, and
        his acknowledgement of 9 came first: the log no longer knows what 8 and 9 were.

        New groups begin behind the cut at which this broker itself began there: it never has anything before that, and
        whoever knew what that was may have forgotten it. Example: B began behind q:4 in G2; Bob adds G2 at B, q
        publishes q:5, and B sends him q:5: he is not owed q:4."""
        if log.grown is None or log.grown.change < frame.change:
            if log.low > frame.index:
                return
            self.sharing.set_apart(client)
            before, log.interest = log.interest.filters, self.checked_interest(frame.filters)
            first, log.began = log.top + 1, frame.began
            passed = log.passed(frame.frontier, frame.index)
            join(passed, self.stability.settled)  # history: some of it may be gone already
            replayed = self._replay(log, before, client, now_us, passed, frame.index)
            join(passed, log.began)
            new = Interest(f for f in frame.filters if f not in before)
            cut = self._cut_before(replayed, passed)
            log.grown = Grown(log.number, frame.change, first, cut, (), self.origins_for(new))
            log.hide(log.grown.cut)
        self.out.append(Send((client,), log.grown))
        self._send_replayed(client, log, now_us)

    def _replay(
        self, log: Log, before: tuple[str, ...], client: str, now_us: int, passed: Mapping[str, int], index: int = 0
    ) -> list[Item]:
        """Number the stored messages that the client's new filters want, in the order of delivery here.

        Left out are messages that the filters `before` wanted already, messages that the client has passed (`passed`),
        and messages that are on their way to it with a number above `index`. A message that `before` wanted, and that
        lay behind the cut at which that filter began, is owed again if a new filter wants it too."""
        new = tuple(f for f in log.interest.filters if f not in before)
        wanted, had, hidden = self.known_interest(new), self.known_interest(before), dict(log.hidden)
        content = self.content
        items, numbered = [], {item.envelope.message.id for item in log.entries.values() if item.index > index}
        soonest_us = now_us - self.settings.slack_us  # what has expired here need not have at the client
        for envelope in self.store:
            message = envelope.message
            if message.sender == client or not in_time(envelope, soonest_us) or not wanted.takes(message, content):
                continue
            again = message.seq <= hidden.get(message.series, 0)
            if message.id not in numbered and (again or not had.takes(message, content)):
                over = any(n <= passed.get(stream, 0) for stream, n in envelope.stamp.own)
                item = None if over else log.append(envelope)
                if item is not None:
                    items.append(item)
        return items

    def _gone_for(self, log: Log, client: str) -> list[Item]:
        """Headers of messages that can no longer be had although the client has not passed them: it was away for longer
        than `grace_us`. Their payloads are gone, so they go to every client that may have wanted them.

        What is kept or held here all the same is sent as it is. Example: G had let go of p:1, J still kept it, and both
        gave K what they had: K remembers p:1 as gone, and has it."""
        items = []
        for header in self.store.remembered():
            message = header.message
            if message.id in self.store or self.holds(message.id):
                continue
            item = log.append(header) if message.sender != client and log.interest.wants(message.topics) else None
            if item is not None:
                item.gone = True
                items.append(item)
        return items

    def _cut_before(self, items: list[Item], passed: Mapping[str, int]) -> tuple[str, ...]:
        """The cut at which replayed filters begin: all that was delivered here, except these items and the messages
        that follow them, which are owed. Messages that the client has passed are in the cut whatever they follow: they
        are never sent again."""
        lowest: dict[str, int] = {}
        for item in [item for item in items if not item.gone]:
            for stream, n in ordered_of(dict(item.envelope.stamp.own)).items():
                lowest[stream] = min(n, lowest.get(stream, n))
        tops = self._all_tops()
        for envelope in (*self.store, *self.store.kept_headers()) if lowest else ():
            message, covers = envelope.message, {**envelope.stamp.covers, **dict(envelope.stamp.own)}
            if message.order != "none" and any(covers.get(stream, 0) >= n for stream, n in lowest.items()):
                tops[message.sender] = min(message.seq - 1, tops.get(message.sender, 0))
        join(tops, newest_of(self.interest.among(passed)))
        return cut_of(tops)

    def _send_replayed(self, client: str, log: Log, now_us: int) -> None:
        if log.sent < log.top:
            self._send_due(client, log, now_us)
            self._shed(client, log, now_us)
            self.rounds.begin(now_us)  # they may be lost, in a quiet system too

    def _send_due(self, client: str, log: Log, now_us: int) -> None:
        """Send as many items as the client may be sent now; one that expired while it waited goes as a header."""
        if log.sent < log.top and log.sent < log.acked + WINDOW:
            if log.shared:
                self._send_shared(client, log, log.due(), now_us)
            else:
                self._send_items(client, log, log.due(), now_us)

    def _send_shared(self, client: str, log: Log, items: list[Item], now_us: int) -> None:
        """What several clients are sent is cut into batches once."""
        known = self._batches.get(id(items))
        if known is None:
            known = self._batches[id(items)] = items, self._cut(items, now_us)
        self.out += [Send((client,), _numbered(log, batch)) for batch in known[1]]

    def _send_items(self, client: str, log: Log, items: list[Item], now_us: int) -> None:
        passed_on = self.retiring.passed_on
        for item in items:
            item.envelope = passed_on(item.envelope)
        self.out += [Send((client,), _numbered(log, batch)) for batch in self._cut(items, now_us)]

    def _cut(self, items: list[Item], now_us: int) -> list[tuple[Item, ...]]:
        if any(item.envelope.message.deadline_us is not None for item in items):
            soonest_us = now_us - self.settings.slack_us
            items = [item if in_time(item.envelope, soonest_us) else _expired(item) for item in items]
        return [tuple(items[start : start + BATCH]) for start in range(0, len(items), BATCH)]

    def _shed(self, client: str, log: Log, now_us: int) -> None:
        """The items that wait for one client are bounded; no other client waits. (An expired one is no loss.)"""
        if not log.is_crowded(self.settings.backlog, self.settings.backlog_bytes):
            return
        soonest_us, log = now_us - self.settings.slack_us, self.sharing.set_apart(client)
        for item in log.shed(self.settings.backlog, self.settings.backlog_bytes):
            if not item.gone and in_time(item.envelope, soonest_us):
                self.out.append(Discard(item.envelope.message.id, "overflow", client))

    def _resend(self, log: Log, frame: Want, client: str, now_us: int) -> None:
        entries = self.sharing.set_apart(client).entries
        asked = [entries[index] for index in dict.fromkeys(frame.indexes) if index in entries]
        self._send_items(client, log, [item for item in asked if item.index <= log.sent], now_us)

    def rounded(self, now_us: int) -> bool:
        waiting = self.confirming.rounded(now_us)
        waiting = self.retiring.look(now_us) or waiting
        for client, log in self.logs.items():
            doubted = client in self._doubted
            if log.acked < log.top or doubted:
                waiting = True
                if log.lags() or doubted:
                    low = log.low if log.low > log.acked else 0
                    self.out.append(Send((client,), Top(log.number, log.sent, low)))
        self._doubted.clear()
        return waiting


def _expired(item: Item) -> Item:
    return Item(item.index, item.after, header_of(item.envelope), gone=True)


def _numbered(log: Log, items: tuple[Item, ...]) -> Items | Grown:
    """Items as they travel: with the last change of filters, while the client may not know of it."""
    grown = log.unknown()
    if grown is None:
        return Items(log.number, items)
    return Grown(grown.attachment, grown.change, grown.first, grown.cut, items, grown.origins)
