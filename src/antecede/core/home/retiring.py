"""Senders that leave cost nothing (ours): when a stream is over everywhere, so that nobody need name it any more.

Whoever published is a cause of what follows, and so a mark in every later stamp and frontier. The mark is of use only
to a process that lacks the message, or would be sent it again. So a stream is *retired* up to a number once that can be
nobody: each broker that carries its group says that it is *over* there.

Over at a broker, up to a number: all of it lies behind; nothing of it is kept, held, asked for, remembered as gone, or
unacknowledged by a client; and all this has been so for `grace_us`, as long as a process may take to turn up that is in
nobody's view (`stability.py`). Nothing of it is sent from there again, so it stays over, and saying so once is enough.

The broker with the smallest name in view is told (QUIET) and decides: up to the least number that all have said. Who
never heard of the last numbers (they expired on the way) is told of them. Then it tells all brokers (RETIRED), and each
tells its clients, until they have heard it: whoever is told takes the marks out of its own clock and out of what it
passes on, and has nothing to do with them any more. Who comes into view, or attaches and still names them, is told.

Example. p publishes p:1 through A and leaves; S, at B, delivers it: all that S publishes names p@G:1. When S and all
others have acknowledged it, A and B let go of p:1, then of its header; both tell A that p@G is over up to 1. A decides,
and tells B, which tells S: its next stamp, and its frontier, are as small as before p came. Should S now move to C: C
carries G, so it has said that p:1 is over, and will not send it.

Why a mark p@G:n may then be dropped. Everybody keeps to one rule: *what a process leaves out is over everywhere*. A
mark does two things: it makes a receiver wait for p:n before it delivers what follows, and in a client's frontier it
keeps a home from sending p:n again. Both are of use only while somebody may still be sent p:n, and nobody is:

    a broker that carries G      has p:n behind, keeps no copy, and was not asked for one for `grace_us`
    any other broker             keeps a copy for the carriers alone, and lets go of it when it is stable among them
    a client of such a broker    has acknowledged it, or was never to get it
    a client between two homes   is sent what its next home keeps: not p:n
    a broker that begins         takes over what the others keep, and where they begin (`stability.let_go`, `A@:17`)
    a copy on the way            finds p@G:n behind, which brokers know for `remember_us` longer than they name it

So dropping the mark takes no wait away that would have ended with a delivery. It must be dropped from all of a stamp.
Before S is told, S delivers messages that were passed on without p@G:n: then the past of S loses the mark, while what
S knows of single groups (`order/vector.py`, leaves) may still hold it. A need that nothing covers is no need any more,
and `VectorWriter` names none: named, it would make a broker that has forgotten p wait for it.

A sender that publishes again is named again. One that is in nobody's view any more is *forgotten* `remember_us` after
it retired, with what tells a repetition of its messages from new ones: this is the longest that a copy may be on its
way, and that a client may be away and come back naming it. Until then a late copy is known to lie behind. Who was away
for longer and names a sender that is forgotten makes others ask for it in vain, for `grace_us` (`giving_up.py`).

A cut counts what a broker let go of and names it no more (`A@:17`). What the broker itself began behind it never let go
of: so whoever begins there, or adds a group there, is told that cut by its names (`BrokerBase.origins_for`).

What is not promised: if all brokers are gone at once, nobody is left who knows what was retired. A broker that begins
then never hears of p:1, and its record has a gap where it delivers what followed; subscribers lack nothing by that
(`antecede simulate --recipe home --seed 3 --draw 144 --leavers`). No client could tell it: that would take the names.

Memory: of a sender that left a broker keeps some hundred bytes a group until it is forgotten, and then nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from antecede.core.frames import Quiet, Retired
from antecede.core.machine import Settings
from antecede.core.marks import beyond, join
from antecede.core.message import Envelope, Mark, Stamp, sender_of, series_of
from antecede.core.order.vector import without

if TYPE_CHECKING:
    from antecede.core.home.broker import HomeBroker
    from antecede.core.home.client import Client

__all__ = ["Naming", "Retiring", "drop", "strip"]

LOOKS = 4
"""Looks per `grace_us`. Raising it retires a little sooner; costs a pass over all streams that are not retired."""

AWAY = 4
"""However short `remember_us` is, a sender is remembered for so many times `grace_us`: a client whose broker crashes is
away for up to one, and its next broker may be a newcomer that is still to hear of what has retired."""

BATCH = 512
"""Marks in one frame: a few datagrams."""


class Retiring:
    """At a broker."""

    def __init__(self, broker: HomeBroker) -> None:
        self.broker, self.past = broker, broker.past
        self.retired: dict[str, int] = {}
        """Stream -> up to where it is over everywhere."""
        self._retired_us: dict[str, int] = {}
        """When each stream retired here, the latest last."""
        self._open: dict[str, int | None] = {}
        """Streams with messages newer than what retired, and since when this broker keeps none; None: it keeps some."""
        self._heard: dict[str, int] = {}
        """Up to these numbers open streams are over elsewhere."""
        self._say_us: dict[str, int] = {}
        """When to say again that an open stream is over here."""
        self._votes: dict[str, dict[str, int]] = {}
        """At the broker that decides: stream -> broker -> up to where it is over there."""
        self._prompt_us: dict[str, int] = {}
        """When to ask the voters of a stream that have not said that it is over there."""
        self._untold: dict[str, dict[str, int]] = {}
        """Brokers and clients, and what each is to be told until it has heard it."""
        self._peers: frozenset[str] = frozenset()
        """The brokers that were in view at the last look."""
        self._looked_us: int | None = None
        self.forgot = False
        """Whether a stream was forgotten: then only `A@:17` tells a newcomer what of it lies behind."""

    @property
    def enabled(self) -> bool:
        return self.broker.settings.remember_us > 0

    # -- what happens here -----------------------------------------------------------------------------------------

    def note(self, own: Iterable[Mark]) -> None:
        """A message was taken in: its streams are not over."""
        if self.enabled:
            for stream, n in own:
                if n > self.retired.get(stream, 0):
                    self._open.setdefault(stream, None)

    def passed_on(self, envelope: Envelope) -> Envelope:
        """A message as it goes on from here: without causes that are over everywhere."""
        return strip(envelope, self.retired)

    def named_by(self, client: str, marks: Mapping[str, int]) -> None:
        """A client still names these marks: it is told which of them it need not name."""
        retired = self.retired
        if not retired.keys().isdisjoint(marks):
            over = {stream: retired[stream] for stream, n in marks.items() if n <= retired.get(stream, -1)}
            if over and client in self.broker.logs:
                join(self._untold.setdefault(client, {}), over)

    def must_name(self, marks: Mapping[str, int]) -> dict[str, int]:
        return dict(beyond(marks, self.retired))

    def look(self, now_us: int) -> bool:
        """Once in a while: find streams that are over here, and everywhere. True: a process is still to hear of one."""
        broker, grace_us = self.broker, self.broker.settings.grace_us
        pause_us = max(broker.settings.round_us, grace_us // LOOKS)
        if self.enabled and (self._looked_us is None or now_us >= self._looked_us + pause_us):
            self._looked_us = now_us
            over: dict[str, int] = {}
            for stream in self._quiet():
                since = self._open[stream]
                if since is None:
                    self._open[stream] = now_us
                elif now_us >= max(since + grace_us, self._say_us.get(stream, 0)):
                    newest = self._newest(stream)
                    if newest and self._is_voter(broker.name, stream):
                        self._say_us[stream] = now_us + grace_us
                        over[stream] = newest
            first = min((broker.name, *broker.all_brokers))
            if first == broker.name:
                for stream, n in over.items():
                    self._vote(broker.name, stream, n, now_us)
                self._decide(now_us)
            else:
                self._send(first, over)
            self._tell(now_us)
            self._forget(now_us)
        return bool(self._untold)

    def _quiet(self) -> list[str]:
        """Open streams of which nothing is kept here."""
        quiet = self.broker.quiet_of(self._open)
        for stream in self._open.keys() - quiet:
            self._open[stream] = None
        return quiet

    def _newest(self, stream: str) -> int | None:
        newest = self.past.newest(stream)
        return None if newest is None else max(newest, self._heard.get(stream, 0))

    # -- what others say -------------------------------------------------------------------------------------------

    def on_quiet(self, frame: Quiet, sender: str, now_us: int) -> None:
        """A broker that carries the streams says this, or the one that decides, who has it from such a broker."""
        if not self.enabled or sender not in self.broker.all_brokers:
            return
        known = {stream: self.retired[stream] for stream, n in frame.marks.items() if n <= self.retired.get(stream, -1)}
        for batch in _batches(known):
            self.broker.send((sender,), Retired(batch))
        for stream, n in frame.marks.items():
            if stream not in known:
                self._open.setdefault(stream, None)
                self._heard[stream] = max(n, self._heard.get(stream, 0))
                if self._is_voter(sender, stream):
                    self._vote(sender, stream, n, now_us)

    def on_retired(self, frame: Retired, sender: str, now_us: int) -> None:
        if not self.enabled:
            return
        if frame.heard:
            untold = self._untold.get(sender, {})
            for stream in [stream for stream, n in frame.marks.items() if n >= untold.get(stream, n + 1)]:
                del untold[stream]
            if not untold:
                self._untold.pop(sender, None)
        elif sender in self.broker.all_brokers:
            self._retire(frame.marks, now_us)
            self.broker.send((sender,), Retired(frame.marks, heard=True))

    def _is_voter(self, name: str, stream: str) -> bool:
        """Whether a broker carries the stream's group; where no broker carries it any more, all are asked."""
        broker, carriers = self.broker, self.broker.carriers(stream)
        mine = broker.interest.concerns(stream)
        return (not carriers and not mine) or (mine if name == broker.name else name in carriers)

    def _vote(self, name: str, stream: str, n: int, now_us: int) -> None:
        votes = self._votes.setdefault(stream, {})
        votes[name] = max(n, votes.get(name, 0))
        self._prompt_us.setdefault(stream, now_us + self.broker.settings.grace_us)

    # -- at the one that decides -----------------------------------------------------------------------------------

    def _decide(self, now_us: int) -> None:
        broker, retired = self.broker, dict[str, int]()
        prompts: dict[str, dict[str, int]] = {}
        for stream, votes in self._votes.items():
            voters = [name for name in (broker.name, *broker.all_brokers) if self._is_voter(name, stream)]
            least, most = min(votes.get(name, 0) for name in voters), max(votes.values())
            if least > self.retired.get(stream, 0):
                retired[stream] = least
            if least < most and now_us >= self._prompt_us[stream]:
                self._prompt_us[stream] = now_us + broker.settings.grace_us
                for name in [name for name in voters if votes.get(name, 0) < most]:
                    prompts.setdefault(name, {})[stream] = most
        for name, marks in prompts.items():
            if name != broker.name:
                self._send(name, marks)
            else:
                join(self._heard, marks)
                for stream in marks:
                    self._open.setdefault(stream, None)
        for name in broker.all_brokers if retired else ():
            join(self._untold.setdefault(name, {}), retired)
        self._retire(retired, now_us)

    def _send(self, to: str, marks: Mapping[str, int]) -> None:
        for batch in _batches(marks):
            self.broker.send((to,), Quiet(batch))

    # -- what follows ----------------------------------------------------------------------------------------------

    def _retire(self, marks: Mapping[str, int], now_us: int) -> None:
        broker = self.broker
        news = {stream: n for stream, n in marks.items() if n > self.retired.get(stream, 0)}
        if not news:
            return
        for stream, n in news.items():
            self.retired[stream] = n
            self._retired_us.pop(stream, None)
            self._retired_us[stream] = now_us
            if (self._newest(stream) or 0) <= n:
                for known in (self._open, self._heard, self._say_us, self._votes, self._prompt_us):
                    known.pop(stream, None)
        drop(broker.tops, news, named=self._open)
        for client in broker.logs:
            join(self._untold.setdefault(client, {}), news)
        broker.retire(news, now_us)

    def _tell(self, now_us: int) -> None:
        """Tell brokers and clients what retired. A broker that came into view is told by the first of those that were
        there before and have heard it all. Example: A.1 and B.1 come back at once: C tells both, for neither knows."""
        broker, peers = self.broker, frozenset(self.broker.all_brokers)
        first = min({broker.name, *(peers & self._peers - self._untold.keys())})
        for name in peers - self._peers:
            if self.retired and broker.name == first:
                self._untold[name] = dict(self.retired)
        self._peers = peers
        for name in [name for name in self._untold if name not in peers and name not in broker.logs]:
            del self._untold[name]
        for name, marks in self._untold.items():
            for batch in _batches(marks):
                broker.send((name,), Retired(batch))

    def _forget(self, now_us: int) -> None:
        """Forget streams that retired long ago, but of no sender in view: its numbers tell new messages from old."""
        broker = self.broker
        before_us = now_us - remembered_us(broker.settings)
        gone, stay = list[str](), list[str]()
        for stream, at_us in self._retired_us.items():
            if at_us > before_us:
                break
            (stay if self._is_needed(stream) else gone).append(stream)
        for envelope in broker.kept() if gone else ():
            if not envelope.stamp.covers.keys().isdisjoint(gone):
                stay += [stream for stream in gone if stream in envelope.stamp.covers]
                gone = [stream for stream in gone if stream not in envelope.stamp.covers]
        for stream in stay:
            del self._retired_us[stream]
            self._retired_us[stream] = now_us
        for stream in gone:
            del self._retired_us[stream], self.retired[stream]
        broker.forget_streams(gone)
        self.forgot = self.forgot or bool(gone)
        for known in (broker.departed, broker.unseen):
            for name in [name for name, at_us in known.items() if at_us <= before_us]:
                del known[name]

    def _is_needed(self, stream: str) -> bool:
        """Whether the sender of a stream is here, or something newer of it is, or some process is still to hear that
        it is over."""
        broker, sender = self.broker, sender_of(stream)
        newest = self.past.newest(stream)
        return (
            sender in broker.members
            or sender in broker.logs
            or stream in self._open
            or newest is None
            or newest > self.retired[stream]
            or any(stream in marks for marks in self._untold.values())
        )


