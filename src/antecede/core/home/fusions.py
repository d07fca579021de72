"""Fusion at a home broker (001, 003, 004: brokers aggregate by interest): it folds for its clients what it delivers.

Decided in this file: a fused subscription is a fold (`core/fold`) of whatever the broker delivers and it selects, in
the broker's order, from when it was asked for. Each cut is one result, numbered, kept until the client has it. A client
that comes from another home says whose the fold is: that one is asked for it, gives it with all it has had, and folds
no more; what it had not had is taken from the store. If that home is gone, or has none, the fold begins anew, and its
results say so. Nothing of this is a row: what a client is owed are messages, and these are none.
"""

from __future__ import annotations

import json
from bisect import insort
from collections import deque
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from antecede.core.content import fields_of
from antecede.core.deadline.inbox import Inbox
from antecede.core.effects import Deliver
from antecede.core.fold.cuts import Cut
from antecede.core.fold.spec import FuseSpec
from antecede.core.frames import Fuse, Fused
from antecede.core.interest import Interest
from antecede.core.marks import beyond, cut_of, join, newest_of, ordered_of
from antecede.core.message import Envelope, Message, Stamp, id_of_mark, make_id
from antecede.core.order.vector import close
from antecede.core.where import Fields
from antecede.errors import InputError, RemoteProtocolError

if TYPE_CHECKING:
    from antecede.core.home.broker import HomeBroker

__all__ = ["MOST_FUSIONS", "PASSED", "RESULTS", "Fusion", "Fusions", "HomeInbox"]

PASSED = 256
"""Of one sender, so many that were passed over are remembered. Raising it costs memory and time under heavy loss."""
RESULTS = 1000
"""Results kept for a client that does not acknowledge them; of more the oldest go, and their numbers show it. Raising
it costs memory for each such client."""
MOST_FUSIONS = 64
"""Of one client. Raising it costs time for each message."""

Key = tuple[str, int]


class HomeInbox(Inbox):
    """Says what goes out by its deadline without a cause, and what never will: a fold must not count what follows."""

    passed_over: Callable[[Message], None]

    def _missing(self, envelope: Envelope, reason: str) -> tuple[str, ...]:
        if reason == "deadline":
            return tuple(dict.fromkeys(map(id_of_mark, self.reader.missing(envelope.stamp))))
        if reason in ("late", "superseded"):
            self.passed_over(envelope.message)
        return ()

    def skip(self, envelope: Envelope, reason: str, now_us: int) -> None:
        if envelope.message.id not in self.seen:
            self.passed_over(envelope.message)
        super().skip(envelope, reason, now_us)


