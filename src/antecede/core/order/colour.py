"""One scalar round colour to subscribers (004 MS1-MS4, RMS1-RMS5; PROTOCOLS s3.5): the Reader, in two policies.

A message comes with its round and the colour of its newest predecessor's round. So much is certain: whatever precedes
it is of that round or an older one. Which messages those are one scalar cannot say, and nobody can tell from it whether
all of them have come. Hence

hold   a message waits to the end of its lifetime. Rounds grow along causality and so do the ends of lifetimes: what
       comes before it was out, or had expired, by then. Complete, and as slow as a lifetime.
eager  it goes out as soon as something of its predecessor's round is out, or that round has expired; everything held
       of that round or older goes out before it. What comes of those rounds afterwards might precede it, and may no
       longer go out. Fast, never out of order, not complete.

004 compares colours as integers: red is always before blue, so of three messages that follow each other around the
circle of colours two are dropped (red_B3 in the paper's own figure). Here a colour is decoded to a round.
"""

from __future__ import annotations

from typing import Any

from antecede.core.message import Envelope, Mark, Stamp
from antecede.core.order.reader import Reader, everything
from antecede.core.order.round_clock import RoundClock
from antecede.core.order.rounds import own_below

__all__ = ["ROUNDS", "ColourReader", "newest_before"]

ROUNDS = "*"
"""In the place of a sender: any of them, by round."""
NEVER: Mark = ("", 0)
"""What blocks a message that waits for time only."""


def newest_before(stamp: Stamp) -> int:
    """The round of the newest predecessor; 0: there is none that lives."""
    return stamp.needs[0][1] if stamp.needs else 0


class ColourReader(Reader):
    def __init__(self, clock: RoundClock, *, eager: bool) -> None:
        super().__init__(everything, dense=False)
        self.clock = clock
        self.eager = eager
        self.barrier = 0
        """Rounds up to here may hold predecessors of something that is out."""
        self.rounds: set[int] = set()
        """Rounds of which something is out (those that live)."""

    def arrived(self, envelope: Envelope) -> Envelope:
        message = envelope.message
        before = self.clock.round_of(envelope.stamp.rank, message.seq)
        needs = ((ROUNDS, before),) if before else ()
        return Envelope(message, Stamp(own_below(message), needs, {}, message.seq))

    # -- what lies behind ------------------------------------------------------------------------------------------

    def behind(self, stream: str, n: int) -> bool:
        return self._here(n) if stream == ROUNDS else super().behind(stream, n)

    def _here(self, number: int) -> bool:
        """Whether something of that round is out or held."""
        return number in self.rounds or any(number in numbers for numbers in self.held.values())

    def barred(self, stamp: Stamp) -> bool:
        """Whether a message may precede one that is out: nobody can tell, so it stays held."""
        return self.eager and stamp.rank <= self.barrier

    def precedes(self, a: Stamp, b: Stamp) -> bool:
        return a.rank <= newest_before(b)

    # -- what blocks -----------------------------------------------------------------------------------------------

    def blocker(self, stamp: Stamp) -> Mark | None:
        if not self.eager or self.barred(stamp):
            return NEVER
        before = newest_before(stamp)
        if not before or before in self.rounds or before <= max(self.cut.values(), default=0):
            return None
        return (ROUNDS, before)

    def missing(self, stamp: Stamp) -> list[Mark]:
        """Of a message's newest predecessor only the round is known: any process that has something of that round may
        be asked."""
        before = newest_before(stamp)
        if not before or self.barred(stamp) or self._here(before) or before <= max(self.cut.values(), default=0):
            return []
        return [(ROUNDS, before)]

    def watch(self, mark: Mark, token: Any) -> None:
        if mark != NEVER:
            super().watch(mark, token)

    # -- what moves ------------------------------------------------------------------------------------------------

    def delivered(self, stamp: Stamp, *, forced: bool) -> None:
        number = stamp.rank
        self.barrier = max(self.barrier, newest_before(stamp))
        if number not in self.rounds:
            self.rounds.add(number)
            if len(self.rounds) > 4 * self.clock.colours:
                oldest = max(self.rounds) - 2 * self.clock.colours
                self.rounds = {one for one in self.rounds if one >= oldest}
            self._free(ROUNDS, number, number)
        for stream, n in stamp.own:
            if n > self.front.get(stream, 0):
                self._advance(stream, n)

    def skipped(self, own: tuple[Mark, ...], stamp: Stamp | None) -> None:
        """A message alone is skipped: one that waits for its round waits until that round has expired: soon."""
        for stream, n in own:
            if n > self.front.get(stream, 0):
                self.above.setdefault(stream, set()).add(n)