class Naming:
    """At a client: what it need not name."""

    def __init__(self, client: Client) -> None:
        self.client, self.upper = client, client.upper
        self._retired: dict[str, int] = {}
        """Marks that retired while a message waits here that may still name them, for as long as brokers know them, and
        at most as long again."""
        self._lately: dict[str, int] = {}
        """The marks that retired since `_since_us`: they stay when the others are forgotten."""
        self._since_us = 0

    def learned(self, envelope: Envelope) -> Envelope:
        """A delivered message as this client remembers it."""
        return strip(envelope, self._retired) if self._retired else envelope

    def recalled(self, stamps: Sequence[Stamp]) -> list[Stamp]:
        """Stamps of earlier messages, as causes now: of streams that are in this client's past no more nothing is
        named. (All that they cover was there once.)"""
        past = self.upper.past()
        return [
            Stamp(
                tuple(mark for mark in stamp.own if mark[0] in past), (),
                {stream: n for stream, n in stamp.covers.items() if stream in past}, stamp.rank,
            )
            for stamp in stamps
        ]  # fmt: skip

    def on_retired(self, frame: Retired, now_us: int) -> None:
        client, marks = self.client, frame.marks
        waits = client.waits()
        if not waits or now_us >= self._since_us + remembered_us(client.settings):
            self._retired = self._lately if waits else {}
            self._lately, self._since_us = {}, now_us
        join(self._retired, marks)
        join(self._lately, marks)
        self.upper.retire(marks)
        drop(client.tops, marks, named=(*self.upper.past(), *client.retire(marks)))
        client.say_home(Retired(marks, heard=True))