class Fusion:
    """One fused subscription."""

    def __init__(self, spec: FuseSpec, interest: Interest, began: str, retired: Mapping[str, int]) -> None:
        self.spec, self.interest, self.began = spec, interest, began
        """`began`: "" where the client asked for it first, `moved`, or `anew` after a home that is gone."""
        self.retired = retired
        """What nobody need name any more (`retiring.py`)."""
        self.fold = spec.fold()
        self.frontier: Mapping[str, int] = {}
        """What an earlier home had: it is in the fold."""
        self.stamps: dict[str, Stamp] = {}
        """Stamps of messages in the fold that may be causes of a result."""
        self.results: deque[bytes] = deque()
        self.top = 0
        """The number of the newest."""
        self.given: bytes | None = None
        """The state of the fold, once another home has asked for it: this one folds no more."""

    def take(self, envelope: Envelope, fields: Fields, sent_us: int | None, missing: tuple[str, ...]) -> bool:
        """Fold a message; whether there is a new result."""
        message, stamp, fold = envelope.message, envelope.stamp, self.fold
        past = newest_of(stamp.covers)
        parents = (*cut_of(past), *fold.held_behind(past))  # what leads to a held one through others is after it too
        reading = self.spec.reading(fold.next_pos, message.id, sent_us, fields, parents, missing)
        top = self.top
        for cut in fold.push([reading]):
            # A cut by time ends before this reading, one by number with it: its causes say which.
            self.stamps[message.id] = stamp
            self._result(cut)
        self.stamps[message.id] = stamp
        return self.top > top

    def _named(self, stamp: Stamp) -> Stamp:
        own = beyond(dict(stamp.own), self.retired)
        return Stamp(tuple(own.items()), (), beyond(stamp.covers, self.retired), stamp.rank)

    def _result(self, cut: Cut) -> None:
        self.stamps = {one: self._named(stamp) for one, stamp in self.stamps.items()}
        marks = close(self.stamps[one] for one in cut.causes if one in self.stamps)
        rank = max((self.stamps[one].rank for one in cut.causes if one in self.stamps), default=0)
        rows = self.spec.results(cut)
        self.top += 1
        said = {"cut": cut.number, "cut_us": cut.time_us, "rows": cut.rows, "causes": cut.causes, "results": rows,
                "began": self.began, "marks": ordered_of(marks), "rank": rank}  # fmt: skip
        self.began = ""
        self.results.append(json.dumps(said).encode())
        if len(self.results) > RESULTS:
            self.results.popleft()
        live = self.fold.live()
        self.stamps = {one: stamp for one, stamp in self.stamps.items() if one in live}

    def first(self) -> int:
        """The number of the oldest result that is kept."""
        return self.top - len(self.results) + 1

    def acknowledge(self, have: int) -> None:
        while self.results and self.first() <= have:
            self.results.popleft()

    # -- to another home ---------------------------------------------------------------------------------------------

    def state(self, frontier: Mapping[str, int]) -> bytes:
        """As it travels to the next home."""
        past = dict(self.frontier)
        join(past, frontier)
        stamps = {one: [stamp.own, stamp.covers, stamp.rank] for one, stamp in self.stamps.items()}
        body = {"fold": self.fold.to_plain(), "frontier": past, "stamps": stamps, "top": self.top, "began": self.began,
                "results": [result.decode() for result in self.results]}  # fmt: skip
        return json.dumps(body).encode()

    def resume(self, state: bytes) -> None:
        try:
            body = json.loads(state)
            self.fold.from_plain(body["fold"])
            self.frontier, self.top = dict(body["frontier"]), int(body["top"])
            self.began = body["began"] or "moved"
            self.results.extend(result.encode() for result in body["results"])
            for one, (own, covers, rank) in body["stamps"].items():
                self.stamps[one] = Stamp(tuple((stream, n) for stream, n in own), (), covers, rank)
        except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError, InputError) as fault:
            raise RemoteProtocolError(f"this is no fold: {fault}") from None


