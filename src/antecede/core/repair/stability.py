"""When everybody has a message for good (PROTOCOLS s3.6, Stability): then, and not before, the Store may let go of it.

A process has *done* a message that lies behind it and behind the subscribers and clients it serves (trap 4). A stream
is stable up to the number that all carriers of its group in view have done; who left counts no more. A message
that has been stable for `grace_us` is *settled*: before that, a client of a broker that crashed may turn up elsewhere
without it (H13), and a newcomer that is in nobody's view yet may lack it. So a carrier that comes into view meanwhile
begins the wait anew. A message is let go of when all its streams are settled. Example: A and B carry G and have done
p@G:7; Bob, B's client, has acknowledged p:5 only, so B says 5, and p@G is stable up to 5.

This is for messages without a deadline. One with a deadline is let go of when it expires.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from antecede.core.marks import Marks, cut_of, join, put, tops_of

if TYPE_CHECKING:
    from antecede.core.roles.carrier import Carrier

__all__ = ["LOOKS", "Stability"]

LOOKS = 8
"""Looks per `grace_us`. Raising it lets go of messages a little sooner; costs a pass over all streams each time."""


class Stability:
    def __init__(self, carrier: Carrier) -> None:
        self.carrier = carrier
        self.past, self.store, self.writer = carrier.past, carrier.store, carrier.writer
        self.losses = carrier.losses
        self.confirmed: dict[str, dict[str, int]] = {}
        """Per process, the marks that it says it has done."""
        self.settled: dict[str, int] = {}
        """Per stream: up to here everybody has had everything for `grace_us`."""
        self.let_go: dict[str, int] = {}
        """Per stream: the newest message that was let go of, or precedes one that was. Such a message may still be kept
        for other groups; but a newcomer that begins behind one that follows it could not tell their order."""
        self._since: dict[str, list[tuple[int, int]]] = {}
        """Per stream: (n, since when it was seen to be stable up to there), not settled yet."""
        self._looked_us: int | None = None
        self._laggards: dict[str, int] = {}
        """Per stream, the place among its carriers where one that lags was found, or is looked for."""

    @property
    def wants_stable(self) -> bool:
        """Whether an Order goes by what is stable."""
        return self.writer.wants_stable

    # -- what others say -------------------------------------------------------------------------------------------

    def confirm(self, peer: str, done: Mapping[str, int]) -> None:
        join(self.confirmed.setdefault(peer, {}), done)

    def done_by(self, peer: str) -> Marks:
        return self.confirmed.get(peer, {})

    def forget(self, peer: str) -> None:
        self.confirmed.pop(peer, None)

    def stable(self, stream: str, mine: int | None) -> int | None:
        """Up to where everybody has done; `mine`: this process itself, if it carries the stream. None: nobody does."""
        self._laggards[stream] = 0
        done = [self.done_by(name).get(stream, 0) for name in self.carrier.carriers(stream)]
        if mine is not None:
            done.append(mine)
        return min(done, default=None)

    def _held_back(self, stream: str, mine: int | None, level: int) -> bool:
        """Whether a carrier is found that has done no more than `level`. A carrier that has done more will never have
        done less: the search goes on where it ended, and False says only that all must be looked at."""
        place = self._laggards.get(stream)
        if place is None:
            return False
        if mine is not None and mine <= level:
            return True
        carriers = self.carrier.carriers(stream)
        for at in range(place, len(carriers)):
            if self.done_by(carriers[at]).get(stream, 0) <= level:
                self._laggards[stream] = at
                return True
        return False

    def stable_from(self, stream: str, mine: int, before: int) -> int:
        """The number up to which every carrier of a stream has done it, this process (`mine`) included; `before` if
        that is no more."""
        if mine <= before or self._held_back(stream, mine, before):
            return before
        return max(before, self.stable(stream, mine) or 0)

    def retire(self, marks: Mapping[str, int]) -> None:
        """Streams are over, up to these marks: no process speaks of them any more, unless something newer comes."""
        for known in (self.settled, self._since, self._laggards, *self.confirmed.values()):
            for stream in marks:
                known.pop(stream, None)  # type: ignore[attr-defined]

    def forget_streams(self, streams: Iterable[str]) -> None:
        for stream in streams:
            self.let_go.pop(stream, None)

    def viewed(self) -> None:
        """The view changed: a process that lagged may not count any more."""
        self._laggards.clear()

    # -- letting go ------------------------------------------------------------------------------------------------

    def look(self, now_us: int) -> None:
        """Once in a while: find messages that have settled, and let go of them."""
        carrier, store = self.carrier, self.store
        store.forget_gone(now_us)
        pause_us = max(carrier.settings.round_us, carrier.settings.grace_us // LOOKS)
        if not store.lasting or (self._looked_us is not None and now_us < self._looked_us + pause_us):
            return
        self._looked_us = now_us
        streams = list(store.index)
        concerns = carrier.interest.concerns
        mine = carrier.done(self.past.reached(stream for stream in streams if concerns(stream)))
        settled = [stream for stream in streams if self._settles(stream, mine.get(stream), now_us)]
        for stream in settled:
            self._let_go(stream, now_us)
        if settled:
            self.losses.settled(self.settled)

    def _settles(self, stream: str, mine: int | None, now_us: int) -> bool:
        since = self._since.get(stream, [])
        level = since[-1][0] if since else self.settled.get(stream, 0)
        if (mine is not None and mine < level) or not self._held_back(stream, mine, level):
            stable = self.stable(stream, mine)
            if stable is None:
                return False
            while since and since[-1][0] > stable:  # somebody came into view who has not done as much
                since.pop()
            if stable > (since[-1][0] if since else self.settled.get(stream, 0)):
                since.append((stable, now_us))
                self._since[stream] = since
        while since and now_us >= since[0][1] + self.carrier.settings.grace_us:
            self.settled[stream] = since.pop(0)[0]
        if not since:
            self._since.pop(stream, None)
        return stream in self.settled

    def _let_go(self, stream: str, now_us: int) -> None:
        """In the order in which it was taken in; what is also addressed to others waits for them."""
        store, last = self.store, self.settled[stream]
        gone = []
        for n, envelope in store.kept_of(stream):
            if n > last:
                break
            if envelope.message.deadline_us is None and all(self._is_over(*mark) for mark in envelope.stamp.own):
                gone.append(envelope)
        for envelope in gone:
            store.let_go(envelope)
            join(self.let_go, self.carrier.interest.among(envelope.stamp.covers))
            put(self.let_go, envelope.stamp.own)
            store.add_gone(envelope, now_us)

    def _is_over(self, stream: str, n: int) -> bool:
        if n <= self.settled.get(stream, 0):
            return True
        return not self.carrier.interest.concerns(stream) and not self.carrier.carriers(stream)

    # -- for newcomers ---------------------------------------------------------------------------------------------

    def cut(self, group: str, begun: tuple[str, ...], forgotten: Marks) -> tuple[str, ...]:
        """The cut at which a newcomer to a group begins: this process's own (`begun`), what it says of senders that it
        has forgotten, and what it has let go of."""
        tops = {**tops_of(begun), **forgotten}
        for stream, n in self.let_go.items():
            sender, _, of = stream.partition("@")
            if of == group and n > tops.get(sender, 0):
                tops[sender] = n
        return cut_of(tops)