def remembered_us(settings: Settings) -> int:
    """How long after it retired a sender is known."""
    return max(settings.remember_us, AWAY * settings.grace_us)


def strip(envelope: Envelope, retired: Mapping[str, int]) -> Envelope:
    """A message without causes up to these numbers."""
    stamp = envelope.stamp
    if not retired or retired.keys().isdisjoint(stamp.covers):  # without any, nobody looks at its causes
        return envelope
    over = {stream: retired[stream] for stream, n in stamp.covers.items() if n <= retired.get(stream, -1)}
    if not over:
        return envelope
    bare = without(stamp, over)
    bare.own = stamp.own
    return Envelope(envelope.message, bare)


def drop(tops: dict[str, int], retired: Iterable[str], *, named: Iterable[str]) -> None:
    """The newest of each sender, without those of whom nothing is named any more in any stream.

    >>> tops = {"p": 3, "q": 1}
    >>> drop(tops, ["p@G1", "q@G1"], named=["p@G2"])
    >>> tops
    {'p': 3}
    """
    still = set(map(series_of, named))
    for series in set(map(series_of, retired)) - still:
        tops.pop(series, None)


def _batches(marks: Mapping[str, int]) -> Iterator[dict[str, int]]:
    items = list(marks.items())
    for start in range(0, len(items), BATCH):
        yield dict(items[start : start + BATCH])