class Fusions:
    def __init__(self, broker: HomeBroker) -> None:
        self.broker = broker
        self._out, self._content, self._store = broker.out, broker.content, broker.store
        self.by_key: dict[Key, Fusion] = {}
        self._awaited: dict[Key, tuple[Fuse, str]] = {}
        """Folds that another home was asked for, and which."""
        self._passed: dict[str, list[tuple[int, tuple[str, ...]]]] = {}
        """Per sender, the numbers and topics of what came too late, or never, ascending: what follows it is held until
        something later of its sender counts."""

    def viewed(self) -> None:
        departed = self.broker.departed
        for key in [key for key in (*self.by_key, *self._awaited) if key[0] in departed]:
            self.by_key.pop(key, None)
            self._awaited.pop(key, None)
        for (client, number), (frame, home) in list(self._awaited.items()):
            if home not in self.broker.members:
                self._begin((client, number), frame, b"")

    def passed_over(self, message: Message) -> None:
        """A message will never be delivered here: no fold waits for it."""
        if self.by_key:
            passed = self._passed.setdefault(message.series, [])
            insort(passed, (message.seq, message.topics))
            del passed[:-PASSED]

    def _passed_before(self, fusion: Fusion, stamp: Stamp) -> tuple[str, ...]:
        """Of each sender the latest cause that was passed over and the fold would have had."""
        found = []
        for series, n in newest_of(stamp.covers).items():
            for seq, topics in reversed(self._passed.get(series, ())):
                if seq <= n and fusion.interest.wants(topics):
                    found.append(make_id(series, seq))
                    break
        return tuple(found)

    def delivered(self, envelope: Envelope, now_us: int) -> None:
        if not self.by_key:
            self._passed.clear()
            return
        message = envelope.message
        said: tuple[Fields, int | None] | None = None
        last = self._out[-1]
        missing = last.missing if isinstance(last, Deliver) and last.message is message else ()
        for key, fusion in self.by_key.items():
            if fusion.given is not None or not self._wants(fusion, envelope):
                continue
            if said is None:
                content = self._content.read(message.payload)
                said = fields_of(content), content.sent_us
            passed = self._passed_before(fusion, envelope.stamp) if self._passed else ()
            if fusion.take(envelope, *said, tuple(dict.fromkeys((*missing, *passed)))):
                self._send(key, fusion, fusion.top)

    def _wants(self, fusion: Fusion, envelope: Envelope) -> bool:
        if not fusion.interest.takes(envelope.message, self._content):
            return False
        past = fusion.frontier
        return not past or not any(n <= past.get(stream, 0) for stream, n in envelope.stamp.own)

    def _send(self, key: Key, fusion: Fusion, first: int) -> None:
        first = max(first, fusion.first())
        results = tuple(fusion.results)[first - fusion.first() :]
        self.broker.send((key[0],), Fused(key[1], first, results))

    # -- what clients and other homes ask for ------------------------------------------------------------------------

    def on_fuse(self, frame: Fuse, sender: str, now_us: int) -> None:
        if frame.client:
            if sender not in self.broker.all_brokers:
                raise RemoteProtocolError(f"{sender} is no broker, and asks for what {frame.client} wants fused")
            self._give((frame.client, frame.number), sender)
            return
        key = (sender, frame.number)
        if sender not in self.broker.logs:
            return  # not attached here, or not yet: it asks again
        if not frame.filters:
            self.by_key.pop(key, None)
            self._awaited.pop(key, None)
            return
        fusion = self.by_key.get(key)
        if fusion is not None and fusion.given is None and frame.previous in ("", self.broker.name):
            fusion.acknowledge(frame.have)
            self._send(key, fusion, frame.have + 1)
        elif frame.previous in ("", self.broker.name):
            self._begin(key, frame, b"")
        elif frame.previous in self.broker.members:
            self._awaited[key] = (frame, frame.previous)
            self.broker.send((frame.previous,), Fuse(frame.number, (), b"", client=sender))
        else:
            self._begin(key, frame, b"")

    def _give(self, key: Key, home: str) -> None:
        """The same however often it is asked for: an answer may be lost."""
        fusion = self.by_key.get(key)
        if fusion is not None and fusion.given is None:
            fusion.given = fusion.state(self.broker.start_for(fusion.interest))
        state = b"" if fusion is None or fusion.given is None else fusion.given
        self.broker.send((home,), Fused(key[1], 0, (), state, key[0]))

    def on_fused(self, frame: Fused, sender: str, now_us: int) -> None:
        key = (frame.client, frame.number)
        awaited = self._awaited.get(key)
        if awaited is not None and awaited[1] == sender:
            self._begin(key, awaited[0], frame.state)

    def _begin(self, key: Key, frame: Fuse, state: bytes) -> None:
        broker = self.broker
        if sum(client == key[0] for client, _ in self.by_key) >= MOST_FUSIONS and key not in self.by_key:
            raise RemoteProtocolError(f"{key[0]} wants more than {MOST_FUSIONS} things fused")
        try:
            spec = FuseSpec.from_bytes(frame.spec)
        except InputError as fault:
            raise RemoteProtocolError(str(fault)) from None
        self._awaited.pop(key, None)
        retiring = broker.retiring
        fusion = Fusion(
            spec, broker.checked_interest(frame.filters), "anew" if frame.previous else "", retiring.retired
        )
        if state:
            fusion.resume(state)
        else:
            fusion.top = frame.have  # numbers go on
        self.by_key[key] = fusion
        kept = self._store.by_id
        if state:
            for envelope in [one for one in kept.values() if self._wants(fusion, one)]:
                content = self._content.read(envelope.message.payload)
                fusion.take(envelope, fields_of(content), content.sent_us, ())
        fusion.acknowledge(frame.have)
        self._send(key, fusion, frame.have + 1)
